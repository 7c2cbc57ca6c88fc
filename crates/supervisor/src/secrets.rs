//! Keeps keys out of everything that is written down or given to somebody else.

use std::env;

use overtone_engine::redact_lines;
use overtone_providers::is_secret;

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
    pub(crate) fn from_process() -> Self {
        Self::among(
            env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))),
        )
    }

    fn among(variables: impl Iterator<Item = (String, String)>) -> Self {
        let secret = variables.filter(|(name, value)| is_secret(name) && value.len() >= SHORTEST);
        let mut values: Vec<_> = secret.map(|(_, value)| value).collect();
        // One may be a part of another.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self(values)
    }

    /// The text without known secrets, and without what looks like one.
    pub(crate) fn clean(&self, text: &str) -> String {
        let known = self.0.iter().fold(text.to_owned(), |text, value| text.replace(value, HIDDEN));
        redact_lines(&known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_and_likely_secrets_are_hidden() {
        let variables = [("MY_TOKEN", "correct-horse"), ("PLAIN", "visible-value"), ("A_KEY", "short")];
        let secrets = Secrets::among(variables.map(|(name, value)| (name.into(), value.into())).into_iter());
        let text = secrets.clean("x=correct-horse.\nvisible-value short\nsk-ant-0123456789");
        assert_eq!(text, "x=***.\nvisible-value short\n***");
        assert_eq!(format!("{secrets:?}"), "Secrets(1)");
    }
}
