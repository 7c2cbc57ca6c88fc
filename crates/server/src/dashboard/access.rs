//! Authorizes requests: from a program that knows the token, or from a page that logged in with a one-time link or the
//! token.
//!
//! A page gets two secrets. One is a cookie that scripts cannot read. Browsers send a cookie to every port of a machine,
//! so a server of another user could collect it. It is therefore valid only together with the second secret, which the
//! page keeps in its own storage and sends as a header. Both are kept in this process only and end with it: a process
//! that gets the port afterwards, and with it the requests of open pages, learns nothing that opens another server.

use std::collections::VecDeque;
use std::io;
use std::sync::Mutex;

use axum::http::{HeaderMap, header};

use crate::dashboard::app::lock;
use crate::dashboard::guard::header_text;
use crate::dashboard::random::{constant_time_eq, hex};

/// The header with a page's key.
const KEY_HEADER: &str = "x-overtone-key";
const SECRET_BYTES: usize = 24;
/// How many pages are logged in at a time; beyond that the oldest one has to log in again.
const MAX_PAGES: usize = 64;

/// How a request is authorized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Credential {
    Token,
    Page,
}

#[derive(Debug)]
pub(crate) struct Access {
    token: String,
    cookie_name: String,
    pages: Mutex<VecDeque<Page>>,
}

#[derive(Debug)]
struct Page {
    cookie: String,
    key: String,
}

/// The two secrets of a new page.
#[derive(Debug)]
pub(crate) struct PageCredentials {
    /// The value of the `Set-Cookie` header.
    pub(crate) cookie: String,
    pub(crate) key: String,
}

impl Access {
    pub(crate) fn new(token: String, port: u16) -> Self {
        // The name contains the port, so that servers on several ports do not share a cookie.
        Self { token, cookie_name: format!("overtone_{port}"), pages: Mutex::default() }
    }

    pub(crate) fn credential(&self, headers: &HeaderMap) -> Option<Credential> {
        if let Some(token) = header_text(headers, header::AUTHORIZATION.as_str()).strip_prefix("Bearer ")
            && self.is_token(token)
        {
            return Some(Credential::Token);
        }
        let (cookie, key) = (self.cookie(headers)?, header_text(headers, KEY_HEADER));
        let is_known =
            |page: &Page| constant_time_eq(cookie, &page.cookie) && constant_time_eq(key, &page.key);
        if lock(&self.pages).iter().any(is_known) { Some(Credential::Page) } else { None }
    }

    pub(crate) fn is_token(&self, given: &str) -> bool {
        constant_time_eq(given, &self.token)
    }

    /// Logs a page in.
    pub(crate) fn add_page(&self) -> io::Result<PageCredentials> {
        let (cookie, key) = (hex(SECRET_BYTES)?, hex(SECRET_BYTES)?);
        let mut pages = lock(&self.pages);
        pages.push_back(Page { cookie: cookie.clone(), key: key.clone() });
        if pages.len() > MAX_PAGES {
            pages.pop_front();
        }
        let cookie = format!("{}={cookie}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name);
        Ok(PageCredentials { cookie, key })
    }

    fn cookie<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let pairs = header_text(headers, header::COOKIE.as_str()).split(';');
        pairs
            .filter_map(|pair| pair.trim().split_once('='))
            .find(|(name, _)| *name == self.cookie_name)
            .map(|(_, value)| value)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(all: &[(&'static str, &str)]) -> HeaderMap {
        all.iter()
            .map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_str(value).unwrap()))
            .collect()
    }

    #[test]
    fn a_page_needs_both_of_its_secrets() {
        let access = Access::new("t".repeat(48), 7777);
        let (one, two) = (access.add_page().unwrap(), access.add_page().unwrap());
        let cookie =
            |page: &PageCredentials| format!("other=1; {}; more=2", page.cookie.split(';').next().unwrap());
        let credential =
            |cookie: &str, key: &str| access.credential(&headers(&[("cookie", cookie), (KEY_HEADER, key)]));
        assert_eq!(credential(&cookie(&one), &one.key), Some(Credential::Page));
        assert_eq!(credential(&cookie(&two), &two.key), Some(Credential::Page));
        assert_eq!(credential(&cookie(&one), &two.key), None);
        assert_eq!(credential(&cookie(&one), ""), None);
        assert_eq!(credential("overtone_7777=", ""), None);
        assert_eq!(credential("", &one.key), None);
        assert!(one.cookie.contains("HttpOnly") && one.cookie.contains("SameSite=Strict"), "{}", one.cookie);
    }

    #[test]
    fn the_token_is_a_bearer_token() {
        let access = Access::new("t".repeat(48), 7777);
        let credential = |value: &str| access.credential(&headers(&[("authorization", value)]));
        assert_eq!(credential(&format!("Bearer {}", "t".repeat(48))), Some(Credential::Token));
        for bad in ["Bearer ", "Bearer tttt", "Basic tttt", ""] {
            assert_eq!(credential(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_oldest_page_is_logged_out_when_there_are_too_many() {
        let access = Access::new("t".repeat(48), 1);
        let first = access.add_page().unwrap();
        for _ in 0..MAX_PAGES {
            access.add_page().unwrap();
        }
        let cookie = first.cookie.split(';').next().unwrap().to_owned();
        assert_eq!(access.credential(&headers(&[("cookie", &cookie), (KEY_HEADER, &first.key)])), None);
    }
}
