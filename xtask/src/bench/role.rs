//! What a measured program is to us: a yardstick, somebody else's hook, or a call of our own.

use super::cases::{CASES, Case};
use super::ccc::{Medium, Stop};
use super::rivals::Rival;
use super::state::{Class, State};

/// What everything is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Baseline {
    /// The smallest program that a system has.
    True,
    /// A Rust program that does nothing.
    Floor,
}

impl Baseline {
    pub(crate) const ALL: [Self; 2] = [Self::True, Self::Floor];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::True => "/bin/true",
            Self::Floor => "floor",
        }
    }
}

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Role {
    Baseline(Baseline),
    Rival(Rival),
    Case(&'static Case, State),
    /// The hook of `ccc`, when it has nothing to do.
    Stop(Stop, State),
    /// `ccc`, from one provider to the other.
    Switch(Medium),
}

impl Role {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Baseline(baseline) => baseline.name().to_owned(),
            Self::Rival(rival) => rival.name().to_owned(),
            Self::Case(case, _) => case.name(),
            Self::Stop(stop, _) => stop.name().to_owned(),
            Self::Switch(_) => "ccc switch, start".to_owned(),
        }
    }

    /// What the session is like; for a switch, where the home is.
    pub(crate) const fn setting(self) -> &'static str {
        match self {
            Self::Baseline(_) | Self::Rival(_) => "",
            Self::Case(_, state) | Self::Stop(_, state) => state.name(),
            Self::Switch(medium) => medium.name(),
        }
    }

    /// The name and the setting: `on-stop, huge`.
    pub(crate) fn label(self) -> String {
        let (name, setting) = (self.name(), self.setting());
        if setting.is_empty() { name } else { format!("{name}, {setting}") }
    }

    /// Only our own programs have one.
    pub(crate) const fn class(self) -> Option<Class> {
        match self {
            Self::Baseline(_) | Self::Rival(_) => None,
            Self::Case(case, state) => Some(case.class(state)),
            Self::Stop(..) => Some(Class::Idle),
            Self::Switch(medium) => Some(medium.class()),
        }
    }

    /// Whether each start leaves something on disk that must be undone. A switch is undone by the next one.
    pub(crate) fn writes(self) -> bool {
        self.class() == Some(Class::Writing)
    }

    pub(crate) const fn state(self) -> Option<State> {
        match self {
            Self::Case(_, state) | Self::Stop(_, state) => Some(state),
            _ => None,
        }
    }

    pub(crate) fn is(self, wanted: Baseline) -> bool {
        matches!(self, Self::Baseline(baseline) if baseline == wanted)
    }

    /// Subjects come by fixture; people read by name.
    pub(crate) fn order(self) -> (usize, usize) {
        match self {
            Self::Baseline(_) => (0, 0),
            Self::Rival(_) => (1, 0),
            Self::Case(case, _) => {
                (2, CASES.iter().position(|other| other.name() == case.name()).unwrap_or_default())
            }
            Self::Stop(stop, _) => (3, Stop::ALL.iter().position(|other| *other == stop).unwrap_or_default()),
            Self::Switch(_) => (4, 0),
        }
    }
}
