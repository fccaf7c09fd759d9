//! Reads what comes with a request; what cannot be read is refused with the reason.

use agon_web::gate::{self, Unwhole};
use axum::body::Body;
use axum::extract::{FromRequest, FromRequestParts, Query, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use crate::gate::PATIENCE_OF_UPLOADS;
use crate::incoming::cut_off;
use crate::problem::Refused;

/// The query of an address.
pub struct ReadQuery<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for ReadQuery<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, site: &S) -> Result<Self, Refused> {
        let read = Query::<T>::from_request_parts(parts, site).await;
        read.map(|Query(asked)| Self(asked)).map_err(|error| wrong(&error.body_text()))
    }
}

/// The JSON body. [`crate::gate`] has checked its size.
pub struct Sent<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Sent<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, _: &S) -> Result<Self, Refused> {
        let bytes = file(request.into_body(), agon_api::LARGEST_ASKED).await?;
        serde_json::from_slice(&bytes).map(Self).map_err(|error| wrong(&error.to_string()))
    }
}

/// The body as it is, of at most this many bytes, in memory.
pub async fn file(body: Body, most: u64) -> Result<Vec<u8>, Refused> {
    let largest = usize::try_from(most).unwrap_or(usize::MAX);
    let bytes = gate::whole(body, largest, PATIENCE_OF_UPLOADS).await.map_err(|why| match why {
        Unwhole::TooLarge => {
            let text = format!("The request is larger than {} KiB. Nothing was done.", most >> 10);
            Refused::new(StatusCode::PAYLOAD_TOO_LARGE, "Too large", text)
        }
        Unwhole::CutOff => cut_off(),
    })?;
    Ok(bytes.into())
}

/// The refusal of something that cannot be read, with the reason.
pub fn wrong(why: &str) -> Refused {
    // It may quote what was sent.
    let why: String = why.chars().filter(|sign| !sign.is_control()).take(300).collect();
    // The library's own preamble says nothing to whoever sent this.
    let why = match why.strip_prefix("Failed to deserialize").and_then(|rest| rest.split_once(": ")) {
        Some((_, why)) => why,
        None => why.as_str(),
    };
    Refused::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "Bad request",
        format!("{why}. /api/v1/openapi.json says what is expected here."),
    )
}
