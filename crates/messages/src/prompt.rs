//! What is said at the start of a session and to each prompt.

/// How every message of a person begins, in every language; no other text for the main agent does.
pub const MESSAGE_MARK: &str = "📨";

messages! {
    banner(version: &str) {
        "🎵 Overtone v{version} 已就緒 — 輸入需求即可開始，或使用 /ot:auto",
        "🎵 Overtone v{version} 已就绪 — 输入需求即可开始，或使用 /ot:auto",
        "🎵 Overtone v{version} is ready — say what you want, or use /ot:auto"
    }
    use_auto() {
        "⛔ MUST：先使用 Skill 工具執行 /ot:auto，由它判斷需求大小並選擇工作流（小事會直接處理）。",
        "⛔ MUST：先使用 Skill 工具执行 /ot:auto，由它判断需求大小并选择工作流（小事会直接处理）。",
        "⛔ You MUST use the Skill tool for /ot:auto first: it sizes the wish and picks a workflow (small things are done directly)."
    }
    use_workflow(name: &str) {
        "⛔ MUST：使用者指定了工作流 {name}，請使用 Skill 工具執行 /ot:{name}。",
        "⛔ MUST：用户指定了工作流 {name}，请使用 Skill 工具执行 /ot:{name}。",
        "⛔ The user named the workflow {name}: you MUST use the Skill tool for /ot:{name}."
    }
    unknown_workflow(name: &str, known: &str) {
        "⚠️ 沒有名為 {name} 的工作流。可用：{known}。",
        "⚠️ 没有名为 {name} 的工作流。可用：{known}。",
        "⚠️ There is no workflow named {name}. Known: {known}."
    }
    running(name: &str, stage: &str, step: &str) {
        "⛔ 工作流 {name} 進行中（目前階段：{stage}）。{step}",
        "⛔ 工作流 {name} 进行中（当前阶段：{stage}）。{step}",
        "⛔ The workflow {name} is running (current stage: {stage}). {step}"
    }
    /// Something that a person says to the main agent, on one line.
    message_from(by: &str, text: &str) {
        "📨 來自 {by} 的訊息：{text}",
        "📨 来自 {by} 的消息：{text}",
        "📨 Message from {by}: {text}"
    }
    paused(name: &str) {
        "工作流 {name} 已停止；若使用者要繼續，請執行 overtone resume，否則照使用者的話做。",
        "工作流 {name} 已停止；若用户要继续，请执行 overtone resume，否则照用户的话做。",
        "The workflow {name} is stopped; if the user wants to go on, run overtone resume, otherwise do as the user says."
    }
}
