//! What is said between machines: one JSON object with who says it, to whom and when, a signature, and the content.
//!
//! The signature covers every field and the content byte for byte, so none of it can be used anywhere else: not for
//! another team, another machine, another key of a bucket, or as another kind of message.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::key::{MachineKey, PublicKey};
use crate::hex;
use crate::message::{Foreign, VERSION};

/// The last version without signatures.
const UNSIGNED_VERSION: u32 = 1;

/// What a signature is for: no other program signs bytes that begin like this.
const PURPOSE: &str = "overtone fleet message";

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    Order,
    Answer,
    Claim,
    /// A sign of life, which the server forgets soon.
    Pulse,
    /// What a machine says of itself, for as long as it is remembered.
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
            Self::Pulse => "pulse",
            Self::Machine => "machine",
            Self::State => "state",
            Self::Events => "events",
            Self::Handoff => "handoff",
            Self::Roster => "roster",
        }
    }
}

/// Everything but the content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    /// Empty for a machine that is part of no team yet.
    pub(crate) team: String,
    pub(crate) from: String,
    /// Where it belongs: the machine that an order is for, the key in a bucket, the end of a subject.
    pub(crate) to: String,
    pub(crate) id: String,
    /// When it was said, in milliseconds, by the clock of whoever says it.
    pub(crate) at: i64,
    /// For those who do not know the sender yet.
    pub(crate) key: Option<PublicKey>,
}

impl Header {
    /// What is signed. Every field has its length before it, so no two messages have the same bytes.
    fn canonical(&self, body: &str) -> Vec<u8> {
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
struct Wire<'a> {
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

/// A message whose signature was not looked at yet.
#[derive(Debug)]
pub(crate) struct Envelope<'a> {
    pub(crate) header: Header,
    signature: Vec<u8>,
    body: &'a RawValue,
}

/// Signs a content. `body` is JSON.
pub(crate) fn seal(header: &Header, body: &RawValue, key: &MachineKey) -> bytes::Bytes {
    let signature = key.sign(&header.canonical(body.get()));
    let wire = Wire {
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
    // Texts and numbers only, so this cannot fail; an empty message would be recognised as none.
    serde_json::to_vec(&wire).unwrap_or_default().into()
}

impl<'a> Envelope<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, Foreign> {
        match serde_json::from_slice::<Wire<'a>>(bytes) {
            Ok(wire) if wire.v == VERSION => Self::from_wire(wire),
            Ok(wire) => Err(of_version(wire.v)),
            Err(error) => Err(classify(bytes, &error)),
        }
    }

    fn from_wire(wire: Wire<'a>) -> Result<Self, Foreign> {
        let signature = hex::decode(&wire.sig).ok_or(Foreign::Forged)?;
        let Wire { kind, team, from, to, id, at, key, body, .. } = wire;
        Ok(Self { header: Header { kind, team, from, to, id, at, key }, signature, body })
    }

    pub(crate) fn is_signed_by(&self, key: &PublicKey) -> bool {
        key.verifies(&self.header.canonical(self.body.get()), &self.signature)
    }

    pub(crate) fn body<T: Deserialize<'a>>(&self) -> Result<T, Foreign> {
        serde_json::from_str(self.body.get()).map_err(|error| Foreign::Malformed(error.to_string()))
    }
}

fn of_version(version: u32) -> Foreign {
    match version {
        _ if version > VERSION => Foreign::Later(version),
        _ => Foreign::Unsigned,
    }
}

/// Why something is no envelope of ours.
fn classify(bytes: &[u8], error: &serde_json::Error) -> Foreign {
    #[derive(Deserialize)]
    struct Versioned {
        v: u32,
    }
    match serde_json::from_slice::<Versioned>(bytes) {
        Ok(Versioned { v }) if v > VERSION => Foreign::Later(v),
        Ok(Versioned { v: UNSIGNED_VERSION }) => Foreign::Unsigned,
        _ => Foreign::Malformed(error.to_string()),
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
    fn what_was_sealed_can_be_read_and_checked() {
        let key = MachineKey::temporary().unwrap();
        let bytes = sealed(&key).to_string();
        let envelope = Envelope::read(bytes.as_bytes()).unwrap();
        assert_eq!(envelope.header, header());
        assert!(envelope.is_signed_by(key.public()));
        assert!(!envelope.is_signed_by(MachineKey::temporary().unwrap().public()));
        assert_eq!(envelope.body::<Value>().unwrap()["text"], "hello");
    }

    #[test]
    fn whatever_is_changed_is_noticed() {
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
            assert!(!Envelope::read(bytes.as_bytes()).unwrap().is_signed_by(key.public()), "{bytes}");
        }
        // A boundary that moves from one field to the next is a change, too.
        let mut moved = sealed(&key);
        (moved["team"], moved["from"]) = (json!("ta"), json!(""));
        assert!(!Envelope::read(moved.to_string().as_bytes()).unwrap().is_signed_by(key.public()));
    }

    #[test]
    fn what_is_foreign_is_told_apart() {
        let read = |bytes: &[u8]| Envelope::read(bytes).unwrap_err();
        assert!(matches!(read(b"{"), Foreign::Malformed(_)));
        assert!(matches!(read(b"\xff\xfe"), Foreign::Malformed(_)));
        assert!(matches!(read(b"[]"), Foreign::Malformed(_)));
        assert!(matches!(read(br#"{"v":2,"id":"1"}"#), Foreign::Malformed(_)));
        assert_eq!(read(br#"{"v":1,"id":"1"}"#), Foreign::Unsigned);
        assert_eq!(read(br#"{"v":7,"all":"else"}"#), Foreign::Later(7));
        let mut torn = sealed(&MachineKey::temporary().unwrap());
        torn["sig"] = json!("?");
        assert_eq!(read(torn.to_string().as_bytes()), Foreign::Forged);
    }
}
