//! Masks secrets in values that are shown to the user. Free text is covered by [`super::redact`].

use serde_json::Value;

const HIDDEN: &str = "****";
/// Shorter secrets are hidden completely.
const MIN_LENGTH_FOR_TAIL: usize = 20;
/// How many characters of a longer secret stay visible.
const TAIL_LENGTH: usize = 4;

const SECRET_NAMES: [&str; 9] =
    ["TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "AUTH", "CREDENTIAL", "HEADER", "COOKIE"];

/// Whether a variable of this name usually contains a secret. `…_TOKENS` is a number of tokens, not a secret.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    !name.ends_with("_TOKENS") && SECRET_NAMES.iter().any(|part| name.contains(part))
}

/// The value in a form that may be shown: secrets are reduced to their last characters, addresses lose user, password
/// and query.
pub fn masked(name: &str, value: &str) -> String {
    if value.is_empty() || is_reference(value) {
        return value.to_owned();
    }
    if is_secret(name) || looks_secret(value) {
        return mask_secret(value);
    }
    match value.split_once("://") {
        Some((scheme, rest)) => format!("{scheme}://{}", mask_address(rest)),
        None => value.to_owned(),
    }
}

/// A settings value under the given key, masked and on one line.
pub(crate) fn masked_value(name: &str, value: &Value) -> String {
    match value {
        Value::String(text) => masked(name, text),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| masked_value(name, item)).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let field = |(key, value): (&String, &Value)| format!("{key}: {}", masked_value(key, value));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Whether the value is just a `${VARIABLE}` reference, which reveals nothing.
fn is_reference(value: &str) -> bool {
    let Some(rest) = value.strip_prefix("${") else { return false };
    let Some(name) = rest.strip_suffix('}') else { return false };
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn looks_secret(value: &str) -> bool {
    value.split(|c: char| c.is_whitespace() || ",;=\"'".contains(c)).any(|word| word.starts_with("sk-"))
}

fn mask_secret(value: &str) -> String {
    let count = value.chars().count();
    let tail: String = value.chars().skip(count.saturating_sub(TAIL_LENGTH)).collect();
    // A tail with control characters or blanks does not help the user to recognise the secret.
    let is_tail_visible = count >= MIN_LENGTH_FOR_TAIL && tail.chars().all(|c| c.is_ascii_alphanumeric());
    if is_tail_visible { format!("{HIDDEN}{tail}") } else { HIDDEN.to_owned() }
}

/// Masks what follows `scheme://` of an address.
fn mask_address(rest: &str) -> String {
    let (location, query) = match rest.find(['?', '#']) {
        Some(at) => (&rest[..at], "?****"),
        None => (rest, ""),
    };
    let end = location.find('/').unwrap_or(location.len());
    let (authority, path) = location.split_at(end);
    match authority.rsplit_once('@') {
        Some((_, host)) => format!("{HIDDEN}@{host}{path}{query}"),
        None => format!("{authority}{path}{query}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_masked_and_other_values_are_shown() {
        let token = "sk-ant-0123456789abcdefghij";
        assert_eq!(masked("ANTHROPIC_AUTH_TOKEN", token), "****ghij");
        assert_eq!(masked("ANTHROPIC_API_KEY", "short"), "****");
        assert_eq!(masked("ANTHROPIC_MODEL", "kimi-k2"), "kimi-k2");
        assert_eq!(masked("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "32000"), "32000");
        assert_eq!(masked("ANTHROPIC_API_KEY", "${MY_KEY}"), "${MY_KEY}");
        assert_eq!(masked("ANTHROPIC_API_KEY", ""), "");
        assert_eq!(masked("WHATEVER", &format!("bearer {token}")), "****ghij");
    }

    #[test]
    fn addresses_lose_user_password_and_query() {
        assert_eq!(masked("ANTHROPIC_BASE_URL", "https://a.example/v1"), "https://a.example/v1");
        assert_eq!(masked("X", "https://u:p@h:1/v1?k=1#f"), "https://****@h:1/v1?****");
    }

    #[test]
    fn secrets_inside_settings_are_masked_too() {
        let value = serde_json::json!([{ "apiKey": "abc", "n": 1, "list": ["sk-xyz"] }]);
        assert_eq!(masked_value("x", &value), "[{apiKey: ****, n: 1, list: [****]}]");
    }
}
