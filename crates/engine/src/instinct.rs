//! Instinct: what is observed, how sure it is, and when it is used.

use crate::state::Millis;

/// The kinds of things that are learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObservationKind {
    ErrorResolutions,
    ToolPreferences,
    WordingMismatch,
    WorkflowRouting,
    AgentPerformance,
}

impl ObservationKind {
    pub const ALL: [Self; 5] = [
        Self::ErrorResolutions,
        Self::ToolPreferences,
        Self::WordingMismatch,
        Self::WorkflowRouting,
        Self::AgentPerformance,
    ];

    pub const fn key(self) -> &'static str {
        match self {
            Self::ErrorResolutions => "error_resolutions",
            Self::ToolPreferences => "tool_preferences",
            Self::WordingMismatch => "wording_mismatch",
            Self::WorkflowRouting => "workflow_routing",
            Self::AgentPerformance => "agent_performance",
        }
    }

    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.key() == key)
    }
}

/// Whether an observation speaks for a lesson or against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    Confirm,
    Contradict,
}

/// Something that was seen once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    pub kind: ObservationKind,
    /// What it is about; the same trigger is the same lesson.
    pub trigger: String,
    /// What to do about it, in words for the model.
    pub lesson: String,
    pub signal: Signal,
}

impl Observation {
    pub(crate) fn seen(kind: ObservationKind, trigger: impl Into<String>, lesson: String) -> Self {
        Self { kind, trigger: trigger.into(), lesson, signal: Signal::Confirm }
    }

    pub(crate) fn agent_performance(stage: &str, lesson: String, signal: Signal) -> Self {
        Self { signal, ..Self::seen(ObservationKind::AgentPerformance, stage, lesson) }
    }

    pub fn id(&self) -> String {
        id(self.kind, &self.trigger)
    }
}

/// A short stable name for a lesson: the kind's initials and a hash of what it is about (FNV-1a, so that it is
/// the same in every version and needs no dependency).
pub fn id(kind: ObservationKind, trigger: &str) -> String {
    let prefix: String = kind.key().split('_').filter_map(|word| word.chars().next()).collect();
    let hash = trigger.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{prefix}-{:08x}", hash & 0xffff_ffff)
}

/// How sure a lesson is, in hundredths, so that sums are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Confidence(u8);

const WEEK: i64 = 7 * 24 * 3600 * 1000;

impl Confidence {
    pub const START: Self = Self(30);
    pub const APPLICABLE: Self = Self(70);
    pub const DROPPED_BELOW: Self = Self(20);

    /// From the fraction on disk; anything outside 0…1 is brought inside.
    pub fn from_fraction(fraction: f64) -> Self {
        // In range after the clamp, so the conversion is exact.
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=100")]
        Self((fraction * 100.0).round().clamp(0.0, 100.0) as u8)
    }

    pub fn fraction(self) -> f64 {
        f64::from(self.0) / 100.0
    }

    #[must_use]
    pub fn after(self, signal: Signal) -> Self {
        match signal {
            Signal::Confirm => Self((self.0 + 5).min(100)),
            Signal::Contradict => Self(self.0.saturating_sub(10)),
        }
    }

    /// −0.02 for each whole week since it was last seen.
    #[must_use]
    pub fn decayed(self, last_seen: Millis, now: Millis) -> Self {
        let weeks = u8::try_from(now.since(last_seen) / WEEK).unwrap_or(u8::MAX);
        Self(self.0.saturating_sub(weeks.saturating_mul(2)))
    }

    pub fn is_applicable(self) -> bool {
        self >= Self::APPLICABLE
    }

    pub fn is_dropped(self) -> bool {
        self < Self::DROPPED_BELOW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_confirmations_make_a_lesson_applicable() {
        let mut confidence = Confidence::START;
        for _ in 0..7 {
            confidence = confidence.after(Signal::Confirm);
            assert!(!confidence.is_applicable());
        }
        assert!(confidence.after(Signal::Confirm).is_applicable());
    }

    #[test]
    fn contradictions_and_weeks_wear_it_down() {
        assert!((Confidence::START.after(Signal::Contradict).fraction() - 0.2).abs() < 1e-9);
        assert!(Confidence::START.after(Signal::Contradict).after(Signal::Contradict).is_dropped());
        let later = Millis(WEEK * 3 + 5);
        assert!((Confidence::START.decayed(Millis(0), later).fraction() - 0.24).abs() < 1e-9);
        assert_eq!(Confidence::START.decayed(later, Millis(0)), Confidence::START);
        assert!(Confidence::APPLICABLE.decayed(Millis(0), Millis(i64::MAX)).is_dropped());
    }

    #[test]
    fn ids_are_stable() {
        assert_eq!(
            id(ObservationKind::ErrorResolutions, "npm test"),
            id(ObservationKind::ErrorResolutions, "npm test")
        );
        assert_ne!(id(ObservationKind::ErrorResolutions, "a"), id(ObservationKind::ToolPreferences, "a"));
        assert!(id(ObservationKind::AgentPerformance, "x").starts_with("ap-"));
    }
}
