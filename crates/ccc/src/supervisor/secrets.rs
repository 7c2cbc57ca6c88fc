//! Removes secrets from everything that the supervisor stores or passes on.
//!
//! Known values come from the environment and `ccc.json`. Certain secrets in free text are found by
//! [`crate::providers::redact`], likely ones by [`overtone_core::engine::redact_lines`].

use std::env;

use crate::providers::{CccPaths, Config, is_secret, redact};
use overtone_core::engine::redact_lines;

/// Shorter values may be ordinary words.
const MIN_SECRET_LENGTH: usize = 8;
const HIDDEN: &str = "***";

/// The secret values known to this process.
#[derive(Default)]
pub(crate) struct Secrets(Vec<String>);

/// Omits the values.
impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

impl Secrets {
    /// Collects the secrets in the environment and those of every provider in `ccc.json`.
    pub(crate) fn from_process() -> Self {
        let variables = env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let paths = CccPaths::resolve(&|name| env::var_os(name));
        let config = paths.and_then(|paths| Config::load(&paths.config_file()));
        let of_providers =
            config.map(|config| config.secrets(&|name| env::var(name).ok())).unwrap_or_default();
        Self::collect(variables, of_providers)
    }

    fn collect(variables: impl Iterator<Item = (String, String)>, of_providers: Vec<String>) -> Self {
        let secret = variables.filter(|(name, _)| is_secret(name)).map(|(_, value)| value);
        let long_enough = secret.chain(of_providers).filter(|value| value.len() >= MIN_SECRET_LENGTH);
        let mut values: Vec<_> = long_enough.collect();
        // Longest first, since one may be a part of another.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self(values)
    }

    /// Removes known and certain secrets, for text that is used further.
    pub(crate) fn redact(&self, text: &str) -> String {
        redact(&self.0.iter().fold(text.to_owned(), |text, value| text.replace(value, HIDDEN)))
    }

    /// Also removes everything that looks like a secret, for text that is stored.
    pub(crate) fn redact_strictly(&self, text: &str) -> String {
        redact_lines(&self.redact(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_and_likely_secrets_are_removed() {
        let variables = [("MY_TOKEN", "correct-horse"), ("PLAIN", "visible-value"), ("A_KEY", "short")];
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        let secrets = Secrets::collect(variables.into_iter(), vec!["of-another-provider".into()]);
        let text = secrets
            .redact_strictly("x=correct-horse.\nvisible-value short of-another-provider\nsk-ant-0123456789");
        assert_eq!(text, "x=***.\nvisible-value short ***\n***");
        assert_eq!(secrets.redact("{\"id\":\"4f6d991a44a84c21ae07b4f39ca49907\"}").len(), 41);
        assert_eq!(format!("{secrets:?}"), "Secrets(2)");
    }
}
