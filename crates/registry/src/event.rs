//! Timeline events: everything that is recorded in `timeline.jsonl`.

use std::fmt;

/// The type of a timeline event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventKind {
    WorkflowStart,
    WorkflowComplete,
    WorkflowAbort,
    StageStart,
    StageComplete,
    StageRetry,
    AgentDelegate,
    AgentComplete,
    AgentError,
    LoopStart,
    LoopAdvance,
    LoopComplete,
    ParallelStart,
    ParallelConverge,
    GraderScore,
    SpecsInit,
    SpecsArchive,
    ErrorFatal,
    SessionStart,
    SessionEnd,
    SessionCompact,
    SessionCompactSuggestion,
    ToolFailure,
    SystemWarning,
}

/// A name that is no timeline event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownEvent(pub String);

impl fmt::Display for UnknownEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "未知的 timeline 事件類型: {}", self.0)
    }
}

impl std::error::Error for UnknownEvent {}

impl EventKind {
    pub const ALL: [Self; 24] = [
        Self::WorkflowStart,
        Self::WorkflowComplete,
        Self::WorkflowAbort,
        Self::StageStart,
        Self::StageComplete,
        Self::StageRetry,
        Self::AgentDelegate,
        Self::AgentComplete,
        Self::AgentError,
        Self::LoopStart,
        Self::LoopAdvance,
        Self::LoopComplete,
        Self::ParallelStart,
        Self::ParallelConverge,
        Self::GraderScore,
        Self::SpecsInit,
        Self::SpecsArchive,
        Self::ErrorFatal,
        Self::SessionStart,
        Self::SessionEnd,
        Self::SessionCompact,
        Self::SessionCompactSuggestion,
        Self::ToolFailure,
        Self::SystemWarning,
    ];

    /// The `type` field, `category:name`.
    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// The label in the language of the specification (zh-TW); it is part of the recorded line.
    pub const fn label(self) -> &'static str {
        self.row().1
    }

    /// The part of the name before the colon.
    pub fn category(self) -> &'static str {
        self.name().split(':').next().unwrap_or_default()
    }

    pub fn from_name(name: &str) -> Result<Self, UnknownEvent> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| UnknownEvent(name.to_owned()))
    }

    const fn row(self) -> (&'static str, &'static str) {
        match self {
            Self::WorkflowStart => ("workflow:start", "工作流啟動"),
            Self::WorkflowComplete => ("workflow:complete", "工作流完成"),
            Self::WorkflowAbort => ("workflow:abort", "工作流中斷"),
            Self::StageStart => ("stage:start", "階段開始"),
            Self::StageComplete => ("stage:complete", "階段完成"),
            Self::StageRetry => ("stage:retry", "階段重試"),
            Self::AgentDelegate => ("agent:delegate", "委派代理"),
            Self::AgentComplete => ("agent:complete", "代理完成"),
            Self::AgentError => ("agent:error", "代理錯誤"),
            Self::LoopStart => ("loop:start", "循環啟動"),
            Self::LoopAdvance => ("loop:advance", "下一個任務"),
            Self::LoopComplete => ("loop:complete", "循環完成"),
            Self::ParallelStart => ("parallel:start", "並行啟動"),
            Self::ParallelConverge => ("parallel:converge", "並行收斂"),
            Self::GraderScore => ("grader:score", "Grader 評分"),
            Self::SpecsInit => ("specs:init", "Specs 初始化"),
            Self::SpecsArchive => ("specs:archive", "Specs 歸檔"),
            Self::ErrorFatal => ("error:fatal", "嚴重錯誤"),
            Self::SessionStart => ("session:start", "工作階段開始"),
            Self::SessionEnd => ("session:end", "工作階段結束"),
            Self::SessionCompact => ("session:compact", "Context 壓縮"),
            Self::SessionCompactSuggestion => ("session:compact-suggestion", "Compact 建議"),
            Self::ToolFailure => ("tool:failure", "工具失敗"),
            Self::SystemWarning => ("system:warning", "系統警告"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_unknown_ones_say_so() {
        for kind in EventKind::ALL {
            assert_eq!(EventKind::from_name(kind.name()), Ok(kind));
            assert!(kind.name().starts_with(&format!("{}:", kind.category())));
        }
        let error = EventKind::from_name("session:unknown").unwrap_err();
        assert!(error.to_string().contains("未知的 timeline 事件類型"));
    }
}
