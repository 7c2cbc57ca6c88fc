//! What is said between machines. Everything travels in a signed envelope ([`crate::trust`]), which carries the version:
//! what a later one says is left alone, not guessed at.

use overtone_store::clock;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::machine::Machine;
use crate::trust::Proof;

/// The version of all that is said here. The first one had no signatures.
pub const VERSION: u32 = 2;

/// Why something that was heard is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Foreign {
    /// No message of ours.
    Malformed(String),
    /// From a later version than this one.
    Later(u32),
    /// From a version without signatures.
    Unsigned,
    /// Signed by a machine that is not part of the team.
    Unknown { from: String },
    /// The signature is not that of the sender.
    Forged,
}

impl Foreign {
    /// Whether the sender is somebody whom this machine does not know, rather than something that it cannot read.
    pub const fn is_stranger(&self) -> bool {
        matches!(self, Self::Unsigned | Self::Unknown { .. } | Self::Forged)
    }
}

/// Lines of a timeline that follow one another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Counts up when a timeline has begun anew.
    #[serde(default)]
    pub generation: u32,
    /// Where the first line begins and the last one ends in the file.
    pub offset: u64,
    pub end: u64,
    pub lines: Vec<String>,
}

/// A session as it is now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionState {
    pub machine: String,
    pub machine_name: String,
    pub session: String,
    /// The state files by name, as far as they are shared.
    pub files: Map<String, Value>,
    /// What lists show of it: stages, loop, supervisor.
    #[serde(default)]
    pub summary: Value,
    /// Which repository it works in, so that clones on different machines are the same one.
    #[serde(default)]
    pub repository: Option<String>,
    #[serde(default)]
    pub feature: Option<String>,
    /// The names of the agents' messages.
    #[serde(default)]
    pub handoffs: Vec<String>,
    /// How far its timeline has got.
    #[serde(default)]
    pub timeline_bytes: u64,
    /// Whether texts are in it, or were left at home.
    #[serde(default)]
    pub is_full: bool,
}

/// A machine as it was when it last spoke.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineInfo {
    pub machine: String,
    pub name: String,
    pub version: String,
    /// Tells a restart from a second machine with the same number.
    pub instance: String,
    #[serde(default)]
    pub load: f64,
    #[serde(default)]
    pub processors: usize,
    #[serde(default)]
    pub sessions: usize,
    /// By the machine's own clock, which may be wrong.
    #[serde(default)]
    pub at: String,
    /// While it waits to be accepted: how it was invited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) invited: Option<Proof>,
}

impl MachineInfo {
    pub fn new(machine: &Machine, version: &str, instance: &str) -> Self {
        Self {
            machine: machine.id.clone(),
            name: machine.name.clone(),
            version: version.to_owned(),
            instance: instance.to_owned(),
            load: 0.0,
            processors: 0,
            sessions: 0,
            at: clock::to_iso(clock::now()),
            invited: None,
        }
    }
}

/// Who a session or a feature belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub machine: String,
    pub name: String,
    /// The session that works on a feature.
    #[serde(default)]
    pub session: Option<String>,
    /// Who had it before, when it was taken over.
    #[serde(default)]
    pub taken_from: Option<String>,
    #[serde(default)]
    pub at: String,
    /// Counts up with every change of hands, so that an earlier claim that is put there again is recognised.
    #[serde(default)]
    pub epoch: u64,
}

/// The text of an agent for the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Handoff {
    pub(crate) text: String,
}

/// What is to be done to a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do")]
pub enum Deed {
    Stop,
    Resume,
    Pause,
    Message {
        text: String,
    },
    /// Let the machine that sends this go on with it.
    HandOver,
    /// Only answer: the way there and back.
    Ping,
}

impl Deed {
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Resume => "resume",
            Self::Pause => "pause",
            Self::Message { .. } => "message",
            Self::HandOver => "hand-over",
            Self::Ping => "ping",
        }
    }
}

/// Its number is that of the envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Empty for the machine itself.
    pub session: String,
    pub deed: Deed,
    /// Who sends it, as people on the sender's machine know them.
    #[serde(default)]
    pub user: String,
}

/// Has the number of the order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub ok: bool,
    /// Why not.
    #[serde(default)]
    pub reason: Option<String>,
    /// What was handed over, so that nothing else is taken for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handed: Option<Handed>,
}

/// A session at the moment when its machine let go of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handed {
    /// Its state on the server is from this time or later, by the clock of that machine.
    pub at: i64,
    /// How far its timeline is.
    pub generation: u32,
    pub end: u64,
}

/// Whether a text can be the number of an order: it becomes part of subjects, headers and timelines.
pub fn is_order_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (8..=64).contains(&text.len()) && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_number_of_an_order_is_short_and_plain() {
        assert!(is_order_id("0123456789abcdef") && is_order_id("a-b_C123"));
        for wrong in ["", "short", "a\nb45678", "a b45678", "a.b45678", "äbcdefgh", &"x".repeat(65)] {
            assert!(!is_order_id(wrong), "{wrong}");
        }
    }

    #[test]
    fn fields_of_later_versions_do_not_disturb() {
        let value = json!({ "offset": 0, "end": 3, "lines": ["{}"], "new": { "x": 1 } });
        assert_eq!(serde_json::from_value::<Batch>(value).unwrap().lines, ["{}"]);
    }
}
