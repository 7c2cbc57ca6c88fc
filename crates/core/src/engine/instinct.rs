//! Lessons ("instincts"): what is observed, how confident a lesson is, and when it is used.

use crate::messages::{Lang, tools};
use crate::registry::{Stage, Workflow, table};

use crate::engine::quote::quoted;
use crate::engine::state::Millis;
use crate::engine::wording::is_rule;

table! {
    /// The kinds of things that are learned.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ObservationKind {
        ErrorResolutions("error_resolutions"),
        ToolPreferences("tool_preferences"),
        WordingMismatch("wording_mismatch"),
        WorkflowRouting("workflow_routing"),
        AgentPerformance("agent_performance"),
    }

    struct ObservationKindRow {
        pub key: &'static str,
    }

    pub fn from_key(key) -> Option<Self>;
}

/// Whether an observation confirms or contradicts a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    Confirm,
    Contradict,
}

/// A single observation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    pub kind: ObservationKind,
    /// What the observation is about. Observations with the same trigger belong to the same lesson.
    pub trigger: String,
    /// The lesson as [`advice`] puts it, or an empty text.
    pub lesson: String,
    /// A quotation of what was observed. It is shown to the user, never to the model.
    pub evidence: Option<String>,
    pub signal: Signal,
}

impl Observation {
    pub(crate) fn seen(lang: Lang, kind: ObservationKind, trigger: impl Into<String>) -> Self {
        let trigger = trigger.into();
        let lesson = advice(lang, kind, &trigger).unwrap_or_default();
        Self { kind, trigger, lesson, evidence: None, signal: Signal::Confirm }
    }

    /// With a line of an error or of another text that is not ours.
    pub(crate) fn with_evidence(self, text: &str) -> Self {
        let line = quoted(text);
        Self { evidence: if line.is_empty() { None } else { Some(line) }, ..self }
    }

    pub fn id(&self) -> String {
        id(self.kind, &self.trigger)
    }
}

/// A lesson that is confident enough to be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learned {
    pub kind: ObservationKind,
    pub trigger: String,
}

/// The sentence about a lesson for the main agent. The sentences are ours, and the names in them are checked, so that
/// text from errors and files never reaches the model as an instruction. `None` if a name is not valid.
pub fn advice(lang: Lang, kind: ObservationKind, trigger: &str) -> Option<String> {
    match kind {
        ObservationKind::ErrorResolutions => {
            is_command_name(trigger).then(|| tools::often_fails(lang, trigger))
        }
        ObservationKind::ToolPreferences => {
            preferred_tool(trigger).map(|tool| tools::use_tool_instead(lang, tool, trigger))
        }
        ObservationKind::WordingMismatch => {
            let (marker, word) = trigger.split_once(' ')?;
            is_rule(marker, word).then(|| tools::wording_lesson(lang, marker, word))
        }
        ObservationKind::WorkflowRouting => {
            Workflow::from_name(trigger).map(|workflow| tools::user_prefers_workflow(lang, workflow.name()))
        }
        ObservationKind::AgentPerformance => {
            Stage::from_key(trigger).map(|stage| tools::agent_often_fails(lang, stage.key()))
        }
    }
}

/// Programs with a dedicated tool that does the same better. Searching is not among them: the clients offer neither Grep
/// nor Glob.
const PREFERRED_TOOLS: [(&str, &str); 4] =
    [("cat", "Read"), ("head", "Read"), ("tail", "Read"), ("sed", "Edit")];

/// The tool that replaces a program.
pub(crate) fn preferred_tool(program: &str) -> Option<&'static str> {
    PREFERRED_TOOLS.into_iter().find(|(known, _)| *known == program).map(|(_, tool)| tool)
}

/// Whether a text is a program with its subcommand, or a tool (`npm test`, `Write`), and not a sentence.
fn is_command_name(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c))
    };
    text.len() <= 64 && text.split(' ').count() <= 2 && text.split(' ').all(is_word)
}

/// A short stable id of a lesson: the initials of its kind and a hash of its trigger. The hash is FNV-1a, which is the
/// same in every version and needs no dependency.
pub fn id(kind: ObservationKind, trigger: &str) -> String {
    let prefix: String = kind.key().split('_').filter_map(|word| word.chars().next()).collect();
    let hash = trigger.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{prefix}-{:08x}", hash & 0xffff_ffff)
}

/// The confidence of a lesson, in hundredths so that sums are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Confidence(u8);

const WEEK: i64 = 7 * 24 * 3600 * 1000;

impl Confidence {
    pub const START: Self = Self(30);
    pub const APPLICABLE: Self = Self(70);
    pub const DROPPED_BELOW: Self = Self(20);

    /// From the fraction on disk. Values outside of 0…1 are clamped.
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

    /// Loses 0.02 for each whole week since it was last observed.
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
    fn contradictions_and_time_reduce_confidence() {
        assert!((Confidence::START.after(Signal::Contradict).fraction() - 0.2).abs() < 1e-9);
        assert!(Confidence::START.after(Signal::Contradict).after(Signal::Contradict).is_dropped());
        let later = Millis(WEEK * 3 + 5);
        assert!((Confidence::START.decayed(Millis(0), later).fraction() - 0.24).abs() < 1e-9);
        assert_eq!(Confidence::START.decayed(later, Millis(0)), Confidence::START);
        assert!(Confidence::APPLICABLE.decayed(Millis(0), Millis(i64::MAX)).is_dropped());
    }

    #[test]
    fn only_known_or_plain_names_become_advice() {
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
