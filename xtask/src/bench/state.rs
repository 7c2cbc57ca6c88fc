//! How much has happened before a program starts, and what a call may cost.

/// The session that a program finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// No workflow: what everyone pays who has the plugin and does not use it.
    None,
    /// A workflow with a handful of events.
    Empty,
    /// The same workflow after some hours of work.
    Typical,
    /// The same workflow after a very long session. A hook must not notice.
    Huge,
}

/// How much of everything there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    pub events: usize,
    pub observations: usize,
    pub features: usize,
    pub transcript_bytes: usize,
}

impl State {
    pub(crate) const ALL: [Self; 4] = [Self::None, Self::Empty, Self::Typical, Self::Huge];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Empty => "empty",
            Self::Typical => "typical",
            Self::Huge => "huge",
        }
    }

    pub(crate) const fn size(self) -> Size {
        let (events, observations, features, transcript_bytes) = match self {
            Self::None => (0, 0, 1, 10_000),
            Self::Empty => (8, 8, 1, 10_000),
            Self::Typical => (300, 150, 6, 3_000_000),
            Self::Huge => (1_000_000, 100_000, 500, 200_000_000),
        };
        Size { events, observations, features, transcript_bytes }
    }

    pub(crate) const fn has_workflow(self) -> bool {
        !matches!(self, Self::None)
    }
}

/// What a call may cost. Hooks that only read run far more often than those that leave something on disk, so their bar
/// is lower.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Reading,
    Writing,
    /// A hook of `ccc` that has nothing to do.
    Idle,
    /// A switch of `ccc` and the start of the client.
    Switching,
    /// The same, waiting for the disk. It has no bar: the machine's disk decides.
    Synced,
}

impl Class {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Writing => "writing",
            Self::Idle => "idle",
            Self::Switching => "switching",
            Self::Synced => "no bar",
        }
    }
}
