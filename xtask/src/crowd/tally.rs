//! What the processes of a crowd said they did.

use super::marks::Mark;
use super::work::{Said, Step};

/// All starts with what came of them.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) done: Vec<(Step, Mark, Said)>,
    /// Starts that did nothing because the lock could not be had in time.
    pub(super) gave_up: usize,
    pub(super) findings: Vec<String>,
    /// From start to end, in milliseconds.
    pub(super) took: Vec<f64>,
}

impl Tally {
    pub(super) fn add(&mut self, step: Step, mark: Mark, said: Result<Said, String>, took: f64) {
        self.took.push(took);
        match said {
            Ok(Said::GaveUp) => self.gave_up += 1,
            Ok(said) => self.done.push((step, mark, said)),
            Err(finding) => self.findings.push(finding),
        }
    }

    pub(super) fn join(mut self, other: Self) -> Self {
        self.done.extend(other.done);
        self.gave_up += other.gave_up;
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

    /// How many of them changed something.
    pub(super) fn changed(&self, wanted: Step) -> usize {
        self.done.iter().filter(|(step, _, said)| *step == wanted && *said == Said::Changed).count()
    }
}
