//! The loop on Stop: why the session goes on, or why it may end.

messages! {
    // Why the main agent goes on. It is the one text that the model acts on and the client shows to the user, so it says
    // what comes next and gives no orders.
    go_on(iteration: u32, limit: u32) {
        "[Overtone Loop {iteration}/{limit}] 工作流尚未完成，繼續進行。",
        "[Overtone Loop {iteration}/{limit}] 工作流尚未完成，继续进行。",
        "[Overtone loop {iteration}/{limit}] The workflow is not finished and continues."
    }
    tasks(checked: usize, total: usize) { "任務：{checked}/{total}", "任务：{checked}/{total}", "Tasks: {checked}/{total}" }
    next_agent(agent: &str) { "下一步：{agent}。", "下一步：{agent}。", "Next: {agent}." }
    next_agents(agents: &str) {
        "下一步：{agents}，並行進行。",
        "下一步：{agents}，并行进行。",
        "Next, in parallel: {agents}."
    }
    next_repair(debugger: &str, developer: &str, stages: &str) {
        "下一步：{debugger}，找出原因；接著由 {developer} 修復，然後重跑 {stages}。",
        "下一步：{debugger}，找出原因；接着由 {developer} 修复，然后重跑 {stages}。",
        "Next: {debugger} finds the cause, {developer} fixes it, then {stages} again."
    }
    next_repair_all(debugger: &str, developer: &str, stages: &str) {
        "下一步：{debugger}，找出原因；接著由 {developer} 依 {stages} 的回報一次修復，然後重跑 {stages}。",
        "下一步：{debugger}，找出原因；接着由 {developer} 依 {stages} 的回报一次修复，然后重跑 {stages}。",
        "Next: {debugger} finds the cause, {developer} makes one fix for the reports of {stages}, then {stages} again."
    }
    next_rework(developer: &str, stages: &str) {
        "下一步：{developer}，依審查意見修改，然後重跑 {stages}。",
        "下一步：{developer}，依审查意见修改，然后重跑 {stages}。",
        "Next: {developer} acts on the findings, then {stages} again."
    }
    next_direct_repair(developer: &str, stages: &str) {
        "下一步：{developer}，依回報指出的位置修復，然後重跑 {stages}。",
        "下一步：{developer}，依回报指出的位置修复，然后重跑 {stages}。",
        "Next: {developer} repairs what the report points at, then {stages} again."
    }
    next_again(agent: &str) { "下一步：{agent}，再做一次。", "下一步：{agent}，再做一次。", "Next: {agent} again." }
    next_tasks(count: usize, first: &str, developer: &str) {
        "還有 {count} 個未勾選任務，第一個：{first}。下一步：{developer}，完成並勾選 tasks.md。",
        "还有 {count} 个未勾选任务，第一个：{first}。下一步：{developer}，完成并勾选 tasks.md。",
        "Unticked tasks: {count}, the first: {first}. Next: {developer} finishes them and ticks them in tasks.md."
    }
    next_summary() {
        "所有階段已完成，接著向使用者總結成果。",
        "所有阶段已完成，接着向用户总结成果。",
        "Every stage is complete; the summary for the user comes next."
    }
    how_to_stop() {
        "需要使用者決定的事，用 AskUserQuestion 詢問；使用者要求停止時，用 overtone stop。",
        "需要用户决定的事，用 AskUserQuestion 询问；用户要求停止时，用 overtone stop。",
        "Questions to the user go through AskUserQuestion; overtone stop ends the loop if they ask for it."
    }
    finished(workflow: &str, stages: usize, duration: &str) {
        "🎉 工作流 {workflow} 完成：{stages} 個階段，耗時 {duration}。",
        "🎉 工作流 {workflow} 完成：{stages} 个阶段，耗时 {duration}。",
        "🎉 Workflow {workflow} complete: {stages} stages in {duration}.",
        stages == 1: "🎉 Workflow {workflow} complete: {stages} stage in {duration}."
    }
    retries(failures: u32, rejections: u32) {
        "重試：失敗 {failures} 次，拒絕 {rejections} 次（均已修復）。",
        "重试：失败 {failures} 次，拒绝 {rejections} 次（均已修复）。",
        "Fixed along the way: failures {failures}, rejections {rejections}."
    }
    spent(cost: &str, input: &str, output: &str, cached: &str) {
        "💰 {cost}：token 輸入 {input}、輸出 {output}、快取 {cached}。",
        "💰 {cost}：token 输入 {input}、输出 {output}、缓存 {cached}。",
        "💰 {cost}: {input} tokens in, {output} out, {cached} cached."
    }
    spent_without_price(input: &str, output: &str, cached: &str) {
        "💰 token 輸入 {input}、輸出 {output}、快取 {cached}（此模型沒有價格）。",
        "💰 token 输入 {input}、输出 {output}、缓存 {cached}（此模型没有价格）。",
        "💰 {input} tokens in, {output} out, {cached} cached; the model has no price."
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
        "✋ {stage} needs you: see the question above. Your answer continues the workflow."
    }
    /// Of a session that another machine has taken over.
    moved(machine: &str, session: &str) {
        "這個工作階段已移到 {machine} 繼續，此處不再委派任何代理。overtone fleet pull {session} 可將它移回。",
        "这个会话已移到 {machine} 继续，此处不再委派任何代理。overtone fleet pull {session} 可将它移回。",
        "This session continues on {machine}; no more agents are delegated here. overtone fleet pull {session} brings it back."
    }
    limit_failures(count: u32) {
        "✋ 已失敗 {count} 次，需要你決定下一步。/ot:resume 可重新開始。",
        "✋ 已失败 {count} 次，需要你决定下一步。/ot:resume 可重新开始。",
        "✋ The limit of {count} failures is reached; you decide what happens next. Try again with /ot:resume"
    }
    limit_rejections(count: u32) {
        "✋ 審查已拒絕 {count} 次，需要你決定下一步。/ot:resume 可重新開始。",
        "✋ 审查已拒绝 {count} 次，需要你决定下一步。/ot:resume 可重新开始。",
        "✋ The limit of {count} rejected reviews is reached; you decide what happens next. Try again with /ot:resume"
    }
    limit_iterations(count: u32) {
        "⏸ 循環已達 {count} 次上限，等待你。/ot:resume 可繼續。",
        "⏸ 循环已达 {count} 次上限，等待你。/ot:resume 可继续。",
        "⏸ Paused after {count} rounds. Continue with /ot:resume"
    }
    limit_no_progress(count: u32) {
        "⏸ 已暫停：連續 {count} 次沒有進展。告訴它怎麼繼續，或輸入 /ot:resume。",
        "⏸ 已暂停：连续 {count} 次没有进展。告诉它怎么继续，或输入 /ot:resume。",
        "⏸ Paused: {count} rounds in a row without progress. Say how to continue, or type /ot:resume"
    }
    tasks_stay_open(count: usize, first: &str) {
        "⏸ 已暫停：tasks.md 還有 {count} 個未勾選任務，第一個：{first}。請勾選或移除，或說明如何繼續。",
        "⏸ 已暂停：tasks.md 还有 {count} 个未勾选任务，第一个：{first}。请勾选或移除，或说明如何继续。",
        "⏸ Paused: tasks.md still has unticked tasks ({count}), the first: {first}. Tick or remove them, or say how to continue."
    }
    needs_user(stage: &str) {
        "✋ {stage} 未通過，由你決定。若要修復，可執行 /ot:quick。",
        "✋ {stage} 未通过，由你决定。若要修复，可执行 /ot:quick。",
        "✋ {stage} did not pass; you decide what happens next. To have it fixed: /ot:quick"
    }
}
