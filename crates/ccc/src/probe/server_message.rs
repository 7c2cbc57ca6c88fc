//! Extracts a server's error message and makes it safe to show.

use serde_json::Value;

const HIDDEN: &str = "****";
/// Longer messages are cut.
const MAX_CHARS: usize = 160;
/// JSON pointers to the error message, the most common one first.
const MESSAGE_POINTERS: [&str; 5] = ["/error/message", "/error", "/message", "/detail", "/msg"];

/// The error message in a JSON body. An HTML page is ignored: it contains no more than the status does.
pub(crate) fn error_message(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let text = MESSAGE_POINTERS.iter().find_map(|pointer| body.pointer(pointer)?.as_str())?;
    if text.trim().is_empty() { None } else { Some(text.to_owned()) }
}

/// The text on one short line and without secrets. Control characters are removed first, since they could split a
/// secret.
pub(crate) fn sanitize(text: &str, secrets: &[&str]) -> String {
    let printable: String = text.chars().filter(|c| !is_unprintable(*c)).collect();
    let redacted = secrets.iter().fold(printable, |text, secret| text.replace(secret, HIDDEN));
    let line = redacted.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Whether the character is a control character or only affects how others are displayed.
fn is_unprintable(c: char) -> bool {
    let is_mark =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    is_mark || (c.is_control() && !c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_messages_are_found_in_every_common_form() {
        for body in [
            r#"{"type":"error","error":{"type":"x","message":"no"}}"#,
            r#"{"error":"no"}"#,
            r#"{"message":"no","code":1}"#,
            r#"{"detail":"no"}"#,
        ] {
            assert_eq!(error_message(body.as_bytes()), Some("no".to_owned()), "{body}");
        }
        for body in ["<html>no</html>", "", "[]", r#"{"error":{"code":1}}"#] {
            assert_eq!(error_message(body.as_bytes()), None, "{body}");
        }
    }

    #[test]
    fn secrets_and_control_characters_are_removed() {
        let text = "bad\u{1b}[2J key\n\"sk-se\u{0}cret\u{200b}-1\"  given";
        assert_eq!(sanitize(text, &["sk-secret-1"]), "bad[2J key \"****\" given");
        let long = sanitize(&"词".repeat(500), &[]);
        assert_eq!((long.chars().count(), long.ends_with('…')), (MAX_CHARS + 1, true));
    }
}
