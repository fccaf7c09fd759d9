//! What a request is for: one address, on one host.

use std::net::Ipv6Addr;

use axum::http::uri::{Authority, Scheme};
use axum::http::{HeaderValue, Method, Request, StatusCode, header};

/// Why no server of ours answers a request: its status, and a sentence for whoever wrote the client.
pub type Misdirected = (StatusCode, &'static str);

/// Checks that a request names one address of a server that is no proxy, one host, and one length.
///
/// # Errors
/// When two readers could understand it differently, or it asks for what no server of ours does.
pub fn check<B>(request: &Request<B>) -> Result<(), Misdirected> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(method: &str, uri: &str, headers: &[(&str, &str)]) -> u16 {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        check(&request.body(()).expect("a request")).map_or_else(|(status, _)| status.as_u16(), |()| 200)
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
}
