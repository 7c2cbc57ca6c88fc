//! ntfy: the text is the body, everything else is in headers.

use crate::remote::config::Ntfy;
use crate::remote::event::Event;
use crate::remote::outbox::OutgoingMessage;
use overtone_net::{Client, Response};

/// The longest encoded word that RFC 2047 allows, and the length of its delimiters.
const MAX_ENCODED_WORD: usize = 75;
const ENCODED_WORD_OVERHEAD: usize = "=?UTF-8?Q??=".len();

pub(super) fn send(ntfy: &Ntfy, client: &Client, message: &OutgoingMessage) -> Result<Response, String> {
    let (priority, tags) = priority_and_tag(Event::from_key(&message.event));
    let mut headers = vec![
        ("content-type", "text/plain; charset=utf-8".to_owned()),
        ("title", encode_header(&message.title)),
        ("priority", priority.to_owned()),
        ("tags", tags.to_owned()),
    ];
    if let Some(token) = &ntfy.token {
        headers.push(("authorization", format!("Bearer {}", token.reveal())));
    }
    let headers = headers.iter().map(|(name, value)| (*name, value.as_str()));
    client.post(&format!("{}/{}", ntfy.base, ntfy.topic), headers, message.text.as_bytes())
}

/// The priority (3 is the default) and the emoji tag of a message.
const fn priority_and_tag(event: Option<Event>) -> (&'static str, &'static str) {
    match event {
        Some(Event::Done) => ("3", "white_check_mark"),
        Some(Event::Aborted) => ("4", "no_entry"),
        Some(Event::NeedsAttention) => ("4", "raised_hand"),
        Some(Event::Supervisor) => ("4", "eyes"),
        Some(Event::Budget) => ("4", "moneybag"),
        None => ("3", "bell"),
    }
}

/// Headers are ASCII; other text is written as encoded words (RFC 2047).
fn encode_header(text: &str) -> String {
    if text.bytes().all(|b| b == b' ' || b.is_ascii_graphic()) {
        return text.to_owned();
    }
    let mut words = vec![String::new()];
    for c in text.chars() {
        let piece = quote(c);
        if let Some(word) = words.last()
            && word.len() + piece.len() > MAX_ENCODED_WORD - ENCODED_WORD_OVERHEAD
        {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push_str(&piece);
        }
    }
    words.iter().map(|word| format!("=?UTF-8?Q?{word}?=")).collect::<Vec<_>>().join(" ")
}

fn quote(c: char) -> String {
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
    fn titles_become_ascii_headers() {
        assert_eq!(encode_header("web: done"), "web: done");
        assert_eq!(encode_header("a 完"), "=?UTF-8?Q?a=20=E5=AE=8C?=");
        let long = encode_header(&"完".repeat(20));
        assert!(
            long.split(' ').count() > 1 && long.split(' ').all(|word| word.len() <= MAX_ENCODED_WORD),
            "{long}"
        );
        assert!(encode_header("a\nb").is_ascii() && !encode_header("a\nb").contains('\n'));
    }
}
