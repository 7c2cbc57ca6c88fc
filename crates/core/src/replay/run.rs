//! Replays a timeline, decision by decision.

use std::collections::{BTreeMap, VecDeque};

use crate::engine::{Record, Snapshot};
use crate::registry::EventKind;

use crate::replay::cause::{self, Cause};
use crate::replay::compare::{Difference, Finding, differing_fields};
use crate::replay::line::{Line, SkippedLine};
use crate::replay::session::Session;
use crate::replay::window::Window;

/// Iterates over the differences between a timeline and the decisions of the engine. Lines are read on demand, so a caller
/// that needs only the first difference does not read the rest.
#[derive(Debug)]
pub struct Replay<I> {
    window: Window<I>,
    session: Session,
    found: VecDeque<Difference>,
    external: BTreeMap<&'static str, u64>,
    recorded_by: Option<String>,
    workflows: u64,
}

/// A summary of the replay so far.
#[derive(Debug, Clone)]
pub struct Summary {
    pub lines: u64,
    /// The number of the last line that was replayed.
    pub last_line: u64,
    pub workflows: u64,
    /// The number of lines about events from outside, by type. The replay cannot check them.
    pub external: BTreeMap<&'static str, u64>,
    /// The first lines that were skipped.
    pub skipped: Vec<SkippedLine>,
    pub skipped_count: u64,
    /// The version that recorded the timeline, if known.
    pub recorded_by: Option<String>,
    /// Whether the replay was limited to a part of the timeline.
    pub is_cut: bool,
}

/// How an expected record relates to the next line.
enum Match {
    Same,
    Changed(Vec<&'static str>),
    Missing,
    /// An unexpected line comes first, then the expected one.
    AfterUnexpected,
    /// The record may have been in a line that cannot be read.
    Unknown,
}

impl<I: Iterator<Item = Result<Line, SkippedLine>>> Replay<I> {
    /// `until` is the number of the last line to replay.
    pub fn new(lines: I, until: Option<u64>) -> Self {
        Self {
            window: Window::new(lines, until),
            session: Session::default(),
            found: VecDeque::new(),
            external: BTreeMap::new(),
            recorded_by: None,
            workflows: 0,
        }
    }

    /// The state after the lines that were replayed.
    pub fn state(&self) -> &Snapshot {
        &self.session.snapshot
    }

    pub fn summary(&self) -> Summary {
        Summary {
            lines: self.window.replayed,
            last_line: self.window.last_number(),
            workflows: self.workflows,
            external: self.external.clone(),
            skipped: self.window.skipped.first.clone(),
            skipped_count: self.window.skipped.count,
            recorded_by: self.recorded_by.clone(),
            is_cut: self.window.is_cut,
        }
    }

    /// Replays one decision. Returns `None` at the end.
    fn step(&mut self) -> Option<()> {
        let head = self.window.peek(0)?;
        let number = head.number;
        if head.kind == EventKind::SessionStart {
            self.recorded_by =
                head.optional_text("version").map(str::to_owned).or_else(|| self.recorded_by.take());
        }
        let (cause, settings) = cause::infer_cause(&mut self.window);
        self.workflows += u64::from(matches!(cause, Cause::Init { .. }));
        let expected = self.session.perform(&cause, settings);
        self.compare(expected.into());
        // The engine recorded nothing like this line. Skip it, so that the replay always advances.
        if let Some(line) = self.window.peek(0)
            && line.number == number
        {
            let found = line.clone();
            if !cause.is_line_itself() {
                self.add_difference(number, Finding::Unexpected { found });
            }
            self.advance();
        }
        Some(())
    }

    fn compare(&mut self, mut expected: VecDeque<Record>) {
        while let Some(record) = expected.pop_front() {
            let matched = self.match_next(&record, &expected);
            if matches!(matched, Match::Same) {
                self.advance();
                continue;
            }
            let found = self.window.peek(0).cloned();
            let line = match &found {
                Some(found) => found.number,
                None => self.window.last_number() + 1,
            };
            match (matched, found) {
                (Match::Unknown, _) => {}
                (Match::Changed(fields), Some(found)) => {
                    self.add_difference(line, Finding::Changed { expected: record, found, fields });
                    self.advance();
                }
                (Match::AfterUnexpected, Some(found)) => {
                    self.add_difference(line, Finding::Unexpected { found });
                    self.advance();
                    expected.push_front(record);
                }
                (_, found) => self.add_difference(line, Finding::Missing { expected: record, found }),
            }
        }
    }

    fn match_next(&mut self, record: &Record, later: &VecDeque<Record>) -> Match {
        let is_guessed = self.session.is_guessed;
        let is =
            |record: &Record, line: &Line| differing_fields(record, line, is_guessed) == Some(Vec::new());
        let Some(line) = self.window.peek(0) else {
            return if self.window.is_cut || self.window.take_unreadable() {
                Match::Unknown
            } else {
                Match::Missing
            };
        };
        let differing = differing_fields(record, line, is_guessed);
        let comes_later = later.iter().any(|later| is(later, line));
        match differing {
            Some(fields) if fields.is_empty() => Match::Same,
            _ if self.window.take_unreadable() => Match::Unknown,
            _ if matches!(self.window.peek(1), Some(next) if is(record, next)) => Match::AfterUnexpected,
            Some(fields) if !comes_later => Match::Changed(fields),
            _ => Match::Missing,
        }
    }

    fn add_difference(&mut self, line: u64, finding: Finding) {
        let (before, state) = (self.window.previous_lines(), Box::new(self.session.snapshot.clone()));
        self.found.push_back(Difference { line, finding, before, state });
    }

    fn advance(&mut self) {
        if let Some(line) = self.window.peek(0)
            && is_external(line.kind)
        {
            let name = line.kind.name();
            *self.external.entry(name).or_default() += 1;
        }
        self.window.advance();
    }
}

impl<I: Iterator<Item = Result<Line, SkippedLine>>> Iterator for Replay<I> {
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

/// Whether an event comes from outside, so that the engine only records it.
const fn is_external(kind: EventKind) -> bool {
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
