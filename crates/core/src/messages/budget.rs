//! Budgets: what is used, what happens when a limit is reached, and how to raise it.

messages! {
    // How much of a limit is used.
    of_dollars(used: &str, limit: &str) { "{used} / {limit}", "{used} / {limit}", "{used} of {limit}" }
    of_tokens(used: &str, limit: &str) { "{used} / {limit} token", "{used} / {limit} token", "{used} of {limit} tokens" }
    of_minutes(used: &str, limit: &str) { "{used} / {limit} 分鐘", "{used} / {limit} 分钟", "{used} of {limit} minutes" }
    of_agents(used: &str, limit: &str) { "{used} / {limit} 個代理", "{used} / {limit} 个代理", "{used} of {limit} agents" }
    of_stage(stage: &str, used: &str) { "{stage}：{used}", "{stage}：{used}", "{stage}: {used}" }

    // For the user.
    near(used: &str) {
        "Overtone：預算即將用完（{used}）。達到上限時會停下來問你；overtone budget raise 可提高。",
        "Overtone：预算即将用完（{used}）。达到上限时会停下来问你；overtone budget raise 可提高。",
        "Overtone: most of the budget is used ({used}). At the limit it stops and asks you; overtone budget raise adds to it."
    }
    reached(used: &str, done: &str, open: &str) {
        "✋ 預算已用完：{used}。已完成：{done}；未完成：{open}。進度都已保留。要繼續，請執行 overtone budget raise。",
        "✋ 预算已用完：{used}。已完成：{done}；未完成：{open}。进度都已保留。要继续，请执行 overtone budget raise。",
        "✋ Budget reached: {used}. Done: {done}; open: {open}. Nothing is lost. To continue: overtone budget raise"
    }
    next_raise() {
        "預算已用完。overtone budget raise 可提高上限並繼續。",
        "预算已用完。overtone budget raise 可提高上限并继续。",
        "The budget is reached. overtone budget raise adds to it and continues."
    }
    unpriced() {
        "Overtone：有模型沒有價格，以美元計的預算不含它的 token。overtone cost --prices 說明如何設定價格；也可改用 tokens 上限。",
        "Overtone：有模型没有价格，以美元计的预算不含它的 token。overtone cost --prices 说明如何设置价格；也可改用 tokens 上限。",
        "Overtone: a model has no price, so the budget in dollars does not include its tokens. overtone cost --prices shows how to set one; a limit on tokens works without."
    }
    is_reached() { "預算已用完", "预算已用完", "the budget is reached" }
    deny() { "Overtone：預算已用完", "Overtone：预算已用完", "Overtone: budget reached" }

    // For the model.
    near_advice(used: &str) {
        "預算即將用完（{used}）。只做剩下的必要工作，不要啟動額外的代理。",
        "预算即将用完（{used}）。只做剩下的必要工作，不要启动额外的代理。",
        "Most of the budget is used ({used}). Do only what is still necessary and start no extra agents."
    }
    reached_notice(used: &str) { "預算已用完：{used}。", "预算已用完：{used}。", "Budget reached: {used}." }
    finish_advice() {
        "⛔ 預算已用完（budget reached）。不要再呼叫任何工具，現在就交出最後的回報：已完成什麼、還缺什麼。只有確實全部完成時才給 PASS，否則以 <!-- VERDICT: {{\"result\":\"BLOCKED\"}} --> 結尾。",
        "⛔ 预算已用完（budget reached）。不要再调用任何工具，现在就交出最后的回报：已完成什么、还缺什么。只有确实全部完成时才给 PASS，否则以 <!-- VERDICT: {{\"result\":\"BLOCKED\"}} --> 结尾。",
        "⛔ Budget reached. Call no further tool: give your final report now, with what is done and what is missing. PASS only if everything is really done; otherwise end with <!-- VERDICT: {{\"result\":\"BLOCKED\"}} -->."
    }
    main_advice(used: &str) {
        "⛔ 預算已用完（{used}）。不要再呼叫任何工具，也不要再委派。現在結束這一輪：以「budget reached」開頭，說明已完成什麼、還缺什麼；要繼續，由使用者執行 overtone budget raise。",
        "⛔ 预算已用完（{used}）。不要再调用任何工具，也不要再委派。现在结束这一轮：以“budget reached”开头，说明已完成什么、还缺什么；要继续，由用户执行 overtone budget raise。",
        "⛔ The budget is reached ({used}). Call no further tool and delegate nothing. End your turn now: begin with \"budget reached\", then say what is done and what is open. Only the user can continue it, with overtone budget raise."
    }
    cut_short(agent: &str) {
        "{agent} 因預算用完而中止；它的回報已保留，該階段仍未完成。",
        "{agent} 因预算用完而中止；它的回报已保留，该阶段仍未完成。",
        "{agent} was cut short by the budget; its report is kept, and its stage is open."
    }

    // `overtone budget`.
    no_budget() {
        "這個工作流沒有預算。下次可用 overtone init … --budget 5usd，或 overtone config set budget.usd 5。",
        "这个工作流没有预算。下次可用 overtone init … --budget 5usd，或 overtone config set budget.usd 5。",
        "This workflow has no budget. For the next one: overtone init … --budget 5usd, or overtone config set budget.usd 5."
    }
    heading_limit() { "上限", "上限", "Limit" }
    heading_used() { "已用", "已用", "Used" }
    heading_share() { "比例", "比例", "Share" }
    per_stage(kind: &str) { "{kind}（每個階段）", "{kind}（每个阶段）", "{kind} per stage" }
    kind_usd() { "費用", "费用", "cost" }
    kind_tokens() { "token", "token", "tokens" }
    kind_minutes() { "分鐘", "分钟", "minutes" }
    kind_agents() { "代理", "代理", "agents" }
    raised(limits: &str) { "預算已提高：{limits}。", "预算已提高：{limits}。", "Budget raised: {limits}." }
    raised_and_continues() {
        "在 Claude Code 裡說「繼續」即可繼續。",
        "在 Claude Code 里说“继续”即可继续。",
        "Say \"continue\" in Claude Code to go on."
    }
    amount_hint() {
        "例如 5usd、500ktokens、2Mtokens、30min、20agents，以逗號分隔",
        "例如 5usd、500ktokens、2Mtokens、30min、20agents，以逗号分隔",
        "write 5usd, 500ktokens, 2Mtokens, 30min or 20agents, separated by commas"
    }
    not_limited() {
        "這個工作流沒有這種上限，無法提高",
        "这个工作流没有这种上限，无法提高",
        "the workflow has no limit of this kind to raise"
    }
    nothing_reached() {
        "預算尚未用完，請指定要增加多少",
        "预算尚未用完，请指定要增加多少",
        "no limit is reached, so an amount is needed"
    }
    label() { "預算", "预算", "Budget" }

    // `overtone config` and `overtone.toml`.
    about_usd() { "工作流的費用上限（美元，牌價）；0 為不限", "工作流的费用上限（美元，牌价）；0 为不限", "dollars at list prices that a workflow may cost; 0 for no limit" }
    about_tokens() { "工作流的 token 上限；0 為不限", "工作流的 token 上限；0 为不限", "tokens that a workflow may use; 0 for no limit" }
    about_minutes() { "工作流的工作分鐘上限；0 為不限", "工作流的工作分钟上限；0 为不限", "minutes that a workflow may work; 0 for no limit" }
    about_agents() { "工作流可啟動的代理數上限；0 為不限", "工作流可启动的代理数上限；0 为不限", "agents that a workflow may start; 0 for no limit" }
    about_stage_usd() { "每個階段的費用上限（美元，牌價）；0 為不限", "每个阶段的费用上限（美元，牌价）；0 为不限", "dollars at list prices that a stage may cost; 0 for no limit" }
    about_stage_tokens() { "每個階段的 token 上限；0 為不限", "每个阶段的 token 上限；0 为不限", "tokens that a stage may use; 0 for no limit" }
    about_stage_minutes() { "每個階段一次嘗試的分鐘上限；0 為不限", "每个阶段一次尝试的分钟上限；0 为不限", "minutes that one attempt of a stage may take; 0 for no limit" }
    about_stage_agents() { "每個階段可啟動的代理數上限；0 為不限", "每个阶段可启动的代理数上限；0 为不限", "agents that a stage may start; 0 for no limit" }
    any_limit(high: &str) { "0 到 {high} 的數字，0 為不限", "0 到 {high} 的数字，0 为不限", "a number from 0 to {high}, 0 for no limit" }
    not_an_amount(key: &str) { "`{key}` 必須是大於 0 的數字", "`{key}` 必须是大于 0 的数字", "`{key}` has to be a number above 0" }
}
