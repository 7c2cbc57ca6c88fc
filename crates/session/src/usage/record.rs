//! Records in the ledger what was used since the last time.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::thread;
use std::time::Duration;

use memchr::memmem;

use overtone_core::engine::state::{Millis, WorkflowState};
use overtone_store::{Session, UsageEntry, UsageLedger, UsageScope, WorkflowUsage, files};

use crate::usage::attribution::{Attribution, recorded_type};
use crate::usage::conversation::{Part, agent_conversation, agent_ids, conversation_name, read_parts};

/// So many bytes without a message are not read again. Fewer are, which saves writing a file.
const SKIPPED_BYTES: u64 = 1024 * 1024;

/// The client has written the last message of an agent by then, in milliseconds.
const LATE: i64 = 60_000;

/// What usage is recorded for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RecordContext<'a> {
    pub(crate) session: &'a Session,
    pub(crate) workflow: &'a WorkflowState,
    pub(crate) now: Millis,
}

/// Records what an agent has used. The client may not have written its last message yet, or any; the next reading finds it.
pub(crate) fn record_agent(
    context: &RecordContext,
    conversation: &Path,
    agent_id: &str,
    agent_type: &str,
) -> io::Result<WorkflowUsage> {
    if !conversation.is_absolute() {
        return Ok(context.session.spent_since(context.workflow.created_at));
    }
    let mut ledger = context.session.usage_ledger()?;
    let who = context.attribute(agent_id, agent_type);
    let part = who.as_last_part(context.now);
    if let Some(file) = open(conversation)? {
        context.read(&mut ledger, conversation, file, &Source::Agent(agent_id, who))?;
    }
    ledger.expect_more(&conversation_name(conversation), part);
    let spent = ledger.spent_since(context.workflow.created_at);
    ledger.commit()?;
    Ok(spent)
}

/// Who calls a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Caller<'a> {
    Main,
    Agent { id: &'a str, kind: &'a str },
}

/// What was used up to a tool call.
#[derive(Debug)]
pub(crate) struct CountedCall {
    pub(crate) spent: WorkflowUsage,
    /// The message of the model that the call is part of.
    pub(crate) message: Option<String>,
}

/// Records what an agent has used up to a tool call.
pub(crate) fn record_call(
    context: &RecordContext,
    conversation: &Path,
    caller: &Caller,
    call: &str,
) -> io::Result<CountedCall> {
    wait_for_call(conversation, call)?;
    let mut ledger = context.session.usage_ledger()?;
    let source = match caller {
        Caller::Main => Source::Main,
        Caller::Agent { id, kind } => Source::Agent(id, context.attribute(id, kind)),
    };
    if let Some(file) = open(conversation)? {
        context.read(&mut ledger, conversation, file, &source)?;
    }
    let last = ledger.last_part(&conversation_name(conversation)).and_then(|part| part.message.as_ref());
    let message = last.map(|message| message.id.clone());
    let spent = ledger.spent_since(context.workflow.created_at);
    ledger.commit()?;
    Ok(CountedCall { spent, message })
}

/// How often it is looked whether the client has written the call down, and how long to wait before the next look.
const LOOKS: u32 = 200;
const PAUSE: Duration = Duration::from_millis(5);

/// The call is searched for in so many bytes at the end of the conversation.
const SEARCHED_BYTES: u64 = 512 * 1024;

/// Waits until the client has written down the message that the call is part of. It does so while it starts the hook, so the
/// message is usually there. What is not there in time is counted with the next call.
fn wait_for_call(conversation: &Path, call: &str) -> io::Result<()> {
    for _ in 0..LOOKS {
        if ends_with_call(conversation, call)? {
            return Ok(());
        }
        thread::sleep(PAUSE);
    }
    Ok(())
}

fn ends_with_call(conversation: &Path, call: &str) -> io::Result<bool> {
    let Some(mut file) = open(conversation)? else { return Ok(call.is_empty()) };
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(SEARCHED_BYTES)))?;
    let mut end = Vec::new();
    file.take(SEARCHED_BYTES).read_to_end(&mut end)?;
    Ok(memmem::find(&end, call.as_bytes()).is_some())
}

/// Records what the main agent has used, and agents whose end was not reported, or whose last message was written after it.
/// Returns what the workflow has used.
pub(crate) fn record_session(context: &RecordContext, transcript: &Path) -> io::Result<WorkflowUsage> {
    let Some(file) = open(transcript)? else {
        return Ok(context.session.spent_since(context.workflow.created_at));
    };
    let mut ledger = context.session.usage_ledger()?;
    context.read(&mut ledger, transcript, file, &Source::Main)?;
    for id in agent_ids(transcript) {
        context.read_left_over(&mut ledger, transcript, &id)?;
    }
    let spent = ledger.spent_since(context.workflow.created_at);
    if context.workflow.is_open() {
        ledger.note_open(context.workflow.created_at, context.now);
    }
    ledger.commit()?;
    Ok(spent)
}

