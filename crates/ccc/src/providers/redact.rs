//! Removes secrets from free text that is stored, shown or passed on: output of checks, reviews, answers of servers.
//!
//! Only certain secrets are removed, since the text has to stay useful: PEM private keys, passwords in addresses,
//! values after a name that marks them as secret, and words with a prefix that only tokens have. JSON stays valid: a
//! replacement never crosses the quotes of a string. The engine's own redaction (`overtone_core::engine::redact_lines`)
//! is deliberately stricter and also hides every long word of letters and digits, including commit hashes.

/// Replaces a secret.
const HIDDEN: &str = "***";

/// Prefixes that only tokens have. Of two that start alike, the longer one comes first.
const PREFIXES: [&str; 42] = [
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "rk_test_",
    "whsec_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "gldt-",
    "glrt-",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xoxs-",
    "xoxr-",
    "xoxe-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "GOCSPX-",
    "eyJ",
    "hf_",
    "npm_",
    "pypi-",
    "dop_v1_",
    "SG.",
    "shpat_",
    "tvly-",
    "gsk_",
    "xai-",
    "r8_",
    "nvapi-",
    "AGE-SECRET-KEY-",
    "ATATT3x",
    "lin_api_",
];
/// Shorter words with such a prefix are examples or names.
const MIN_TOKEN_LENGTH: usize = 12;

/// Suffixes of names whose value is a secret, in lowercase and without separators.
const NAMES: [&str; 22] = [
    "token",
    "secret",
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "apikey",
    "accesskey",
    "accesskeyid",
    "secretkey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "accountkey",
    "sharedaccesskey",
    "credential",
    "credentials",
    "authorization",
    "xapikey",
    "cookie",
    "signature",
    "connectionstring",
];

/// Returns the text with every secret replaced by `***`.
pub fn redact(text: &str) -> String {
    redact_tokens(&redact_named_values(&redact_addresses(&redact_private_keys(text))))
}

/// Replaces PEM private keys, also those that are cut off at either end.
fn redact_private_keys(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("PRIVATE KEY") {
        let (before, after) = rest.split_at(at);
        let marker = before.rfind("-----").filter(|from| before.len() - from < 64);
        let Some(marker) = marker else {
            clean.push_str(before);
            clean.push_str("PRIVATE KEY");
            rest = &after["PRIVATE KEY".len()..];
            continue;
        };
        let is_end = before[marker..].starts_with("-----END");
        let from = if is_end { start_of_key(&before[..marker]) } else { marker };
        clean.push_str(&before[..from]);
        clean.push_str(HIDDEN);
        rest = if is_end { after_marker(after) } else { after_key(after) };
    }
    clean + rest
}

/// The start of a key whose first line was cut off.
fn start_of_key(text: &str) -> usize {
    let is_key_byte = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=\\ \r\n\t".contains(&byte);
    match text.bytes().rposition(|byte| !is_key_byte(byte)) {
        Some(outside) => text.ceil_char_boundary(outside + 1),
        None => 0,
    }
}

fn after_marker(text: &str) -> &str {
    let text = text.strip_prefix("PRIVATE KEY").unwrap_or(text);
    let text = text.strip_prefix(" BLOCK").unwrap_or(text);
    text.strip_prefix("-----").unwrap_or(text)
}

/// The text after a key. A key without its last line ends at the next quote, or at the end of the text.
fn after_key(text: &str) -> &str {
    let body = after_marker(text);
    let end = body.find("-----END").and_then(|at| Some((at, at + body[at..].find("PRIVATE KEY")?)));
    match end {
        Some((at, name)) if name - at < 64 => after_marker(&body[name..]),
        _ => &body[body.find('"').unwrap_or(body.len())..],
    }
}

/// Replaces user and password in `scheme://user:password@host`.
fn redact_addresses(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        clean.push_str(before);
        let end = after
            .find(|c: char| c.is_whitespace() || "/?#\"'`<>\\,;|(){}[]".contains(c))
            .unwrap_or(after.len());
        match after[..end].rfind('@') {
            Some(sign) => {
                clean.push_str(HIDDEN);
                rest = &after[sign..];
            }
            None => rest = after,
        }
    }
    clean + rest
}

