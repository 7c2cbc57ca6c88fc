//! The server's own words, made fit to be shown.

use serde_json::Value;

const HIDDEN: &str = "****";
/// Longer words are cut.
const LONGEST: usize = 160;
/// Where servers put their complaint, the usual place first.
const PLACES: [&str; 5] = ["/error/message", "/error", "/message", "/detail", "/msg"];

/// The complaint in a JSON body. A page of a web server says nothing that the status does not.
pub(crate) fn complaint(body: &[u8]) -> Option<String> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let text = PLACES.iter().find_map(|place| body.pointer(place)?.as_str())?;
    Some(text.to_owned()).filter(|text| !text.trim().is_empty())
}

/// On one short line and without secrets. Controls go first, so that they cannot hide one.
pub(crate) fn shown(text: &str, secrets: &[&str]) -> String {
    let printable: String = text.chars().filter(|c| !is_unprintable(*c)).collect();
    let hidden = secrets.iter().fold(printable, |text, secret| text.replace(secret, HIDDEN));
    let line = hidden.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Controls, and characters that only change how others are shown.
fn is_unprintable(c: char) -> bool {
    let is_mark =
        matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    is_mark || (c.is_control() && !c.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_found_where_servers_put_them() {
        for body in [
            r#"{"type":"error","error":{"type":"x","message":"no"}}"#,
            r#"{"error":"no"}"#,
            r#"{"message":"no","code":1}"#,
            r#"{"detail":"no"}"#,
        ] {
            assert_eq!(complaint(body.as_bytes()), Some("no".to_owned()), "{body}");
        }
        for body in ["<html>no</html>", "", "[]", r#"{"error":{"code":1}}"#] {
            assert_eq!(complaint(body.as_bytes()), None, "{body}");
        }
    }

    #[test]
    fn secrets_and_controls_are_not_shown() {
        let text = "bad\u{1b}[2J key\n\"sk-se\u{0}cret\u{200b}-1\"  given";
        assert_eq!(shown(text, &["sk-secret-1"]), "bad[2J key \"****\" given");
        let long = shown(&"词".repeat(500), &[]);
        assert_eq!((long.chars().count(), long.ends_with('…')), (LONGEST + 1, true));
    }
}
