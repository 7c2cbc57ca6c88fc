//! The messages between machines. Each is sent in a signed envelope ([`crate::trust`]), which carries the version.
//! Messages of later versions are ignored.

use overtone_session::control::ControlCommand;
use overtone_store::clock;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::machine::Machine;
use crate::trust::InvitationProof;

/// The version of the messages. Version 1 had no signatures.
pub const VERSION: u32 = 2;

/// Why a received message is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageError {
    /// Not a message of the fleet, or stored in the wrong place.
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

impl MessageError {
    /// Whether the message is readable, but its sender is not a trusted machine of the team.
    pub const fn is_untrusted(&self) -> bool {
        matches!(self, Self::Unsigned | Self::Unknown { .. } | Self::Forged)
    }
}

/// Consecutive lines of a timeline.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    /// Increases when the timeline is replaced by a new one.
    #[serde(default)]
    pub generation: u32,
    /// The offset of the first line, and the end of the last one, in the file.
    pub offset: u64,
    pub end: u64,
    pub lines: Vec<String>,
}

/// The current state of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionState {
    pub machine: String,
    pub machine_name: String,
    pub session: String,
    /// The state files by name, as far as they are shared.
    pub files: Map<String, Value>,
    /// What lists show: stages, loop, supervisor.
    #[serde(default)]
    pub summary: Value,
    /// The repository of its project. Clones on different machines have the same one.
    #[serde(default)]
    pub repository: Option<String>,
    #[serde(default)]
    pub feature: Option<String>,
    /// The file names of the handoffs between its agents.
    #[serde(default)]
    pub handoffs: Vec<String>,
    /// How many bytes of its timeline are published.
    #[serde(default)]
    pub timeline_bytes: u64,
    /// Whether texts are included ([`Share::Full`](crate::Share::Full)).
    #[serde(default)]
    pub is_full: bool,
}

/// A machine in the state of a session.
#[derive(Debug, Serialize)]
pub(crate) struct MachineRef<'a> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
}

/// A machine, as of its last message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MachineInfo {
    pub machine: String,
    pub name: String,
    pub version: String,
    /// Random for each start. It distinguishes a restart from a second machine with the same id.
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
    /// The proof of its invitation, while it waits to be accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) invited: Option<InvitationProof>,
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

/// The machine that owns a session, or that works on a feature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    pub machine: String,
    pub name: String,
    /// The session that works on a feature.
    #[serde(default)]
    pub session: Option<String>,
    /// The previous owner, if it was taken over or handed over.
    #[serde(default)]
    pub taken_from: Option<String>,
    #[serde(default)]
    pub at: String,
    /// Increases with every change of owner, so that an old claim that somebody stores again is recognised.
    #[serde(default)]
    pub epoch: u64,
}

/// The text that an agent leaves for the next one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Handoff {
    pub(crate) text: String,
}

/// What an order does to a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "do")]
pub enum OrderCommand {
    Stop,
    Resume,
    Pause,
    Message {
        text: String,
    },
    /// Hand the session over to the machine that sends the order.
    HandOver,
    /// Only answer. Tests the connection in both directions.
    Ping,
}

impl OrderCommand {
    /// The order that executes a command on another machine. A hand-over to a named machine cannot be ordered: the
    /// session always goes to the sender of the order.
    pub fn from_control(command: &ControlCommand) -> Option<Self> {
        match command {
            ControlCommand::Stop => Some(Self::Stop),
            ControlCommand::Resume => Some(Self::Resume),
            ControlCommand::Pause => Some(Self::Pause),
            ControlCommand::Message { text } => Some(Self::Message { text: text.clone() }),
            // The budget is raised on the machine on which the session runs.
            ControlCommand::HandOver { .. } | ControlCommand::RaiseBudget { .. } => None,
        }
    }

    /// The command for a session of this machine; `by` is the sender. `None` if there is nothing to execute.
    pub(crate) fn to_control(&self, by: &str) -> Option<ControlCommand> {
        match self {
            Self::Stop => Some(ControlCommand::Stop),
            Self::Resume => Some(ControlCommand::Resume),
            Self::Pause => Some(ControlCommand::Pause),
            Self::Message { text } => Some(ControlCommand::Message { text: text.clone() }),
            Self::HandOver => Some(ControlCommand::HandOver { to: by.to_owned() }),
            Self::Ping => None,
        }
    }

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

/// An order to another machine. Its id is the one of the envelope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Empty for the machine itself.
    pub session: String,
    /// The name of the field dates from the first version.
    #[serde(rename = "deed")]
    pub command: OrderCommand,
    /// The user name of the sender on its machine.
    #[serde(default)]
    pub user: String,
}

/// The answer to an order. The envelope has the id of the order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    pub ok: bool,
    /// Why the order was refused.
    #[serde(default)]
    pub reason: Option<String>,
    /// What was handed over, so that the receiver notices if the server has something else.
    #[serde(rename = "handed", default, skip_serializing_if = "Option::is_none")]
    pub handover: Option<Handover>,
}

/// The state of a session at the moment when its machine handed it over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Handover {
    /// Its state on the server was signed at this time or later, by the clock of that machine.
    pub at: i64,
    /// The end of its published timeline.
    pub generation: u32,
    pub end: u64,
}

/// Whether a text is a valid order id. It becomes part of subjects, headers and timelines.
pub fn is_order_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (8..=64).contains(&text.len()) && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_order_id_is_short_and_alphanumeric() {
        assert!(is_order_id("0123456789abcdef") && is_order_id("a-b_C123"));
        for wrong in ["", "short", "a\nb45678", "a b45678", "a.b45678", "äbcdefgh", &"x".repeat(65)] {
            assert!(!is_order_id(wrong), "{wrong}");
        }
    }

    #[test]
    fn unknown_fields_are_ignored() {
        let value = json!({ "offset": 0, "end": 3, "lines": ["{}"], "new": { "x": 1 } });
        assert_eq!(serde_json::from_value::<Batch>(value).unwrap().lines, ["{}"]);
    }
}
