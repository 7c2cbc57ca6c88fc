//! One line of the ledger.

use overtone_core::economy::{ModelUsage, TokenUsage, Tokens};
use overtone_core::engine::state::Millis;
use serde::{Deserialize, Serialize};

use crate::clock;

/// Whose conversation it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UsageScope {
    Main,
    Agent,
}

/// A message that was counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CountedMessage {
    pub id: String,
    pub model: String,
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    #[serde(default, rename = "cacheWrite1h", skip_serializing_if = "is_zero")]
    pub cache_write_1h: u64,
}

impl CountedMessage {
    pub fn new(id: &str, model: &str, tokens: Tokens) -> Self {
        Self {
            id: id.to_owned(),
            model: model.to_owned(),
            input: tokens.input,
            output: tokens.output,
            cache_read: tokens.cache_read,
            cache_write: tokens.cache_write,
            cache_write_1h: tokens.cache_write_1h,
        }
    }

    pub const fn tokens(&self) -> Tokens {
        Tokens {
            input: self.input,
            output: self.output,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            cache_write_1h: self.cache_write_1h,
        }
    }
}

/// What was used in one part of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageEntry {
    /// When the last message was written.
    pub at: Millis,
    pub scope: UsageScope,
    pub agent: Option<String>,
    pub agent_id: Option<String>,
    /// The key of the stage that the agent worked on.
    pub stage: Option<String>,
    pub attempt: Option<u32>,
    /// When the workflow started that it was used for.
    pub workflow: Option<Millis>,
    /// The name of the conversation's file, and the bytes of it that were read.
    pub file: String,
    pub from: u64,
    pub to: u64,
    pub usage: TokenUsage,
    pub last: Option<CountedMessage>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EntryJson {
    ts: String,
    scope: UsageScope,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stage: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workflow: Option<String>,
    file: String,
    from: u64,
    to: u64,
    models: Vec<CountsJson>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<CountedMessage>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CountsJson {
    pub(super) model: String,
    #[serde(default)]
    pub(super) messages: u64,
    #[serde(default)]
    input: u64,
    #[serde(default)]
    output: u64,
    #[serde(default)]
    cache_read: u64,
    #[serde(default)]
    cache_write: u64,
    #[serde(default, rename = "cacheWrite1h", skip_serializing_if = "is_zero")]
    cache_write_1h: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl CountsJson {
    pub(super) const fn tokens(&self) -> Tokens {
        Tokens {
            input: self.input,
            output: self.output,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            cache_write_1h: self.cache_write_1h,
        }
    }
}

impl From<&ModelUsage> for CountsJson {
    fn from(usage: &ModelUsage) -> Self {
        Self {
            model: usage.model.clone(),
            messages: usage.messages,
            input: usage.tokens.input,
            output: usage.tokens.output,
            cache_read: usage.tokens.cache_read,
            cache_write: usage.tokens.cache_write,
            cache_write_1h: usage.tokens.cache_write_1h,
        }
    }
}

impl From<&UsageEntry> for EntryJson {
    fn from(entry: &UsageEntry) -> Self {
        Self {
            ts: clock::to_iso(entry.at),
            scope: entry.scope,
            agent: entry.agent.clone(),
            agent_id: entry.agent_id.clone(),
            stage: entry.stage.clone(),
            attempt: entry.attempt,
            workflow: entry.workflow.map(clock::to_iso),
            file: entry.file.clone(),
            from: entry.from,
            to: entry.to,
            models: entry.usage.models.iter().map(CountsJson::from).collect(),
            last: entry.last.clone(),
        }
    }
}

pub(super) fn parse(line: &[u8]) -> Option<UsageEntry> {
    let line: EntryJson = serde_json::from_slice(line).ok()?;
    Some(UsageEntry {
        at: clock::from_iso(&line.ts)?,
        scope: line.scope,
        agent: line.agent,
        agent_id: line.agent_id,
        stage: line.stage,
        attempt: line.attempt,
        workflow: line.workflow.as_deref().and_then(clock::from_iso),
        file: line.file,
        from: line.from,
        to: line.to,
        usage: super::usage_from(&line.models),
        last: line.last,
    })
}
