//! The events that a channel can subscribe to.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Done,
    Aborted,
    /// The session waits for the user.
    NeedsAttention,
    /// The supervisor let the session stop without having approved its work.
    Supervisor,
    Budget,
}

impl Event {
    pub const ALL: [Self; 5] =
        [Self::Done, Self::Aborted, Self::NeedsAttention, Self::Supervisor, Self::Budget];

    /// The name in the configuration and in messages.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Aborted => "aborted",
            Self::NeedsAttention => "needs-person",
            Self::Supervisor => "supervisor",
            Self::Budget => "budget",
        }
    }

    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.key() == key)
    }
}
