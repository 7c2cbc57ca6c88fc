//! What `deny.toml` may contain. A key or a value that these checks do not know is an error, so that no rule is read and
//! then ignored. A type with one value stands for a setting that has only this one.

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::shell;

const FILE: &str = "deny.toml";

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rules {
    pub(super) graph: Graph,
    /// Only for cargo-deny, which `cargo xtask advisories --online` starts.
    #[serde(rename = "advisories")]
    _advisories: toml::Table,
    pub(super) licenses: Licenses,
    pub(super) bans: Bans,
    #[serde(rename = "sources")]
    _sources: Sources,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Graph {
    pub(super) targets: Vec<String>,
    #[serde(rename = "all-features")]
    _all_features: True,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Licenses {
    pub(super) allow: Vec<String>,
    pub(super) exceptions: Vec<Exception>,
    #[serde(rename = "unused-allowed-license")]
    _unused_allowed_license: Allow,
    #[serde(rename = "private")]
    _private: Private,
}

/// Licences that one crate may have in addition.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exception {
    #[serde(rename = "crate")]
    pub(super) krate: String,
    pub(super) allow: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Private {
    #[serde(rename = "ignore")]
    _ignore: True,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bans {
    #[serde(rename = "multiple-versions")]
    _multiple_versions: Warn,
    #[serde(rename = "wildcards")]
    _wildcards: Deny,
    #[serde(rename = "allow-wildcard-paths")]
    _allow_wildcard_paths: True,
    pub(super) deny: Vec<Banned>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Banned {
    #[serde(rename = "crate")]
    pub(super) krate: String,
    pub(super) reason: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sources {
    #[serde(rename = "unknown-registry")]
    _unknown_registry: Deny,
    #[serde(rename = "unknown-git")]
    _unknown_git: Deny,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Allow {
    Allow,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Warn {
    Warn,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Deny {
    Deny,
}

/// The value `true`.
#[derive(Debug, Deserialize)]
#[serde(try_from = "bool")]
struct True;

impl TryFrom<bool> for True {
    type Error = &'static str;

    fn try_from(value: bool) -> std::result::Result<Self, Self::Error> {
        if value { Ok(Self) } else { Err("only true is supported") }
    }
}

pub(super) fn read() -> Result<Rules> {
    let path = shell::root().join(FILE);
    let text = std::fs::read_to_string(&path).map_err(|e| Error::io("cannot read", &path, &e))?;
    parse(&text)
}

fn parse(text: &str) -> Result<Rules> {
    toml::from_str(text).map_err(|e| {
        Error::new(format!("cannot read {FILE}: {e}"))
            .hint("xtask/src/deny/rules.rs has the settings that are checked")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_is_not_checked_is_an_error() {
        let text = std::fs::read_to_string(shell::root().join(FILE)).unwrap();
        parse(&text).unwrap();
        for (from, to) in [
            ("wildcards = \"deny\"", "wildcards = \"warn\""),
            ("unknown-git = \"deny\"", "unknown-git = \"allow\""),
            ("all-features = true", "all-features = false"),
            ("[sources]", "[sources]\nallow-git = []"),
        ] {
            assert!(text.contains(from), "{from}");
            assert!(parse(&text.replace(from, to)).is_err(), "{to}");
        }
    }
}
