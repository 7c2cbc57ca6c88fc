//! What the processes of a crowd said they did.

use std::ops::RangeInclusive;

use super::marks::Mark;
use super::work::{Said, Step};

/// All starts with what came of them.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) done: Vec<(Step, Mark, Said)>,
    /// Starts that could not have a lock in time. Without the session's they did nothing; without another one they
    /// may have done a part, so each of their marks is there once or not at all.
    pub(super) gave_up: Vec<(Step, Mark)>,
    pub(super) findings: Vec<String>,
    /// From start to end, in milliseconds.
    pub(super) took: Vec<f64>,
}

impl Tally {
    pub(super) fn add(&mut self, step: Step, mark: Mark, said: Result<Said, String>, took: f64) {
        self.took.push(took);
        match said {
            Ok(Said::GaveUp) => self.gave_up.push((step, mark)),
            Ok(said) => self.done.push((step, mark, said)),
            Err(finding) => self.findings.push(finding),
        }
    }

    pub(super) fn join(mut self, other: Self) -> Self {
        self.done.extend(other.done);
        self.gave_up.extend(other.gave_up);
        self.findings.extend(other.findings);
        self.took.extend(other.took);
        self
    }

    pub(super) fn marks(&self, wanted: Step) -> impl Iterator<Item = Mark> + '_ {
        self.done.iter().filter(move |(step, ..)| *step == wanted).map(|(_, mark, _)| *mark)
    }

    pub(super) fn count(&self, wanted: Step) -> usize {
        self.marks(wanted).count()
    }

    /// The marks of those that gave a lock up.
    pub(super) fn marks_given_up(&self, wanted: Step) -> impl Iterator<Item = Mark> + '_ {
        self.gave_up.iter().filter(move |(step, _)| *step == wanted).map(|(_, mark)| *mark)
    }

    /// How many there may be: those that said they did it, and at most those that gave a lock up, too.
    pub(super) fn bounds(&self, wanted: Step) -> RangeInclusive<usize> {
        let certain = self.count(wanted);
        certain..=certain + self.marks_given_up(wanted).count()
    }

    /// How many of them changed something.
    pub(super) fn changed(&self, wanted: Step) -> usize {
        self.done.iter().filter(|(step, _, said)| *step == wanted && *said == Said::Changed).count()
    }
}
