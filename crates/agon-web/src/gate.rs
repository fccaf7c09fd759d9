//! What every server of ours checks before it answers: that a request is for one address on one host, which host that is, whether one of
//! our own pages sent it, and what it carries. And what the headers of every answer say.

use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::uri::{Authority, Scheme};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header};
use subtle::ConstantTimeEq as _;
use tokio_stream::StreamExt as _;

/// Why no server of ours answers a request: its status, and a sentence for whoever wrote the client.
pub type Misdirected = (StatusCode, &'static str);

/// Checks that a request names one address of a server that is no proxy, one host, and one length.
///
/// # Errors
/// When two readers could understand it differently, or it asks for what no server of ours does.
pub fn check_target<B>(request: &Request<B>) -> Result<(), Misdirected> {
    let (method, uri, headers) = (request.method(), request.uri(), request.headers());
    let wrong = |why| Err((StatusCode::BAD_REQUEST, why));
    if *method == Method::CONNECT || *method == Method::TRACE || !is_common(method) {
        return Err((StatusCode::METHOD_NOT_ALLOWED, "Nothing here is done by this method."));
    }
    match uri.path() {
        "*" if *method == Method::OPTIONS => {
            return Err((StatusCode::METHOD_NOT_ALLOWED, "This server tells no options."));
        }
        path if path.starts_with('/') => {}
        _ => return wrong("The address that is asked for does not begin with a slash."),
    }
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else {
        return wrong("A request names one host, in one header.");
    };
    let Some(host) = authority(host) else { return wrong("The header `Host` names no host.") };
    if let Some(asked) = uri.authority() {
        let is_same = has_no_user(asked)
            && asked.host().eq_ignore_ascii_case(host.host())
            && port(asked, uri.scheme()) == port(&host, uri.scheme());
        if !is_same || !matches!(uri.scheme_str(), Some("http" | "https")) {
            return wrong("The address that is asked for and the header `Host` name different hosts.");
        }
    }
    let lengths = headers.get_all(header::CONTENT_LENGTH).iter().count();
    if lengths > 1 || lengths == 1 && headers.contains_key(header::TRANSFER_ENCODING) {
        return wrong("A request has one length.");
    }
    Ok(())
}

/// Methods that our servers know, if only to refuse them at an address.
fn is_common(method: &Method) -> bool {
    const COMMON: [Method; 7] = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
    ];
    COMMON.contains(method)
}

fn authority(host: &HeaderValue) -> Option<Authority> {
    let authority: Authority = host.to_str().ok()?.parse().ok()?;
    let name = authority.host();
    let port = authority.as_str().get(name.len()..)?;
    let is_port = port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok());
    (is_name(name) && has_no_user(&authority) && is_port).then_some(authority)
}

/// Whether this is the name or the address of a machine. URIs allow more, such as the comma of two headers that somebody joined.
fn is_name(host: &str) -> bool {
    match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
        Some(six) => six.parse::<Ipv6Addr>().is_ok(),
        None => {
            !host.is_empty()
                && host.bytes().all(|sign| sign.is_ascii_alphanumeric() || b"-._".contains(&sign))
        }
    }
}

fn has_no_user(authority: &Authority) -> bool {
    !authority.as_str().contains('@')
}

fn port(authority: &Authority, scheme: Option<&Scheme>) -> u16 {
    authority.port_u16().unwrap_or(if scheme == Some(&Scheme::HTTPS) { 443 } else { 80 })
}

/// The name and port by which a request reached us.
pub fn host(headers: &HeaderMap) -> Option<Authority> {
    headers.get(header::HOST)?.as_bytes().try_into().ok()
}

/// Whether a request names the loopback. On the loopback only such names are accepted: a foreign name can be made to resolve here.
pub fn names_loopback(headers: &HeaderMap) -> bool {
    let Some(host) = host(headers) else { return false };
    let name = host.host().trim_start_matches('[').trim_end_matches(']');
    name == "localhost" || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Whether a page of the server at the address `own` sent this. Browsers say where a request comes from in one of two headers whenever it
/// can change something, and otherwise when it comes from another site; what changes something `must` have one of them.
pub fn is_ours(headers: &HeaderMap, own: &str, must: bool) -> bool {
    let says = |name| headers.get(name).map(|value: &HeaderValue| value.to_str().unwrap_or("?"));
    let (origin, fetch) = (says(header::ORIGIN), says(HeaderName::from_static("sec-fetch-site")));
    (!must || origin.is_some() || fetch.is_some())
        && origin.is_none_or(|origin| origin == own)
        && fetch.is_none_or(|fetch| fetch == "same-origin")
}

/// Why there is no whole body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwhole {
    /// It has more bytes than allowed.
    TooLarge,
    /// It breaks off, or a part of it takes too long.
    CutOff,
}

/// A whole body, of which no part took longer than `patience` to arrive.
///
/// # Errors
/// When it is larger than `largest` bytes, or does not arrive.
pub async fn whole(body: Body, largest: usize, patience: Duration) -> Result<Bytes, Unwhole> {
    let (mut pieces, mut content) = (body.into_data_stream(), Vec::new());
    loop {
        match tokio::time::timeout(patience, pieces.next()).await {
            Ok(None) => return Ok(content.into()),
            Ok(Some(Ok(piece))) if content.len() + piece.len() <= largest => {
                content.extend_from_slice(&piece)
            }
            Ok(Some(Ok(_))) => return Err(Unwhole::TooLarge),
            Ok(Some(Err(_))) | Err(_) => return Err(Unwhole::CutOff),
        }
    }
}

