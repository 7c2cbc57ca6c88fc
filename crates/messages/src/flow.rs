//! The flow of stages: gate, results, next step.

messages! {
    /// One agent to delegate to: `TESTER（ot:tester）`.
    delegate(upper: &str, name: &str) { "{upper}（ot:{name}）", "{upper}（ot:{name}）", "{upper} (ot:{name})" }
    deny_skipped(stages: &str, step: &str) {
        "⛔ 不可跳過必要階段：{stages} 尚未完成。{step}",
        "⛔ 不可跳过必要阶段：{stages} 尚未完成。{step}",
        "⛔ A required stage NEVER gets skipped: {stages} not done yet. {step}"
    }
    deny_finished(agent: &str) {
        "⛔ 工作流已達上限並中斷，不可再委派 {agent}。請向使用者說明狀況並等待指示（overtone resume 可重新開始）。",
        "⛔ 工作流已达上限并中断，不可再委派 {agent}。请向用户说明状况并等待指示（overtone resume 可重新开始）。",
        "⛔ The workflow reached its limit and was aborted: {agent} MUST NOT be delegated. Explain the situation to the user and wait (overtone resume starts again)."
    }
    deny_nested(agent: &str) {
        "⛔ 只有主代理可以委派 {agent}。請完成自己的工作，並在回覆中說明還需要什麼。",
        "⛔ 只有主代理可以委派 {agent}。请完成自己的工作，并在回复中说明还需要什么。",
        "⛔ Only the main agent delegates {agent}: you MUST finish your own work and say in your answer what else is needed."
    }
    deny_read_only(agent: &str, tool: &str) {
        "⛔ {agent} 是唯讀代理，不可使用 {tool}。請在回覆中說明建議的修改。",
        "⛔ {agent} 是只读代理，不可使用 {tool}。请在回复中说明建议的修改。",
        "⛔ {agent} MUST NOT use {tool}. Describe the change you propose in your answer instead."
    }
    stage_passed(stage: &str) { "✅ {stage} 完成。", "✅ {stage} 完成。", "✅ {stage} complete." }
    agent_finished(agent: &str) { "✅ {agent} 完成。", "✅ {agent} 完成。", "✅ {agent} finished." }
    stage_failed(stage: &str, count: u32, limit: u32) {
        "❌ {stage} 失敗（{count}/{limit}）。",
        "❌ {stage} 失败（{count}/{limit}）。",
        "❌ {stage} failed ({count}/{limit})."
    }
    stage_rejected(stage: &str, count: u32, limit: u32) {
        "🚫 {stage} 未通過（{count}/{limit}）。",
        "🚫 {stage} 未通过（{count}/{limit}）。",
        "🚫 {stage} rejected ({count}/{limit})."
    }
    stage_issues(stage: &str, count: u32, limit: u32) {
        "✅ {stage} 完成，發現可改善之處（{count}/{limit}）。",
        "✅ {stage} 完成，发现可改善之处（{count}/{limit}）。",
        "✅ {stage} complete, with issues to improve ({count}/{limit})."
    }
    issues_advice() {
        "💡 值得改善的項目可以委派 DEVELOPER 處理，或記入文件後繼續。",
        "💡 值得改善的项目可以委派 DEVELOPER 处理，或记入文件后继续。",
        "💡 You may have DEVELOPER handle what is worth it, or note it down and go on."
    }
    agent_broke(agent: &str) {
        "⚠️ {agent} 因 API 錯誤中斷，沒有結果。",
        "⚠️ {agent} 因 API 错误中断，没有结果。",
        "⚠️ {agent} was cut off by an API error and has no result."
    }
    agent_lost(agent: &str) {
        "⚠️ {agent} 沒有回報結果，該階段已重新開放。",
        "⚠️ {agent} 没有回报结果，该阶段已重新开放。",
        "⚠️ {agent} never reported back; its stage is open again."
    }
    next_delegate(agents: &str) {
        "下一步請委派 {agents}。",
        "下一步请委派 {agents}。",
        "Next, delegate {agents}."
    }
    next_parallel(agents: &str) {
        "下一步請委派 {agents}，在同一則訊息中並行啟動。",
        "下一步请委派 {agents}，在同一条消息中并行启动。",
        "Next, delegate {agents}, launched in parallel in one message."
    }
    next_repair(debugger: &str, developer: &str, stage: &str) {
        "下一步請委派 {debugger}找出原因，再委派 {developer}修復，然後重跑 {stage}。",
        "下一步请委派 {debugger}找出原因，再委派 {developer}修复，然后重跑 {stage}。",
        "Next, delegate {debugger} to find the cause, then {developer} to repair it, then run {stage} again."
    }
    next_rework(developer: &str, stage: &str) {
        "下一步請委派 {developer}依審查意見修改，然後重跑 {stage}。",
        "下一步请委派 {developer}依审查意见修改，然后重跑 {stage}。",
        "Next, delegate {developer} to act on the findings, then run {stage} again."
    }
    next_again(agent: &str) {
        "下一步請重新委派 {agent}。",
        "下一步请重新委派 {agent}。",
        "Next, delegate {agent} again."
    }
    waiting_for(stages: &str) {
        "等待並行階段：{stages}。",
        "等待并行阶段：{stages}。",
        "Waiting for the parallel stages: {stages}."
    }
    converged(group: &str) {
        "🔀 並行群組 {group} 已全部完成。",
        "🔀 并行组 {group} 已全部完成。",
        "🔀 The parallel group {group} has converged."
    }
    all_stages_done() {
        "🎉 所有階段已完成。請向使用者總結成果。",
        "🎉 所有阶段已完成。请向用户总结成果。",
        "🎉 Every stage is complete. Sum the result up for the user."
    }
    tasks_left(count: usize, first: &str) {
        "還有 {count} 個未勾選任務，第一個：{first}。請完成並勾選 tasks.md。",
        "还有 {count} 个未勾选任务，第一个：{first}。请完成并勾选 tasks.md。",
        "{count} tasks are still unticked, the first: {first}. Finish them and tick them in tasks.md."
    }
    ask_person(stage: &str) {
        "⛔ {stage} 已達重試上限。禁止再次重試：請向使用者說明失敗原因並等待指示。",
        "⛔ {stage} 已达重试上限。禁止再次重试：请向用户说明失败原因并等待指示。",
        "⛔ {stage} reached its retry limit. NEVER retry again: explain the failure to the user and wait for instructions."
    }
    report_findings(stage: &str) {
        "{stage} 的結論需要人決定：請將發現如實回報使用者。若要修復，可執行 /ot:quick。",
        "{stage} 的结论需要人决定：请将发现如实回报用户。若要修复，可执行 /ot:quick。",
        "The outcome of {stage} is for a person to decide: report the findings as they are. To repair them, /ot:quick may be used."
    }
    handoff_saved(path: &str) { "Handoff：{path}", "Handoff：{path}", "Handoff: {path}" }
    suggest_compact(size: &str) {
        "💡 transcript 已達 {size}，建議在此階段邊界執行 /compact 壓縮 context，工作流狀態會自動恢復。",
        "💡 transcript 已达 {size}，建议在此阶段边界执行 /compact 压缩 context，工作流状态会自动恢复。",
        "💡 The transcript has grown to {size}: you should run /compact at this stage boundary; the workflow state comes back by itself."
    }
    suggest_compact_percent(percent: u32, size: &str) {
        "💡 context 已使用 {percent}%（transcript {size}），建議在此階段邊界執行 /compact 壓縮，工作流狀態會自動恢復。",
        "💡 context 已使用 {percent}%（transcript {size}），建议在此阶段边界执行 /compact 压缩，工作流状态会自动恢复。",
        "💡 {percent}% of the context is used (transcript {size}): you should run /compact at this stage boundary; the workflow state comes back by itself."
    }
}
