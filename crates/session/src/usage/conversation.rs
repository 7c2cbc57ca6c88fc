//! Reads the usage of messages from a conversation, in bounded memory.

use std::collections::VecDeque;
use std::fs::{self, File};
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use memchr::memmem;
use overtone_claude::wire::{MessageUsage, read_transcript_usage};
use overtone_core::economy::{TokenUsage, Tokens};
use overtone_core::engine::state::Millis;
use overtone_store::{CountedMessage, UsageScope, clock};

use crate::view::Lines;

/// How much of a conversation is read at a time. A hook has ten seconds; this much takes a tenth of one.
const MAX_PART: u64 = 64 * 1024 * 1024;

/// How many messages are remembered, so that each counts once.
const RECENT_MESSAGES: usize = 8;

/// Counts every message once.
///
/// The client writes a message as one line for each of its blocks, one after the other, and each line has the usage of the
/// message so far. So only the last messages are remembered, and what a later line has more is added.
#[derive(Debug, Default)]
struct MessageCounter {
    recent: VecDeque<CountedMessage>,
}

impl MessageCounter {
    fn after(last: Option<CountedMessage>) -> Self {
        Self { recent: last.into_iter().collect() }
    }

    /// How many messages and tokens this line adds.
    fn count(&mut self, message: &MessageUsage) -> (u64, Tokens) {
        let known = self.recent.iter_mut().find(|known| !message.id.is_empty() && known.id == message.id);
        if let Some(known) = known {
            let (before, added) = (known.tokens(), message.tokens.beyond(&known.tokens()));
            let mut now = before;
            now += added;
            *known = CountedMessage::new(&message.id, &message.model, now);
            return (0, added);
        }
        if self.recent.len() >= RECENT_MESSAGES {
            self.recent.pop_front();
        }
        self.recent.push_back(CountedMessage::new(&message.id, &message.model, message.tokens));
        (1, message.tokens)
    }

    fn last(&self) -> Option<CountedMessage> {
        self.recent.back().cloned()
    }
}

/// A part of a conversation.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) from: u64,
    /// Where the next line begins.
    pub(super) to: u64,
    /// When the last message was written that was counted.
    pub(super) at: Option<Millis>,
    pub(super) usage: TokenUsage,
    pub(super) last: Option<CountedMessage>,
}

/// The parts of a conversation before and since a time.
#[derive(Debug, Default)]
pub(super) struct Parts {
    pub(super) before: Part,
    pub(super) since: Part,
}

/// Reads a conversation from an offset on, up to a limit.
pub(super) fn read_parts(
    file: File,
    from: u64,
    scope: UsageScope,
    last: Option<CountedMessage>,
    boundary: Option<Millis>,
) -> io::Result<Parts> {
    let mut lines = Lines::new(file, from)?;
    let mut counter = MessageCounter::after(last);
    let mut before = Part { from, to: from, ..Part::default() };
    let mut since = None;
    while let Some(line) = lines.next_line()? {
        let message = message_in(line.bytes, scope);
        if let (Some((_, Some(at))), Some(boundary)) = (&message, boundary)
            && *at >= boundary
            && since.is_none()
        {
            before.last = counter.last();
            since = Some(Part { from: line.start, ..Part::default() });
        }
        let part = since.as_mut().unwrap_or(&mut before);
        if let Some((message, at)) = message {
            let (messages, tokens) = counter.count(&message);
            if messages > 0 || tokens.total() > 0 {
                part.usage.add(&message.model, messages, tokens);
                part.at = at;
            }
        }
        part.to = line.end;
        if line.end - from > MAX_PART {
            break;
        }
    }
    let mut parts = Parts { before, since: since.unwrap_or_default() };
    let newest = if parts.since.to > 0 { &mut parts.since } else { &mut parts.before };
    newest.last = counter.last();
    Ok(parts)
}

/// Calls `handle` for every message of a whole conversation, with its time and what it adds.
pub(crate) fn each_message(
    file: File,
    scope: UsageScope,
    mut handle: impl FnMut(Option<Millis>, &MessageUsage, u64, Tokens) -> ControlFlow<()>,
) -> io::Result<()> {
    let mut lines = Lines::new(file, 0)?;
    let mut counter = MessageCounter::default();
    let mut count = |bytes: Option<&[u8]>| match message_in(bytes, scope) {
        Some((message, at)) => {
            let (messages, tokens) = counter.count(&message);
            handle(at, &message, messages, tokens)
        }
        None => ControlFlow::Continue(()),
    };
    while let Some(line) = lines.next_line()? {
        if count(line.bytes).is_break() {
            return Ok(());
        }
    }
    // The client has written the last line without its end, or was killed.
    let _ = count(Some(lines.unfinished()));
    Ok(())
}

/// The message in a line, with its time. Lines that are too long have none: a message with a usage is far shorter.
fn message_in(line: Option<&[u8]>, scope: UsageScope) -> Option<(MessageUsage, Option<Millis>)> {
    let line = line?;
    // Most bytes of a conversation are the results of tools. They are not parsed.
    memmem::find(line, b"\"usage\"")?;
    let message = read_transcript_usage(line)?;
    // Old clients also write the messages of agents into the main conversation, and a fork begins with a copy.
    if message.is_copied || (scope == UsageScope::Main && message.is_sidechain) {
        return None;
    }
    let at = message.time.as_deref().and_then(clock::from_iso);
    Some((message, at))
}

