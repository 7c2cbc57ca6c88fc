//! What the engine returns: a reply for the client, and effects as data.

use crate::registry::{EventKind, StageKey, WarningReason};

use crate::engine::instinct::Observation;
use crate::engine::settings::Settings;
use crate::engine::state::{LoopState, WorkflowState};

/// The reply, and the effects that the driver has to carry out.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    pub reply: Reply,
    pub effects: Vec<Effect>,
}

/// The reply to the client. The wire format decides how each field is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    /// The specification's `result` text.
    pub result: String,
    /// For the user.
    pub system_message: Option<String>,
    /// For the model.
    pub model_context: Option<String>,
    pub permission: Option<Permission>,
    /// Ends the turn of the agent that made the call. It is shown to the user as the reason.
    pub end_turn: Option<String>,
    /// Keeps the session going for clients where `model_context` does not.
    pub block: Option<String>,
}

/// The decision on a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    Allow {
        reason: Option<String>,
        patch: Option<InputPatch>,
    },
    Deny {
        reason: String,
    },
    /// The client asks the user.
    Ask {
        reason: String,
    },
}

/// Changes to the Agent tool's input; every other field stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputPatch {
    pub prompt: String,
    pub foreground: bool,
}

/// Something that the driver has to do.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "a decision has a handful of them, and most put a workflow")]
pub enum Effect {
    PutWorkflow(WorkflowState),
    PutLoop(LoopState),
    Emit(Record),
    Observe(Observation),
    SaveHandoff(Handoff),
    TickStage { feature: String, key: StageKey },
    ArchiveFeature { feature: String },
    CountCompaction { automatic: bool, completed_stages: Option<u32> },
    PointCurrentSession,
    ClearCurrentSession,
    ExportSession,
}

/// An agent's last message, kept for the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handoff {
    pub file: String,
    pub text: String,
    /// The file exists, and the text is appended to it.
    pub appends: bool,
}

/// One timeline event without its time stamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub kind: EventKind,
    pub fields: Vec<(&'static str, FieldValue)>,
}

/// A value in a [`Record`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    Text(String),
    Number(i64),
    List(Vec<String>),
    /// Objects, each with its fields in order.
    Objects(Vec<Vec<(&'static str, FieldValue)>>),
    Nothing,
}

impl From<&str> for FieldValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for FieldValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<StageKey> for FieldValue {
    fn from(key: StageKey) -> Self {
        Self::Text(key.to_string())
    }
}

impl From<WarningReason> for FieldValue {
    fn from(reason: WarningReason) -> Self {
        Self::Text(reason.name().to_owned())
    }
}

impl From<i64> for FieldValue {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for FieldValue {
    fn from(number: u32) -> Self {
        Self::Number(i64::from(number))
    }
}

impl From<Vec<String>> for FieldValue {
    fn from(list: Vec<String>) -> Self {
        Self::List(list)
    }
}

impl<T: Into<Self>> From<Option<T>> for FieldValue {
    fn from(value: Option<T>) -> Self {
        match value {
            Some(value) => value.into(),
            None => Self::Nothing,
        }
    }
}

impl Record {
    pub fn new(kind: EventKind) -> Self {
        Self { kind, fields: Vec::new() }
    }

    /// A warning that begins with its reason.
    pub fn warning(reason: WarningReason) -> Self {
        Self::new(EventKind::SystemWarning).with("reason", reason)
    }

    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<FieldValue>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// With the field if there is a value.
    #[must_use]
    pub(crate) fn with_some(self, name: &'static str, value: Option<impl Into<FieldValue>>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// With the limits that were in force, if the user has changed them.
    #[must_use]
    pub(crate) fn under(self, settings: &Settings) -> Self {
        match settings.changed_limits() {
            Some(limits) => self.with("limits", limits),
            None => self,
        }
    }
}

impl Outcome {
    pub fn emit(&mut self, record: Record) {
        self.effects.push(Effect::Emit(record));
    }

    pub fn push(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// The workflow as it will be stored, for callers that apply the effects themselves.
    pub fn workflow(&self) -> Option<&WorkflowState> {
        self.effects.iter().rev().find_map(|effect| match effect {
            Effect::PutWorkflow(workflow) => Some(workflow),
            _ => None,
        })
    }
}
