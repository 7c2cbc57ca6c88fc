//! ntfy: the text is the body, the rest is in headers.

use crate::config::Ntfy;
use crate::event::Event;
use crate::http::{Answer, Client};
use crate::ledger::Entry;

/// The longest word that RFC 2047 allows, and what is around its content.
const MAX_WORD: usize = 75;
const AROUND: usize = "=?UTF-8?Q??=".len();

pub(super) fn send(ntfy: &Ntfy, client: &Client, entry: &Entry) -> Result<Answer, String> {
    let (priority, tags) = rank(Event::from_key(&entry.event));
    let mut headers = vec![
        ("content-type", "text/plain; charset=utf-8".to_owned()),
        ("title", encoded(&entry.title)),
        ("priority", priority.to_owned()),
        ("tags", tags.to_owned()),
    ];
    headers.extend(ntfy.token.iter().map(|token| ("authorization", format!("Bearer {}", token.reveal()))));
    client.post(&format!("{}/{}", ntfy.base, ntfy.topic), &headers, &entry.text)
}

/// How much it matters (3 is ordinary), and the sign in front of it.
const fn rank(event: Option<Event>) -> (&'static str, &'static str) {
    match event {
        Some(Event::Done) => ("3", "white_check_mark"),
        Some(Event::Aborted) => ("4", "no_entry"),
        Some(Event::NeedsPerson) => ("4", "raised_hand"),
        Some(Event::Supervisor) => ("4", "eyes"),
        Some(Event::Budget) => ("4", "moneybag"),
        None => ("3", "bell"),
    }
}

/// A header is ASCII; other text is put into encoded words.
fn encoded(text: &str) -> String {
    if text.bytes().all(|b| b == b' ' || b.is_ascii_graphic()) {
        return text.to_owned();
    }
    let mut words = vec![String::new()];
    for c in text.chars() {
        let piece = quoted(c);
        if words.last().is_some_and(|word| word.len() + piece.len() > MAX_WORD - AROUND) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push_str(&piece);
        }
    }
    words.iter().map(|word| format!("=?UTF-8?Q?{word}?=")).collect::<Vec<_>>().join(" ")
}

fn quoted(c: char) -> String {
    if c.is_ascii_alphanumeric() {
        return c.to_string();
    }
    let mut bytes = [0; 4];
    c.encode_utf8(&mut bytes).bytes().fold(String::new(), |text, byte| text + &format!("={byte:02X}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_headers() {
        assert_eq!(encoded("web: done"), "web: done");
        assert_eq!(encoded("a 完"), "=?UTF-8?Q?a=20=E5=AE=8C?=");
        let long = encoded(&"完".repeat(20));
        assert!(long.split(' ').count() > 1 && long.split(' ').all(|word| word.len() <= MAX_WORD), "{long}");
        assert!(encoded("a\nb").is_ascii() && !encoded("a\nb").contains('\n'));
    }
}
