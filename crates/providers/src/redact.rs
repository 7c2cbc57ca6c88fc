//! Takes secrets out of text that is written down, shown, or passed on: checks, reviews, and what servers answer.
//!
//! Only what is certainly a secret goes: keys in PEM, passwords in addresses, values behind a name that says so, and
//! words with a prefix that only tokens have. A line of JSON stays one: a secret never reaches beyond its quotes.

/// What stands in the place of a secret.
const HIDDEN: &str = "***";

/// Prefixes that only tokens have, the longer one of two first.
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
/// A word with such a prefix and fewer characters is an example or a name.
const SHORTEST_TOKEN: usize = 12;

/// Ends of names whose value is a secret, in lowercase and without separators.
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

/// The text without secrets.
pub fn redact(text: &str) -> String {
    tokens(&pairs(&addresses(&keys(text))))
}

/// Private keys, from the first line to the last; what is cut off at either end counts as well.
fn keys(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("PRIVATE KEY") {
        let (before, after) = rest.split_at(at);
        let line = before.rfind("-----").filter(|from| before.len() - from < 64);
        let Some(marker) = line else {
            clean.push_str(before);
            clean.push_str("PRIVATE KEY");
            rest = &after["PRIVATE KEY".len()..];
            continue;
        };
        let is_end = before[marker..].starts_with("-----END");
        let from = if is_end { beginning_of_key(&before[..marker]) } else { marker };
        clean.push_str(&before[..from]);
        clean.push_str(HIDDEN);
        rest = if is_end { after_marker(after) } else { after_key(after) };
    }
    clean + rest
}

/// Where the lines of a key begin whose first line was cut off.
fn beginning_of_key(text: &str) -> usize {
    let is_of_key = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=\\ \r\n\t".contains(&byte);
    let outside = text.bytes().rposition(|byte| !is_of_key(byte));
    outside.map_or(0, |at| text.ceil_char_boundary(at + 1))
}

fn after_marker(text: &str) -> &str {
    let text = text.strip_prefix("PRIVATE KEY").unwrap_or(text);
    let text = text.strip_prefix(" BLOCK").unwrap_or(text);
    text.strip_prefix("-----").unwrap_or(text)
}

/// What follows a key. Without its last line it reaches to the quote around it, or to the end.
fn after_key(text: &str) -> &str {
    let body = after_marker(text);
    let end = body.find("-----END").and_then(|at| Some((at, at + body[at..].find("PRIVATE KEY")?)));
    match end {
        Some((at, name)) if name - at < 64 => after_marker(&body[name..]),
        _ => body.find('"').map_or("", |quote| &body[quote..]),
    }
}

/// `scheme://user:password@host` without the user and the password.
fn addresses(text: &str) -> String {
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

/// Values behind a name that says what they are: `NAME=value`, `name: value`, `"name": "value"`.
fn pairs(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['=', ':']) {
        let (before, after) = rest.split_at(at);
        let sign = &after[..1];
        let behind = &after[1..];
        clean.push_str(before);
        clean.push_str(sign);
        rest = behind;
        if is_secret_name(name_at_end(before))
            && let Some((lead, left)) = around_value(behind, sign)
        {
            clean.push_str(lead);
            clean.push_str(HIDDEN);
            rest = left;
        }
    }
    clean + rest
}

/// The name that a text ends with, without the quotes around it.
fn name_at_end(text: &str) -> &str {
    let text = text.trim_end_matches(['"', '\'', '\\', ' ', '`']);
    let start = text.rfind(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-'));
    start.map_or(text, |at| &text[text.ceil_char_boundary(at + 1)..])
}

fn is_secret_name(name: &str) -> bool {
    let bare: String =
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    // `…_KEY` of an environment; a `key` alone is anything.
    let is_variable = name.ends_with("_KEY") || name.ends_with("_PASS") || name.ends_with("_AUTH");
    is_variable || NAMES.iter().any(|secret| bare.ends_with(secret))
}

/// What comes before the value and what is left behind it; nothing if it is no secret.
fn around_value<'a>(text: &'a str, sign: &str) -> Option<(&'a str, &'a str)> {
    let start = text.find(|c: char| !" \t>\"'\\`".contains(c))?;
    let (lead, value) = text.split_at(start);
    let is_quoted = lead.contains(['"', '\'', '`']);
    let scheme = ["Bearer ", "bearer ", "Basic ", "basic ", "token "]
        .iter()
        .find(|scheme| value.starts_with(**scheme));
    let skipped = scheme.map_or(0, |scheme| scheme.len());
    let ends: &[char] = &['"', '\'', '`', '\\', '\n', '\r', '&', ';', ',', ')', '}', ']', '<'];
    let is_end = |c: char| ends.contains(&c) || (!is_quoted && c.is_whitespace());
    let end = value[skipped..].find(is_end).map_or(value.len(), |end| end + skipped);
    let secret = &value[skipped..end];
    let enough = match sign {
        _ if secret == HIDDEN || secret.starts_with('$') => false,
        _ if is_quoted || skipped > 0 => secret.len() >= 3,
        "=" => secret.len() >= 3 && !secret.starts_with('='),
        _ => secret.len() >= 16 || (secret.len() >= 6 && secret.bytes().any(|byte| byte.is_ascii_digit())),
    };
    enough.then(|| (&text[..start + skipped], &value[end..]))
}

/// Words with a prefix that only tokens have, and what follows `Bearer`.
fn tokens(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let (mut rest, mut after_bearer) = (text, false);
    while let Some(start) = rest.find(is_of_word) {
        let (before, from) = rest.split_at(start);
        let end = from.find(|c: char| !is_of_word(c)).unwrap_or(from.len());
        let (word, left) = from.split_at(end);
        clean.push_str(before);
        // In JSON a line break is a backslash and a letter.
        let is_escape = before.ends_with('\\') && word.starts_with(['n', 't', 'r']);
        let (escape, word) = word.split_at(usize::from(is_escape));
        clean.push_str(escape);
        // Only a blank stands between the two.
        let is_credential = after_bearer && before == " " && word.len() >= 8;
        clean.push_str(if is_credential || is_token(word) { HIDDEN } else { word });
        after_bearer = word.eq_ignore_ascii_case("bearer") || word.eq_ignore_ascii_case("basic");
        rest = left;
    }
    clean + rest
}

fn is_of_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-.+/=~".contains(c)
}

fn is_token(word: &str) -> bool {
    // A path or an assignment ends with the token.
    let bare = word.rsplit(['/', '=']).next().unwrap_or(word);
    let has = |word: &str| {
        let prefix = PREFIXES.iter().find(|prefix| word.starts_with(**prefix));
        let is_long = word.len() >= SHORTEST_TOKEN;
        prefix.is_some() && is_long && (word.bytes().any(|byte| byte.is_ascii_digit()) || word.len() >= 24)
    };
    has(bare) || has(word)
}

#[cfg(test)]
#[path = "redact_tests.rs"]
mod tests;
