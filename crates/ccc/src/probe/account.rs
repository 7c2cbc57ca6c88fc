//! The address, credentials and model of a provider, read from the environment like the client does.

use std::fmt;

use crate::probe::ProbeOutcome;

/// The client's default address.
pub const DEFAULT_BASE_URL: &str = "https://api.anthropic.com";
/// A small and cheap model that the default address serves.
const DEFAULT_MODEL: &str = "claude-haiku-4-5";
const MODEL_VARIABLES: [&str; 4] = [
    "ANTHROPIC_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL",
    "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_DEFAULT_OPUS_MODEL",
];
/// Variables that make the client use another API than the Messages API.
const OTHER_ROUTES: [&str; 3] =
    ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"];

/// A provider as the client sees it.
#[derive(Clone)]
pub struct Account {
    pub(crate) base_url: String,
    pub(crate) model: String,
    /// Headers with credentials.
    pub(crate) credentials: Vec<(String, String)>,
    /// The user's custom headers.
    pub(crate) headers: Vec<(String, String)>,
}

impl Account {
    /// Reads the variables of a provider. Returns an outcome if a probe would be pointless.
    pub fn from_env(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, ProbeOutcome> {
        let get = |name: &str| variable(name).map(|text| text.trim().to_owned()).filter(|t| !t.is_empty());
        for variable in OTHER_ROUTES {
            if let Some(value) = get(variable)
                && is_on(&value)
            {
                return Err(ProbeOutcome::OtherRoute { variable });
            }
        }
        let bearer = get("ANTHROPIC_AUTH_TOKEN").map(|token| ("authorization", format!("Bearer {token}")));
        let key = get("ANTHROPIC_API_KEY").map(|key| ("x-api-key", key));
        let credentials: Vec<_> =
            bearer.into_iter().chain(key).map(|(name, value)| (name.to_owned(), value)).collect();
        let headers = get("ANTHROPIC_CUSTOM_HEADERS").map(|text| parse_headers(&text)).unwrap_or_default();
        if credentials.is_empty() && !headers.iter().any(|(name, _)| is_credential_header(name)) {
            return Err(ProbeOutcome::NoToken);
        }
        let base = get("ANTHROPIC_BASE_URL").unwrap_or_else(|| DEFAULT_BASE_URL.to_owned());
        let model = MODEL_VARIABLES.into_iter().find_map(get).unwrap_or_else(|| DEFAULT_MODEL.to_owned());
        Ok(Self {
            base_url: base.trim_end_matches('/').to_owned(),
            model: model.trim_end_matches("[1m]").to_owned(),
            credentials,
            headers,
        })
    }

    /// All values that must not be shown, longest first.
    pub(crate) fn secrets(&self) -> Vec<&str> {
        let values = self.credentials.iter().chain(&self.headers).map(|(_, value)| value.as_str());
        let mut secrets: Vec<_> = values
            .flat_map(|value| [value, value.strip_prefix("Bearer ").unwrap_or(value)])
            .chain(secrets_in_address(&self.base_url))
            .filter(|text| !text.is_empty())
            .collect();
        secrets.sort_by_key(|text| std::cmp::Reverse(text.len()));
        secrets.dedup();
        secrets
    }
}

/// Omits tokens.
impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account").field("model", &self.model).finish_non_exhaustive()
    }
}

fn is_on(value: &str) -> bool {
    !matches!(value.to_ascii_lowercase().as_str(), "0" | "false" | "no" | "off")
}

fn is_credential_header(name: &str) -> bool {
    ["authorization", "x-api-key", "api-key"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Lines of the form `Name: value`.
fn parse_headers(text: &str) -> Vec<(String, String)> {
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.trim().to_owned(), value.trim().to_owned()))
    };
    text.lines().filter_map(header).filter(|(name, _)| !name.is_empty()).collect()
}

/// User, password and query of an address.
fn secrets_in_address(base: &str) -> impl Iterator<Item = &str> {
    let rest = match base.split_once("://") {
        Some((_, rest)) => rest,
        None => base,
    };
    let authority = rest.split('/').next().unwrap_or_default();
    let (user, _) = authority.rsplit_once('@').unwrap_or_default();
    let (_, query) = rest.split_once('?').unwrap_or_default();
    user.split(':').chain([query])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(variables: &[(&str, &str)]) -> Result<Account, ProbeOutcome> {
        Account::from_env(&|name| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_clients_variables_are_read() {
        let found = account(&[
            ("ANTHROPIC_AUTH_TOKEN", "t1"),
            ("ANTHROPIC_API_KEY", "k1"),
            ("ANTHROPIC_CUSTOM_HEADERS", "X-A: 1\nbroken\nX-B:two: three"),
            ("ANTHROPIC_BASE_URL", "https://u:pw@h/p/"),
            ("ANTHROPIC_DEFAULT_SONNET_MODEL", "s[1m]"),
        ])
        .unwrap();
        assert_eq!((found.base_url.as_str(), found.model.as_str()), ("https://u:pw@h/p", "s"));
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(found.credentials, [pair("authorization", "Bearer t1"), pair("x-api-key", "k1")]);
        assert_eq!(found.headers, [pair("X-A", "1"), pair("X-B", "two: three")]);
        assert_eq!(found.secrets(), ["two: three", "Bearer t1", "t1", "k1", "pw", "1", "u"]);
        assert_eq!(format!("{found:?}"), "Account { model: \"s\", .. }");
    }

    #[test]
    fn a_provider_that_cannot_be_probed_is_reported_at_once() {
        assert_eq!(account(&[]).unwrap_err(), ProbeOutcome::NoToken);
        assert_eq!(account(&[("ANTHROPIC_API_KEY", " ")]).unwrap_err(), ProbeOutcome::NoToken);
        let bedrock = account(&[("CLAUDE_CODE_USE_BEDROCK", "1")]).unwrap_err();
        assert_eq!(bedrock, ProbeOutcome::OtherRoute { variable: "CLAUDE_CODE_USE_BEDROCK" });
        let plain = account(&[("CLAUDE_CODE_USE_VERTEX", "0"), ("ANTHROPIC_API_KEY", "k")]).unwrap();
        assert_eq!((plain.base_url.as_str(), plain.model.as_str()), (DEFAULT_BASE_URL, DEFAULT_MODEL));
        assert!(account(&[("ANTHROPIC_CUSTOM_HEADERS", "Authorization: x")]).is_ok());
    }
}
