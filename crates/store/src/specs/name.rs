//! Names of features: kebab-case for new ones, any safe path component for existing ones.

use std::fmt;
use std::str::FromStr;

use overtone_core::engine::text::printable;

const MAX_LENGTH: usize = 64;

/// A name for a new feature: `[a-z0-9]+(-[a-z0-9]+)*`, at most 64 characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FeatureName(String);

impl FeatureName {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<&str> for FeatureName {
    type Error = FeatureNameError;

    fn try_from(text: &str) -> Result<Self, FeatureNameError> {
        if text.len() <= MAX_LENGTH && text.split('-').all(is_word) {
            Ok(Self(text.to_owned()))
        } else {
            Err(FeatureNameError { given: text.to_owned() })
        }
    }
}

impl FromStr for FeatureName {
    type Err = FeatureNameError;

    fn from_str(text: &str) -> Result<Self, FeatureNameError> {
        Self::try_from(text)
    }
}

impl fmt::Display for FeatureName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_word(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

/// A text that cannot be the name of a new feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureNameError {
    given: String,
}

impl FeatureNameError {
    /// What was given as a name.
    pub fn given(&self) -> &str {
        &self.given
    }

    /// A valid name derived from the given text, or an example.
    pub fn suggestion(&self) -> String {
        let suggestion = kebab(&self.given);
        if suggestion.is_empty() { "user-login".to_owned() } else { suggestion }
    }

    /// How to write it instead.
    pub fn hint(&self) -> String {
        let example = self.suggestion();
        format!(
            "use lowercase letters, digits and single hyphens, at most {MAX_LENGTH} characters, such as `{example}`"
        )
    }
}

impl fmt::Display for FeatureNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A long pasted text must not fill the terminal.
        let shown: String = self.given.chars().take(MAX_LENGTH + 16).collect();
        let cut = if shown.len() < self.given.len() { "…" } else { "" };
        write!(f, "{shown:?}{cut} is not a feature name")
    }
}

impl std::error::Error for FeatureNameError {}

fn kebab(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut name = words.collect::<Vec<_>>().join("-");
    name.truncate(MAX_LENGTH);
    name.trim_end_matches('-').to_owned()
}

/// Whether a name is one visible path component that cannot leave its folder, contains no line break and no invisible
/// characters.
///
/// This allows more than [`FeatureName`]: a folder that a user created may be called `My Feature` or `登入`.
pub(super) fn is_safe_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 255
        && !name.starts_with('.')
        && !name.contains("..")
        && !name.contains(['/', '\\'])
        && printable(name) == name
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn kebab_case_is_accepted() {
        let longest = "a".repeat(64);
        for text in ["a", "user-login", "2fa", "v2-0-1", longest.as_str()] {
            assert_eq!(FeatureName::try_from(text).unwrap().as_str(), text);
            assert_eq!(text.parse::<FeatureName>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn everything_else_is_refused() {
        let long = "a".repeat(65);
        let bad =
            ["", "-", "a-", "-a", "a--b", "A", "a_b", "a b", "a.b", "a/b", "..", "登入", "a\n", "a\0", &long];
        for text in bad {
            assert!(FeatureName::try_from(text).is_err(), "{text:?}");
            assert!(text.parse::<FeatureName>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn the_error_says_what_and_how() {
        let error = FeatureName::try_from("My Feature!").unwrap_err();
        assert_eq!(error.to_string(), "\"My Feature!\" is not a feature name");
        assert!(error.hint().ends_with("such as `my-feature`"), "{}", error.hint());
        let error = FeatureName::try_from("登入\u{1b}[31m").unwrap_err();
        assert!(!error.to_string().contains('\u{1b}'));
        let error = FeatureName::try_from("登入").unwrap_err();
        assert!(error.hint().ends_with("such as `user-login`"), "{}", error.hint());
        let page = "word ".repeat(10_000);
        assert!(FeatureName::try_from(page.as_str()).unwrap_err().to_string().len() < 200);
    }

    #[test]
    fn safe_names_stay_in_their_folder() {
        for name in ["my-feature", "My Feature", "登入", "2026-01-02_x", "a.b"] {
            assert!(is_safe_name(name), "{name:?}");
        }
        for name in [
            "",
            ".",
            "..",
            ".git",
            "a/b",
            "a\\b",
            "../a",
            "a..b",
            "/etc",
            "a\nb",
            "a\0",
            "a\u{202e}b",
            "a\u{200b}",
        ] {
            assert!(!is_safe_name(name), "{name:?}");
        }
    }

    proptest! {
        #[test]
        fn path_separators_are_refused(left in ".{0,20}", right in ".{0,20}", sep in "/|\\\\|\\.\\.|\0") {
            let name = format!("{left}{sep}{right}");
            prop_assert!(!is_safe_name(&name));
            prop_assert!(FeatureName::try_from(name.as_str()).is_err());
        }

        #[test]
        fn the_suggested_name_is_accepted(text in ".{0,100}") {
            let suggestion = kebab(&text);
            prop_assert!(suggestion.is_empty() || FeatureName::try_from(suggestion.as_str()).is_ok());
        }
    }
}
