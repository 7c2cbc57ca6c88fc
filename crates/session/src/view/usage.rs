//! What the agents of a session have used: from its ledger, or from the conversations if it has none.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

use overtone_core::economy::TokenUsage;
use overtone_core::engine::state::Millis;
use overtone_store::{Session, UsageEntry, UsageScope, clock, files, parse_usage_entry};

use crate::usage::{agent_conversation, agent_conversations, conversation_name, each_message};
use crate::view::History;
use crate::view::lines::Lines;

/// Where the figures of a session come from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UsageSource {
    Ledger,
    /// The session is of an earlier version, and its conversations were read as a whole.
    Conversations,
    /// Nothing of it is there.
    #[default]
    Nothing,
}

impl UsageSource {
    pub const fn key(self) -> &'static str {
        match self {
            Self::Ledger => "ledger",
            Self::Conversations => "conversations",
            Self::Nothing => "none",
        }
    }
}

/// What the agents of a session have used, in parts.
#[derive(Debug, Clone, Default)]
pub struct SessionUsage {
    pub source: UsageSource,
    pub entries: Vec<UsageEntry>,
}

impl SessionUsage {
    /// A number that differs when there is something new to load.
    pub fn version(session: &Session) -> u64 {
        let mut hasher = DefaultHasher::new();
        let length = |path: &Path| path.symlink_metadata().ok().map(|metadata| metadata.len());
        let ledger = length(&session.usage_file()).filter(|length| *length > 0);
        ledger.hash(&mut hasher);
        if ledger.is_none()
            && let Some(transcript) = session.origin().transcript
        {
            (length(&transcript), length(&session.timeline_file())).hash(&mut hasher);
            agent_conversations(&transcript).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Reads the usage of a session. `history` says what the agents worked on, for a session without a ledger.
    pub fn load(session: &Session, history: &History) -> io::Result<Self> {
        let entries = read_ledger(session)?;
        if !entries.is_empty() {
            return Ok(Self { source: UsageSource::Ledger, entries });
        }
        let Some(transcript) = session.origin().transcript else { return Ok(Self::default()) };
        let entries = read_conversations(&transcript, history)?;
        let source = if entries.is_empty() { UsageSource::Nothing } else { UsageSource::Conversations };
        Ok(Self { source, entries })
    }
}

fn read_ledger(session: &Session) -> io::Result<Vec<UsageEntry>> {
    read_ledger_from(session, 0).map(|(entries, _)| entries)
}

/// The entries of the ledger from an offset on, and where the next one will begin. Empty for a session without a ledger.
pub fn read_ledger_from(session: &Session, offset: u64) -> io::Result<(Vec<UsageEntry>, u64)> {
    let Some(file) = files::open_regular(&session.usage_file())? else { return Ok((Vec::new(), 0)) };
    // A shorter file is another one.
    let offset = if file.metadata()?.len() < offset { 0 } else { offset };
    let mut lines = Lines::new(file, offset)?;
    let mut read_to: HashMap<String, u64> = HashMap::new();
    let mut entries = Vec::new();
    while let Some(line) = lines.next_line()? {
        let Some(entry) = line.bytes.and_then(parse_usage_entry) else { continue };
        // No byte of a conversation counts twice, whatever happened to the files.
        let offset = read_to.entry(entry.file.clone()).or_default();
        if entry.from >= *offset {
            *offset = entry.to;
            entries.push(entry);
        }
    }
    Ok((entries, lines.offset()))
}

/// Reads the conversations of a session that has no ledger.
fn read_conversations(transcript: &Path, history: &History) -> io::Result<Vec<UsageEntry>> {
    let mut entries = Vec::new();
    let name = conversation_name(transcript);
    let main = empty_entry(UsageScope::Main, &name);
    add_conversation(transcript, &main, history, &mut entries)?;
    for (id, _) in agent_conversations(transcript) {
        let Some(conversation) = agent_conversation(transcript, &id) else { continue };
        let run = history.agents.iter().find(|run| run.id.as_deref() == Some(&*id));
        let agent = UsageEntry {
            agent: run.map(|run| run.agent.to_string()),
            stage: run.and_then(|run| run.stage.as_deref()).map(str::to_owned),
            agent_id: Some(id),
            ..empty_entry(UsageScope::Agent, &conversation_name(&conversation))
        };
        add_conversation(&conversation, &agent, history, &mut entries)?;
    }
    Ok(entries)
}

fn empty_entry(scope: UsageScope, file: &str) -> UsageEntry {
    UsageEntry {
        at: Millis(0),
        scope,
        agent: None,
        agent_id: None,
        stage: None,
        attempt: None,
        workflow: None,
        file: file.to_owned(),
        from: 0,
        to: 0,
        usage: TokenUsage::default(),
        last: None,
    }
}

/// Adds one entry for each day and workflow of a conversation.
fn add_conversation(
    path: &Path,
    template: &UsageEntry,
    history: &History,
    entries: &mut Vec<UsageEntry>,
) -> io::Result<()> {
    let Some(file) = files::open_regular(path)? else { return Ok(()) };
    let first = entries.len();
    let modified = file.metadata()?.modified().map(clock::from_system_time).unwrap_or_default();
    each_message(file, template.scope, |at, message, messages, tokens| {
        let at = at.unwrap_or(modified);
        let workflow = workflow_at(history, at);
        let same = |entry: &UsageEntry| entry.workflow == workflow && clock::day(entry.at) == clock::day(at);
        if !matches!(entries.last(), Some(last) if entries.len() > first && same(last)) {
            entries.push(UsageEntry { at, workflow, ..template.clone() });
        }
        if let Some(entry) = entries.last_mut() {
            entry.at = at;
            entry.usage.add(&message.model, messages, tokens);
        }
        ControlFlow::Continue(())
    })
}

/// When the workflow started that was open at this time.
fn workflow_at(history: &History, at: Millis) -> Option<Millis> {
    let run =
        history.workflows.iter().rev().find(|run| matches!(run.started, Some(started) if started <= at))?;
    let started = run.started?;
    match run.duration {
        Some(duration) if at.since(started) > duration => None,
        _ => Some(started),
    }
}

#[cfg(test)]
mod tests {
    use overtone_store::{Home, Origin, SessionId};

    use super::*;
    use crate::view::history::tests::{entry, history};

    fn session(dir: &tempfile::TempDir) -> Session {
        let session = Home::at(dir.path().join("home")).session(&SessionId::parse("s").unwrap());
        session.create().unwrap();
        let origin = Origin { project: None, transcript: Some(dir.path().join("t.jsonl")) };
        session.note_origin(&origin).unwrap();
        session
    }

    fn message(id: &str, second: i64, output: u64) -> String {
        let at = clock::to_iso(Millis(second * 1000));
        format!(
            "{{\"type\":\"assistant\",\"timestamp\":\"{at}\",\"message\":{{\"id\":\"{id}\",\"model\":\"claude-opus-5\",\
             \"usage\":{{\"input_tokens\":1,\"output_tokens\":{output}}}}}}}\n"
        )
    }

    #[test]
    fn a_session_of_an_earlier_version_is_read_from_its_conversations() {
        let dir = tempfile::tempdir().unwrap();
        let session = session(&dir);
        let mut complete = entry("agent:complete", "DEV", 20);
        complete.fields.insert("agent".into(), "developer".into());
        complete.fields.insert("agentId".into(), "a1".into());
        let history =
            history(&[entry("workflow:start", "", 10), complete, entry("workflow:complete", "", 30)]);
        assert_eq!(SessionUsage::load(&session, &history).unwrap().source, UsageSource::Nothing);
        let main = message("m1", 5, 1) + &message("m2", 15, 2) + message("m3", 40, 4).trim_end();
        files::append_lines(&dir.path().join("t.jsonl"), &main).unwrap();
        std::fs::create_dir_all(dir.path().join("t/subagents")).unwrap();
        files::append_lines(&dir.path().join("t/subagents/agent-a1.jsonl"), &message("b1", 12, 8)).unwrap();
        let usage = SessionUsage::load(&session, &history).unwrap();
        assert_eq!(usage.source, UsageSource::Conversations);
        let found: Vec<_> = usage
            .entries
            .iter()
            .map(|entry| (entry.stage.as_deref(), entry.workflow.is_some(), entry.usage.tokens().output))
            .collect();
        assert_eq!(found, [(None, false, 1), (None, true, 2), (None, false, 4), (Some("DEV"), true, 8)]);
    }

    #[test]
    fn a_part_that_is_in_the_ledger_twice_counts_once() {
        let dir = tempfile::tempdir().unwrap();
        let session = session(&dir);
        let mut usage = TokenUsage::default();
        usage.add("claude-opus-5", 1, overtone_core::economy::Tokens { output: 7, ..Default::default() });
        let part = UsageEntry { usage, to: 9, ..empty_entry(UsageScope::Main, "t.jsonl") };
        let mut ledger = session.usage_ledger().unwrap();
        ledger.add(&part).unwrap();
        ledger.add(&part).unwrap();
        ledger.add(&UsageEntry { from: 9, to: 12, ..part }).unwrap();
        ledger.commit().unwrap();
        let found = SessionUsage::load(&session, &History::default()).unwrap();
        assert_eq!((found.source, found.entries.len()), (UsageSource::Ledger, 2));
    }
}
