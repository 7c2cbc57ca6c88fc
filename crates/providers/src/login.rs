//! Logins that the client has stored, and how to keep them from a third party.
//!
//! The client adds a stored key to every request, also where it was given a token for another server. Seen with
//! 2.1.197 and 2.1.325: `primaryApiKey` is sent as `x-api-key` beside `ANTHROPIC_AUTH_TOKEN`, and the login of a
//! subscription is sent as a bearer token where there is no other. A custom header takes the place of either.

use overtone_settings::SettingsFile;
use serde_json::Value;

use crate::route::is_third_party;
use crate::{Fragment, Places, notes};

const HEADERS: &str = "ANTHROPIC_CUSTOM_HEADERS";
const KEY: &str = "ANTHROPIC_API_KEY";
const TOKEN: &str = "ANTHROPIC_AUTH_TOKEN";
/// Given to a server that wants no token, so that the client does not look for one.
const NO_TOKEN: &str = "none";
/// The client remembers this many characters of a key that the user has approved.
const APPROVED_TAIL: usize = 20;

/// What the client has stored.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Login {
    /// An API key of the console.
    key: bool,
    /// The login of a subscription.
    subscription: bool,
    /// The ends of keys that the client uses without asking.
    approved: Vec<String>,
}

impl Login {
    /// Reads the client's own files. On a Mac the secrets are in the keychain, and the account says that there is one.
    pub(crate) fn stored(places: &Places) -> Self {
        let global = notes::read(places.global());
        let get = |path: &[&str]| global.as_ref().and_then(|document| document.get(path));
        let has_account =
            cfg!(target_os = "macos") && get(&["oauthAccount"]).is_some_and(|it| it.is_object());
        let is_text = |value: Value| value.as_str().is_some_and(|text| !text.is_empty());
        let credentials = SettingsFile::at(places.credentials()).read().ok();
        let login = credentials.and_then(|document| document.get(&["claudeAiOauth"]));
        let approved = get(&["customApiKeyResponses", "approved"]);
        let approved = approved.and_then(|list| list.as_array().cloned()).unwrap_or_default();
        Self {
            key: has_account || get(&["primaryApiKey"]).is_some_and(is_text),
            subscription: has_account || login.is_some(),
            approved: approved.iter().filter_map(|tail| tail.as_str().map(str::to_owned)).collect(),
        }
    }

    fn approves(&self, key: &str) -> bool {
        let skipped = key.chars().count().saturating_sub(APPROVED_TAIL);
        let tail: String = key.chars().skip(skipped).collect();
        self.approved.contains(&tail)
    }

    /// Completes the environment of a provider so that none of the stored logins is sent to a third party.
    pub(crate) fn keep_from(&self, env: &mut Fragment) {
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
            // A key that is not approved may be declined, and then the client falls back on what is stored.
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

/// Adds a header, unless the provider has one of that name.
fn add_header(env: &mut Fragment, name: &str, value: &str) {
    let headers = env.get(HEADERS).and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_named = |line: &str| line.split(':').next().is_some_and(|it| it.trim().eq_ignore_ascii_case(name));
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

    fn kept(login: &Login, env: &Value) -> Value {
        let mut env = env.as_object().cloned().unwrap();
        login.keep_from(&mut env);
        Value::Object(env)
    }

    const BASE: &str = "https://kimi.example";

    #[test]
    fn a_stored_key_is_replaced_by_the_providers_own() {
        let login = Login { key: true, ..Login::default() };
        let env = kept(&login, &json!({ "ANTHROPIC_BASE_URL": BASE, TOKEN: "t" }));
        assert_eq!(env[HEADERS], "x-api-key: t");
        let env = kept(&login, &json!({ "ANTHROPIC_BASE_URL": BASE, TOKEN: "t", HEADERS: "x-team: a\n" }));
        assert_eq!(env[HEADERS], "x-team: a\nx-api-key: t");
        let own = json!({ "ANTHROPIC_BASE_URL": BASE, TOKEN: "t", HEADERS: "X-Api-Key: mine" });
        assert_eq!(kept(&login, &own), own);
    }

    #[test]
    fn a_server_without_a_token_gets_no_login() {
        let login = Login { subscription: true, ..Login::default() };
        assert_eq!(kept(&login, &json!({ "ANTHROPIC_BASE_URL": BASE }))[TOKEN], NO_TOKEN);
        let both = Login { key: true, subscription: true, ..Login::default() };
        assert_eq!(kept(&both, &json!({ "ANTHROPIC_BASE_URL": BASE }))[HEADERS], "x-api-key: none");
    }

    #[test]
    fn a_key_that_may_be_declined_is_sent_all_the_same() {
        let key = "key-0123456789-0123456789";
        let mut login = Login { subscription: true, ..Login::default() };
        let wanted = json!({ "ANTHROPIC_BASE_URL": BASE, KEY: key });
        let env = kept(&login, &wanted);
        assert_eq!(env[HEADERS], format!("Authorization: Bearer {key}\nx-api-key: {key}"));
        login.approved = vec![key[key.len() - APPROVED_TAIL..].to_owned()];
        assert_eq!(kept(&login, &wanted), wanted);
    }

    #[test]
    fn nothing_is_added_where_nothing_could_leak() {
        let wanted = json!({ "ANTHROPIC_BASE_URL": BASE, TOKEN: "t" });
        assert_eq!(kept(&Login::default(), &wanted), wanted);
        let login = Login { key: true, subscription: true, ..Login::default() };
        assert_eq!(kept(&login, &json!({})), json!({}), "the login is for Anthropic itself");
    }
}