/// The file where the client keeps the conversation of an agent. `None` for an id with characters other than letters,
/// digits, `-` and `_`, because the id becomes part of the path.
pub(crate) fn agent_conversation(transcript: &Path, agent_id: &str) -> Option<PathBuf> {
    if !is_plain_id(agent_id) {
        return None;
    }
    Some(conversation_folder(transcript).join(format!("agent-{agent_id}.jsonl")))
}

fn is_plain_id(agent_id: &str) -> bool {
    !agent_id.is_empty() && agent_id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b))
}

fn conversation_folder(transcript: &Path) -> PathBuf {
    transcript.with_extension("").join("subagents")
}

/// The name under which the ledger knows a conversation.
pub(crate) fn conversation_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The ids of the session's agents that have a conversation.
pub(super) fn agent_ids(transcript: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(conversation_folder(transcript)) else { return Vec::new() };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        if let Some(id) = name.strip_prefix("agent-").and_then(|name| name.strip_suffix(".jsonl"))
            && is_plain_id(id)
        {
            found.push(id.to_owned());
        }
    }
    found
}

/// The ids of the session's agents that have a conversation file, each with the length of the file.
pub(crate) fn agent_conversations(transcript: &Path) -> Vec<(String, u64)> {
    let with_length = |id: String| {
        let metadata = fs::symlink_metadata(agent_conversation(transcript, &id)?).ok()?;
        Some((id, metadata.len()))
    };
    agent_ids(transcript).into_iter().filter_map(with_length).collect()
}

#[cfg(test)]
mod tests {
    use overtone_store::files;

    use super::*;

    fn line(id: &str, second: i64, output: u64) -> String {
        let at = clock::to_iso(Millis(second * 1000));
        format!(
            "{{\"type\":\"assistant\",\"timestamp\":\"{at}\",\"message\":{{\"id\":\"{id}\",\"model\":\"claude-opus-5\",\
             \"usage\":{{\"input_tokens\":1,\"output_tokens\":{output}}}}}}}\n"
        )
    }

    fn open(path: &Path) -> File {
        files::open_regular(path).unwrap().unwrap()
    }

    fn read(path: &Path, from: u64, last: Option<CountedMessage>) -> Part {
        read_parts(open(path), from, UsageScope::Agent, last, None).unwrap().before
    }

    #[test]
    fn a_message_counts_once_and_its_last_line_counts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let text =
            line("m1", 1, 3) + &line("m1", 2, 8) + "torn\n{}\n" + &line("m2", 3, 5) + &line("m1", 4, 8);
        files::append_lines(&path, &text).unwrap();
        let part = read(&path, 0, None);
        assert_eq!((part.to, part.at), (text.len() as u64, Some(Millis(3000))));
        assert_eq!((part.usage.messages(), part.usage.tokens().output), (2, 13));
        assert_eq!(part.last.unwrap().id, "m2");
    }

    #[test]
    fn a_message_that_was_half_written_at_the_first_reading_counts_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let whole = line("m1", 1, 3) + &line("m1", 2, 8) + &line("m2", 3, 5);
        for cut in 0..whole.len() {
            files::write_atomic(&path, &whole.as_bytes()[..cut], files::PRIVATE).unwrap();
            let first = read(&path, 0, None);
            files::write_atomic(&path, whole.as_bytes(), files::PRIVATE).unwrap();
            let second = read(&path, first.to, first.last);
            let mut sum = first.usage;
            sum.add_all(&second.usage);
            assert_eq!((sum.messages(), sum.tokens().output, sum.tokens().input), (2, 13, 2), "cut at {cut}");
        }
    }

    #[test]
    fn what_came_before_a_workflow_is_a_part_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let (before, since) = (line("m1", 1, 3), line("m2", 5, 8));
        files::append_lines(&path, &(before.clone() + &since)).unwrap();
        let read = |from, boundary| {
            read_parts(open(&path), from, UsageScope::Agent, None, Some(Millis(boundary))).unwrap()
        };
        let (first, whole) = (before.len() as u64, (before.len() + since.len()) as u64);
        let parts = read(0, 5000);
        assert_eq!(
            (parts.before.from, parts.before.to, parts.since.from, parts.since.to),
            (0, first, first, whole)
        );
        assert_eq!([parts.before.usage.tokens().output, parts.since.usage.tokens().output], [3, 8]);
        assert_eq!((parts.before.last.unwrap().id, parts.since.last.unwrap().id), ("m1".into(), "m2".into()));
        let parts = read(first, 5000);
        assert_eq!((parts.before.from, parts.before.to, parts.since.to), (first, first, whole));
        let parts = read(0, 9000);
        assert_eq!((parts.before.to, parts.since.to), (whole, 0));
    }

    #[test]
    fn messages_that_belong_elsewhere_do_not_count() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        let copied = line("m1", 1, 3).replace("\"type\"", "\"forkedFrom\":{\"sessionId\":\"x\"},\"type\"");
        let agents = line("m2", 1, 5).replace("\"type\"", "\"isSidechain\":true,\"type\"");
        files::append_lines(&path, &(copied + &agents)).unwrap();
        assert!(read_parts(open(&path), 0, UsageScope::Main, None, None).unwrap().before.usage.is_empty());
        assert_eq!(read(&path, 0, None).usage.tokens().output, 5);
    }

    #[test]
    fn an_id_cannot_contain_a_path() {
        let at = Path::new("/p/abc.jsonl");
        assert_eq!(agent_conversation(at, "a1"), Some("/p/abc/subagents/agent-a1.jsonl".into()));
        for bad in ["", "../x", "a/b", "a.b"] {
            assert_eq!(agent_conversation(at, bad), None, "{bad}");
        }
    }
}
