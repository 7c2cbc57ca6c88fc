//! How much has happened in the session that a measured program finds.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// No workflow: what everyone pays who has the plugin and does not use it.
    None,
    /// A workflow with a handful of events.
    Empty,
    /// The same workflow after some hours of work.
    Typical,
    /// The same workflow after a very long session. It must not cost more than the empty one.
    Huge,
}

/// How much of everything there is.
#[derive(Debug, Clone, Copy)]
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
