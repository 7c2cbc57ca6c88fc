//! What a session has used: `usage.jsonl`, one line for each part of a conversation that was read, and
//! `usage-offsets.json`, how far each conversation was read.
//!
//! The lines are what counts. Each names the bytes that it is about, so the offsets can be worked out from the lines alone:
//! if a process was killed after it appended a line, or the offsets were lost, [`Session::usage_ledger`] catches up with
//! the lines that the offsets do not include. No byte is counted twice, and none is left out.

mod entry;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use overtone_core::economy::{PriceTable, TokenUsage};
use overtone_core::engine::WorkflowSpending;
use overtone_core::engine::state::Millis;
use overtone_core::registry::StageKey;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::files::{self, PRIVATE, lock_timeout};
use crate::{Session, clock};
use entry::{CountsJson, EntryJson};

pub use entry::{CountedMessage, UsageEntry, UsageScope};

/// More lines than this are not caught up with. A line has a few hundred bytes.
const MAX_LEDGER_BYTES: u64 = 64 * 1024 * 1024;

/// The part of a conversation that was read last, while more may follow.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LastPart {
    /// The last message. The client may write more of it, and then its counts replace these.
    #[serde(default)]
    pub message: Option<CountedMessage>,
    #[serde(default)]
    pub agent: Option<String>,
    #[serde(default)]
    pub stage: Option<String>,
    #[serde(default)]
    pub attempt: Option<u32>,
    /// When its last message was written.
    #[serde(default, with = "iso_time")]
    pub at: Millis,
}

/// Points in time, as all state files have them.
mod iso_time {
    use overtone_core::engine::state::Millis;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use crate::clock;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(super) fn serialize<S: Serializer>(at: &Millis, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&clock::to_iso(*at))
    }

    /// A time that cannot be read is long ago.
    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Millis, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(clock::from_iso(&text).unwrap_or_default())
    }
}

/// What a workflow has used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkflowUsage {
    pub total: TokenUsage,
    /// The part of each stage.
    pub stages: Vec<(StageKey, TokenUsage)>,
}

impl WorkflowUsage {
    /// The tokens and their cost.
    pub fn spending(&self, prices: &PriceTable) -> WorkflowSpending {
        let stages = self.stages.iter().map(|(key, usage)| (*key, usage.spending(prices)));
        WorkflowSpending { total: self.total.spending(prices), stages: stages.collect() }
    }
}

/// `usage-offsets.json`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Offsets {
    /// The length of the ledger whose lines are included.
    #[serde(default)]
    ledger: u64,
    /// By the name of the conversation's file.
    #[serde(default)]
    files: BTreeMap<String, u64>,
    /// Of the conversations that may grow.
    #[serde(default)]
    last: BTreeMap<String, LastPart>,
    /// When the workflow started that `spent` is about.
    #[serde(default)]
    workflow: Option<String>,
    /// When that workflow was last seen open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open_until: Option<String>,
    /// What that workflow has used, by model.
    #[serde(default)]
    spent: Vec<CountsJson>,
    /// What its stages have used.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    stages: BTreeMap<String, Vec<CountsJson>>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

impl Offsets {
    fn read(path: &Path) -> io::Result<Self> {
        match files::read_small(path) {
            // The ledger has everything that is in a broken file.
            Ok(text) => Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()),
            Err(error) if files::is_misplaced(&error) => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    fn include(&mut self, entry: &UsageEntry) {
        self.files.insert(entry.file.clone(), entry.to);
        let last = LastPart {
            message: entry.last.clone(),
            agent: entry.agent.clone(),
            stage: entry.stage.clone(),
            attempt: entry.attempt,
            at: entry.at,
        };
        self.last.insert(entry.file.clone(), last);
        let Some(workflow) = entry.workflow else { return };
        if self.start_of_workflow() < Some(workflow) {
            self.workflow = Some(clock::to_iso(workflow));
            self.open_until = None;
            self.spent.clear();
            self.stages.clear();
        }
        if self.start_of_workflow() == Some(workflow) {
            add_counts(&mut self.spent, &entry.usage);
            if let Some(stage) = &entry.stage {
                add_counts(self.stages.entry(stage.clone()).or_default(), &entry.usage);
            }
        }
    }

    fn start_of_workflow(&self) -> Option<Millis> {
        clock::from_iso(self.workflow.as_deref()?)
    }

    /// What the workflow that started then has used.
    fn spent_since(&self, workflow: Option<Millis>) -> WorkflowUsage {
        if workflow.is_none() || self.start_of_workflow() != workflow {
            return WorkflowUsage::default();
        }
        let stages =
            self.stages.iter().filter_map(|(key, counts)| Some((key.parse().ok()?, usage_from(counts))));
        WorkflowUsage { total: usage_from(&self.spent), stages: stages.collect() }
    }
}

fn add_counts(counts: &mut Vec<CountsJson>, added: &TokenUsage) {
    let mut usage = usage_from(counts);
    usage.add_all(added);
    *counts = usage.models.iter().map(CountsJson::from).collect();
}

fn usage_from(counts: &[CountsJson]) -> TokenUsage {
    let mut usage = TokenUsage::default();
    for counts in counts {
        usage.add(&counts.model, counts.messages, counts.tokens());
    }
    usage
}

/// The ledger of a session, locked until it is dropped.
#[derive(Debug)]
pub struct UsageLedger {
    file: File,
    offsets_file: PathBuf,
    offsets: Offsets,
    /// What was added and is not written yet.
    lines: String,
    is_changed: bool,
}

impl UsageLedger {
    /// How far the conversation in this file was read.
    pub fn offset(&self, file: &str) -> u64 {
        self.offsets.files.get(file).copied().unwrap_or(0)
    }

