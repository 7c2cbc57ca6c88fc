//! The user's own webhook: JSON, signed together with the time so that a request can be neither changed nor replayed.

use std::fmt::Write;

use hmac::{Hmac, Mac};
use overtone_store::clock;
use sha2::Sha256;

use crate::remote::config::Webhook;
use crate::remote::outbox::OutgoingMessage;
use overtone_net::Secret;
use overtone_net::{Client, Response};

pub(super) fn send(
    webhook: &Webhook,
    client: &Client,
    message: &OutgoingMessage,
) -> Result<Response, String> {
    let body = message.fields.to_string();
    // Each attempt has its own time; the id stays the same.
    let time = (clock::now().0 / 1000).to_string();
    let headers = [
        ("content-type", "application/json".to_owned()),
        ("x-overtone-id", message.id.clone()),
        ("x-overtone-event", message.event.clone()),
        ("x-overtone-signature", format!("sha256={}", signature(&webhook.secret, &time, &body))),
        ("x-overtone-timestamp", time),
    ];
    let headers = headers.iter().map(|(name, value)| (*name, value.as_str()));
    client.post(&webhook.url, headers, body.as_bytes())
}

/// HMAC-SHA256 over `<time>.<body>`, in hexadecimal.
fn signature(secret: &Secret, time: &str, body: &str) -> String {
    // HMAC accepts keys of any length, so this never fails.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.reveal().as_bytes()) else {
        return String::new();
    };
    mac.update(time.as_bytes());
    mac.update(b".");
    mac.update(body.as_bytes());
    mac.finalize().into_bytes().iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected value: `printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac key`.
    #[test]
    fn the_signature_matches_openssl() {
        let secret = Secret::new("key").unwrap();
        let expected = "a438e398bfafc57e4396bb7fc2304422f0f768e965d073ca313cb52e22e6ad03";
        assert_eq!(signature(&secret, "1700000000", r#"{"a":1}"#), expected);
    }
}
