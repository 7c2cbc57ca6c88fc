//! A webhook of the user's own: JSON, signed together with the time, so that neither can be changed or used again.

use std::fmt::Write;

use hmac::{Hmac, Mac};
use overtone_store::clock;
use sha2::Sha256;

use crate::config::Webhook;
use crate::http::{Answer, Client};
use crate::ledger::Entry;
use crate::secret::Secret;

pub(super) fn send(webhook: &Webhook, client: &Client, entry: &Entry) -> Result<Answer, String> {
    let body = entry.fields.to_string();
    // Every attempt has its own time, but always the same id.
    let time = (clock::now().0 / 1000).to_string();
    let headers = [
        ("content-type", "application/json".to_owned()),
        ("x-overtone-id", entry.id.clone()),
        ("x-overtone-event", entry.event.clone()),
        ("x-overtone-signature", format!("sha256={}", signature(&webhook.secret, &time, &body))),
        ("x-overtone-timestamp", time),
    ];
    client.post(&webhook.url, &headers, &body)
}

/// HMAC-SHA256 over `<time>.<body>`, in hexadecimal.
fn signature(secret: &Secret, time: &str, body: &str) -> String {
    // A key of any length is taken.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes()) else {
        return String::new();
    };
    mac.update(time.as_bytes());
    mac.update(b".");
    mac.update(body.as_bytes());
    mac.finalize().into_bytes().iter().fold(String::new(), |mut text, byte| {
        // Writing into a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac key` says.
    #[test]
    fn the_signature_is_the_one_that_others_compute() {
        let secret = Secret::new("key").unwrap();
        let wanted = "a438e398bfafc57e4396bb7fc2304422f0f768e965d073ca313cb52e22e6ad03";
        assert_eq!(signature(&secret, "1700000000", r#"{"a":1}"#), wanted);
    }
}
