//! Where to ask, as whom, and for what, as the client reads it from its environment.

use std::fmt;

use crate::Outcome;

/// Where the client asks if nothing else is said.
pub const DEFAULT_BASE: &str = "https://api.anthropic.com";
/// Small, cheap, and known under this name to the provider that is meant when no address is given.
const DEFAULT_MODEL: &str = "claude-haiku-4-5";
const MODELS: [&str; 4] = [
    "ANTHROPIC_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
];
/// Each makes the client talk to something else than the Messages API.
const OTHER_ROUTES: [&str; 3] =
    ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"];

/// A provider as a client meets it.
#[derive(Clone)]
pub struct Account {
    pub(crate) base: String,
    pub(crate) model: String,
    /// Headers that say who asks.
    pub(crate) identity: Vec<(String, String)>,
    /// Headers of the user's own.
    pub(crate) headers: Vec<(String, String)>,
}

impl Account {
    /// From the variables of a provider. What makes asking pointless is an outcome already.
    pub fn from_env(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, Outcome> {
        let get = |name: &str| variable(name).map(|text| text.trim().to_owned()).filter(|t| !t.is_empty());
        if let Some(variable) = OTHER_ROUTES.into_iter().find(|name| get(name).is_some_and(|v| is_on(&v))) {
            return Err(Outcome::OtherRoute { variable });
        }
        let bearer = get("ANTHROPIC_AUTH_TOKEN").map(|token| ("authorization", format!("Bearer {token}")));
        let key = get("ANTHROPIC_API_KEY").map(|key| ("x-api-key", key));
        let identity: Vec<_> =
            bearer.into_iter().chain(key).map(|(name, value)| (name.to_owned(), value)).collect();
        let headers = get("ANTHROPIC_CUSTOM_HEADERS").map(|text| custom(&text)).unwrap_or_default();
        if identity.is_empty() && !headers.iter().any(|(name, _)| is_identity(name)) {
            return Err(Outcome::NoToken);
        }
        let base = get("ANTHROPIC_BASE_URL").unwrap_or_else(|| DEFAULT_BASE.to_owned());
        let model = MODELS.into_iter().find_map(get).unwrap_or_else(|| DEFAULT_MODEL.to_owned());
        Ok(Self {
            base: base.trim_end_matches('/').to_owned(),
            model: model.trim_end_matches("[1m]").to_owned(),
            identity,
            headers,
        })
    }

    /// Everything that must not be shown, the longest first.
    pub(crate) fn secrets(&self) -> Vec<&str> {
        let values = self.identity.iter().chain(&self.headers).map(|(_, value)| value.as_str());
        let mut secrets: Vec<_> = values
            .flat_map(|value| [value, value.strip_prefix("Bearer ").unwrap_or(value)])
            .chain(inside_address(&self.base))
            .filter(|text| !text.is_empty())
            .collect();
        secrets.sort_by_key(|text| std::cmp::Reverse(text.len()));
        secrets.dedup();
        secrets
    }
}

/// Shows no token.
impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account").field("model", &self.model).finish_non_exhaustive()
    }
}

fn is_on(value: &str) -> bool {
    !matches!(value.to_ascii_lowercase().as_str(), "0" | "false" | "no" | "off")
}

fn is_identity(name: &str) -> bool {
    ["authorization", "x-api-key", "api-key"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Lines of the form `Name: value`.
fn custom(text: &str) -> Vec<(String, String)> {
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    text.lines().filter_map(header).filter(|(name, _)| !name.is_empty()).collect()
}

/// User, password and query of an address.
fn inside_address(base: &str) -> impl Iterator<Item = &str> {
    let rest = base.split_once("://").map_or(base, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let user = authority.rsplit_once('@').map(|(user, _)| user).unwrap_or_default();
    let query = rest.split_once('?').map(|(_, query)| query).unwrap_or_default();
    user.split(':').chain([query])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(variables: &[(&str, &str)]) -> Result<Account, Outcome> {
        Account::from_env(&|name| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_variables_of_the_client_are_read() {
        let found = account(&[
            ("ANTHROPIC_AUTH_TOKEN", "t1"),
            ("ANTHROPIC_API_KEY", "k1"),
            ("ANTHROPIC_CUSTOM_HEADERS", "X-A: 1\nbroken\nX-B:two: three"),
            ("ANTHROPIC_BASE_URL", "https://u:pw@h/p/"),
            ("ANTHROPIC_DEFAULT_SONNET_MODEL", "s[1m]"),
        ])
        .unwrap();
        assert_eq!((found.base.as_str(), found.model.as_str()), ("https://u:pw@h/p", "s"));
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(found.identity, [pair("authorization", "Bearer t1"), pair("x-api-key", "k1")]);
        assert_eq!(found.headers, [pair("X-A", "1"), pair("X-B", "two: three")]);
        assert_eq!(found.secrets(), ["two: three", "Bearer t1", "t1", "k1", "pw", "1", "u"]);
        assert_eq!(format!("{found:?}"), "Account { model: \"s\", .. }");
    }

    #[test]
    fn what_cannot_be_asked_is_told_at_once() {
        assert_eq!(account(&[]).unwrap_err(), Outcome::NoToken);
        assert_eq!(account(&[("ANTHROPIC_API_KEY", " ")]).unwrap_err(), Outcome::NoToken);
        let bedrock = account(&[("CLAUDE_CODE_USE_BEDROCK", "1")]).unwrap_err();
        assert_eq!(bedrock, Outcome::OtherRoute { variable: "CLAUDE_CODE_USE_BEDROCK" });
        let plain = account(&[("CLAUDE_CODE_USE_VERTEX", "0"), ("ANTHROPIC_API_KEY", "k")]).unwrap();
        assert_eq!((plain.base.as_str(), plain.model.as_str()), (DEFAULT_BASE, DEFAULT_MODEL));
        assert!(account(&[("ANTHROPIC_CUSTOM_HEADERS", "Authorization: x")]).is_ok());
    }
}
