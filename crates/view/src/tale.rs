//! What a timeline amounts to: its workflows, the runs of their stages, and the agents. One event at a time, so that
//! a timeline of any length fits.
//!
//! A run is one stage of one started workflow. Its attempts are its verdicts in order: `stage:complete` is a pass,
//! `stage:retry` is not. Attempts without a verdict (an API error) are no attempts. A stage that passed and was
//! opened again by a later failure keeps its first verdict for pass@1.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use overtone_engine::state::{Ending, Millis};
use overtone_registry::EventKind;
use overtone_store::timeline::{self, Entry};
use serde_json::Value;

#[derive(Debug, Clone, Default)]
pub struct Tale {
    pub workflows: Vec<WorkflowRun>,
    pub stages: Vec<StageRun>,
    pub agents: Vec<AgentRun>,
    /// Lines that are no events.
    pub unreadable: usize,
}

#[derive(Debug, Clone)]
pub struct WorkflowRun {
    pub workflow: Box<str>,
    pub started: Option<Millis>,
    pub ending: Option<Ending>,
    pub duration: Option<i64>,
}

#[derive(Debug, Clone)]
pub struct StageRun {
    /// The workflow it belongs to, by its place; `None` if that was never started here.
    pub workflow: Option<usize>,
    pub stage: Box<str>,
    pub at: Option<Millis>,
    /// True is a pass.
    pub verdicts: Vec<bool>,
    pub durations: Vec<i64>,
}

#[derive(Debug, Clone)]
pub struct AgentRun {
    pub workflow: Option<usize>,
    pub agent: Box<str>,
    pub stage: Option<Box<str>>,
    pub id: Option<Box<str>>,
    pub at: Option<Millis>,
    pub duration: Option<i64>,
    pub failed: bool,
}

/// Events that say nothing about how the work went are not even parsed.
const TELLING: [EventKind; 8] = [
    EventKind::WorkflowStart,
    EventKind::WorkflowComplete,
    EventKind::WorkflowAbort,
    EventKind::StageStart,
    EventKind::StageComplete,
    EventKind::StageRetry,
    EventKind::AgentComplete,
    EventKind::AgentError,
];

/// Reads a whole timeline. A missing one tells nothing.
pub fn read_tale(path: &Path) -> io::Result<Tale> {
    let mut teller = Teller::default();
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(teller.tale),
        file => file?,
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        teller.line(line.trim_ascii_end());
        line.clear();
    }
    Ok(teller.tale)
}

#[derive(Default)]
struct Teller {
    tale: Tale,
    /// The runs of the workflow that is told now begin here.
    first_run: usize,
    starts: Vec<(Box<str>, Millis)>,
}

impl Teller {
    fn line(&mut self, line: &[u8]) {
        if line.is_empty() {
            return;
        }
        let Some(name) = timeline::type_of(line) else {
            self.tale.unreadable += 1;
            return;
        };
        if TELLING.iter().any(|kind| kind.name().as_bytes() == &*name) {
            match Entry::parse(&String::from_utf8_lossy(line)) {
                Some(entry) => self.feed(&entry),
                None => self.tale.unreadable += 1,
            }
        }
    }

    fn feed(&mut self, entry: &Entry) {
        match entry.kind() {
            Some(EventKind::WorkflowStart) => self.workflow(entry),
            Some(EventKind::WorkflowComplete) => self.ended(entry, Ending::Completed),
            Some(EventKind::WorkflowAbort) => self.ended(entry, Ending::Aborted),
            Some(EventKind::StageStart) => self.stage_started(entry),
            Some(EventKind::StageComplete) => self.verdict(entry, true),
            Some(EventKind::StageRetry) => self.verdict(entry, false),
            Some(EventKind::AgentComplete) => self.agent(entry, false),
            Some(EventKind::AgentError) => self.agent(entry, true),
            _ => {}
        }
    }

    fn current(&self) -> Option<usize> {
        self.tale.workflows.len().checked_sub(1)
    }

    fn workflow(&mut self, entry: &Entry) {
        let workflow = entry.text("workflowType").into();
        self.tale.workflows.push(WorkflowRun { workflow, started: entry.at(), ending: None, duration: None });
        self.first_run = self.tale.stages.len();
        self.starts.clear();
    }

