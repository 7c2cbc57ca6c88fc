//! Names of stages, events, shelves and workflows. The zh-TW forms come from the registry.

use crate::registry::{EventKind, Stage, Workflow};

use crate::messages::Lang;

/// The label of a stage: `測試`, `测试`, `Test`.
pub fn stage_label(lang: Lang, stage: Stage) -> &'static str {
    match lang {
        Lang::ZhTw => stage.label(),
        Lang::ZhCn => stage_names(stage).0,
        Lang::En => stage_names(stage).1,
    }
}

/// Emoji and label, as shown to people: `🧪 測試`.
pub fn stage_name(lang: Lang, stage: Stage) -> String {
    format!("{} {}", stage.emoji(), stage_label(lang, stage))
}

const fn stage_names(stage: Stage) -> (&'static str, &'static str) {
    match stage {
        Stage::Pm => ("产品", "Product"),
        Stage::Plan => ("规划", "Plan"),
        Stage::Arch => ("架构", "Architecture"),
        Stage::Design => ("设计", "Design"),
        Stage::Dev => ("开发", "Development"),
        Stage::Debug => ("调试", "Debug"),
        Stage::Review => ("审查", "Review"),
        Stage::Test => ("测试", "Test"),
        Stage::Security => ("安全", "Security"),
        Stage::DbReview => ("DB审查", "DB review"),
        Stage::Qa => ("验证", "QA"),
        Stage::E2e => ("E2E", "E2E"),
        Stage::BuildFix => ("修构建", "Build fix"),
        Stage::Refactor => ("清理", "Clean-up"),
        Stage::Retro => ("回顾", "Retrospective"),
        Stage::Docs => ("文档", "Docs"),
    }
}

/// The label of a timeline event for display. The recorded line always carries the registry's label.
pub fn event_label(lang: Lang, kind: EventKind) -> &'static str {
    match lang {
        Lang::ZhTw => kind.label(),
        Lang::ZhCn => event_names(kind).0,
        Lang::En => event_names(kind).1,
    }
}

const fn event_names(kind: EventKind) -> (&'static str, &'static str) {
    match kind {
        EventKind::WorkflowStart => ("工作流启动", "workflow started"),
        EventKind::WorkflowComplete => ("工作流完成", "workflow complete"),
        EventKind::WorkflowAbort => ("工作流中断", "workflow aborted"),
        EventKind::StageStart => ("阶段开始", "stage started"),
        EventKind::StageComplete => ("阶段完成", "stage complete"),
        EventKind::StageRetry => ("阶段重试", "stage retried"),
        EventKind::AgentDelegate => ("委派代理", "agent delegated"),
        EventKind::AgentComplete => ("代理完成", "agent complete"),
        EventKind::AgentError => ("代理错误", "agent error"),
        EventKind::LoopStart => ("循环启动", "loop started"),
        EventKind::LoopAdvance => ("下一个任务", "next task"),
        EventKind::LoopComplete => ("循环完成", "loop complete"),
        EventKind::ParallelStart => ("并行启动", "parallel start"),
        EventKind::ParallelConverge => ("并行收敛", "parallel converged"),
        EventKind::GraderScore => ("Grader 评分", "grader score"),
        EventKind::SpecsInit => ("Specs 初始化", "specs created"),
        EventKind::SpecsArchive => ("Specs 归档", "specs archived"),
        EventKind::ErrorFatal => ("严重错误", "fatal error"),
        EventKind::SessionStart => ("会话开始", "session started"),
        EventKind::SessionEnd => ("会话结束", "session ended"),
        EventKind::SessionCompact => ("Context 压缩", "context compacted"),
        EventKind::SessionCompactSuggestion => ("Compact 建议", "compaction suggested"),
        EventKind::ToolFailure => ("工具失败", "tool failure"),
        EventKind::SystemWarning => ("系统警告", "system warning"),
    }
}

/// What a workflow is for, in a few words.
pub const fn workflow_purpose(lang: Lang, workflow: Workflow) -> &'static str {
    let (tw, cn, en) = match workflow {
        Workflow::Single => ("一次小修改", "一次小修改", "one small change"),
        Workflow::Quick => {
            ("小功能，快速但有審查", "小功能，快速但有审查", "a small feature, fast but reviewed")
        }
        Workflow::Standard => ("一般功能開發", "一般功能开发", "an ordinary feature"),
        Workflow::Full => {
            ("大型功能，含設計與驗收", "大型功能，含设计与验收", "a large feature with design and QA")
        }
        Workflow::Secure => ("涉及安全的功能", "涉及安全的功能", "a feature that touches security"),
        Workflow::Tdd => ("測試先行", "测试先行", "tests first"),
        Workflow::Debug => ("找出並修復錯誤", "找出并修复错误", "find and fix a bug"),
        Workflow::Refactor => ("不改行為的重構", "不改行为的重构", "restructure without changing behaviour"),
        Workflow::ReviewOnly => ("只做程式碼審查", "只做代码审查", "code review only"),
        Workflow::SecurityOnly => ("只做安全審查", "只做安全审查", "security review only"),
        Workflow::BuildFix => ("修復構建", "修复构建", "fix a broken build"),
        Workflow::E2eOnly => ("只跑端對端測試", "只跑端到端测试", "end-to-end tests only"),
        Workflow::Diagnose => ("只診斷不修改", "只诊断不修改", "find the cause, change nothing"),
        Workflow::Clean => ("清理死碼與重複", "清理死代码与重复", "remove dead and duplicated code"),
        Workflow::DbReview => ("資料庫審查", "数据库审查", "database review"),
        Workflow::Product => {
            ("從產品需求開始的功能", "从产品需求开始的功能", "a feature, starting with the product decision")
        }
        Workflow::ProductFull => (
            "從產品需求開始的大型功能",
            "从产品需求开始的大型功能",
            "a large feature, starting with the product decision",
        ),
        Workflow::Discovery => ("釐清產品需求", "厘清产品需求", "clarify what to build"),
    };
    match lang {
        Lang::ZhTw => tw,
        Lang::ZhCn => cn,
        Lang::En => en,
    }
}

/// The label of a feature's shelf, given by its folder name.
pub fn shelf_label(lang: Lang, folder: &str) -> &str {
    let (tw, cn) = match folder {
        "in-progress" => ("進行中", "进行中"),
        "paused" => ("暫停", "暂停"),
        "backlog" => ("待辦", "待办"),
        "archive" => ("已歸檔", "已归档"),
        other => (other, other),
    };
    match lang {
        Lang::ZhTw => tw,
        Lang::ZhCn => cn,
        Lang::En => folder,
    }
}
