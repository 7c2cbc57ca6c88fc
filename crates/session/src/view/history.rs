//! The history of a session, built from its timeline: its workflows, and the runs of their stages and agents.
//!
//! Events are read one at a time, so memory does not grow with the length of the timeline. A [`HistoryReader`] continues
//! where it stopped, so a long timeline is read once.
//!
//! A run is one stage of one started workflow. Its attempts are its verdicts in order: `stage:complete` is a pass,
//! `stage:retry` is not. Attempts without a verdict (an API error) do not count. A stage that passed and was
//! reopened by a later failure keeps its first verdict for pass@1.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::sync::Arc;

use overtone_core::engine::RULE;
use overtone_core::engine::state::{Ending, Millis};
use overtone_core::registry::{EventKind, StageKey};
use overtone_store::{files, timeline};

use crate::view::event::Event;
use crate::view::evidence::RecordedEvidence;
use crate::view::lines::Lines;

#[derive(Debug, Clone, Default)]
pub struct History {
    pub workflows: Vec<WorkflowRun>,
    pub stages: Vec<StageRun>,
    pub agents: Vec<AgentRun>,
    /// What was found out about the reports of the last workflow.
    pub evidence: RecordedEvidence,
    /// How many lines are not valid events.
    pub unreadable: usize,
}

#[derive(Debug, Clone)]
pub struct WorkflowRun {
    pub workflow: Arc<str>,
    pub started: Option<Millis>,
    pub ending: Option<Ending>,
    pub duration: Option<i64>,
}

#[derive(Debug, Clone)]
pub struct StageRun {
    /// The index of its workflow; `None` if the timeline does not contain the start of a workflow.
    pub workflow: Option<usize>,
    pub stage: Arc<str>,
    pub at: Option<Millis>,
    /// True for a pass.
    pub verdicts: Vec<bool>,
    /// The number of the attempt that each verdict is about.
    pub attempts: Vec<u32>,
    /// How often work was repaired because of a verdict of this stage.
    pub repairs: usize,
    pub durations: Vec<i64>,
}

#[derive(Debug, Clone)]
pub struct AgentRun {
    pub workflow: Option<usize>,
    pub agent: Arc<str>,
    pub stage: Option<Arc<str>>,
    pub id: Option<Box<str>>,
    pub at: Option<Millis>,
    pub duration: Option<i64>,
    pub failed: bool,
    /// How many files it has changed, if that was compared.
    pub changed_files: Option<u64>,
}

/// The events from which a history is built. Others are not parsed.
const RELEVANT_EVENTS: [EventKind; 9] = [
    EventKind::WorkflowStart,
    EventKind::WorkflowComplete,
    EventKind::WorkflowAbort,
    EventKind::StageStart,
    EventKind::StageComplete,
    EventKind::StageRetry,
    EventKind::AgentComplete,
    EventKind::AgentError,
    EventKind::SystemWarning,
];

/// Reads a whole timeline. The history of a missing timeline is empty.
pub fn read_history(path: &Path) -> io::Result<History> {
    let mut reader = HistoryReader::default();
    reader.update(path)?;
    Ok(reader.builder.history)
}

/// How many bytes before the end are compared, to distinguish a timeline that has grown from another file.
const TAIL_BYTES: usize = 64;

/// Reads the history of a growing timeline.
#[derive(Debug, Default)]
pub struct HistoryReader {
    builder: Builder,
    /// The file when it was last read; `None` if it was not read yet or did not exist.
    file: Option<FileState>,
    /// Where the next line begins.
    offset: u64,
    /// The last bytes before `offset`.
    tail: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FileState {
    device: u64,
    inode: u64,
    length: u64,
}

impl FileState {
    fn from_metadata(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino(), length: metadata.len() }
    }

