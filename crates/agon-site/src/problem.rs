//! Refusals: what happened, whose fault it is, and what to do next.

use agon_store::StoreError;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use agon_server::ServerError;

/// A refusal. [`crate::gate::finish`] turns it into a page, or into `application/problem+json` for the API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The HTTP status.
    pub status: StatusCode,
    /// What happened, in a few words.
    pub title: String,
    /// What it means and how to fix it.
    pub text: String,
    /// Where to go next: a label and an address.
    pub then: Option<(String, String)>,
    /// Seconds after which to ask again.
    pub again: Option<i64>,
}

impl Refused {
    /// A refusal with a status.
    pub fn new(status: StatusCode, title: impl Into<String>, text: impl Into<String>) -> Self {
        Self { status, title: title.into(), text: text.into(), then: None, again: None }
    }

    /// There is nothing here, or nothing the caller may know of: the same words for both.
    pub fn nothing() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            "Not found",
            "There is no page at this address, or it belongs to another team.",
        )
        .then("The ladder", "/ladder")
    }

    /// Something in the request is wrong, for the caller to fix.
    pub fn wrong(text: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "That cannot be done", text)
    }

    /// Too much was asked for; there is room again in this many seconds.
    pub fn too_much(what: &str, seconds: i64) -> Self {
        let seconds = seconds.max(1);
        let wait = match seconds {
            1..=90 => format!("{seconds} s"),
            _ => format!("{} min", seconds.div_euclid(60) + 1),
        };
        let text = format!("{what} Try again in {wait}.");
        let mut problem = Self::new(StatusCode::TOO_MANY_REQUESTS, "Too much at once", text);
        problem.again = Some(seconds);
        problem
    }

    /// Our own failure.
    pub fn ours() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "This is our fault",
            "The server could not do it. Nothing is half done: try again. If it keeps failing, tell an organiser; the server's console says why.",
        )
    }

    /// The database does not answer, for the organisers to mend.
    pub fn away() -> Self {
        let mut problem = Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "The contest's database does not answer",
            "Nothing is played or accepted until it does; the contest then goes on by itself, and nothing accepted before is lost. If \
             you were sending something, it may have arrived: look before you send it again.",
        );
        problem.again = Some(5);
        problem
    }

    /// The server's clock is in doubt, for the organisers to confirm.
    fn clock(what: &str) -> Self {
        let text = format!(
            "It {what}. Nothing is played or accepted until its clocks have agreed for a minute and an organiser has confirmed the time; \
             the contest then goes on by itself, and nothing accepted before is lost. Nothing was done just now: try again later."
        );
        let mut problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "The server's clock is in doubt", text);
        problem.again = Some(30);
        problem
    }

    /// The bucket with the objects does not answer, for the organisers to mend.
    fn no_objects() -> Self {
        let mut problem = Self::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "The contest's store of files does not answer",
            "Bots and replays cannot be read or kept until it does. Nothing was accepted just now, and nothing accepted before is lost: \
             try again in a moment.",
        );
        problem.again = Some(5);
        problem
    }

    /// The server's disk is full, for the organisers to fix.
    pub fn no_room() -> Self {
        let mut problem = Self::new(
            StatusCode::INSUFFICIENT_STORAGE,
            "The contest has no room left",
            "The server's disk is full. Nothing was accepted just now, and nothing accepted before is lost. Tell an organiser, \
             and try again when there is room.",
        );
        problem.again = Some(60);
        problem
    }

    /// The same refusal, with where to go next.
    #[must_use]
    pub fn then(mut self, label: &str, address: &str) -> Self {
        self.then = Some((label.to_owned(), address.to_owned()));
        self
    }

    /// As `application/problem+json` (RFC 9457).
    pub fn json(&self) -> Response {
        let body = agon_api::Problem {
            kind: "about:blank".to_owned(),
            title: self.title.clone(),
            status: self.status.as_u16(),
            detail: self.text.clone(),
            retry_after: self.again,
        };
        let body = serde_json::to_vec(&body).unwrap_or_default();
        let kind = HeaderValue::from_static("application/problem+json");
        (self.status, [(header::CONTENT_TYPE, kind)], body).into_response()
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        if let Some(again) = self.again {
            response.headers_mut().insert(header::RETRY_AFTER, again.into());
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        // For whoever runs the server; the cause concerns nobody else. A clock in doubt is said once.
        if !matches!(error, StoreError::Clock(_)) {
            tracing::warn!("a request could not be answered: {error}");
        }
        match error {
            StoreError::Away(_) => Self::away(),
            StoreError::Clock(what) => Self::clock(&what),
            error if error.is_full() => Self::no_room(),
            error if error.is_bucket_away() => Self::no_objects(),
            _ => Self::ours(),
        }
    }
}

impl From<ServerError> for Refused {
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::Wrong(why) | ServerError::Missing(why) => Self::wrong(why),
            ServerError::Store(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_will_be_there_again_is_asked_for_again() {
        let file = |kind: std::io::ErrorKind| StoreError::File("objects".to_owned(), kind.into());
        let status = |error: StoreError| {
            let problem = Refused::from(error);
            (problem.status.as_u16(), problem.again)
        };
        assert_eq!(status(file(std::io::ErrorKind::HostUnreachable)), (503, Some(5)));
        assert_eq!(status(file(std::io::ErrorKind::StorageFull)), (507, Some(60)));
        assert_eq!(status(file(std::io::ErrorKind::PermissionDenied)), (500, None));
    }
}
