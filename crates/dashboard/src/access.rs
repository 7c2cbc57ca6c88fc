//! Who may ask: a program that knows the token, or a page that was let in by a one-time link or the token.
//!
//! A page gets two secrets. One is a cookie that no script can read. Browsers send a cookie to every port of a machine,
//! so another user's server could collect it; therefore it counts only together with the other one, which the page keeps
//! in its own storage and sends as a header. Both are known to this process only and end with it: whoever gets the port
//! afterwards, and with it what an open page still sends, has nothing that opens another server.

use std::collections::VecDeque;
use std::io;
use std::sync::Mutex;

use axum::http::{HeaderMap, header};

use crate::app::lock;
use crate::guard::text;
use crate::random::{hex, is_same};

/// The header with a page's key.
const KEY: &str = "x-overtone-key";
const SECRET_BYTES: usize = 24;
/// Browsers that are let in at a time; the oldest has to be opened again.
const MAX_PAGES: usize = 64;

/// What a request showed.
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

/// What a page is given that was let in.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The value of the `Set-Cookie` header.
    pub(crate) cookie: String,
    pub(crate) key: String,
}

impl Access {
    pub(crate) fn new(token: String, port: u16) -> Self {
        // Another server of the same user, on another port, has a cookie of its own.
        Self { token, cookie_name: format!("overtone_{port}"), pages: Mutex::default() }
    }

    pub(crate) fn credential(&self, headers: &HeaderMap) -> Option<Credential> {
        let given = text(headers, header::AUTHORIZATION.as_str()).strip_prefix("Bearer ");
        if given.is_some_and(|given| self.is_token(given)) {
            return Some(Credential::Token);
        }
        let (cookie, key) = (self.cookie(headers)?, text(headers, KEY));
        let is_known = |page: &Page| is_same(cookie, &page.cookie) && is_same(key, &page.key);
        lock(&self.pages).iter().any(is_known).then_some(Credential::Page)
    }

    pub(crate) fn is_token(&self, given: &str) -> bool {
        is_same(given, &self.token)
    }

    /// Lets a page in.
    pub(crate) fn admit(&self) -> io::Result<Entry> {
        let (cookie, key) = (hex(SECRET_BYTES)?, hex(SECRET_BYTES)?);
        let mut pages = lock(&self.pages);
        pages.push_back(Page { cookie: cookie.clone(), key: key.clone() });
        if pages.len() > MAX_PAGES {
            pages.pop_front();
        }
        let cookie = format!("{}={cookie}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name);
        Ok(Entry { cookie, key })
    }

    fn cookie<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let pairs = text(headers, header::COOKIE.as_str()).split(';');
        pairs
            .filter_map(|pair| pair.trim().split_once('='))
            .find(|(name, _)| *name == self.cookie_name)
            .map(|(_, v)| v)
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
    fn a_page_needs_both_halves_of_one_entry() {
        let access = Access::new("t".repeat(48), 7777);
        let (one, two) = (access.admit().unwrap(), access.admit().unwrap());
        let cookie = |entry: &Entry| format!("other=1; {}; more=2", entry.cookie.split(';').next().unwrap());
        let ask = |cookie: &str, key: &str| access.credential(&headers(&[("cookie", cookie), (KEY, key)]));
        assert_eq!(ask(&cookie(&one), &one.key), Some(Credential::Page));
        assert_eq!(ask(&cookie(&two), &two.key), Some(Credential::Page));
        assert_eq!(ask(&cookie(&one), &two.key), None);
        assert_eq!(ask(&cookie(&one), ""), None);
        assert_eq!(ask("overtone_7777=", ""), None);
        assert_eq!(ask("", &one.key), None);
        assert!(one.cookie.contains("HttpOnly") && one.cookie.contains("SameSite=Strict"), "{}", one.cookie);
    }

    #[test]
    fn the_token_is_a_bearer_token() {
        let access = Access::new("t".repeat(48), 7777);
        let ask = |value: &str| access.credential(&headers(&[("authorization", value)]));
        assert_eq!(ask(&format!("Bearer {}", "t".repeat(48))), Some(Credential::Token));
        for bad in ["Bearer ", "Bearer tttt", "Basic tttt", ""] {
            assert_eq!(ask(bad), None, "{bad}");
        }
    }

    #[test]
    fn old_pages_make_room() {
        let access = Access::new("t".repeat(48), 1);
        let first = access.admit().unwrap();
        for _ in 0..MAX_PAGES {
            access.admit().unwrap();
        }
        let cookie = first.cookie.split(';').next().unwrap().to_owned();
        assert_eq!(access.credential(&headers(&[("cookie", &cookie), (KEY, &first.key)])), None);
    }
}
