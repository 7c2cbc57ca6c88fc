//! Instinct: what is observed, how sure it is, and when it is used.

use overtone_messages::{Lang, tools as words};
use overtone_registry::{Stage, Workflow};

use crate::state::Millis;
use crate::text::quoted;
use crate::tools::preferred_tool;
use crate::wording::is_rule;

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
    /// What is learned from it, as [`advice`] words it; empty where there is nothing to say.
    pub lesson: String,
    /// What was seen, quoted as data: for the user, never for the model.
    pub evidence: Option<String>,
    pub signal: Signal,
}

impl Observation {
    pub(crate) fn seen(lang: Lang, kind: ObservationKind, trigger: impl Into<String>) -> Self {
        let trigger = trigger.into();
        let lesson = advice(lang, kind, &trigger).unwrap_or_default();
        Self { kind, trigger, lesson, evidence: None, signal: Signal::Confirm }
    }

    /// With the line of an error or another text that somebody else has written.
    pub(crate) fn with_evidence(self, text: &str) -> Self {
        Self { evidence: Some(quoted(text)).filter(|line| !line.is_empty()), ..self }
    }

    pub fn id(&self) -> String {
        id(self.kind, &self.trigger)
    }
}

/// A lesson that is sure enough to be told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learned {
    pub kind: ObservationKind,
    pub trigger: String,
}

/// What the main agent is told of a lesson. The sentences are ours and the names in them are checked: errors, files and
/// names that others chose teach that something happens, but never speak. `None` for anything else.
pub fn advice(lang: Lang, kind: ObservationKind, trigger: &str) -> Option<String> {
    match kind {
        ObservationKind::ErrorResolutions => {
            is_command_name(trigger).then(|| words::often_fails(lang, trigger))
        }
        ObservationKind::ToolPreferences => {
            preferred_tool(trigger).map(|tool| words::use_tool_instead(lang, tool, trigger))
        }
        ObservationKind::WordingMismatch => {
            let (marker, word) = trigger.split_once(' ')?;
            is_rule(marker, word).then(|| words::wording_lesson(lang, marker, word))
        }
        ObservationKind::WorkflowRouting => {
            Workflow::from_name(trigger).map(|workflow| words::user_prefers_workflow(lang, workflow.name()))
        }
        ObservationKind::AgentPerformance => {
            Stage::from_key(trigger).map(|stage| words::agent_often_fails(lang, stage.key()))
        }
    }
}

/// A program with its subcommand, or a tool: `npm test`, `Write`. Not a sentence.
fn is_command_name(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c))
    };
    text.len() <= 64 && text.split(' ').count() <= 2 && text.split(' ').all(is_word)
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
    fn only_names_that_are_known_or_plain_are_told() {
        use ObservationKind::{
            AgentPerformance, ErrorResolutions, ToolPreferences, WordingMismatch, WorkflowRouting,
        };
        for (kind, trigger) in [
            (ErrorResolutions, "npm test"),
            (ErrorResolutions, "mcp__files__read"),
            (ToolPreferences, "cat"),
            (WordingMismatch, "💡 MUST"),
            (WorkflowRouting, "secure"),
            (AgentPerformance, "REVIEW"),
        ] {
            assert!(advice(Lang::En, kind, trigger).is_some(), "{trigger}");
        }
        for (kind, trigger) in [
            (ErrorResolutions, ""),
            (ErrorResolutions, "run this now"),
            (ErrorResolutions, "x`; evil"),
            (ErrorResolutions, "x\u{1b}[31m"),
            (ToolPreferences, "evil"),
            (WordingMismatch, "💡 evil"),
            (WordingMismatch, "evil"),
            (WorkflowRouting, "evil"),
            (AgentPerformance, "evil"),
        ] {
            assert_eq!(advice(Lang::En, kind, trigger), None, "{trigger}");
        }
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