    /// Whether the conversation was read to its end when its agent was not at work any more.
    pub fn is_closed(&self, file: &str) -> bool {
        self.offsets.files.contains_key(file) && !self.offsets.last.contains_key(file)
    }

    pub fn last_part(&self, file: &str) -> Option<&LastPart> {
        self.offsets.last.get(file)
    }

    /// Adds a part of a conversation. Nothing is written before [`commit`](Self::commit).
    pub fn add(&mut self, entry: &UsageEntry) -> io::Result<()> {
        self.lines += &serde_json::to_string(&EntryJson::from(entry))?;
        self.lines.push('\n');
        self.offsets.include(entry);
        self.is_changed = true;
        Ok(())
    }

    /// Remembers whose work it is that the client may still write into a conversation, for the next reading.
    pub fn expect_more(&mut self, file: &str, part: LastPart) {
        let message = self.offsets.last.get_mut(file).and_then(|known| known.message.take());
        self.offsets.last.insert(file.to_owned(), LastPart { message, ..part });
        self.is_changed = true;
    }

    /// Skips bytes in which nothing is counted.
    pub fn skip_to(&mut self, file: &str, offset: u64) {
        self.offsets.files.insert(file.to_owned(), offset);
        self.is_changed = true;
    }

    /// Nothing more is expected of this conversation, unless its agent is continued.
    pub fn close(&mut self, file: &str) {
        if self.offsets.last.remove(file).is_some() {
            self.is_changed = true;
        }
    }

    /// Remembers that the workflow which started then is open. It is written with the next change.
    pub fn note_open(&mut self, workflow: Option<Millis>, now: Millis) {
        if workflow.is_some() && self.offsets.start_of_workflow() == workflow {
            self.offsets.open_until = Some(clock::to_iso(now));
        }
    }

    /// Until when the workflow which started then was open, as far as it is known.
    pub fn open_until(&self, workflow: Option<Millis>) -> Option<Millis> {
        if self.offsets.start_of_workflow() != workflow {
            return None;
        }
        clock::from_iso(self.offsets.open_until.as_deref()?)
    }

    /// What the workflow that started then has used, with what was added.
    pub fn spent_since(&self, workflow: Option<Millis>) -> WorkflowUsage {
        self.offsets.spent_since(workflow)
    }

    /// Writes what was added: the lines first, because the offsets can be worked out from them.
    pub fn commit(mut self) -> io::Result<()> {
        if !self.is_changed {
            return Ok(());
        }
        if !self.lines.is_empty() {
            self.append()?;
        }
        let text = serde_json::to_vec(&self.offsets)?;
        files::write_atomic(&self.offsets_file, &text, PRIVATE)
    }

    /// Appends the lines with one write. One that fails half-way is undone, as far as possible.
    fn append(&mut self) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        if length > 0 && !files::ends_in_line_break(&self.file, length)? {
            // Its writer was killed. The bytes that it was about are read again.
            self.lines.insert(0, '\n');
        }
        self.file.write_all(self.lines.as_bytes()).inspect_err(|_| {
            let _ = self.file.set_len(length);
        })?;
        self.offsets.ledger = length + self.lines.len() as u64;
        Ok(())
    }

    /// Includes the lines that the offsets do not include yet.
    fn catch_up(&mut self) -> io::Result<()> {
        let length = self.file.metadata()?.len();
        if length == self.offsets.ledger {
            return Ok(());
        }
        if length < self.offsets.ledger {
            // It is another file. What it does not contain is read again.
            self.offsets =
                Offsets { unknown: std::mem::take(&mut self.offsets.unknown), ..Offsets::default() };
        }
        self.file.seek(SeekFrom::Start(self.offsets.ledger))?;
        let mut bytes = Vec::new();
        (&self.file).take(MAX_LEDGER_BYTES).read_to_end(&mut bytes)?;
        for line in bytes.split(|byte| *byte == b'\n') {
            // Between two parts there may be bytes in which nothing was counted.
            if let Some(entry) = entry::parse(line)
                && entry.from >= self.offset(&entry.file)
            {
                self.offsets.include(&entry);
            }
        }
        self.offsets.ledger = length;
        self.is_changed = true;
        Ok(())
    }
}

impl Session {
    pub fn usage_file(&self) -> PathBuf {
        self.dir().join("usage.jsonl")
    }

    fn usage_offsets_file(&self) -> PathBuf {
        self.dir().join("usage-offsets.json")
    }

    /// Opens and locks the ledger, and creates it if it is missing. The session's folder must exist.
    pub fn usage_ledger(&self) -> io::Result<UsageLedger> {
        self.check_folder().map_err(io::Error::other)?;
        let file = files::open_to_append(&self.usage_file())?;
        files::lock_opened(&file, lock_timeout())?;
        let offsets_file = self.usage_offsets_file();
        let offsets = Offsets::read(&offsets_file)?;
        let mut ledger = UsageLedger { file, offsets_file, offsets, lines: String::new(), is_changed: false };
        ledger.catch_up()?;
        Ok(ledger)
    }

    /// What the workflow that started then has used, as it was last read. Costs the reading of one small file.
    pub fn spent_since(&self, workflow: Option<Millis>) -> WorkflowUsage {
        match Offsets::read(&self.usage_offsets_file()) {
            Ok(offsets) => offsets.spent_since(workflow),
            Err(_) => WorkflowUsage::default(),
        }
    }
}

/// The entry of a line. `None` for a line that is not one of the ledger.
pub fn parse_usage_entry(line: &[u8]) -> Option<UsageEntry> {
    entry::parse(line)
}

#[cfg(test)]
mod tests;
