//! Goes through a timeline, decision by decision.

use std::collections::{BTreeMap, VecDeque};

use overtone_engine::{Record, Snapshot};
use overtone_registry::EventKind;

use crate::cause::{self, Cause};
use crate::compare::{Difference, Finding, differing};
use crate::line::{Line, Skipped};
use crate::session::Session;
use crate::window::Window;

/// The differences between a timeline and what the engine makes of it, in order. Lines are read as they are asked
/// for, so whoever wants only the first difference reads no further.
#[derive(Debug)]
pub struct Replay<I> {
    window: Window<I>,
    session: Session,
    found: VecDeque<Difference>,
    given: BTreeMap<&'static str, u64>,
    recorded_by: Option<String>,
    workflows: u64,
}

/// How far a replay has come.
#[derive(Debug, Clone)]
pub struct Summary {
    pub lines: u64,
    /// The last line that was looked at.
    pub last_line: u64,
    pub workflows: u64,
    /// Lines that say what happened outside, by type: nothing follows from the others whether they are right.
    pub given: BTreeMap<&'static str, u64>,
    /// The first of the lines that were passed over.
    pub skipped: Vec<Skipped>,
    pub skipped_count: u64,
    /// The version that recorded it, where it says so.
    pub recorded_by: Option<String>,
    /// The replay was told to end before the timeline did.
    pub is_cut: bool,
}

/// Where an expected record stands.
enum Place {
    Here,
    Changed(Vec<&'static str>),
    Missing,
    /// A line that is not expected stands before it.
    Behind,
    /// Perhaps in a line that cannot be read.
    Unknown,
}

impl<I: Iterator<Item = Result<Line, Skipped>>> Replay<I> {
    /// `until`: the number of the last line to look at.
    pub fn new(lines: I, until: Option<u64>) -> Self {
        Self {
            window: Window::new(lines, until),
            session: Session::default(),
            found: VecDeque::new(),
            given: BTreeMap::new(),
            recorded_by: None,
            workflows: 0,
        }
    }

    /// The state as the engine has it now.
    pub fn state(&self) -> &Snapshot {
        &self.session.snapshot
    }

    pub fn summary(&self) -> Summary {
        Summary {
            lines: self.window.passed,
            last_line: self.window.last_number(),
            workflows: self.workflows,
            given: self.given.clone(),
            skipped: self.window.skips.first.clone(),
            skipped_count: self.window.skips.count,
            recorded_by: self.recorded_by.clone(),
            is_cut: self.window.is_cut,
        }
    }

    /// Replays one decision. `None` at the end.
    fn step(&mut self) -> Option<()> {
        let head = self.window.peek(0)?;
        let number = head.number;
        if head.kind == EventKind::SessionStart {
            self.recorded_by = head.given("version").map(str::to_owned).or_else(|| self.recorded_by.take());
        }
        let (cause, settings) = cause::of(&mut self.window);
        self.workflows += u64::from(matches!(cause, Cause::Init { .. }));
        let expected = self.session.perform(&cause, settings);
        self.compare(expected.into());
        // Whatever it is, it must not be looked at for ever.
        if self.window.peek(0).is_some_and(|line| line.number == number) {
            self.unanswered(&cause);
        }
        Some(())
    }

    /// The engine had nothing to say to the next line.
    fn unanswered(&mut self, cause: &Cause) {
        if let Some(found) = self.window.peek(0).cloned().filter(|_| *cause != Cause::Given) {
            self.note(found.number, Finding::Unexpected { found });
        }
        self.pass();
    }

    fn compare(&mut self, mut expected: VecDeque<Record>) {
        while let Some(record) = expected.pop_front() {
            let place = self.place(&record, &expected);
            if matches!(place, Place::Here) {
                self.pass();
                continue;
            }
            let found = self.window.peek(0).cloned();
            let line = found.as_ref().map_or_else(|| self.window.last_number() + 1, |line| line.number);
            match (place, found) {
                (Place::Unknown, _) => {}
                (Place::Changed(fields), Some(found)) => {
                    self.note(line, Finding::Changed { expected: record, found, fields });
                    self.pass();
                }
                (Place::Behind, Some(found)) => {
                    self.note(line, Finding::Unexpected { found });
                    self.pass();
                    expected.push_front(record);
                }
                (_, found) => self.note(line, Finding::Missing { expected: record, found }),
            }
        }
    }

    fn place(&mut self, record: &Record, later: &VecDeque<Record>) -> Place {
        let is_guessed = self.session.is_guessed;
        let is =
            |record: &Record, line: &Line| differing(record, line, is_guessed).is_some_and(|d| d.is_empty());
        let Some(line) = self.window.peek(0) else {
            return if self.window.is_cut || self.window.swallow() { Place::Unknown } else { Place::Missing };
        };
        let differing = differing(record, line, is_guessed);
        let comes_later = later.iter().any(|later| is(later, line));
        match differing {
            Some(fields) if fields.is_empty() => Place::Here,
            _ if self.window.swallow() => Place::Unknown,
            _ if self.window.peek(1).is_some_and(|next| is(record, next)) => Place::Behind,
            Some(fields) if !comes_later => Place::Changed(fields),
            _ => Place::Missing,
        }
    }

    fn note(&mut self, line: u64, finding: Finding) {
        let (before, state) = (self.window.behind(), Box::new(self.session.snapshot.clone()));
        self.found.push_back(Difference { line, finding, before, state });
    }

    fn pass(&mut self) {
        if let Some(kind) = self.window.peek(0).map(|line| line.kind).filter(|kind| is_given(*kind)) {
            *self.given.entry(kind.name()).or_default() += 1;
        }
        self.window.pass();
    }
}

impl<I: Iterator<Item = Result<Line, Skipped>>> Iterator for Replay<I> {
    type Item = Difference;

    fn next(&mut self) -> Option<Difference> {
        loop {
            if let Some(difference) = self.found.pop_front() {
                return Some(difference);
            }
            self.step()?;
        }
    }
}

/// Events that come from outside; the engine only writes them down.
const fn is_given(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::SessionStart
            | EventKind::SessionEnd
            | EventKind::SessionCompact
            | EventKind::SessionCompactSuggestion
            | EventKind::ToolFailure
            | EventKind::GraderScore
            | EventKind::SpecsInit
            | EventKind::SpecsArchive
            | EventKind::SystemWarning
    )
}
