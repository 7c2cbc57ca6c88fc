//! Notifications and commands from afar: short, for a phone, without anything from prompts or code.

messages! {
    // Titles.
    done(name: &str, workflow: &str) {
        "✅ {name}：{workflow} 已完成",
        "✅ {name}：{workflow} 已完成",
        "✅ {name}: {workflow} is done"
    }
    aborted(name: &str, workflow: &str) {
        "🛑 {name}：{workflow} 已中斷",
        "🛑 {name}：{workflow} 已中断",
        "🛑 {name}: {workflow} was aborted"
    }
    needs_person(name: &str) { "✋ {name}：需要你處理", "✋ {name}：需要你处理", "✋ {name}: needs you" }
    supervisor(name: &str) {
        "👀 {name}：Supervisor 未經審查即放行",
        "👀 {name}：Supervisor 未经审查即放行",
        "👀 {name}: the supervisor gave up; the work is unreviewed"
    }
    budget(name: &str, dollars: &str) {
        "💰 {name}：已花費 ${dollars}",
        "💰 {name}：已花费 ${dollars}",
        "💰 {name}: ${dollars} spent"
    }
    test_title() { "🔔 Overtone 測試訊息", "🔔 Overtone 测试消息", "🔔 a test message from Overtone" }
    test_text() { "收到這則訊息就表示設定正確。", "收到这条消息就表示设置正确。", "If you can read this, the channel works." }

    // Details.
    at_stage(stage: &str) { "階段：{stage}", "阶段：{stage}", "stage: {stage}" }
    because(reason: &str) { "原因：{reason}", "原因：{reason}", "reason: {reason}" }
    took(time: &str) { "耗時：{time}", "耗时：{time}", "took: {time}" }
    cost(dollars: &str) { "費用：${dollars}", "费用：${dollars}", "cost: ${dollars}" }
    in_session(session: &str) { "工作階段：{session}", "会话：{session}", "session: {session}" }
    reason_retry_limit() { "已達重試上限", "已达重试上限", "the retry limit is reached" }
    reason_verdict() { "審查結果需要人判斷", "审查结果需要人判断", "the findings need your decision" }
    reason_blocked() { "代理有問題要問你", "代理有问题要问你", "the agent has a question for you" }
    reason_replaced() { "被新的工作流取代", "被新的工作流取代", "replaced by another workflow" }
    reason_iterations() { "循環已達上限", "循环已达上限", "the loop limit is reached" }
    reason_no_progress() { "循環沒有進展", "循环没有进展", "the loop is not making progress" }
    reason_stuck() { "回饋沒有帶來任何改變", "反馈没有带来任何改变", "the feedback no longer changes anything" }
    reason_rounds() { "審查次數已達上限", "审查次数已达上限", "the round limit is reached" }
    reason_review_budget() { "審查預算已用完", "审查预算已用完", "the review budget is spent" }
    reason_timeout() { "審查逾時", "审查超时", "the review took too long" }

    // Answers to commands.
    commands() {
        "/status 目前狀況\n/sessions 最近的工作階段\n/stop ID 停止一個循環",
        "/status 当前状况\n/sessions 最近的会话\n/stop ID 停止一个循环",
        "/status current state\n/sessions recent sessions\n/stop ID stop a loop"
    }
    counts(running: usize, stopped: usize, waiting: usize) {
        "執行中 {running}，已停止 {stopped}，等你處理 {waiting}",
        "运行中 {running}，已停止 {stopped}，等你处理 {waiting}",
        "{running} running, {stopped} stopped, {waiting} waiting for you"
    }
    no_sessions() { "沒有工作階段", "没有会话", "there are no sessions" }
    stop_whom() { "用法：/stop ID（/sessions 會列出）", "用法：/stop ID（/sessions 会列出）", "usage: /stop ID (see /sessions)" }
    no_such_session(name: &str) { "沒有這個工作階段：{name}", "没有这个会话：{name}", "no such session: {name}" }
    several_sessions(name: &str) {
        "不只一個工作階段以 {name} 開頭",
        "不只一个会话以 {name} 开头",
        "several sessions start with {name}"
    }
    stopped(session: &str) { "已停止：{session}", "已停止：{session}", "stopped: {session}" }
    not_stopped(session: &str, problem: &str) {
        "未停止 {session}：{problem}",
        "未停止 {session}：{problem}",
        "not stopped, {session}: {problem}"
    }
    state_none() { "沒有工作流", "没有工作流", "no workflow" }
    state_running() { "執行中", "运行中", "running" }
    state_stopped() { "已停止", "已停止", "stopped" }
    state_completed() { "已完成", "已完成", "completed" }
    state_aborted() { "已中斷", "已中断", "aborted" }
    state_broken() { "狀態檔損壞", "状态文件损坏", "broken state" }

    // What is wrong with the configuration.
    unknown_key() { "不認得這個設定", "不认得这个设置", "unknown key" }
    missing() { "沒有設定", "没有设置", "is not set" }
    not_an_object() { "必須是物件", "必须是对象", "must be an object" }
    bad_address() { "必須是 http(s) 網址", "必须是 http(s) 网址", "must be an http(s) address" }
    bad_number() { "必須是大於 0 的數字", "必须是大于 0 的数字", "must be a number above 0" }
    bad_chats() {
        "必須是聊天 ID（整數）的清單，1 到 100 個",
        "必须是聊天 ID（整数）的列表，1 到 100 个",
        "must be a list of 1 to 100 chat ids (whole numbers)"
    }
    bad_topic() {
        "只能使用英文字母、數字、底線與連字號，最多 64 個",
        "只能使用英文字母、数字、下划线与连字符，最多 64 个",
        "letters, digits, underscores and hyphens only, at most 64"
    }
    bad_event(name: &str, known: &str) {
        "不認得事件 {name}，可用的有：{known}",
        "不认得事件 {name}，可用的有：{known}",
        "no such event: {name}; available: {known}"
    }
    no_variable(name: &str) {
        "環境變數 {name} 沒有設定（由 hook 啟動的 dashboard 看不到你的環境變數，建議改用檔案）",
        "环境变量 {name} 没有设置（由 hook 启动的 dashboard 看不到你的环境变量，建议改用文件）",
        "the variable {name} is not set (a dashboard started by a hook does not see your environment: use a file)"
    }
    no_secret_file(path: &str, problem: &str) {
        "無法讀取 {path}：{problem}",
        "无法读取 {path}：{problem}",
        "cannot read {path}: {problem}"
    }
    open_secret_file(path: &str) {
        "其他人可以讀取 {path}，請執行 chmod 600",
        "其他人可以读取 {path}，请执行 chmod 600",
        "others can read {path}; run chmod 600 on it"
    }
    unusable_secret() { "是空的或含有空白", "是空的或含有空白", "is empty or contains spaces" }
    literal_secret() {
        "密鑰直接寫在 config.json；放在權限 600 的檔案較安全",
        "密钥直接写在 config.json；放在权限 600 的文件较安全",
        "the secret is stored in config.json; a separate file with mode 600 is safer"
    }
    unencrypted() { "連線沒有加密", "连接没有加密", "the connection is not encrypted" }

    // In the terminal.
    nothing_configured() { "沒有設定任何通知管道", "没有设置任何通知渠道", "no channel is configured" }
    nothing_configured_hint(path: &str) {
        "在 {path} 的 remote 加上 telegram、webhook 或 ntfy（見 docs/remote.md）",
        "在 {path} 的 remote 加上 telegram、webhook 或 ntfy（见 docs/remote.md）",
        "add telegram, webhook or ntfy under remote in {path} (see docs/remote.md)"
    }
    has_problems() { "設定有問題", "设置有问题", "the configuration has problems" }
    has_problems_hint() {
        "修正後再執行 overtone remote check；執行中的 dashboard 要重新啟動才會採用",
        "修正后再运行 overtone remote check；运行中的 dashboard 要重新启动才会采用",
        "fix it and run overtone remote check again; a running dashboard applies it after a restart"
    }
    not_all_sent_hint() {
        "請檢查上面列出的錯誤，再執行一次 overtone remote test",
        "请检查上面列出的错误，再运行一次 overtone remote test",
        "see the errors above, then run overtone remote test again"
    }
    not_all_sent() { "有的測試訊息沒有送出", "有的测试消息没有送出", "not every test message was sent" }
    figures(pending: usize, sent: u64, dropped: u64, foreign: u64) {
        "等待送出 {pending}，已送出 {sent}，已放棄 {dropped}，忽略的陌生訊息 {foreign}",
        "等待送出 {pending}，已送出 {sent}，已放弃 {dropped}，忽略的陌生消息 {foreign}",
        "{pending} waiting, {sent} sent, {dropped} given up, {foreign} from unknown senders ignored"
    }
    was_sent() { "已送出", "已送出", "sent" }
    is_on() { "可用", "可用", "on" }
}