    /// An ending before any start is another version's; it is counted all the same.
    fn ended(&mut self, entry: &Entry, ending: Ending) {
        let open = self.tale.workflows.last().is_some_and(|workflow| workflow.ending.is_none());
        if !open {
            self.tale.workflows.push(WorkflowRun {
                workflow: entry.text("workflowType").into(),
                started: None,
                ending: None,
                duration: None,
            });
        }
        if let Some(workflow) = self.tale.workflows.last_mut() {
            workflow.ending = Some(ending);
            workflow.duration = entry.at().zip(workflow.started).map(|(end, start)| end.since(start));
        }
    }

    fn stage_started(&mut self, entry: &Entry) {
        if let Some(at) = entry.at() {
            let stage: Box<str> = entry.text("stage").into();
            self.starts.retain(|(other, _)| *other != stage);
            self.starts.push((stage, at));
        }
    }

    fn verdict(&mut self, entry: &Entry, passed: bool) {
        let stage = entry.text("stage");
        if stage.is_empty() {
            return;
        }
        let begun = self.starts.iter().position(|(other, _)| &**other == stage);
        let begun = begun.map(|at| self.starts.swap_remove(at).1);
        let recorded = entry.fields.get("durationMs").and_then(Value::as_i64);
        let spent = recorded.or_else(|| Some(entry.at()?.since(begun?)));
        let run = self.run(stage, entry.at());
        run.verdicts.push(passed);
        run.durations.extend(spent);
    }

    fn run(&mut self, stage: &str, at: Option<Millis>) -> &mut StageRun {
        let workflow = self.current();
        let runs = &self.tale.stages[self.first_run..];
        let found = runs.iter().position(|run| &*run.stage == stage).map(|place| self.first_run + place);
        let place = found.unwrap_or_else(|| {
            let run =
                StageRun { workflow, stage: stage.into(), at, verdicts: Vec::new(), durations: Vec::new() };
            self.tale.stages.push(run);
            self.tale.stages.len() - 1
        });
        &mut self.tale.stages[place]
    }

    fn agent(&mut self, entry: &Entry, failed: bool) {
        let text = |name: &str| Some(entry.text(name)).filter(|text| !text.is_empty()).map(Into::into);
        let Some(agent) = text("agent") else { return };
        self.tale.agents.push(AgentRun {
            workflow: self.current(),
            agent,
            stage: text("stage"),
            id: text("agentId"),
            at: entry.at(),
            duration: entry.fields.get("durationMs").and_then(Value::as_i64),
            failed,
        });
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn entry(kind: &str, stage: &str, second: i64) -> Entry {
        let ts = overtone_store::clock::to_iso(Millis(second * 1000));
        Entry::parse(&format!(r#"{{"ts":"{ts}","type":"{kind}","stage":"{stage}"}}"#)).unwrap()
    }

    pub(crate) fn tell(entries: &[Entry]) -> Tale {
        let mut teller = Teller::default();
        for entry in entries {
            teller.line(Value::Object(entry.fields.clone()).to_string().as_bytes());
        }
        teller.tale
    }

    #[test]
    fn torn_lines_are_counted_and_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("timeline.jsonl");
        assert_eq!(read_tale(&path).unwrap().unreadable, 0);
        let text = "{\"ts\"\n\n{\"type\":\"agent:complete\",\"agent\":\"tester\",\"durationMs\":5}\nx\n";
        overtone_store::files::append_lines(&path, text).unwrap();
        let tale = read_tale(&path).unwrap();
        assert_eq!((tale.unreadable, tale.agents.len()), (2, 1));
        assert!(read_tale(dir.path()).is_err());
    }

    #[test]
    fn workflows_have_an_end() {
        let tale = tell(&[
            entry("workflow:start", "", 0),
            entry("workflow:complete", "", 60),
            entry("workflow:start", "", 70),
        ]);
        let ends: Vec<_> = tale.workflows.iter().map(|w| (w.ending, w.duration)).collect();
        assert_eq!(ends, [(Some(Ending::Completed), Some(60_000)), (None, None)]);
    }
}
