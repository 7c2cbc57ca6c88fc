//! Rejects requests from other sites in the same browser, requests for foreign host names (DNS rebinding), and requests of
//! other users of the machine.

use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use overtone_core::messages::{Lang, dashboard as messages};

use crate::dashboard::access::Credential;
use crate::dashboard::app::App;
use crate::dashboard::error::{ApiError, ApiResult};

/// Only our own files may be loaded, and no page may embed ours in a frame.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(crate) async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let mut response = match check(&app, &request) {
        Err(error) => error.into_response(),
        Ok(()) => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
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

fn check(app: &App, request: &Request) -> ApiResult<()> {
    let headers = request.headers();
    let host = header_text(headers, header::HOST.as_str());
    let lang = app.lang;
    if !is_own_host(app, host) {
        let error = ApiError::new(StatusCode::MISDIRECTED_REQUEST, messages::wrong_host(lang));
        return Err(error.hint(messages::wrong_host_hint(lang)));
    }
    // The files of the page contain no data.
    if !request.uri().path().starts_with("/api") {
        return Ok(());
    }
    let other_site = || ApiError::new(StatusCode::FORBIDDEN, messages::other_site(lang));
    if is_cross_origin(headers, host) {
        return Err(other_site());
    }
    if is_public(request) {
        return Ok(());
    }
    let changes = request.method() != Method::GET && request.method() != Method::HEAD;
    match app.endpoint.access.credential(headers) {
        None => Err(unauthorized(lang)),
        // Browsers send the origin with every change. A change without one may come from another site.
        Some(Credential::Page) if changes && header_text(headers, header::ORIGIN.as_str()).is_empty() => {
            Err(other_site())
        }
        Some(_) => {
            app.touch();
            Ok(())
        }
    }
}

/// Whether a request needs no authorization: the health check and the login.
fn is_public(request: &Request) -> bool {
    match request.uri().path() {
        "/api/health" => request.method() == Method::GET,
        "/api/enter" => request.method() == Method::POST,
        _ => false,
    }
}

pub(crate) fn unauthorized(lang: Lang) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, messages::no_token(lang)).hint(messages::no_token_hint(lang))
}

/// The value of a header; empty if it is missing or not text.
pub(crate) fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// Rejects host names that a foreign DNS server resolves to this machine.
fn is_own_host(app: &App, host: &str) -> bool {
    let (name, port) = split_port(host);
    // A host without a port means the default port.
    if port.unwrap_or(80) != app.endpoint.port {
        return false;
    }
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
    match address {
        Some(address) => app.endpoint.is_open || address.is_loopback(),
        None => {
            name == "localhost" || app.endpoint.host_names.iter().any(|own| own.eq_ignore_ascii_case(name))
        }
    }
}

fn split_port(host: &str) -> (&str, Option<u16>) {
    // An IPv6 address without a port.
    if host.parse::<Ipv6Addr>().is_ok() || host.ends_with(']') {
        return (host, None);
    }
    match host.rsplit_once(':') {
        Some((name, port)) => (name, port.parse().ok()),
        None => (host, None),
    }
}

/// Browsers send the origin of a request; other programs send none.
fn is_cross_origin(headers: &HeaderMap, host: &str) -> bool {
    let origin = header_text(headers, header::ORIGIN.as_str());
    let site = header_text(headers, "sec-fetch-site");
    let other_origin = !origin.is_empty() && origin != format!("http://{host}");
    other_origin || !matches!(site, "" | "same-origin" | "none")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_separated_from_the_host() {
        assert_eq!(split_port("127.0.0.1:7777"), ("127.0.0.1", Some(7777)));
        assert_eq!(split_port("[::1]:7777"), ("[::1]", Some(7777)));
        assert_eq!(split_port("[::1]"), ("[::1]", None));
        assert_eq!(split_port("localhost"), ("localhost", None));
    }
}
