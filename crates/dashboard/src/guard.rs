//! Refuses strangers: other sites in the same browser, names that point here by a trick, and other users of the machine.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use overtone_messages::{Lang, dashboard as words};

use crate::access::Credential;
use crate::app::App;
use crate::error::{Answer, ApiError};

/// Nothing but our own files, and no page may put ours into a frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let mut response = match check(&app, &request) {
        Err(error) => error.into_response(),
        Ok(()) => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    response
}

fn check(app: &App, request: &Request) -> Answer<()> {
    let headers = request.headers();
    let host = text(headers, header::HOST.as_str());
    let lang = app.lang;
    if !is_our_host(app, host) {
        let error = ApiError::new(StatusCode::MISDIRECTED_REQUEST, words::wrong_host(lang));
        return Err(error.hint(words::wrong_host_hint(lang)));
    }
    // The page itself holds no data.
    if !request.uri().path().starts_with("/api") {
        return Ok(());
    }
    let other_site = || ApiError::new(StatusCode::FORBIDDEN, words::other_site(lang));
    if comes_from_elsewhere(headers, host) {
        return Err(other_site());
    }
    if is_public(request) {
        return Ok(());
    }
    let changes = request.method() != Method::GET && request.method() != Method::HEAD;
    match app.door.access.credential(headers) {
        None => Err(unauthorized(lang)),
        // A browser names the origin of every change. Without one, it is not known whose change it is.
        Some(Credential::Page) if changes && text(headers, header::ORIGIN.as_str()).is_empty() => {
            Err(other_site())
        }
        Some(_) => {
            app.touch();
            Ok(())
        }
    }
}

/// What everybody on this machine may ask: whether a server is here, and to be let in.
fn is_public(request: &Request) -> bool {
    match request.uri().path() {
        "/api/health" => request.method() == Method::GET,
        "/api/enter" => request.method() == Method::POST,
        _ => false,
    }
}

pub(crate) fn unauthorized(lang: Lang) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, words::no_token(lang)).hint(words::no_token_hint(lang))
}

pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// A name that somebody else's DNS points to this machine is not ours.
fn is_our_host(app: &App, host: &str) -> bool {
    let (name, port) = split_port(host);
    let right_port = port.is_none_or(|port| port == app.door.port) && (port.is_some() || app.door.port == 80);
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
    let known = match address {
        Some(address) => app.door.is_open || address.is_loopback(),
        None => name == "localhost" || app.door.host_names.iter().any(|own| own.eq_ignore_ascii_case(name)),
    };
    right_port && known
}

fn split_port(host: &str) -> (&str, Option<u16>) {
    // An address of its own, without a port.
    if host.parse::<Ipv6Addr>().is_ok() || host.ends_with(']') {
        return (host, None);
    }
    match host.rsplit_once(':') {
        Some((name, port)) => (name, port.parse().ok()),
        None => (host, None),
    }
}

/// A browser says where a request comes from; a program says nothing.
fn comes_from_elsewhere(headers: &HeaderMap, host: &str) -> bool {
    let origin = text(headers, header::ORIGIN.as_str());
    let site = text(headers, "sec-fetch-site");
    let other_origin = !origin.is_empty() && origin != format!("http://{host}");
    other_origin || !matches!(site, "" | "same-origin" | "none")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_told_from_addresses() {
        assert_eq!(split_port("127.0.0.1:7777"), ("127.0.0.1", Some(7777)));
        assert_eq!(split_port("[::1]:7777"), ("[::1]", Some(7777)));
        assert_eq!(split_port("[::1]"), ("[::1]", None));
        assert_eq!(split_port("localhost"), ("localhost", None));
    }
}
