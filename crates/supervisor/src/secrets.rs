//! Keeps keys out of everything that is written down or given to somebody else.

use std::env;

use overtone_engine::redact_lines;
use overtone_providers::{Config, Places, is_secret, redact};

/// A shorter value may be an ordinary word.
const SHORTEST: usize = 8;
const HIDDEN: &str = "***";

/// The secret values that this process knows of.
#[derive(Default)]
pub(crate) struct Secrets(Vec<String>);

/// The values are never shown.
impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

impl Secrets {
    /// Those in the environment, and those of every provider in `ccc.json`.
    pub(crate) fn from_process() -> Self {
        let variables = env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let places = Places::resolve(&|name| env::var_os(name));
        let config = places.and_then(|places| Config::load(&places.config_file()));
        let of_providers =
            config.map(|config| config.secrets(&|name| env::var(name).ok())).unwrap_or_default();
        Self::among(variables, of_providers)
    }

    fn among(variables: impl Iterator<Item = (String, String)>, of_providers: Vec<String>) -> Self {
        let secret = variables.filter(|(name, _)| is_secret(name)).map(|(_, value)| value);
        let long_enough = secret.chain(of_providers).filter(|value| value.len() >= SHORTEST);
        let mut values: Vec<_> = long_enough.collect();
        // One may be a part of another.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self(values)
    }

    /// The text without what is certainly a secret: for whoever has to work with it.
    pub(crate) fn hide(&self, text: &str) -> String {
        redact(&self.0.iter().fold(text.to_owned(), |text, value| text.replace(value, HIDDEN)))
    }

    /// The text without secrets, and without what looks like one: for what is kept.
    pub(crate) fn clean(&self, text: &str) -> String {
        redact_lines(&self.hide(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_and_likely_secrets_are_hidden() {
        let variables = [("MY_TOKEN", "correct-horse"), ("PLAIN", "visible-value"), ("A_KEY", "short")];
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        let secrets = Secrets::among(variables.into_iter(), vec!["of-another-provider".into()]);
        let text =
            secrets.clean("x=correct-horse.\nvisible-value short of-another-provider\nsk-ant-0123456789");
        assert_eq!(text, "x=***.\nvisible-value short ***\n***");
        assert_eq!(secrets.hide("{\"id\":\"4f6d991a44a84c21ae07b4f39ca49907\"}").len(), 41);
        assert_eq!(format!("{secrets:?}"), "Secrets(2)");
    }
}
