//! The loop on Stop: why the session goes on, or why it may end.

messages! {
    go_on(iteration: u32, limit: u32) {
        "[Overtone Loop {iteration}/{limit}] 工作流尚未完成，請繼續。",
        "[Overtone Loop {iteration}/{limit}] 工作流尚未完成，请继续。",
        "[Overtone loop {iteration}/{limit}] The workflow is not finished: go on."
    }
    tasks(checked: usize, total: usize) { "任務：{checked}/{total}", "任务：{checked}/{total}", "Tasks: {checked}/{total}" }
    how_to_stop() {
        "若使用者要求停止，請執行 overtone stop。",
        "若用户要求停止，请执行 overtone stop。",
        "If the user asks to stop, run overtone stop."
    }
    finished(workflow: &str, stages: usize, duration: &str) {
        "🎉 工作流 {workflow} 完成：{stages} 個階段，耗時 {duration}。",
        "🎉 工作流 {workflow} 完成：{stages} 个阶段，耗时 {duration}。",
        "🎉 Workflow {workflow} complete: {stages} stages in {duration}."
    }
    retries(failures: u32, rejections: u32) {
        "重試：失敗 {failures} 次，拒絕 {rejections} 次（均已修復）。",
        "重试：失败 {failures} 次，拒绝 {rejections} 次（均已修复）。",
        "Retries: {failures} failures, {rejections} rejections, all repaired."
    }
    archived(feature: &str) {
        "📦 Feature {feature} 已歸檔。",
        "📦 Feature {feature} 已归档。",
        "📦 Feature {feature} is archived."
    }
    stopped_by_user() {
        "⏸️ 循環已由使用者停止，工作流保留。overtone resume 可繼續。",
        "⏸️ 循环已由用户停止，工作流保留。overtone resume 可继续。",
        "⏸️ The loop was stopped by the user; the workflow is kept. overtone resume goes on."
    }
    /// Of a session that another machine has taken over.
    moved(machine: &str, session: &str) {
        "⛔ 這個工作階段已移到 {machine} 繼續，此處不再委派任何代理。overtone fleet pull {session} 可將它移回。",
        "⛔ 这个会话已移到 {machine} 继续，此处不再委派任何代理。overtone fleet pull {session} 可将它移回。",
        "⛔ This session goes on at {machine}; nothing is delegated here any more. overtone fleet pull {session} brings it back."
    }
    limit_failures(count: u32) {
        "⛔ 失敗已達 {count} 次上限，必須由人決定下一步。overtone resume 可重新開始。",
        "⛔ 失败已达 {count} 次上限，必须由人决定下一步。overtone resume 可重新开始。",
        "⛔ The limit of {count} failures is reached: a person MUST decide what is next. overtone resume starts again."
    }
    limit_rejections(count: u32) {
        "⛔ 審查拒絕已達 {count} 次上限，必須由人決定下一步。overtone resume 可重新開始。",
        "⛔ 审查拒绝已达 {count} 次上限，必须由人决定下一步。overtone resume 可重新开始。",
        "⛔ The limit of {count} rejections is reached: a person MUST decide what is next. overtone resume starts again."
    }
    limit_iterations(count: u32) {
        "⚠️ 循環已達 {count} 次上限，暫停等待使用者。overtone resume 可繼續。",
        "⚠️ 循环已达 {count} 次上限，暂停等待用户。overtone resume 可继续。",
        "⚠️ The loop reached its limit of {count} rounds and waits for you. overtone resume goes on."
    }
    limit_no_progress(count: u32) {
        "⚠️ 連續 {count} 次沒有進展，暫停等待使用者；下一則訊息會繼續循環。",
        "⚠️ 连续 {count} 次没有进展，暂停等待用户；下一条消息会继续循环。",
        "⚠️ No progress {count} times in a row: waiting for you; your next message goes on with the loop."
    }
    needs_person(stage: &str) {
        "⚠️ {stage} 未通過，結果交由使用者決定。若要修復，可執行 /ot:quick。",
        "⚠️ {stage} 未通过，结果交由用户决定。若要修复，可执行 /ot:quick。",
        "⚠️ {stage} did not pass; the decision is yours. To repair it, /ot:quick may be used."
    }
}
