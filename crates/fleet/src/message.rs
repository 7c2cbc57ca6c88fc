//! What is said between machines, as JSON. Everything carries its version: what a later one says is left alone, not
//! guessed at.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of all that is said here.
pub const VERSION: u32 = 1;

/// Why something that was heard is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Foreign {
    /// No message of ours.
    Malformed(String),
    /// From a later version than this one.
    Later(u32),
}

/// Reads what another machine said.
pub fn read<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<T, Foreign> {
    #[derive(Deserialize)]
    struct Versioned {
        v: u32,
    }
    let malformed = |error: serde_json::Error| Foreign::Malformed(error.to_string());
    let Versioned { v } = serde_json::from_slice(bytes).map_err(malformed)?;
    if v > VERSION {
        return Err(Foreign::Later(v));
    }
    serde_json::from_slice(bytes).map_err(malformed)
}

/// What is said, as bytes.
pub fn write<T: Serialize>(message: &T) -> bytes::Bytes {
    // Our own types have texts for keys and no endless numbers, so this cannot fail; an empty message would be
    // recognised as none.
    serde_json::to_vec(message).unwrap_or_default().into()
}

/// Lines of a timeline that follow one another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    pub v: u32,
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
    pub v: u32,
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
    pub v: u32,
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
}

/// Who a session or a feature belongs to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    pub v: u32,
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
    /// Let another machine go on with it.
    HandOver {
        to: String,
        to_name: String,
    },
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
            Self::HandOver { .. } => "hand-over",
            Self::Ping => "ping",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    pub v: u32,
    pub id: String,
    /// Empty for the machine itself.
    pub session: String,
    pub deed: Deed,
    /// Who sends it, as people know them.
    pub by: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub v: u32,
    pub id: String,
    pub ok: bool,
    /// Why not.
    #[serde(default)]
    pub reason: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let order = Order {
            v: VERSION,
            id: "1".into(),
            session: "s".into(),
            deed: Deed::Message { text: "hello".into() },
            by: "me".into(),
        };
        assert_eq!(read::<Order>(&write(&order)), Ok(order));
    }

    #[test]
    fn what_is_foreign_is_told_apart() {
        assert!(matches!(read::<Order>(b"{"), Err(Foreign::Malformed(_))));
        assert!(matches!(read::<Order>(b"[]"), Err(Foreign::Malformed(_))));
        assert!(matches!(read::<Order>(br#"{"v":1,"id":"1"}"#), Err(Foreign::Malformed(_))));
        assert_eq!(read::<Order>(br#"{"v":7,"all":"else"}"#), Err(Foreign::Later(7)));
    }

    #[test]
    fn fields_of_later_versions_do_not_disturb() {
        let value = json!({ "v": 1, "offset": 0, "end": 3, "lines": ["{}"], "new": { "x": 1 } });
        assert_eq!(read::<Batch>(value.to_string().as_bytes()).unwrap().lines, ["{}"]);
    }
}
