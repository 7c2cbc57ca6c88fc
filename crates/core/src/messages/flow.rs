//! The flow of stages: gate, results, next step.

messages! {
    /// One agent to delegate to: `TESTER（ot:tester）`.
    delegate(upper: &str, name: &str) { "{upper}（ot:{name}）", "{upper}（ot:{name}）", "{upper} (ot:{name})" }

    // Refusals. The client shows them to the user in red and gives them to the model, so they are short and calm.
    deny_order(stages: &str) {
        "Overtone：{stages} 必須先完成",
        "Overtone：{stages} 必须先完成",
        "Overtone: {stages} must finish first"
    }
    deny_complete(stage: &str) {
        "Overtone：{stage} 已經完成",
        "Overtone：{stage} 已经完成",
        "Overtone: {stage} is already complete"
    }
    deny_blocked(stage: &str) {
        "Overtone：{stage} 需要你的決定",
        "Overtone：{stage} 需要你的决定",
        "Overtone: {stage} needs your decision first"
    }
    deny_limit() {
        "Overtone：已達重試上限，等待你的決定",
        "Overtone：已达重试上限，等待你的决定",
        "Overtone: retry limit reached, waiting for your decision"
    }
    deny_moved(machine: &str) {
        "Overtone：這個工作階段已移到 {machine}",
        "Overtone：这个会话已移到 {machine}",
        "Overtone: this session was moved to {machine}"
    }
    deny_plan_mode() {
        "Overtone：規劃模式中不開始任何階段",
        "Overtone：规划模式中不开始任何阶段",
        "Overtone: no stage starts in plan mode"
    }
    deny_plan_writes() {
        "Overtone：規劃模式中不寫入任何東西",
        "Overtone：规划模式中不写入任何东西",
        "Overtone: nothing is written in plan mode"
    }
    deny_helpers(limit: u32) {
        "Overtone：這個工作流已啟動 {limit} 個其他代理，已達上限（limits.helpers）",
        "Overtone：这个工作流已启动 {limit} 个其他代理，已达上限（limits.helpers）",
        "Overtone: this workflow has started {limit} other agents, which is the limit (limits.helpers)"
    }
    helpers_advice() {
        "⛔ 不可再啟動其他代理。用已有的結果繼續；若真的需要更多，請用 AskUserQuestion 詢問使用者，由使用者在終端機提高上限：overtone config set limits.helpers <數量>。",
        "⛔ 不可再启动其他代理。用已有的结果继续；若真的需要更多，请用 AskUserQuestion 询问用户，由用户在终端提高上限：overtone config set limits.helpers <数量>。",
        "⛔ Start no more of them. Continue with the results you have. If more are really needed, ask the user with AskUserQuestion; only the user can raise the limit, in a terminal: overtone config set limits.helpers <number>."
    }
    deny_nested(agent: &str) {
        "Overtone：只有主代理可以委派 {agent}",
        "Overtone：只有主代理可以委派 {agent}",
        "Overtone: only the main agent can delegate {agent}"
    }
    deny_read_only(agent: &str) {
        "Overtone：{agent} 只讀取檔案，不修改檔案",
        "Overtone：{agent} 只读取文件，不修改文件",
        "Overtone: {agent} is read-only and cannot change files"
    }
    // For the model, together with a refusal.
    skipped_advice(stages: &str, step: &str) {
        "⛔ 不可跳過必要階段：{stages} 尚未完成。{step}",
        "⛔ 不可跳过必要阶段：{stages} 尚未完成。{step}",
        "⛔ A required stage MUST NOT be skipped: {stages} is not done yet. {step}"
    }
    running_advice(stages: &str) {
        "⛔ 請等待 {stages}：它正在執行，完成後會告知下一步。在那之前不要委派其他階段。",
        "⛔ 请等待 {stages}：它正在执行，完成后会告知下一步。在那之前不要委派其他阶段。",
        "⛔ Wait for {stages}: it is running, and you will be told the next step. Do not delegate another stage until then."
    }
    complete_advice(stage: &str, step: &str) {
        "⛔ {stage} 已通過，沒有需要修復的地方，不可再次委派。{step}",
        "⛔ {stage} 已通过，没有需要修复的地方，不可再次委派。{step}",
        "⛔ {stage} has passed and there is nothing to repair: do not delegate it again. {step}"
    }
    limit_advice(agent: &str) {
        "⛔ 工作流已達上限並中斷，不可再委派 {agent}。請向使用者說明狀況並等待指示（使用者可輸入 /ot:resume 重新開始）。",
        "⛔ 工作流已达上限并中断，不可再委派 {agent}。请向用户说明状况并等待指示（用户可输入 /ot:resume 重新开始）。",
        "⛔ The workflow reached its limit and was aborted: {agent} MUST NOT be delegated. Explain the situation to the user and wait; the user can start again with /ot:resume."
    }
    plan_mode_advice() {
        "目前是規劃模式：請完成計畫並交給使用者；使用者離開規劃模式後再委派階段。",
        "目前是规划模式：请完成计划并交给用户；用户离开规划模式后再委派阶段。",
        "The user is in plan mode: finish the plan and hand it to them. Delegate stages when they have left plan mode."
    }
    nested_advice() {
        "⛔ 請完成自己的工作，並在回覆中說明還需要什麼。",
        "⛔ 请完成自己的工作，并在回复中说明还需要什么。",
        "⛔ You MUST finish your own work and say in your answer what else is needed."
    }
    read_only_advice(tool: &str) {
        "⛔ 你是唯讀代理，不可使用 {tool}。請在回覆中說明建議的修改。",
        "⛔ 你是只读代理，不可使用 {tool}。请在回复中说明建议的修改。",
        "⛔ You MUST NOT use {tool}. Describe the change you propose in your answer instead."
    }
    /// A fact about the work that the user should know.
    user_notice(text: &str) { "Overtone：{text}", "Overtone：{text}", "Overtone: {text}" }

    // For an agent whose report is sent back.
    ask_verdict(choices: &str) {
        "Overtone：回報沒有結論，請補上。最後一行必須單獨是下列其中之一：{choices}。需要使用者決定或無法在此執行時用 BLOCKED。",
        "Overtone：回报没有结论，请补上。最后一行必须单独是下列其中之一：{choices}。需要用户决定或无法在此执行时用 BLOCKED。",
        "Overtone: your report has no verdict. Report again; its last line must be exactly one of these: {choices}. Use BLOCKED if it needs the user or cannot be run here."
    }
    ask_tasks(count: usize, first: &str) {
        "Overtone：tasks.md 還有 {count} 個未勾選任務，第一個：{first}。請完成並附上證據後勾選；做不到的，說明原因並回報 FAIL 或 BLOCKED；屬於之後階段的，說明後再次回報 PASS。",
        "Overtone：tasks.md 还有 {count} 个未勾选任务，第一个：{first}。请完成并附上证据后勾选；做不到的，说明原因并回报 FAIL 或 BLOCKED；属于之后阶段的，说明后再次回报 PASS。",
        "Overtone: tasks.md still has unticked tasks ({count}), the first: {first}. Finish them and tick them with evidence. If you cannot, say why and report FAIL or BLOCKED; if they belong to a later stage, say so and report PASS again."
    }

    stage_passed(stage: &str) { "✅ {stage} 完成。", "✅ {stage} 完成。", "✅ {stage} complete." }
    skipped_without_trouble(stage: &str) {
        "⏩ {stage} 依規則略過：沒有任何階段失敗、被拒絕或受阻。",
        "⏩ {stage} 依规则跳过：没有任何阶段失败、被拒绝或受阻。",
        "⏩ {stage} skipped by rule: nothing failed, was rejected or was blocked."
    }
    skipped_nothing_visible(stage: &str) {
        "⏩ {stage} 依規則略過：沒有文件或使用者看得到的行為改變。",
        "⏩ {stage} 依规则跳过：没有文档或用户看得到的行为改变。",
        "⏩ {stage} skipped by rule: no document and nothing that users see has changed."
    }
    skipped_documented(stage: &str) {
        "⏩ {stage} 依規則略過：使用者看得到的變更已由開發者寫入文件。",
        "⏩ {stage} 依规则跳过：用户看得到的变更已由开发者写入文档。",
        "⏩ {stage} skipped by rule: the developer has documented what users see of the change."
    }
    agent_finished(agent: &str) { "✅ {agent} 完成。", "✅ {agent} 完成。", "✅ {agent} finished." }
    stage_blocked(stage: &str) {
        "✋ {stage} 需要使用者。",
        "✋ {stage} 需要用户。",
        "✋ {stage} needs the user."
    }
    no_verdict(agent: &str) {
        "{agent} 的回報沒有結論，視為失敗。",
        "{agent} 的回报没有结论，视为失败。",
        "The report of {agent} has no verdict, so it counts as a failure."
    }
    tasks_open(count: usize) {
        "tasks.md 還有 {count} 個未勾選任務，留給之後的階段。",
        "tasks.md 还有 {count} 个未勾选任务，留给之后的阶段。",
        "tasks.md still has unticked tasks ({count}), left for later stages."
    }
    handback_flagged(agent: &str) {
        "⚠️ {agent} 的回報附有用戶端的安全警告。",
        "⚠️ {agent} 的回报附有客户端的安全警告。",
        "⚠️ The client delivered the report of {agent} with a security warning."
    }
    handback_withheld(agent: &str) {
        "⚠️ 用戶端沒有送達 {agent} 的回報。",
        "⚠️ 客户端没有送达 {agent} 的回报。",
        "⚠️ The client withheld the report of {agent}."
    }
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
        "💡 值得現在改善的項目可以委派 DEVELOPER 處理，之後的階段會重新執行；其餘項目在最後告訴使用者。",
        "💡 值得现在改善的项目可以委派 DEVELOPER 处理，之后的阶段会重新执行；其余项目在最后告诉用户。",
        "💡 You may send issues worth another round to DEVELOPER; the stages after DEV then run again. Tell the user about the rest at the end."
    }
    issues_limit() {
        "🛑 已達回顧上限：不再開始新的改善，其餘項目在最後告訴使用者。",
        "🛑 已达回顾上限：不再开始新的改善，其余项目在最后告诉用户。",
        "🛑 The retrospective limit is reached: start no further round, and tell the user at the end what remains open."
    }
    agent_broke(agent: &str) {
        "⚠️ {agent} 因 API 錯誤中斷，沒有結果。",
        "⚠️ {agent} 因 API 错误中断，没有结果。",
        "⚠️ {agent} failed with an API error and has no result."
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
    next_repair(debugger: &str, developer: &str, stages: &str) {
        "下一步請委派 {debugger}找出原因，再委派 {developer}修復，然後重跑 {stages}。",
        "下一步请委派 {debugger}找出原因，再委派 {developer}修复，然后重跑 {stages}。",
        "Next, delegate {debugger} to find the cause, then {developer} to repair it, then run {stages} again."
    }
    next_repair_all(debugger: &str, developer: &str, stages: &str) {
        "下一步請委派 {debugger}找出原因，再委派 {developer}，依 {stages} 的回報一次修復，然後重跑 {stages}。",
        "下一步请委派 {debugger}找出原因，再委派 {developer}，依 {stages} 的回报一次修复，然后重跑 {stages}。",
        "Next, delegate {debugger} to find the cause, then {developer} once with the reports of {stages}, then run {stages} again."
    }
    next_rework(developer: &str, stages: &str) {
        "下一步請委派 {developer}依審查意見修改，然後重跑 {stages}。",
        "下一步请委派 {developer}依审查意见修改，然后重跑 {stages}。",
        "Next, delegate {developer} to act on the findings, then run {stages} again."
    }
    next_direct_repair(developer: &str, stages: &str) {
        "下一步請委派 {developer}依回報指出的位置修復，然後重跑 {stages}。",
        "下一步请委派 {developer}依回报指出的位置修复，然后重跑 {stages}。",
        "Next, delegate {developer} to repair what the report points at, then run {stages} again."
    }
    next_again(agent: &str) {
        "下一步請重新委派 {agent}。",
        "下一步请重新委派 {agent}。",
        "Next, delegate {agent} again."
    }
    waiting_for(stages: &str) {
        "等待 {stages} 完成。",
        "等待 {stages} 完成。",
        "Wait for {stages} to finish."
    }
    waiting_for_parallel(stages: &str) {
        "等待並行階段：{stages}。",
        "等待并行阶段：{stages}。",
        "Wait for the parallel stages: {stages}."
    }
    converged(group: &str) {
        "🔀 並行群組 {group} 已全部完成。",
        "🔀 并行组 {group} 已全部完成。",
        "🔀 The parallel group {group} is complete."
    }
    all_stages_done() {
        "🎉 所有階段已完成。請向使用者總結成果。",
        "🎉 所有阶段已完成。请向用户总结成果。",
        "🎉 Every stage is complete. Summarise the result for the user."
    }
    tasks_left(count: usize, first: &str, developer: &str) {
        "還有 {count} 個未勾選任務，第一個：{first}。下一步請委派 {developer}完成並勾選 tasks.md。",
        "还有 {count} 个未勾选任务，第一个：{first}。下一步请委派 {developer}完成并勾选 tasks.md。",
        "Unticked tasks: {count}, the first: {first}. Next, delegate {developer} to finish them and tick them in tasks.md."
    }
    tasks_stay_open(count: usize, first: &str) {
        "⛔ 還有 {count} 個未勾選任務，第一個：{first}。再次開發也沒有完成它們：請用 AskUserQuestion 問使用者如何處理，不要再次委派。",
        "⛔ 还有 {count} 个未勾选任务，第一个：{first}。再次开发也没有完成它们：请用 AskUserQuestion 问用户如何处理，不要再次委派。",
        "⛔ Unticked tasks: {count}, the first: {first}. Another round of development did not finish them: ask the user with AskUserQuestion what to do, and do not delegate again before that."
    }
    ask_user(stage: &str) {
        "⛔ {stage} 已達重試上限。禁止再次重試：請向使用者說明失敗原因並等待指示。",
        "⛔ {stage} 已达重试上限。禁止再次重试：请向用户说明失败原因并等待指示。",
        "⛔ {stage} reached its retry limit. NEVER retry again: explain the failure to the user and wait for instructions."
    }
    ask_user_blocked(stage: &str, agent: &str) {
        "⛔ {stage} 需要使用者：請用 AskUserQuestion 把它的問題告訴使用者並等待回答，不要開始修復。得到回答後，帶著答案再次委派 {agent}。",
        "⛔ {stage} 需要用户：请用 AskUserQuestion 把它的问题告诉用户并等待回答，不要开始修复。得到回答后，带着答案再次委派 {agent}。",
        "⛔ {stage} needs the user: ask its question with AskUserQuestion and wait for the answer; do not start a repair. Then delegate {agent} again with the answer."
    }
    report_findings(stage: &str) {
        "{stage} 的結論需要使用者決定：請將發現如實回報使用者。若要修復，可執行 /ot:quick。",
        "{stage} 的结论需要用户决定：请将发现如实回报用户。若要修复，可执行 /ot:quick。",
        "The user decides on the outcome of {stage}: report the findings unchanged. To fix them, /ot:quick may be used."
    }
    suggest_compact(size: &str) {
        "💡 transcript 已達 {size}，建議在此階段邊界執行 /compact 壓縮 context，工作流狀態會自動恢復。",
        "💡 transcript 已达 {size}，建议在此阶段边界执行 /compact 压缩 context，工作流状态会自动恢复。",
        "💡 The transcript has grown to {size}: you should run /compact at this stage boundary; the workflow state is restored automatically."
    }
    suggest_compact_percent(percent: u32, size: &str) {
        "💡 context 已使用 {percent}%（transcript {size}），建議在此階段邊界執行 /compact 壓縮，工作流狀態會自動恢復。",
        "💡 context 已使用 {percent}%（transcript {size}），建议在此阶段边界执行 /compact 压缩，工作流状态会自动恢复。",
        "💡 {percent}% of the context is used (transcript {size}): you should run /compact at this stage boundary; the workflow state is restored automatically."
    }
}
