//! The loop on Stop: why the session goes on, or why it may end.

messages! {
    go_on(iteration: u32, limit: u32) {
        "[Overtone Loop {iteration}/{limit}] 工作流尚未完成，請繼續。",
        "[Overtone Loop {iteration}/{limit}] 工作流尚未完成，请继续。",
        "[Overtone loop {iteration}/{limit}] The workflow is not finished: go on."
    }
    tasks(checked: usize, total: usize) { "任務：{checked}/{total}", "任务：{checked}/{total}", "Tasks: {checked}/{total}" }
    how_to_stop() {
        "若需要使用者決定，請用 AskUserQuestion 詢問。若使用者要求停止，請執行 overtone stop。",
        "若需要用户决定，请用 AskUserQuestion 询问。若用户要求停止，请执行 overtone stop。",
        "If the user has to decide something, ask with AskUserQuestion. If they ask to stop, run overtone stop."
    }
    finished(workflow: &str, stages: usize, duration: &str) {
        "🎉 工作流 {workflow} 完成：{stages} 個階段，耗時 {duration}。",
        "🎉 工作流 {workflow} 完成：{stages} 个阶段，耗时 {duration}。",
        "🎉 Workflow {workflow} complete: {stages} stages in {duration}."
    }
    retries(failures: u32, rejections: u32) {
        "重試：失敗 {failures} 次，拒絕 {rejections} 次（均已修復）。",
        "重试：失败 {failures} 次，拒绝 {rejections} 次（均已修复）。",
        "Repaired on the way: failures {failures}, rejections {rejections}."
    }
    archived(feature: &str) {
        "📦 Feature {feature} 已歸檔。",
        "📦 Feature {feature} 已归档。",
        "📦 Feature {feature} is archived."
    }
    stopped_by_user() {
        "⏸ 已停止，工作流保留。/ot:resume 可繼續。",
        "⏸ 已停止，工作流保留。/ot:resume 可继续。",
        "⏸ Stopped; the workflow is kept. Continue with /ot:resume"
    }
    paused() {
        "⏸ 工作流已暫停。說「繼續」或輸入 /ot:resume 即可繼續。",
        "⏸ 工作流已暂停。说“继续”或输入 /ot:resume 即可继续。",
        "⏸ The workflow is paused. Say \"continue\", or type /ot:resume"
    }
    blocked(stage: &str) {
        "✋ {stage} 需要你：請看上面的問題，回答後會繼續。",
        "✋ {stage} 需要你：请看上面的问题，回答后会继续。",
        "✋ {stage} needs you: see the question above. It continues with your answer."
    }
    /// Of a session that another machine has taken over.
    moved(machine: &str, session: &str) {
        "這個工作階段已移到 {machine} 繼續，此處不再委派任何代理。overtone fleet pull {session} 可將它移回。",
        "这个会话已移到 {machine} 继续，此处不再委派任何代理。overtone fleet pull {session} 可将它移回。",
        "This session continues on {machine}; nothing is delegated here any more. overtone fleet pull {session} brings it back."
    }
    limit_failures(count: u32) {
        "✋ 已失敗 {count} 次，需要你決定下一步。/ot:resume 可重新開始。",
        "✋ 已失败 {count} 次，需要你决定下一步。/ot:resume 可重新开始。",
        "✋ The limit of {count} failures is reached; what comes next is your decision. Try again with /ot:resume"
    }
    limit_rejections(count: u32) {
        "✋ 審查已拒絕 {count} 次，需要你決定下一步。/ot:resume 可重新開始。",
        "✋ 审查已拒绝 {count} 次，需要你决定下一步。/ot:resume 可重新开始。",
        "✋ The limit of {count} rejected reviews is reached; what comes next is your decision. Try again with /ot:resume"
    }
    limit_iterations(count: u32) {
        "⏸ 循環已達 {count} 次上限，等待你。/ot:resume 可繼續。",
        "⏸ 循环已达 {count} 次上限，等待你。/ot:resume 可继续。",
        "⏸ Paused after {count} rounds. Continue with /ot:resume"
    }
    limit_no_progress(count: u32) {
        "⏸ 已暫停：連續 {count} 次沒有進展。告訴它怎麼繼續，或輸入 /ot:resume。",
        "⏸ 已暂停：连续 {count} 次没有进展。告诉它怎么继续，或输入 /ot:resume。",
        "⏸ Paused: {count} rounds in a row without progress. Say how to go on, or type /ot:resume"
    }
    needs_user(stage: &str) {
        "✋ {stage} 未通過，由你決定。若要修復，可執行 /ot:quick。",
        "✋ {stage} 未通过，由你决定。若要修复，可执行 /ot:quick。",
        "✋ {stage} did not pass; the decision is yours. To have it repaired: /ot:quick"
    }
}
