//! Keys and tokens of a request: they can be compared, and never seen.

use std::collections::BTreeMap;
use std::fmt;

use axum::http::HeaderMap;

/// Headers that are kept apart from the others.
const NAMES: [&str; 4] = ["authorization", "cookie", "proxy-authorization", "x-api-key"];

/// The headers of a request that carry secrets.
#[derive(Clone, Default)]
pub(crate) struct Secrets(BTreeMap<String, String>);

impl Secrets {
    /// All headers by their lowercase names, and apart from them those with secrets.
    pub(crate) fn part(headers: &HeaderMap) -> (BTreeMap<String, String>, Self) {
        let readable = headers
            .iter()
            .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())));
        let (secret, plain) = readable.partition(|(name, _)| NAMES.contains(&name.as_str()));
        (plain, Self(secret))
    }

    /// Whether this token is in the header, and no other secret in any.
    pub(crate) fn is_bearer(&self, token: &str) -> bool {
        self.0.contains_key("authorization") && self.are_all(token)
    }

    /// Whether this key is in the header, and no other secret in any.
    pub(crate) fn is_key(&self, key: &str) -> bool {
        self.0.contains_key("x-api-key") && self.are_all(key)
    }

    /// A provider may be given its own token in more than one header.
    fn are_all(&self, secret: &str) -> bool {
        self.0.values().all(|value| value.strip_prefix("Bearer ").unwrap_or(value) == secret)
    }
}

/// Failed tests print requests.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_compared_and_not_shown() {
        let mut headers = HeaderMap::new();
        headers.insert("Authorization", "Bearer t0ken".parse().unwrap());
        headers.insert("x-app", "cli".parse().unwrap());
        let (plain, secrets) = Secrets::part(&headers);
        assert_eq!(plain.into_keys().collect::<Vec<_>>(), ["x-app"]);
        assert!(secrets.is_bearer("t0ken") && !secrets.is_bearer("t0") && !secrets.is_key("t0ken"));
        assert_eq!(format!("{secrets:?}"), "{\"authorization\"}");
        headers.insert("x-api-key", "k".parse().unwrap());
        assert!(!Secrets::part(&headers).1.is_bearer("t0ken"), "two secrets are one too many");
        headers.insert("x-api-key", "t0ken".parse().unwrap());
        assert!(Secrets::part(&headers).1.is_bearer("t0ken"), "the same one twice is one");
    }
}