/// The headers of every answer. One that says nothing else is not cached, not framed, and loads what `policy` admits.
pub fn finish(headers: &mut HeaderMap, referrer: &'static str, policy: &'static str) {
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, referrer),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::X_FRAME_OPTIONS).or_insert(HeaderValue::from_static("DENY"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(policy));
}

/// Whether two texts are equal, in a time that does not reveal where they differ.
pub fn same(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: &str, uri: &str, headers: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        check_target(&request.body(()).expect("a request"))
            .map_or_else(|(status, _)| status.as_u16(), |()| 200)
    }

    #[test]
    fn a_request_names_one_address_on_one_host() {
        const HOST: (&str, &str) = ("host", "cup.example:8080");
        for (method, uri) in
            [("GET", "/"), ("HEAD", "/ladder?x=*"), ("POST", "//a"), ("OPTIONS", "/"), ("DELETE", "/x")]
        {
            assert_eq!(asked(method, uri, &[HOST]), 200, "{method} {uri}");
        }
        for host in
            ["xn--bcher-kva.example", "cup.example", "127.0.0.1:80", "[::1]:8080", "[::1]", "CUP.example"]
        {
            assert_eq!(asked("GET", "/", &[("host", host)]), 200, "{host}");
        }
        for host in [
            "",
            " ",
            "a b",
            "a/b",
            "a,b",
            "user@cup.example",
            "@",
            ":80",
            "a:b",
            "a:99999",
            "a:",
            "[::1",
            "http://a",
        ] {
            assert_eq!(asked("GET", "/", &[("host", host)]), 400, "{host}");
        }
        assert_eq!(asked("GET", "/", &[]), 400);
        assert_eq!(asked("GET", "/", &[HOST, HOST]), 400);
        assert_eq!(asked("GET", "/", &[HOST, ("host", "evil.example")]), 400);
        for (uri, status) in [
            ("http://cup.example:8080/", 200),
            ("http://CUP.example:8080/ladder", 200),
            ("http://cup.example/", 400),
            ("http://evil.example:8080/", 400),
            ("http://user@cup.example:8080/", 400),
            ("ftp://cup.example:8080/", 400),
            ("cup.example:8080", 400),
            ("*", 400),
        ] {
            assert_eq!(asked("GET", uri, &[HOST]), status, "{uri}");
        }
        assert_eq!(asked("GET", "http://cup.example/", &[("host", "cup.example:80")]), 200);
        assert_eq!(asked("GET", "https://cup.example/", &[("host", "cup.example:443")]), 200);
        for (method, uri) in
            [("OPTIONS", "*"), ("CONNECT", "cup.example:443"), ("TRACE", "/"), ("BREW", "/"), ("PRI", "*")]
        {
            assert_eq!(asked(method, uri, &[HOST]), 405, "{method} {uri}");
        }
        let length = ("content-length", "3");
        assert_eq!(asked("POST", "/", &[HOST, length]), 200);
        assert_eq!(asked("POST", "/", &[HOST, length, length]), 400);
        assert_eq!(asked("POST", "/", &[HOST, length, ("transfer-encoding", "chunked")]), 400);
    }

    #[test]
    fn only_our_own_pages_change_anything() {
        let own = "http://127.0.0.1:8080";
        for (origin, fetch, asks, changes) in [
            (None, None, true, false),
            (Some(own), None, true, true),
            (Some(own), Some("same-origin"), true, true),
            (None, Some("same-origin"), true, true),
            (Some("null"), None, false, false),
            (Some("http://127.0.0.1:80800"), None, false, false),
            (Some("https://127.0.0.1:8080"), Some("same-origin"), false, false),
            (Some(own), Some("same-site"), false, false),
            (None, Some("cross-site"), false, false),
            (None, Some("none"), false, false),
        ] {
            let mut headers = HeaderMap::new();
            let values = [(header::ORIGIN, origin), (HeaderName::from_static("sec-fetch-site"), fetch)];
            for (name, value) in values.into_iter().filter_map(|(name, value)| Some((name, value?))) {
                headers.insert(name, HeaderValue::from_static(value));
            }
            let may = (is_ours(&headers, own, false), is_ours(&headers, own, true));
            assert_eq!(may, (asks, changes), "{origin:?} {fetch:?}");
        }
    }

    #[test]
    fn only_loopback_names_are_the_loopback() {
        for (host, is) in [
            ("127.0.0.1:80", true),
            ("localhost", true),
            ("[::1]:8080", true),
            ("127.0.0.1.evil.example", false),
            ("localhost.evil.example:80", false),
            ("10.0.0.1", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_static(host))]);
            assert_eq!(names_loopback(&headers), is, "{host}");
        }
    }

    #[test]
    fn a_body_is_whole_and_no_larger_than_allowed() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let read = |body: Body| runtime.block_on(whole(body, 4, Duration::from_secs(60)));
        assert_eq!(read(Body::from("four")), Ok(Bytes::from("four")));
        assert_eq!(read(Body::empty()), Ok(Bytes::new()));
        assert_eq!(read(Body::from("fives")), Err(Unwhole::TooLarge));
        let pieces = [Ok("fo"), Err(std::io::Error::other("gone"))];
        assert_eq!(read(Body::from_stream(tokio_stream::iter(pieces))), Err(Unwhole::CutOff));
    }
}
