//! The envelope of all messages: one JSON object with the sender, the receiver, the time, a signature and the content.
//!
//! The signature covers every field and the content byte for byte, so a message cannot be reused for another team,
//! another machine, another key of a bucket, or as another kind of message.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::key::{MachineKey, PublicKey};
use crate::hex;
use crate::message::{MessageError, VERSION};

/// The last version without signatures.
const UNSIGNED_VERSION: u32 = 1;

/// The beginning of all signed bytes. No other program signs bytes that begin like this.
const PURPOSE: &str = "overtone fleet message";

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    Order,
    Answer,
    Claim,
    /// Expires on the server within seconds.
    #[serde(rename = "pulse")]
    Heartbeat,
    /// The details of a machine, which are kept while it is offline.
    Machine,
    State,
    Events,
    Handoff,
    Roster,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Answer => "answer",
            Self::Claim => "claim",
            Self::Heartbeat => "pulse",
            Self::Machine => "machine",
            Self::State => "state",
            Self::Events => "events",
            Self::Handoff => "handoff",
            Self::Roster => "roster",
        }
    }
}

/// All fields except the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    /// Empty for a machine that is part of no team yet.
    pub(crate) team: String,
    pub(crate) from: String,
    /// The destination: the machine that an order is for, the key in a bucket, or the session of events.
    pub(crate) to: String,
    pub(crate) id: String,
    /// When it was signed, in milliseconds, by the clock of the sender.
    pub(crate) at: i64,
    /// The sender's key, for machines that do not know the sender yet.
    pub(crate) key: Option<PublicKey>,
}

impl Header {
    /// The bytes to sign. Every field is preceded by its length, so that no two messages have the same bytes.
    fn signed_bytes(&self, body: &str) -> Vec<u8> {
        let at = self.at.to_string();
        let version = VERSION.to_string();
        let key = self.key.clone().map(String::from).unwrap_or_default();
        let fields = [
            PURPOSE,
            &version,
            self.kind.name(),
            &self.team,
            &self.from,
            &self.to,
            &self.id,
            &at,
            &key,
            body,
        ];
        let mut bytes = Vec::with_capacity(body.len() + 256);
        for field in fields {
            bytes.extend((field.len() as u64).to_be_bytes());
            bytes.extend(field.as_bytes());
        }
        bytes
    }
}

#[derive(Serialize, Deserialize)]
struct WireEnvelope<'a> {
    v: u32,
    kind: Kind,
    #[serde(default)]
    team: String,
    from: String,
    to: String,
    #[serde(default)]
    id: String,
    at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<PublicKey>,
    sig: String,
    #[serde(borrow)]
    body: &'a RawValue,
}

/// A message whose signature is not verified yet.
#[derive(Debug)]
pub(crate) struct Envelope<'a> {
    pub(crate) header: Header,
    signature: Vec<u8>,
    body: &'a RawValue,
}

/// Signs a message. `body` is its content as JSON.
pub(crate) fn seal(header: &Header, body: &RawValue, key: &MachineKey) -> bytes::Bytes {
    let signature = key.sign(&header.signed_bytes(body.get()));
    let wire = WireEnvelope {
        v: VERSION,
        kind: header.kind,
        team: header.team.clone(),
        from: header.from.clone(),
        to: header.to.clone(),
        id: header.id.clone(),
        at: header.at,
        key: header.key.clone(),
        sig: hex::encode(&signature),
        body,
    };
    // Strings and numbers cannot fail to serialize. An empty message would be rejected by the receiver.
    serde_json::to_vec(&wire).unwrap_or_default().into()
}

impl<'a> Envelope<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Result<Self, MessageError> {
        match serde_json::from_slice::<WireEnvelope<'a>>(bytes) {
            Ok(wire) if wire.v == VERSION => Self::from_wire(wire),
            Ok(wire) => Err(version_error(wire.v)),
            Err(error) => Err(classify_unreadable(bytes, &error)),
        }
    }

    fn from_wire(wire: WireEnvelope<'a>) -> Result<Self, MessageError> {
        let signature = hex::decode(&wire.sig).ok_or(MessageError::Forged)?;
        let WireEnvelope { kind, team, from, to, id, at, key, body, .. } = wire;
        Ok(Self { header: Header { kind, team, from, to, id, at, key }, signature, body })
    }

    pub(crate) fn is_signed_by(&self, key: &PublicKey) -> bool {
        key.verifies(&self.header.signed_bytes(self.body.get()), &self.signature)
    }

    pub(crate) fn body<T: Deserialize<'a>>(&self) -> Result<T, MessageError> {
        serde_json::from_str(self.body.get()).map_err(|error| MessageError::Malformed(error.to_string()))
    }
}

