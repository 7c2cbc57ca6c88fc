//! Timeline events: everything that is recorded in `timeline.jsonl`.

use crate::registry::table;

table! {
    /// The type of a timeline event.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum EventKind {
        WorkflowStart("workflow:start", "工作流啟動"),
        WorkflowComplete("workflow:complete", "工作流完成"),
        WorkflowAbort("workflow:abort", "工作流中斷"),
        StageStart("stage:start", "階段開始"),
        StageComplete("stage:complete", "階段完成"),
        StageRetry("stage:retry", "階段重試"),
        AgentDelegate("agent:delegate", "委派代理"),
        AgentComplete("agent:complete", "代理完成"),
        AgentError("agent:error", "代理錯誤"),
        LoopStart("loop:start", "循環啟動"),
        LoopAdvance("loop:advance", "下一個任務"),
        LoopComplete("loop:complete", "循環完成"),
        ParallelStart("parallel:start", "並行啟動"),
        ParallelConverge("parallel:converge", "並行收斂"),
        GraderScore("grader:score", "Grader 評分"),
        SpecsInit("specs:init", "Specs 初始化"),
        SpecsArchive("specs:archive", "Specs 歸檔"),
        ErrorFatal("error:fatal", "嚴重錯誤"),
        SessionStart("session:start", "工作階段開始"),
        SessionEnd("session:end", "工作階段結束"),
        SessionCompact("session:compact", "Context 壓縮"),
        SessionCompactSuggestion("session:compact-suggestion", "Compact 建議"),
        ToolFailure("tool:failure", "工具失敗"),
        SystemWarning("system:warning", "系統警告"),
    }

    struct EventRow {
        /// The `type` field, `category:name`.
        pub name: &'static str,
        /// The label in the language of the specification (zh-TW); it is part of the recorded line.
        pub label: &'static str,
    }

    fn find(name) -> Option<Self>;
}

/// How an event is shown: whether it is good or bad news.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventTone {
    Plain,
    Good,
    Warning,
    Bad,
}

impl EventTone {
    /// The name in the registry that the dashboard's page uses.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Good => "good",
            Self::Warning => "warn",
            Self::Bad => "bad",
        }
    }
}

/// A name that is not the type of any timeline event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("未知的 timeline 事件類型: {0}")]
pub struct UnknownEvent(pub String);

impl EventKind {
    /// The part of the name before the colon.
    pub fn category(self) -> &'static str {
        self.name().split(':').next().unwrap_or_default()
    }

    /// How the event is shown, in the terminal and on the dashboard.
    pub const fn tone(self) -> EventTone {
        match self {
            Self::ErrorFatal | Self::AgentError | Self::ToolFailure | Self::WorkflowAbort => EventTone::Bad,
            Self::StageRetry | Self::SystemWarning | Self::SessionCompactSuggestion => EventTone::Warning,
            Self::StageComplete | Self::WorkflowComplete | Self::LoopComplete => EventTone::Good,
            _ => EventTone::Plain,
        }
    }

    pub fn from_name(name: &str) -> Result<Self, UnknownEvent> {
        Self::find(name).ok_or_else(|| UnknownEvent(name.to_owned()))
    }
}

table! {
    /// Why an [`EventKind::SystemWarning`] was recorded: its `reason` field.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum WarningReason {
        /// Most of a limit of the budget is used.
        BudgetNear("budget-near"),
        /// The user raised the limits of the budget.
        BudgetRaised("budget-raised"),
        /// A limit of the budget is reached.
        BudgetReached("budget-reached"),
        /// Tokens of a model without a price do not count in a budget in dollars.
        BudgetUnpriced("budget-unpriced"),
        /// The user takes a state over that another program wrote.
        EditAccepted("edit-accepted"),
        /// A feature was moved to another folder of the specs.
        FeatureMoved("feature-moved"),
        /// Another session works on the same feature.
        FeatureTaken("feature-taken"),
        /// A call of a hook did not come from the client and was ignored.
        ForgedHook("forged-hook"),
        /// Somebody went past the gate, or tried to. The field `violation` says how.
        GateBypassed("gate-bypassed"),
        /// The client delivered a report with a warning, or withheld it.
        Handback("handback"),
        /// No more agents of other kinds may be started while the workflow runs.
        HelperLimit("helper-limit"),
        /// The user confirmed or contradicted a lesson.
        LessonJudged("lesson-judged"),
        /// Stands in for a line that is too long to be sent to other machines.
        LineTooLong("line-too-long"),
        /// The loop reached its last iteration.
        LoopLimit("loop-limit"),
        /// Somebody stopped the loop.
        LoopStopped("loop-stopped"),
        /// Somebody left a message for the main agent.
        Message("message"),
        /// An agent has to complete its report.
        ReportSentBack("report-sent-back"),
        /// Another machine took the session over.
        SessionMoved("session-moved"),
        /// This machine took the session back.
        SessionPulled("session-pulled"),
        /// A stage needs the user.
        StageBlocked("stage-blocked"),
        /// Another program changed a file of the session.
        StateEdited("state-edited"),
        /// Tasks were ticked while no agent of a stage was at work.
        TasksTicked("tasks-ticked"),
    }

    struct WarningReasonRow {
        /// The value of the `reason` field.
        pub name: &'static str,
    }

    pub fn from_name(name) -> Option<Self>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_have_a_tone() {
        assert_eq!(EventKind::WorkflowComplete.tone(), EventTone::Good);
        assert_eq!(EventKind::WorkflowAbort.tone(), EventTone::Bad);
        assert_eq!(EventKind::StageRetry.tone(), EventTone::Warning);
        assert_eq!(EventKind::StageStart.tone(), EventTone::Plain);
    }

    #[test]
    fn warning_reasons_round_trip() {
        for reason in WarningReason::ALL {
            assert_eq!(WarningReason::from_name(reason.name()), Some(reason));
        }
        assert_eq!(WarningReason::from_name("resumed"), None);
    }

    #[test]
    fn names_round_trip_and_an_unknown_name_is_an_error() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::from_name(kind.name()), Ok(kind));
            assert!(kind.name().starts_with(&format!("{}:", kind.category())));
        }
        let error = EventKind::from_name("session:unknown").unwrap_err();
        assert!(error.to_string().contains("未知的 timeline 事件類型"));
    }
}
