//! The lines around the place where the replay is: a few ahead, a few behind, never the whole file.

use std::collections::VecDeque;

use crate::line::{Line, Skipped, Why};

/// How many lines before a difference are shown.
const BEHIND: usize = 5;
/// How many skipped lines are named; the others are counted.
const NAMED: usize = 100;

/// Lines that were passed over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Skips {
    pub(crate) first: Vec<Skipped>,
    pub(crate) count: u64,
}

#[derive(Debug)]
pub(crate) struct Window<I> {
    source: I,
    until: Option<u64>,
    ahead: VecDeque<Line>,
    behind: VecDeque<Line>,
    /// Unreadable lines since the last one that was read.
    torn: u32,
    pub(crate) skips: Skips,
    pub(crate) passed: u64,
    /// There is more, but it is not asked for.
    pub(crate) is_cut: bool,
}

impl<I: Iterator<Item = Result<Line, Skipped>>> Window<I> {
    pub(crate) fn new(source: I, until: Option<u64>) -> Self {
        Self {
            source,
            until,
            ahead: VecDeque::new(),
            behind: VecDeque::with_capacity(BEHIND + 1),
            torn: 0,
            skips: Skips::default(),
            passed: 0,
            is_cut: false,
        }
    }

    /// The line this many places ahead; 0 is the next one.
    pub(crate) fn peek(&mut self, places: usize) -> Option<&Line> {
        while self.ahead.len() <= places && !self.is_cut {
            let line = self.read()?;
            self.ahead.push_back(line);
        }
        self.ahead.get(places)
    }

    fn read(&mut self) -> Option<Line> {
        loop {
            let next = self.source.next()?;
            let number = next.as_ref().map_or_else(|skipped| skipped.number, |line| line.number);
            if self.until.is_some_and(|until| number > until) {
                self.is_cut = true;
                return None;
            }
            match next {
                Ok(line) => return Some(Line { torn_before: std::mem::take(&mut self.torn), ..line }),
                Err(skipped) => self.skip(skipped),
            }
        }
    }

    fn skip(&mut self, skipped: Skipped) {
        self.torn += u32::from(skipped.why == Why::Unreadable);
        self.skips.count += 1;
        if self.skips.first.len() < NAMED {
            self.skips.first.push(skipped);
        }
    }

    /// Goes on by one line.
    pub(crate) fn pass(&mut self) {
        let Some(line) = self.ahead.pop_front() else { return };
        self.behind.push_back(line);
        self.passed += 1;
        if self.behind.len() > BEHIND {
            self.behind.pop_front();
        }
    }

    /// Whether an unreadable line stands where the next one is missed. Each counts once.
    pub(crate) fn swallow(&mut self) -> bool {
        self.peek(0);
        let torn = self.ahead.front_mut().map_or(&mut self.torn, |line| &mut line.torn_before);
        let swallowed = *torn > 0;
        *torn = torn.saturating_sub(1);
        swallowed
    }

    pub(crate) fn behind(&self) -> Vec<Line> {
        self.behind.iter().cloned().collect()
    }

    /// The number of the line that was passed last.
    pub(crate) fn last_number(&self) -> u64 {
        self.behind.back().map_or(0, |line| line.number)
    }
}