/// Whether the client may still write the last message of an agent that has ended.
fn may_grow(ledger: &UsageLedger, name: &str, now: Millis) -> bool {
    match ledger.last_part(name) {
        Some(part) => now.since(part.at) < LATE,
        None => false,
    }
}

fn open(conversation: &Path) -> io::Result<Option<File>> {
    if conversation.is_absolute() { files::open_regular(conversation) } else { Ok(None) }
}

/// Whose conversation is read.
enum Source<'a> {
    Main,
    Agent(&'a str, Attribution),
}

impl RecordContext<'_> {
    /// Whose work it is, by the agent's id, or else by its type.
    fn attribute(&self, agent_id: &str, agent_type: &str) -> Attribution {
        match Attribution::of_active(self.workflow, agent_id) {
            Some(who) => who,
            None => Attribution::of_type(self.workflow, agent_type),
        }
    }

    /// Reads what is new of the conversation of an agent, unless it was read to its end.
    fn read_left_over(&self, ledger: &mut UsageLedger, transcript: &Path, id: &str) -> io::Result<()> {
        let Some(conversation) = agent_conversation(transcript, id) else { return Ok(()) };
        let name = conversation_name(&conversation);
        if ledger.is_closed(&name) {
            return Ok(());
        }
        let Some(file) = open(&conversation)? else { return Ok(()) };
        let active = Attribution::of_active(self.workflow, id);
        let is_active = active.is_some();
        if file.metadata()?.len() == ledger.offset(&name) {
            if !is_active && !may_grow(ledger, &name, self.now) {
                ledger.close(&name);
            }
            return Ok(());
        }
        let who = match (active, ledger.last_part(&name)) {
            (Some(who), _) => who,
            (None, Some(part)) => Attribution::of_last_part(part),
            (None, None) => Attribution::of_type(self.workflow, &recorded_type(&conversation)),
        };
        let end = self.read(ledger, &conversation, file, &Source::Agent(id, who))?;
        if !is_active && end > ledger.offset(&name) {
            ledger.skip_to(&name, end);
        }
        Ok(())
    }

    /// Reads what is new of a conversation. Returns how far it was read.
    fn read(
        &self,
        ledger: &mut UsageLedger,
        conversation: &Path,
        file: File,
        source: &Source,
    ) -> io::Result<u64> {
        let name = conversation_name(conversation);
        let (from, length) = (ledger.offset(&name), file.metadata()?.len());
        if length < from {
            // It was written anew. What was counted is not counted again.
            ledger.skip_to(&name, length);
            return Ok(length);
        }
        if length == from {
            return Ok(length);
        }
        let scope = match source {
            Source::Main => UsageScope::Main,
            Source::Agent(..) => UsageScope::Agent,
        };
        let last = ledger.last_part(&name).and_then(|part| part.message.clone());
        // What was used before the workflow or after its end does not belong to it.
        let workflow = self.workflow.created_at;
        let (boundary, before, since) = if self.workflow.is_open() {
            (workflow, None, workflow)
        } else {
            // The client writes the last message after the Stop that completes the workflow.
            let ended = ledger.open_until(workflow);
            (ended, ended.and(workflow), None)
        };
        let parts = read_parts(file, from, scope, last, boundary)?;
        let end = parts.before.to.max(parts.since.to);
        for (part, workflow) in [(parts.before, before), (parts.since, since)] {
            if !part.usage.is_empty() {
                ledger.add(&self.entry(&name, part, workflow, source))?;
            }
        }
        if end - ledger.offset(&name) > SKIPPED_BYTES {
            ledger.skip_to(&name, end);
        }
        Ok(end)
    }

    fn entry(&self, name: &str, part: Part, workflow: Option<Millis>, source: &Source) -> UsageEntry {
        let (scope, agent_id, who) = match source {
            Source::Main => (UsageScope::Main, None, Attribution::default()),
            Source::Agent(id, who) => (UsageScope::Agent, Some((*id).to_owned()), who.clone()),
        };
        UsageEntry {
            at: part.at.unwrap_or(self.now),
            scope,
            agent: who.agent,
            agent_id,
            stage: who.stage,
            attempt: who.attempt,
            workflow,
            file: name.to_owned(),
            from: part.from,
            to: part.to,
            usage: part.usage,
            last: part.last,
        }
    }
}

#[cfg(test)]
mod tests;