/// Replaces values after a name that marks them as secret: `NAME=value`, `name: value`, `"name": "value"`.
fn redact_named_values(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['=', ':']) {
        let (before, after) = rest.split_at(at);
        let sign = &after[..1];
        let following = &after[1..];
        clean.push_str(before);
        clean.push_str(sign);
        rest = following;
        if is_secret_name(name_at_end(before))
            && let Some((lead, left)) = split_around_value(following, sign)
        {
            clean.push_str(lead);
            clean.push_str(HIDDEN);
            rest = left;
        }
    }
    clean + rest
}

/// The name at the end of a text, without quotes.
fn name_at_end(text: &str) -> &str {
    let text = text.trim_end_matches(['"', '\'', '\\', ' ', '`']);
    match text.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-')) {
        Some(before) => &text[text.ceil_char_boundary(before + 1)..],
        None => text,
    }
}

fn is_secret_name(name: &str) -> bool {
    let bare: String =
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    // Environment variables such as `…_KEY`; the word `key` alone may be anything.
    let is_variable = name.ends_with("_KEY") || name.ends_with("_PASS") || name.ends_with("_AUTH");
    is_variable || NAMES.iter().any(|secret| bare.ends_with(secret))
}

/// The text before a secret value and the text after it. Returns `None` if the value is not a secret.
fn split_around_value<'a>(text: &'a str, sign: &str) -> Option<(&'a str, &'a str)> {
    let start = text.find(|c: char| !" \t>\"'\\`".contains(c))?;
    let (lead, value) = text.split_at(start);
    let is_quoted = lead.contains(['"', '\'', '`']);
    let schemes = ["Bearer ", "bearer ", "Basic ", "basic ", "token "];
    let skipped = match schemes.iter().find(|scheme| value.starts_with(**scheme)) {
        Some(scheme) => scheme.len(),
        None => 0,
    };
    let ends: &[char] = &['"', '\'', '`', '\\', '\n', '\r', '&', ';', ',', ')', '}', ']', '<'];
    let is_end = |c: char| ends.contains(&c) || (!is_quoted && c.is_whitespace());
    let end = match value[skipped..].find(is_end) {
        Some(length) => skipped + length,
        None => value.len(),
    };
    let secret = &value[skipped..end];
    let is_long_enough = match sign {
        _ if secret == HIDDEN || secret.starts_with('$') => false,
        _ if is_quoted || skipped > 0 => secret.len() >= 3,
        "=" => secret.len() >= 3 && !secret.starts_with('='),
        _ => secret.len() >= 16 || (secret.len() >= 6 && secret.bytes().any(|byte| byte.is_ascii_digit())),
    };
    if is_long_enough { Some((&text[..start + skipped], &value[end..])) } else { None }
}

/// Replaces words with a prefix that only tokens have, and the word after `Bearer`.
fn redact_tokens(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let (mut rest, mut after_bearer) = (text, false);
    while let Some(start) = rest.find(is_word_char) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !is_word_char(c)).unwrap_or(from.len());
        let (word, left) = from.split_at(end);
        clean.push_str(before);
        // In JSON, a line break is written as a backslash and a letter.
        let is_escape = before.ends_with('\\') && word.starts_with(['n', 't', 'r']);
        let (escape, word) = word.split_at(usize::from(is_escape));
        clean.push_str(escape);
        // Exactly one blank separates the scheme and the credential.
        let is_credential = after_bearer && before == " " && word.len() >= 8;
        clean.push_str(if is_credential || is_token(word) { HIDDEN } else { word });
        after_bearer = word.eq_ignore_ascii_case("bearer") || word.eq_ignore_ascii_case("basic");
        rest = left;
    }
    clean + rest
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.+/=~".contains(c)
}

fn is_token(word: &str) -> bool {
    // A token may be the last part of a path or an assignment.
    let bare = word.rsplit(['/', '=']).next().unwrap_or(word);
    let has_token_form = |word: &str| {
        let has_prefix = PREFIXES.iter().any(|prefix| word.starts_with(*prefix));
        let is_long = word.len() >= MIN_TOKEN_LENGTH;
        has_prefix && is_long && (word.bytes().any(|byte| byte.is_ascii_digit()) || word.len() >= 24)
    };
    has_token_form(bare) || has_token_form(word)
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