fn version_error(version: u32) -> MessageError {
    if version > VERSION { MessageError::Later(version) } else { MessageError::Unsigned }
}

/// Why bytes that are not an envelope of this version cannot be read.
fn classify_unreadable(bytes: &[u8], error: &serde_json::Error) -> MessageError {
    #[derive(Deserialize)]
    struct Versioned {
        v: u32,
    }
    match serde_json::from_slice::<Versioned>(bytes) {
        Ok(Versioned { v }) if v > VERSION => MessageError::Later(v),
        Ok(Versioned { v: UNSIGNED_VERSION }) => MessageError::Unsigned,
        _ => MessageError::Malformed(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::to_raw_value;
    use serde_json::{Value, json};

    use super::*;

    fn header() -> Header {
        Header {
            kind: Kind::Order,
            team: "t".into(),
            from: "a".into(),
            to: "b".into(),
            id: "1".into(),
            at: 7,
            key: None,
        }
    }

    fn sealed(key: &MachineKey) -> Value {
        let body = to_raw_value(&json!({ "text": "hello" })).unwrap();
        serde_json::from_slice(&seal(&header(), &body, key)).unwrap()
    }

    #[test]
    fn a_sealed_message_is_parsed_and_verified() {
        let key = MachineKey::temporary().unwrap();
        let bytes = sealed(&key).to_string();
        let envelope = Envelope::parse(bytes.as_bytes()).unwrap();
        assert_eq!(envelope.header, header());
        assert!(envelope.is_signed_by(key.public()));
        assert!(!envelope.is_signed_by(MachineKey::temporary().unwrap().public()));
        assert_eq!(envelope.body::<Value>().unwrap()["text"], "hello");
    }

    #[test]
    fn a_change_of_any_field_invalidates_the_signature() {
        let key = MachineKey::temporary().unwrap();
        for (field, other) in [
            ("kind", json!("answer")),
            ("team", json!("u")),
            ("from", json!("c")),
            ("to", json!("c")),
            ("id", json!("2")),
            ("at", json!(8)),
            ("key", json!(String::from(key.public().clone()))),
            ("body", json!({ "text": "hellp" })),
            ("body", json!({ "text" : "hello", "more": 1 })),
        ] {
            let mut changed = sealed(&key);
            changed[field] = other;
            let bytes = changed.to_string();
            assert!(!Envelope::parse(bytes.as_bytes()).unwrap().is_signed_by(key.public()), "{bytes}");
        }
        // Moving a boundary between two fields invalidates it as well.
        let mut moved = sealed(&key);
        (moved["team"], moved["from"]) = (json!("ta"), json!(""));
        assert!(!Envelope::parse(moved.to_string().as_bytes()).unwrap().is_signed_by(key.public()));
    }

    #[test]
    fn unreadable_messages_are_classified() {
        let read = |bytes: &[u8]| Envelope::parse(bytes).unwrap_err();
        assert!(matches!(read(b"{"), MessageError::Malformed(_)));
        assert!(matches!(read(b"\xff\xfe"), MessageError::Malformed(_)));
        assert!(matches!(read(b"[]"), MessageError::Malformed(_)));
        assert!(matches!(read(br#"{"v":2,"id":"1"}"#), MessageError::Malformed(_)));
        assert_eq!(read(br#"{"v":1,"id":"1"}"#), MessageError::Unsigned);
        assert_eq!(read(br#"{"v":7,"all":"else"}"#), MessageError::Later(7));
        let mut torn = sealed(&MachineKey::temporary().unwrap());
        torn["sig"] = json!("?");
        assert_eq!(read(torn.to_string().as_bytes()), MessageError::Forged);
    }
}