    fn is_same_file(self, other: Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

impl HistoryReader {
    pub fn history(&self) -> &History {
        &self.builder.history
    }

    /// Reads what was added since the last call, or everything if it is another file. The history of a file that cannot
    /// be read is empty.
    pub fn update(&mut self, path: &Path) -> io::Result<()> {
        if let Some(known) = self.file
            && let Ok(metadata) = path.symlink_metadata()
            && FileState::from_metadata(&metadata) == known
        {
            return Ok(());
        }
        let file = match files::open_regular(path) {
            Ok(Some(file)) => file,
            Ok(None) => {
                *self = Self::default();
                return Ok(());
            }
            Err(error) => {
                *self = Self::default();
                return Err(error);
            }
        };
        let state = FileState::from_metadata(&file.metadata()?);
        if !self.is_continued_by(&file, state) {
            *self = Self::default();
        }
        self.read(file)?;
        self.file = Some(state);
        Ok(())
    }

    fn is_continued_by(&self, file: &File, state: FileState) -> bool {
        let Some(known) = self.file else { return false };
        if !known.is_same_file(state) || state.length < self.offset {
            return false;
        }
        let mut tail = vec![0; self.tail.len()];
        let start = self.offset - self.tail.len() as u64;
        file.read_exact_at(&mut tail, start).is_ok() && tail == self.tail
    }

    fn read(&mut self, file: File) -> io::Result<()> {
        let tail_file = file.try_clone()?;
        let mut lines = Lines::new(file, self.offset)?;
        while let Some(line) = lines.next_line()? {
            match line.bytes {
                Some(bytes) => self.builder.add_line(bytes.trim_ascii()),
                None => self.builder.history.unreadable += 1,
            }
        }
        self.offset = lines.offset();
        let length = TAIL_BYTES.min(usize::try_from(self.offset).unwrap_or(TAIL_BYTES));
        self.tail = vec![0; length];
        tail_file.read_exact_at(&mut self.tail, self.offset - length as u64)
    }
}

fn non_empty<'a>(text: Option<&'a Cow<'_, str>>) -> Option<&'a str> {
    match text {
        Some(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// Whether a verdict of this stage ends a repair: judges do not repair what they find.
fn repairs_work(stage: &str) -> bool {
    match stage.parse::<StageKey>() {
        Ok(key) => !key.stage.is_judge(),
        Err(()) => false,
    }
}

#[derive(Debug, Default)]
struct Builder {
    history: History,
    /// The runs of the current workflow, by stage.
    runs: HashMap<Arc<str>, usize>,
    /// When the stages without a verdict started.
    starts: HashMap<Arc<str>, Millis>,
    /// The runs with a failure that was not repaired yet.
    failed: Vec<usize>,
    /// Interned names: there are many events with few different names.
    names: HashSet<Arc<str>>,
}

impl Builder {
    fn add_line(&mut self, line: &[u8]) {
        if line.is_empty() {
            return;
        }
        let Some(name) = timeline::type_of(line) else {
            self.history.unreadable += 1;
            return;
        };
        let Some(kind) = RELEVANT_EVENTS.iter().find(|kind| kind.name().as_bytes() == &*name) else { return };
        match Event::parse(line) {
            Some(event) => self.add_event(*kind, &event),
            None => self.history.unreadable += 1,
        }
    }

    fn add_event(&mut self, kind: EventKind, event: &Event) {
        self.history.evidence.add_event(kind, event);
        match kind {
            EventKind::WorkflowStart => self.start_workflow(event),
            EventKind::WorkflowComplete => self.end_workflow(event, Ending::Completed),
            EventKind::WorkflowAbort => self.end_workflow(event, Ending::Aborted),
            EventKind::StageStart => self.start_stage(event),
            // No agent has worked on a stage that a rule has completed.
            EventKind::StageComplete if event.by.as_deref() == Some(RULE) => {}
            EventKind::StageComplete => self.add_verdict(event, true),
            EventKind::StageRetry => self.add_verdict(event, false),
            EventKind::AgentComplete => self.add_agent(event, false),
            EventKind::AgentError => self.add_agent(event, true),
            _ => {}
        }
    }

    fn intern(&mut self, text: &str) -> Arc<str> {
        if let Some(name) = self.names.get(text) {
            return Arc::clone(name);
        }
        let name: Arc<str> = text.into();
        self.names.insert(Arc::clone(&name));
        name
    }

    fn current_workflow(&self) -> Option<usize> {
        self.history.workflows.len().checked_sub(1)
    }

    fn push_workflow(&mut self, event: &Event, started: Option<Millis>) {
        let workflow = self.intern(event.workflow.as_deref().unwrap_or_default());
        self.history.workflows.push(WorkflowRun { workflow, started, ending: None, duration: None });
    }

    fn start_workflow(&mut self, event: &Event) {
        self.push_workflow(event, event.at());
        self.runs.clear();
        self.starts.clear();
        self.failed.clear();
    }

    /// An end without a start was written by another version. It is counted too.
    fn end_workflow(&mut self, event: &Event, ending: Ending) {
        match self.history.workflows.last() {
            Some(workflow) if workflow.ending.is_none() => {}
            _ => self.push_workflow(event, None),
        }
        if let Some(workflow) = self.history.workflows.last_mut() {
            workflow.ending = Some(ending);
            workflow.duration = event.at().zip(workflow.started).map(|(end, start)| end.since(start));
        }
    }

    fn start_stage(&mut self, event: &Event) {
        if let Some(at) = event.at() {
            let stage = self.intern(event.stage.as_deref().unwrap_or_default());
            self.starts.insert(stage, at);
        }
    }

    fn add_verdict(&mut self, event: &Event, passed: bool) {
        let Some(stage) = non_empty(event.stage.as_ref()) else { return };
        let (at, started) = (event.at(), self.starts.remove(stage));
        let duration = event.duration.or_else(|| Some(at?.since(started?)));
        let index = self.stage_run(stage, at);
        if repairs_work(stage) {
            for failed in std::mem::take(&mut self.failed) {
                self.history.stages[failed].repairs += 1;
            }
        }
        let run = &mut self.history.stages[index];
        let number = u32::try_from(run.verdicts.len() + 1).unwrap_or(u32::MAX);
        run.attempts.push(event.attempt.unwrap_or(number));
        run.verdicts.push(passed);
        run.durations.extend(duration);
        if !passed && !self.failed.contains(&index) {
            self.failed.push(index);
        }
    }

    /// The index of a stage's run in the current workflow, created if necessary.
    fn stage_run(&mut self, stage: &str, at: Option<Millis>) -> usize {
        if let Some(index) = self.runs.get(stage) {
            return *index;
        }
        let (stage, workflow) = (self.intern(stage), self.current_workflow());
        let index = self.history.stages.len();
        self.runs.insert(Arc::clone(&stage), index);
        self.history.stages.push(StageRun {
            workflow,
            stage,
            at,
            verdicts: Vec::new(),
            attempts: Vec::new(),
            repairs: 0,
            durations: Vec::new(),
        });
        index
    }

    fn add_agent(&mut self, event: &Event, failed: bool) {
        let Some(agent) = non_empty(event.agent.as_ref()) else { return };
        let run = AgentRun {
            workflow: self.current_workflow(),
            agent: self.intern(agent),
            stage: non_empty(event.stage.as_ref()).map(|stage| self.intern(stage)),
            id: non_empty(event.agent_id.as_ref()).map(Into::into),
            at: event.at(),
            duration: event.duration,
            failed,
            changed_files: event.changed_files,
        };
        self.history.agents.push(run);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use overtone_store::timeline::Entry;
    use serde_json::Value;

    use super::*;

    pub(crate) fn entry(kind: &str, stage: &str, second: i64) -> Entry {
        let ts = overtone_store::clock::to_iso(Millis(second * 1000));
        Entry::parse(&format!(r#"{{"ts":"{ts}","type":"{kind}","stage":"{stage}"}}"#)).unwrap()
    }

    pub(crate) fn history(entries: &[Entry]) -> History {
        let mut builder = Builder::default();
        for entry in entries {
            builder.add_line(Value::Object(entry.fields.clone()).to_string().as_bytes());
        }
        builder.history
    }

    #[test]
    fn torn_lines_are_counted_and_skipped() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("timeline.jsonl");
        assert_eq!(read_history(&path).unwrap().unreadable, 0);
        let text = "{\"ts\"\n\n{\"type\":\"agent:complete\",\"agent\":\"tester\",\"durationMs\":5}\nx\n";
        files::append_lines(&path, text).unwrap();
        let history = read_history(&path).unwrap();
        assert_eq!((history.unreadable, history.agents.len()), (2, 1));
        assert!(read_history(dir.path()).is_err());
    }

    #[test]
    fn a_workflow_has_an_ending_and_a_duration() {
        let history = history(&[
            entry("workflow:start", "", 0),
            entry("workflow:complete", "", 60),
            entry("workflow:start", "", 70),
        ]);
        let ends: Vec<_> = history.workflows.iter().map(|w| (w.ending, w.duration)).collect();
        assert_eq!(ends, [(Some(Ending::Completed), Some(60_000)), (None, None)]);
    }

    #[test]
    fn a_failure_that_is_repaired_counts_for_the_stage_that_found_it() {
        let history = history(&[
            entry("workflow:start", "", 0),
            entry("stage:complete", "DEV", 1),
            entry("stage:retry", "REVIEW", 2),
            entry("stage:retry", "TEST", 3),
            entry("stage:complete", "DEV", 4),
            entry("stage:complete", "REVIEW", 5),
            entry("stage:retry", "TEST", 6),
        ]);
        let found: Vec<_> =
            history.stages.iter().map(|run| (&*run.stage, run.repairs, &*run.attempts)).collect();
        assert_eq!(found, [("DEV", 0, &[1, 2][..]), ("REVIEW", 1, &[1, 2]), ("TEST", 1, &[1, 2])]);
    }

    #[test]
    fn fields_of_another_type_do_not_hide_an_event() {
        let line = br#"{"type":"agent:complete","agent":"tester","stage":7,"agentId":null,"durationMs":1.5,"ts":{}}"#;
        let mut builder = Builder::default();
        builder.add_line(line);
        let run = &builder.history.agents[0];
        assert_eq!(
            (&*run.agent, &run.stage, &run.id, run.at, run.duration),
            ("tester", &None, &None, None, None)
        );
    }

    fn verdict(second: i64) -> String {
        Value::Object(entry("stage:complete", "DEV", second).fields).to_string() + "\n"
    }

    #[test]
    fn added_lines_are_read_and_another_file_is_read_from_the_start() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("timeline.jsonl");
        let mut reader = HistoryReader::default();
        let verdicts = |reader: &mut HistoryReader| {
            reader.update(&path).unwrap();
            let whole = read_history(&path).unwrap();
            let count =
                |history: &History| history.stages.iter().map(|run| run.verdicts.len()).sum::<usize>();
            assert_eq!(count(reader.history()), count(&whole));
            count(&whole)
        };
        assert_eq!(verdicts(&mut reader), 0);
        files::append_lines(&path, &(verdict(1) + &verdict(2) + "{\"torn")).unwrap();
        assert_eq!(verdicts(&mut reader), 2);
        let offset = reader.offset;
        files::append_lines(&path, &verdict(3)).unwrap();
        assert_eq!(verdicts(&mut reader), 3);
        assert!(reader.offset > offset && reader.history().unreadable == 1);
        // Written over in place, and longer than before.
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(0).unwrap();
        files::append_lines(&path, &verdict(7).repeat(9)).unwrap();
        assert_eq!(verdicts(&mut reader), 9);
        files::write_atomic(&path, verdict(1).as_bytes(), 0o600).unwrap();
        assert_eq!(verdicts(&mut reader), 1);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(verdicts(&mut reader), 0);
    }
}
