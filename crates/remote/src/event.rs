//! What a channel can be told about.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Done,
    Aborted,
    NeedsPerson,
    /// The supervisor let work go that it had not approved.
    Supervisor,
    Budget,
}

impl Event {
    pub const ALL: [Self; 5] = [Self::Done, Self::Aborted, Self::NeedsPerson, Self::Supervisor, Self::Budget];

    pub const fn key(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Aborted => "aborted",
            Self::NeedsPerson => "needs-person",
            Self::Supervisor => "supervisor",
            Self::Budget => "budget",
        }
    }

    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.key() == key)
    }
}
