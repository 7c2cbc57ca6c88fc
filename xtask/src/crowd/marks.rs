//! The name of one start, by which its traces are found again.

/// Which worker, and in which of its rounds. Short enough not to be taken for a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Mark {
    pub(super) worker: usize,
    pub(super) round: usize,
}

impl Mark {
    pub(super) fn text(self) -> String {
        format!("w{:03}r{:03}", self.worker, self.round)
    }

    /// The command that fails for this worker: a lesson of its own.
    pub(super) fn failing(self) -> String {
        format!("failing{:03}", self.worker)
    }

    /// The command that ends badly for this worker.
    pub(super) fn breaking(self) -> String {
        format!("breaking{:03}", self.worker)
    }

    pub(super) const fn percent(self) -> usize {
        self.round % 70
    }

    /// In whole cents, as it is kept.
    pub(super) fn dollars(self) -> f64 {
        crate::figures::to_float(1 + self.worker)
    }
}
