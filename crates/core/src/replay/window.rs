//! The lines around the current position of the replay: a few ahead and a few behind, never the whole file.

use std::collections::VecDeque;

use crate::replay::line::{Line, SkipReason, SkippedLine};

/// How many lines before a difference are kept.
const PREVIOUS_LINES: usize = 5;
/// How many skipped lines are kept. The others are only counted.
const MAX_SKIPPED_LINES: usize = 100;

/// Lines that were skipped.
#[derive(Debug, Clone, Default)]
pub(crate) struct SkippedLines {
    pub(crate) first: Vec<SkippedLine>,
    pub(crate) count: u64,
}

#[derive(Debug)]
pub(crate) struct Window<I> {
    source: I,
    until: Option<u64>,
    ahead: VecDeque<Line>,
    previous: VecDeque<Line>,
    /// The number of unreadable lines since the last readable one.
    unreadable: u32,
    pub(crate) skipped: SkippedLines,
    /// How many lines were replayed.
    pub(crate) replayed: u64,
    /// The timeline continues after the last line to replay.
    pub(crate) is_cut: bool,
}

impl<I: Iterator<Item = Result<Line, SkippedLine>>> Window<I> {
    pub(crate) fn new(source: I, until: Option<u64>) -> Self {
        Self {
            source,
            until,
            ahead: VecDeque::new(),
            previous: VecDeque::with_capacity(PREVIOUS_LINES + 1),
            unreadable: 0,
            skipped: SkippedLines::default(),
            replayed: 0,
            is_cut: false,
        }
    }

    /// The line at this distance from the next one, which is at 0.
    pub(crate) fn peek(&mut self, distance: usize) -> Option<&Line> {
        while self.ahead.len() <= distance && !self.is_cut {
            let line = self.read()?;
            self.ahead.push_back(line);
        }
        self.ahead.get(distance)
    }

    fn read(&mut self) -> Option<Line> {
        loop {
            let next = self.source.next()?;
            let number = match &next {
                Ok(line) => line.number,
                Err(skipped) => skipped.number,
            };
            if let Some(until) = self.until
                && number > until
            {
                self.is_cut = true;
                return None;
            }
            match next {
                Ok(line) => {
                    return Some(Line { unreadable_before: std::mem::take(&mut self.unreadable), ..line });
                }
                Err(skipped) => self.skip(skipped),
            }
        }
    }

    fn skip(&mut self, skipped: SkippedLine) {
        self.unreadable += u32::from(skipped.reason == SkipReason::Unreadable);
        self.skipped.count += 1;
        if self.skipped.first.len() < MAX_SKIPPED_LINES {
            self.skipped.first.push(skipped);
        }
    }

    /// Advances by one line.
    pub(crate) fn advance(&mut self) {
        let Some(line) = self.ahead.pop_front() else { return };
        self.previous.push_back(line);
        self.replayed += 1;
        if self.previous.len() > PREVIOUS_LINES {
            self.previous.pop_front();
        }
    }

    /// Takes one of the unreadable lines before the next line, which may have been the line that is missing there. Returns
    /// whether there was one.
    pub(crate) fn take_unreadable(&mut self) -> bool {
        self.peek(0);
        let unreadable = match self.ahead.front_mut() {
            Some(line) => &mut line.unreadable_before,
            None => &mut self.unreadable,
        };
        if *unreadable == 0 {
            return false;
        }
        *unreadable -= 1;
        true
    }

    /// The lines that were replayed last.
    pub(crate) fn previous_lines(&self) -> Vec<Line> {
        self.previous.iter().cloned().collect()
    }

    /// The number of the line that was replayed last.
    pub(crate) fn last_number(&self) -> u64 {
        match self.previous.back() {
            Some(line) => line.number,
            None => 0,
        }
    }
}
