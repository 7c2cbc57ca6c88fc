//! The logins that the client has stored, and how to keep them from a third party.
//!
//! The client adds a stored key to every request, even if it has a token for another server. Observed with 2.1.197 and
//! 2.1.325: `primaryApiKey` is sent as `x-api-key` next to `ANTHROPIC_AUTH_TOKEN`, and the login of a subscription is
//! sent as a bearer token if there is no other one. A custom header replaces either.

use jsonc_edit::SettingsFile;
use serde_json::Value;

use crate::providers::route::is_third_party;
use crate::providers::{CccPaths, Fragment, client_state};

const HEADERS: &str = "ANTHROPIC_CUSTOM_HEADERS";
const KEY: &str = "ANTHROPIC_API_KEY";
const TOKEN: &str = "ANTHROPIC_AUTH_TOKEN";
/// Used as the token of a server that needs none, so that the client does not search for one.
const NO_TOKEN: &str = "none";
/// The client stores this many trailing characters of a key that the user has approved.
const APPROVED_TAIL: usize = 20;

/// The logins stored by the client.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Login {
    /// There is an API key of the console.
    key: bool,
    /// There is the login of a subscription.
    subscription: bool,
    /// The trailing characters of keys that the client uses without asking.
    approved: Vec<String>,
}

impl Login {
    /// Reads the client's files. On macOS the secrets are in the keychain, and an account indicates that there are some.
    pub(crate) fn read_stored(paths: &CccPaths) -> Self {
        let state = client_state::read(paths.client_state());
        let get = |path: &[&str]| state.as_ref().and_then(|document| document.get(path));
        let has_account =
            cfg!(target_os = "macos") && matches!(get(&["oauthAccount"]), Some(Value::Object(_)));
        let has_key = matches!(get(&["primaryApiKey"]), Some(Value::String(key)) if !key.is_empty());
        let credentials = SettingsFile::at(paths.credentials()).read().ok();
        let login = credentials.and_then(|document| document.get(&["claudeAiOauth"]));
        let approved = get(&["customApiKeyResponses", "approved"]);
        let approved = approved.and_then(|list| list.as_array().cloned()).unwrap_or_default();
        Self {
            key: has_account || has_key,
            subscription: has_account || login.is_some(),
            approved: approved.iter().filter_map(|tail| tail.as_str().map(str::to_owned)).collect(),
        }
    }

    fn approves(&self, key: &str) -> bool {
        let skipped = key.chars().count().saturating_sub(APPROVED_TAIL);
        let tail: String = key.chars().skip(skipped).collect();
        self.approved.contains(&tail)
    }

    /// Completes the environment of a provider so that no stored login is sent to a third party.
    pub(crate) fn withhold_from(&self, env: &mut Fragment) {
        if !is_third_party(env) || !(self.key || self.subscription) {
            return;
        }
        let value = |env: &Fragment, name: &str| {
            env.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let (key, token) = (value(env, KEY), value(env, TOKEN));
        match (key, token) {
            (None, None) => {
                env.insert(TOKEN.to_owned(), NO_TOKEN.into());
                self.replace_key(env, NO_TOKEN);
            }
            (None, Some(token)) => self.replace_key(env, &token),
            // The user may decline a key that is not approved yet; then the client would fall back to a stored login.
            (Some(key), None) if !self.approves(&key) => {
                add_header(env, "Authorization", &format!("Bearer {key}"));
                add_header(env, "x-api-key", &key);
            }
            (Some(key), Some(_)) if !self.approves(&key) => add_header(env, "x-api-key", &key),
            (Some(_), _) => {}
        }
    }

    fn replace_key(&self, env: &mut Fragment, token: &str) {
        if self.key {
            add_header(env, "x-api-key", token);
        }
    }
}

/// Adds a header unless the provider has one of that name.
fn add_header(env: &mut Fragment, name: &str, value: &str) {
    let headers = env.get(HEADERS).and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_named = |line: &str| {
        let own_name = line.split(':').next().unwrap_or_default();
        own_name.trim().eq_ignore_ascii_case(name)
    };
    if headers.lines().any(is_named) || value.contains(char::is_control) {
        return;
    }
    let line = format!("{name}: {value}");
    let all = if headers.trim().is_empty() { line } else { format!("{}\n{line}", headers.trim_end()) };
    env.insert(HEADERS.to_owned(), all.into());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn complete(login: &Login, env: &Value) -> Value {
        let mut env = env.as_object().cloned().unwrap();
        login.withhold_from(&mut env);
        Value::Object(env)
    }

    const BASE: &str = "https://kimi.example";

    #[test]
    fn a_stored_key_is_replaced_by_the_providers_own() {
        let login = Login { key: true, ..Login::default() };
        let env = complete(&login, &json!({ "ANTHROPIC_BASE_URL": BASE, TOKEN: "t" }));
        assert_eq!(env[HEADERS], "x-api-key: t");
        let env =
            complete(&login, &json!({ "ANTHROPIC_BASE_URL": BASE, TOKEN: "t", HEADERS: "x-team: a\n" }));
        assert_eq!(env[HEADERS], "x-team: a\nx-api-key: t");
        let own = json!({ "ANTHROPIC_BASE_URL": BASE, TOKEN: "t", HEADERS: "X-Api-Key: mine" });
        assert_eq!(complete(&login, &own), own);
    }

    #[test]
    fn a_server_without_a_token_receives_no_login() {
        let login = Login { subscription: true, ..Login::default() };
        assert_eq!(complete(&login, &json!({ "ANTHROPIC_BASE_URL": BASE }))[TOKEN], NO_TOKEN);
        let both = Login { key: true, subscription: true, ..Login::default() };
        assert_eq!(complete(&both, &json!({ "ANTHROPIC_BASE_URL": BASE }))[HEADERS], "x-api-key: none");
    }

    #[test]
    fn an_unapproved_key_is_sent_as_a_header() {
        let key = "key-0123456789-0123456789";
        let mut login = Login { subscription: true, ..Login::default() };
        let target = json!({ "ANTHROPIC_BASE_URL": BASE, KEY: key });
        let env = complete(&login, &target);
        assert_eq!(env[HEADERS], format!("Authorization: Bearer {key}\nx-api-key: {key}"));
        login.approved = vec![key[key.len() - APPROVED_TAIL..].to_owned()];
        assert_eq!(complete(&login, &target), target);
    }

    #[test]
    fn nothing_is_added_if_nothing_could_leak() {
        let target = json!({ "ANTHROPIC_BASE_URL": BASE, TOKEN: "t" });
        assert_eq!(complete(&Login::default(), &target), target);
        let login = Login { key: true, subscription: true, ..Login::default() };
        assert_eq!(complete(&login, &json!({})), json!({}), "the login is for Anthropic itself");
    }
}
