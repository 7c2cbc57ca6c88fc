//! What is said at the start of a session and to each prompt.

/// How every message of a person begins, in every language; no other text for the main agent does.
pub const MESSAGE_MARK: &str = "📨";

messages! {
    // The one line that the user sees when a session starts.
    banner(version: &str) {
        "🎵 Overtone v{version} 已就緒 — 輸入需求即可開始，或使用 /ot:auto",
        "🎵 Overtone v{version} 已就绪 — 输入需求即可开始，或使用 /ot:auto",
        "🎵 Overtone v{version} is ready — say what you want built, or use /ot:auto"
    }
    greet_unfinished(version: &str, feature: &str, checked: usize, total: usize) {
        "🎵 Overtone v{version} 已就緒 — {feature} 尚未完成（{checked}/{total}）；說「繼續」，或使用 /ot:auto",
        "🎵 Overtone v{version} 已就绪 — {feature} 尚未完成（{checked}/{total}）；说“继续”，或使用 /ot:auto",
        "🎵 Overtone v{version} is ready — {feature} is unfinished ({checked}/{total}); say \"continue\", or use /ot:auto"
    }
    greet_repository_feature(version: &str, feature: &str, checked: usize, total: usize) {
        "🎵 Overtone v{version} 已就緒 — 儲存庫帶有 feature {feature}（{checked}/{total}），並非在這台機器上開始",
        "🎵 Overtone v{version} 已就绪 — 仓库带有 feature {feature}（{checked}/{total}），并非在这台机器上开始",
        "🎵 Overtone v{version} is ready — the repository has a feature {feature} ({checked}/{total}) that was not started on this machine"
    }
    greet_held(version: &str, feature: &str, session: &str, age: &str) {
        "🎵 Overtone v{version} 已就緒 — 工作階段 {session} 正在處理 {feature}（{age} 前有動作）",
        "🎵 Overtone v{version} 已就绪 — 会话 {session} 正在处理 {feature}（{age} 前有动作）",
        "🎵 Overtone v{version} is ready — session {session} is working on {feature} (active {age} ago)"
    }
    greet_running(workflow: &str, done: usize, total: usize) {
        "🎵 Overtone：工作流 {workflow} 續接（{done}/{total}）— /ot:status 查看，/ot:stop 停止",
        "🎵 Overtone：工作流 {workflow} 续接（{done}/{total}）— /ot:status 查看，/ot:stop 停止",
        "🎵 Overtone: workflow {workflow} continues ({done}/{total} stages) — /ot:status shows it, /ot:stop stops it"
    }
    greet_stopped(workflow: &str, done: usize, total: usize) {
        "🎵 Overtone：工作流 {workflow} 已停止（{done}/{total}）— /ot:resume 可繼續",
        "🎵 Overtone：工作流 {workflow} 已停止（{done}/{total}）— /ot:resume 可继续",
        "🎵 Overtone: workflow {workflow} is stopped ({done}/{total} stages) — /ot:resume continues it"
    }
    greet_paused(workflow: &str, done: usize, total: usize) {
        "🎵 Overtone：工作流 {workflow} 已暫停（{done}/{total}）— 說「繼續」，或輸入 /ot:resume",
        "🎵 Overtone：工作流 {workflow} 已暂停（{done}/{total}）— 说“继续”，或输入 /ot:resume",
        "🎵 Overtone: workflow {workflow} is paused ({done}/{total} stages) — say \"continue\", or type /ot:resume"
    }
    greet_waiting(workflow: &str, stage: &str) {
        "🎵 Overtone：工作流 {workflow} 在等你 — {stage} 需要你的決定，/ot:status 查看",
        "🎵 Overtone：工作流 {workflow} 在等你 — {stage} 需要你的决定，/ot:status 查看",
        "🎵 Overtone: workflow {workflow} is waiting for you — {stage} needs your decision, /ot:status shows it"
    }
    greet_moved(workflow: &str, machine: &str) {
        "🎵 Overtone：工作流 {workflow} 已移到 {machine}",
        "🎵 Overtone：工作流 {workflow} 已移到 {machine}",
        "🎵 Overtone: workflow {workflow} was moved to {machine}"
    }
    use_auto() {
        "⛔ 若要建置或修改東西，MUST 先使用 Skill 工具執行 /ot:auto，由它判斷大小並選擇工作流。若只是提問或改一行，直接處理即可。",
        "⛔ 若要构建或修改东西，MUST 先使用 Skill 工具执行 /ot:auto，由它判断大小并选择工作流。若只是提问或改一行，直接处理即可。",
        "⛔ To build or change something, you MUST first run /ot:auto with the Skill tool; it sizes the request and picks a workflow. For a question or a one-line edit, just do it."
    }
    use_workflow(name: &str) {
        "⛔ MUST：使用者指定了工作流 {name}，請使用 Skill 工具執行 /ot:{name}。",
        "⛔ MUST：用户指定了工作流 {name}，请使用 Skill 工具执行 /ot:{name}。",
        "⛔ The user named the workflow {name}: you MUST run /ot:{name} with the Skill tool."
    }
    unknown_workflow(name: &str, known: &str) {
        "⚠️ 沒有名為 {name} 的工作流。可用：{known}。",
        "⚠️ 没有名为 {name} 的工作流。可用：{known}。",
        "⚠️ There is no workflow named {name}. Available: {known}."
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
    user_stopped(name: &str, done: usize, total: usize) {
        "使用者停止了工作流 {name}（已完成 {done}/{total} 個階段），沒有刪除任何東西。除非使用者要求，不要繼續它的階段。",
        "用户停止了工作流 {name}（已完成 {done}/{total} 个阶段），没有删除任何东西。除非用户要求，不要继续它的阶段。",
        "The user stopped the workflow {name} ({done}/{total} stages done). Nothing was deleted. Do not continue its stages unless they ask."
    }
    user_resumed(name: &str, step: &str) {
        "使用者恢復了工作流 {name}。{step}",
        "用户恢复了工作流 {name}。{step}",
        "The user resumed the workflow {name}. {step}"
    }
    stopped(name: &str) {
        "工作流 {name} 已由使用者停止或等待使用者決定。照使用者的話做；除非使用者要求，不要繼續它的階段。要恢復循環，由使用者輸入 /ot:resume。",
        "工作流 {name} 已由用户停止或等待用户决定。照用户的话做；除非用户要求，不要继续它的阶段。要恢复循环，由用户输入 /ot:resume。",
        "The workflow {name} was stopped by the user or is waiting for their decision. Do what the user says; do not continue its stages unless they ask. The user restarts the loop with /ot:resume."
    }
    waiting(name: &str, stage: &str, agent: &str) {
        "工作流 {name} 在等使用者：{stage} 需要他們的回答。若這就是回答，帶著它再次委派 {agent}。若是提問或其他事，直接回應即可；不要開始修復。",
        "工作流 {name} 在等用户：{stage} 需要他们的回答。若这就是回答，带着它再次委派 {agent}。若是提问或其他事，直接回应即可；不要开始修复。",
        "The workflow {name} is waiting for the user: {stage} needs their answer. If this is the answer, delegate {agent} again with it. If they ask something else, just answer; do not start a repair."
    }
    paused(name: &str, next: &str) {
        "工作流 {name} 已暫停。若使用者要繼續，從 {next} 接著做。若是提問或其他事，直接回應即可，不要繼續工作流。",
        "工作流 {name} 已暂停。若用户要继续，从 {next} 接着做。若是提问或其他事，直接回应即可，不要继续工作流。",
        "The workflow {name} is paused. If the user wants to resume it, continue with {next}. If they ask something else, just answer and leave the workflow alone."
    }
}
