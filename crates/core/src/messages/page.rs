//! The dashboard's page. The page knows these texts by their names and fills in `<argument>` itself.
//!
//! Names with a common beginning are families (`state_running`, `state_stopped`): the page looks a value of the
//! data up in its family.

use crate::messages::{Lang, checks};

/// Every text of the page by its short name, arguments written `<argument>`. Why a report was sent back is worded like in the
/// commands (`reason_no_verdict`).
pub fn texts(lang: Lang) -> Vec<(String, String)> {
    let short = |name: &'static str| name.rsplit("::").next().unwrap_or(name);
    let reasons =
        checks::samples(lang).into_iter().filter(|sample| short(sample.name).starts_with("reason_"));
    let all = samples(lang).into_iter().chain(reasons);
    all.map(|sample| (short(sample.name).to_owned(), sample.text)).collect()
}

messages! {
    // The frame around the views.
    skip() { "跳到主要內容", "跳到主要内容", "Skip to content" }
    navigation() { "主選單", "主导航", "Main" }
    nav_overview() { "總覽", "总览", "Overview" }
    nav_history() { "趨勢", "趋势", "History" }
    nav_instinct() { "直覺", "直觉", "Instinct" }
    nav_specs() { "規格", "规格", "Specs" }
    language() { "語言", "语言", "Language" }
    theme_auto() { "主題：跟隨系統", "主题：跟随系统", "Theme: system" }
    theme_light() { "主題：淺色", "主题：浅色", "Theme: light" }
    theme_dark() { "主題：深色", "主题：深色", "Theme: dark" }
    connection_live() { "即時", "实时", "Live" }
    connection_live_means() { "每個事件都會立刻出現", "每个事件都会立刻出现", "every event appears as it happens" }
    connection_reconnecting() { "重新連線中", "重新连接中", "Reconnecting" }
    connection_reconnecting_means() {
        "正在連線；錯過的事件會補上",
        "正在连接；错过的事件会补上",
        "connecting; missed events will be loaded"
    }
    connection_locked() { "需要重新開啟", "需要重新打开", "Reopen needed" }
    connection_locked_means() {
        "伺服器重新啟動過；請執行 overtone dashboard --open",
        "服务器重新启动过；请运行 overtone dashboard --open",
        "the server was restarted: run overtone dashboard --open"
    }
    connection_offline() { "離線", "离线", "Offline" }
    connection_offline_means() {
        "伺服器沒有回應；頁面會繼續嘗試。執行 overtone dashboard 可啟動它",
        "服务器没有响应；页面会继续尝试。运行 overtone dashboard 可启动它",
        "the server does not respond; the page keeps trying. overtone dashboard starts it"
    }
    unreachable() { "伺服器沒有回應", "服务器没有响应", "the server does not respond" }
    unreachable_hint() {
        "執行 overtone dashboard；頁面會自行重新連線",
        "运行 overtone dashboard；页面会自行重新连接",
        "run overtone dashboard; the page reconnects automatically"
    }
    loading() { "載入中…", "加载中…", "Loading…" }
    close() { "關閉", "关闭", "Close" }
    cancel() { "取消", "取消", "Cancel" }
    all() { "全部", "全部", "All" }
    total() { "合計", "合计", "Total" }
    as_table() { "以表格顯示", "以表格显示", "As a table" }

    // Keyboard shortcuts.
    help_title() { "鍵盤快速鍵", "键盘快捷键", "Keyboard shortcuts" }
    key_search() { "搜尋", "搜索", "Search" }
    key_arrows() {
        "在事件清單、時間圖與選單中移動",
        "在事件列表、时间图与菜单中移动",
        "Move in the event list, the time chart and menus"
    }
    key_escape() { "關閉對話框或選單", "关闭对话框或菜单", "Close a dialog or menu" }

    // The overview.
    glance_running(n: &str) { "執行中 {n}", "运行中 {n}", "{n} running" }
    glance_agents(n: &str) { "工作中的代理 {n}", "工作中的代理 {n}", "active agents: {n}" }
    glance_waiting(n: &str) { "等待你處理 {n}", "等待你处理 {n}", "waiting for you: {n}" }
    search_sessions() { "搜尋工作階段", "搜索会话", "Search sessions" }
    state() { "狀態", "状态", "State" }
    workflow() { "工作流", "工作流", "Workflow" }
    project() { "專案", "项目", "Project" }
    open_sessions() { "進行中", "进行中", "In progress" }
    recent_sessions() { "最近結束", "最近结束", "Recently ended" }
    nothing_running() {
        "目前沒有執行中的工作流。在 Claude Code 輸入 /ot:auto 和你的需求即可開始。",
        "目前没有运行中的工作流。在 Claude Code 输入 /ot:auto 和你的需求即可开始。",
        "No workflow is running. Type /ot:auto and your request in Claude Code to start."
    }
    load_more() { "載入更多", "加载更多", "Load more" }
    skipped_files(n: &str) { "{n} 個檔案無法讀取", "{n} 个文件无法读取", "files that could not be read: {n}" }
    no_match() { "沒有符合篩選條件的工作階段。", "没有符合筛选条件的会话。", "No session matches these filters." }
    reset_filters() { "清除篩選", "清除筛选", "Clear the filters" }
    welcome_title() { "還沒有任何工作階段", "还没有任何会话", "No sessions yet" }
    welcome_text() {
        "照常啟動 claude，說出你要什麼；每個階段都會出現在這裡。",
        "照常启动 claude，说出你要什么；每个阶段都会出现在这里。",
        "Start claude as usual and say what you want: every stage appears here."
    }
    welcome_wish_command() { "/ot:auto 新增密碼重設", "/ot:auto 新增密码重置", "/ot:auto add a password reset" }
    welcome_wish() {
        "衡量大小並選擇工作流；直接說出來也一樣",
        "衡量大小并选择工作流；直接说出来也一样",
        "sizes the request and picks a workflow; typing just the request does the same"
    }
    welcome_standard() {
        "自己選擇：規劃、設計、開發、審查、驗證",
        "自己选择：规划、设计、开发、审查、验证",
        "choose yourself: plan, design, build, review, verify"
    }
    welcome_demo() {
        "不需要 Claude Code，播放一個完整的工作流",
        "不需要 Claude Code，播放一个完整的工作流",
        "plays a complete workflow without Claude Code"
    }
    welcome_doctor() {
        "什麼都沒出現？看看原因與解法",
        "什么都没出现？看看原因与解法",
        "nothing appears? find out why and how to fix it"
    }

    // What a session is and does.
    state_open() { "進行中", "进行中", "In progress" }
    state_running() { "執行中", "运行中", "Running" }
    state_finished() { "階段全部完成", "阶段全部完成", "Finished" }
    state_stopped() { "已停止", "已停止", "Stopped" }
    state_completed() { "已完成", "已完成", "Completed" }
    state_aborted() { "已中斷", "已中断", "Aborted" }
    state_none() { "無工作流", "无工作流", "No workflow" }
    state_broken() { "損壞", "损坏", "Broken" }
    needs_you() { "需要你", "需要你", "Needs you" }
    no_workflow() { "無工作流", "无工作流", "no workflow" }
    pipeline() { "工作流的階段", "工作流的阶段", "Stages of the workflow" }
    parallel_group(group: &str) { "並行：{group}", "并行：{group}", "In parallel: {group}" }
    status_pending() { "等待中", "等待中", "pending" }
    status_active() { "進行中", "进行中", "active" }
    status_done() { "完成", "完成", "done" }
    status_failed() { "未通過", "未通过", "failed" }
    result_pass() { "通過", "通过", "passed" }
    result_issues() { "有建議", "有建议", "issues noted" }
    result_fail() { "失敗", "失败", "failed" }
    result_reject() { "被退回", "被退回", "rejected" }
    result_skipped() { "依規則略過", "按规则跳过", "skipped by rule" }
    result_blocked() { "需要你", "需要你", "needs you" }
    attempt(n: &str) { "第 {n} 次", "第 {n} 次", "attempt {n}" }
    attempts(n: &str) { "共 {n} 次嘗試", "共 {n} 次尝试", "{n} attempts" }
    stages_done(done: &str, total: &str) { "完成 {done}/{total} 個階段", "完成 {done}/{total} 个阶段", "{done} of {total} stages done" }
    active_agents() { "工作中的代理", "工作中的代理", "Active agents" }
    in_background() { "背景", "后台", "background" }
    stages() { "階段", "阶段", "Stages" }
    tasks() { "任務", "任务", "Tasks" }
    loop_rounds() { "循環", "循环", "Loop" }
    context() { "Context", "Context", "Context" }
    cost() { "費用", "费用", "Cost" }
    times_repaired() { "修復", "修复", "Repairs" }
    compaction() { "Context 壓縮", "Context 压缩", "Context compacted" }
    compactions() { "壓縮", "压缩", "Compactions" }
    compaction_kinds(auto: &str, manual: &str) { "自動 {auto} 次，手動 {manual} 次", "自动 {auto} 次，手动 {manual} 次", "{auto} automatic, {manual} manual" }
    supervisor() { "Supervisor", "Supervisor", "Supervisor" }
    round(n: &str) { "第 {n} 輪", "第 {n} 轮", "Round {n}" }
    outcome_allow() { "放行", "放行", "allowed" }
    outcome_block() { "退回", "退回", "sent back" }
    outcome_not_reviewed() { "未審查", "未审查", "not reviewed" }

    // One session.
    gantt() { "時間圖", "时间图", "Who worked when" }
    gantt_empty() { "還沒有任何階段開始。", "还没有任何阶段开始。", "No stage has started yet." }
    now() { "現在", "现在", "now" }
    zoom() { "時間範圍", "时间范围", "Time range" }
    zoom_all() { "全部", "全部", "All" }
    zoom_hour() { "1 小時", "1 小时", "1 hour" }
    zoom_quarter() { "15 分鐘", "15 分钟", "15 minutes" }
    end_unknown() { "沒有回報結束", "没有回报结束", "never reported back" }
    still_running() { "仍在進行", "仍在进行", "still running" }
    merged_runs(n: &str, bad: &str) {
        "{n} 次短執行，其中 {bad} 次未通過",
        "{n} 次短运行，其中 {bad} 次未通过",
        "{n} short runs, {bad} of them failed"
    }
    events() { "事件", "事件", "Events" }
    kind() { "種類", "种类", "Kind" }
    all_kinds() { "所有事件", "所有事件", "All events" }
    whole_category(category: &str) { "{category}（全部）", "{category}（全部）", "{category} (all)" }
    search_events() { "搜尋事件", "搜索事件", "Search events" }
    event_details() { "事件內容", "事件内容", "Event details" }
    new_events(n: &str) { "{n} 個新事件", "{n} 个新事件", "{n} new" }
    to_latest() { "最新", "最新", "Latest" }
    to_first() { "最早", "最早", "First" }
    searching(size: &str) { "搜尋中…已看過 {size}", "搜索中…已看过 {size}", "Searching… {size} so far" }
    unreadable_lines(n: &str) { "{n} 行無法讀取", "{n} 行无法读取", "unreadable lines: {n}" }
    no_events() { "沒有符合的事件。", "没有符合的事件。", "No matching events." }
    some_events(n: &str) { "已載入 {n} 個；向上捲動以載入更早的", "已加载 {n} 个；向上滚动以加载更早的", "{n} loaded; scroll up for earlier ones" }
    all_events(n: &str) { "{n} 個，從頭開始", "{n} 个，从头开始", "{n}, from the beginning" }
    category_workflow() { "工作流", "工作流", "Workflow" }
    category_stage() { "階段", "阶段", "Stage" }
    category_agent() { "代理", "代理", "Agent" }
    category_loop() { "循環", "循环", "Loop" }
    category_parallel() { "並行", "并行", "Parallel" }
    category_grader() { "Grader", "Grader", "Grader" }
    category_specs() { "Specs", "Specs", "Specs" }
    category_error() { "錯誤", "错误", "Error" }
    category_session() { "工作階段", "会话", "Session" }
    category_tool() { "工具", "工具", "Tool" }
    category_system() { "系統", "系统", "System" }
    verdicts() { "裁決", "裁决", "Verdicts" }
    no_verdicts() { "還沒有裁決。", "还没有裁决。", "No verdict yet." }
    failures() { "失敗", "失败", "Failures" }
    rejections() { "退回", "退回", "Rejections" }
    retros() { "回顧", "回顾", "Retrospectives" }
    no_open_tasks() { "所有任務都完成了。", "所有任务都完成了。", "Every task is done." }
    no_rounds() { "還沒有審查。", "还没有审查。", "No review yet." }
    evidence_passed() { "通過", "通过", "passed" }
    evidence_failed() { "失敗", "失败", "failed" }
    evidence_timeout() { "逾時", "超时", "timed out" }
    evidence_cannot_run() { "無法執行", "无法运行", "could not run" }
    evidence_nothing_changed() { "沒有任何更動", "没有任何改动", "nothing was changed" }
    exit_code(code: &str) { "結束碼 {code}", "退出码 {code}", "exit code {code}" }
    no_output() { "（沒有輸出）", "（没有输出）", "(no output)" }
    evidence() { "證據", "证据", "Evidence" }
    receipts_of_user() { "由你執行", "由你运行", "Run by you" }
    check_outcome(check: &str, outcome: &str) { "{check}：{outcome}", "{check}：{outcome}", "{check}: {outcome}" }
    test_counts(run: &str, failed: &str, skipped: &str) {
        "測試 {run}，失敗 {failed}，略過 {skipped}",
        "测试 {run}，失败 {failed}，跳过 {skipped}",
        "tests: {run} run, {failed} failed, {skipped} skipped"
    }
    ended_by_signal(signal: &str) { "訊號 {signal}", "信号 {signal}", "signal {signal}" }
    files_changed_since() { "之後檔案有變更", "之后文件有变更", "files changed since" }
    changed_files(n: &str) { "變更的檔案：{n}", "变更的文件：{n}", "files changed: {n}" }
    sent_back_for(n: &str, reason: &str) {
        "退回 {n} 次：{reason}",
        "退回 {n} 次：{reason}",
        "sent back {n}×: {reason}"
    }
    not_accepted_for(reason: &str) { "未採信：{reason}", "未采信：{reason}", "not accepted: {reason}" }
    checks_not_run(names: &str) {
        "未執行（未信任）：{names}",
        "未运行（未信任）：{names}",
        "not run, not trusted: {names}"
    }
    command() { "指令", "命令", "Command" }
    last_output() { "最後的輸出", "最后的输出", "Last output" }
    handoffs() { "交接文件", "交接文件", "Handoffs" }
    usage() { "Token 與費用", "Token 与费用", "Tokens and cost" }
    agent() { "代理", "代理", "Agent" }
    main_agent() { "主代理", "主代理", "main agent" }
    tokens() { "Token", "Token", "Tokens" }
    tokens_in() { "輸入", "输入", "In" }
    tokens_out() { "輸出", "输出", "Out" }
    tokens_cached() { "快取", "缓存", "Cached" }
    usage_stages() { "各階段的費用", "各阶段的费用", "Cost by stage" }
    tries() { "嘗試", "尝试", "Tries" }
    no_stage() { "不屬於階段", "不属于阶段", "no stage" }
    repairs() { "修復", "修复", "Repairs" }

    // Controlling a session.
    steering() { "控制", "控制", "Controls" }
    stop() { "停止", "停止", "Stop" }
    resume() { "繼續", "继续", "Resume" }
    pause() { "擱置", "搁置", "Pause" }
    message() { "訊息", "消息", "Message" }
    message_title(name: &str) { "給 {name} 的主代理", "给 {name} 的主代理", "To the main agent of {name}" }
    message_how() {
        "主代理會在下一個動作時看到這段話，只會看到一次。",
        "主代理会在下一个动作时看到这段话，只会看到一次。",
        "The main agent gets this once, with its next step."
    }
    send() { "送出", "发送", "Send" }
    told_it(name: &str) { "訊息已留給 {name}", "消息已留给 {name}", "Message left for {name}" }
    delete() { "刪除", "删除", "Delete" }
    ask_stop_title(name: &str) { "停止 {name}？", "停止 {name}？", "Stop {name}?" }
    ask_stop() {
        "循環會放手，Claude Code 做完手上的事就停下。工作流會保留，之後可以繼續。",
        "循环会放手，Claude Code 做完手上的事就停下。工作流会保留，之后可以继续。",
        "The loop stops: Claude Code finishes its current step and then stops. The workflow is kept and can be resumed."
    }
    ask_delete_title(name: &str) { "刪除 {name} 的紀錄？", "删除 {name} 的记录？", "Delete the record of {name}?" }
    ask_delete(id: &str) {
        "工作階段 {id} 的狀態、時間軸與交接文件會永久刪除。專案中的檔案不受影響。",
        "会话 {id} 的状态、时间线与交接文件会永久删除。项目中的文件不受影响。",
        "The state, timeline and handoffs of session {id} will be deleted permanently. The project's files are not touched."
    }
    stopped_it(name: &str) { "已停止 {name}", "已停止 {name}", "Stopped {name}" }
    resumed_it(name: &str) { "{name} 會繼續", "{name} 会继续", "Resumed {name}" }
    paused_it(name: &str) { "已擱置 {name}", "已搁置 {name}", "Paused {name}" }
    deleted_it(name: &str) { "已刪除 {name} 的紀錄", "已删除 {name} 的记录", "Deleted the record of {name}" }
    token() { "權杖", "令牌", "Token" }
    token_title() { "需要權杖", "需要令牌", "Token required" }
    token_why() {
        "伺服器重新啟動過，需要再次確認是你：這台機器可能有其他使用者。",
        "服务器重新启动过，需要再次确认是你：这台机器可能有其他用户。",
        "The server was restarted and has to verify that it is you: this machine may have other users."
    }
    still_reading() {
        "仍在讀取 agent 的對話；用量與費用還會增加。",
        "仍在读取 agent 的对话；用量与费用还会增加。",
        "Agent conversations are still being read: tokens and costs will increase."
    }
    token_where() {
        "它在 Overtone 資料夾的 dashboard/token 檔案裡。用這個指令開啟頁面，就不需要它：",
        "它在 Overtone 文件夹的 dashboard/token 文件里。用这个命令打开页面，就不需要它：",
        "It is in the file dashboard/token in the Overtone folder. You do not need it if you open the page with:"
    }
    token_use() { "使用", "使用", "Use token" }
    token_refused() { "伺服器不接受這個權杖。", "服务器不接受这个令牌。", "The server did not accept this token." }

    // The fleet.
    fleet() { "機群", "机群", "Fleet" }
    fleet_empty() {
        "機群中還沒有工作階段。",
        "机群中还没有会话。",
        "There are no sessions in the fleet yet."
    }
    fleet_cut_off() {
        "與機群的連線中斷；以下是最後知道的情況。",
        "与机群的连接中断；以下是最后知道的情况。",
        "The connection to the fleet is lost; this is the last known state."
    }
    machines() { "機器", "机器", "Machines" }
    machine() { "機器", "机器", "Machine" }
    machines_present(n: &str, all: &str) { "{all} 台中有 {n} 台在線上", "{all} 台中有 {n} 台在线", "{n} of {all} online" }
    no_machines() { "還沒有機器加入。", "还没有机器加入。", "No machine has joined yet." }
    presence() { "狀態", "状态", "Status" }
    present() { "在線上", "在线", "Online" }
    gone() { "離線", "离线", "Offline" }
    version() { "版本", "版本", "Version" }
    load() { "負載", "负载", "Load" }
    sessions() { "工作階段", "会话", "Sessions" }
    foreign(n: &str) {
        "有 {n} 則訊息無法理解，已略過。",
        "有 {n} 条消息无法理解，已略过。",
        "{n} messages could not be read and were skipped."
    }
    foreign_later(n: &str, version: &str) {
        "有 {n} 則訊息無法理解，有些來自較新的版本（{version}）；請更新 Overtone。",
        "有 {n} 条消息无法理解，有些来自较新的版本（{version}）；请更新 Overtone。",
        "{n} messages could not be read, some from a newer version ({version}); update Overtone."
    }
    who_works_on_what() { "功能：誰在做什麼", "功能：谁在做什么", "Features: who works on what" }
    contested() { "兩台機器在做同一件事", "两台机器在做同一件事", "Two machines working on it" }
    has_claim() { "先開始", "先开始", "was first" }
    token_where_fleet() {
        "它在 Overtone 資料夾的 fleet/mirror/dashboard/token 檔案裡。用這個指令開啟頁面，就不需要它：",
        "它在 Overtone 文件夹的 fleet/mirror/dashboard/token 文件里。用这个命令打开页面，就不需要它：",
        "It is in the file fleet/mirror/dashboard/token in the Overtone folder. You do not need it if you open the page with:"
    }

    // History.
    period() { "期間", "期间", "Period" }
    last_days(n: &str) { "{n} 天", "{n} 天", "{n} days" }
    all_time() { "全部", "全部", "All" }
    no_stats() {
        "這段期間沒有可統計的工作流。",
        "这段期间没有可统计的工作流。",
        "No workflow to count in this period."
    }
    tile_pass_at_1() { "pass@1", "pass@1", "pass@1" }
    tile_pass_at_3() { "pass@3", "pass@3", "pass@3" }
    pass_at_1_means() { "第一次就通過的階段", "第一次就通过的阶段", "stages that passed on the first attempt" }
    pass_at_3_means() { "三次內通過的階段", "三次内通过的阶段", "stages that passed within three attempts" }
    tile_started() { "工作流", "工作流", "Workflows" }
    tile_failures() { "失敗與退回", "失败与退回", "Failures and rejections" }
    tile_cost() { "費用", "费用", "Cost" }
    completed_and_aborted(completed: &str, aborted: &str) { "完成 {completed}，中斷 {aborted}", "完成 {completed}，中断 {aborted}", "{completed} completed, {aborted} aborted" }
    chart_days() { "每日結束的工作流", "每日结束的工作流", "Workflows ended by day" }
    chart_pass() { "每日 pass@1", "每日 pass@1", "pass@1 by day" }
    chart_failures() { "失敗發生在哪裡", "失败发生在哪里", "Where failures happen" }
    chart_durations() { "各工作流的耗時（中位數）", "各工作流的耗时（中位数）", "Duration by workflow (median)" }
    chart_costs() { "各工作流的費用", "各工作流的费用", "Cost by workflow" }
    chart_cost_days() { "每日費用", "每日费用", "Cost by day" }
    chart_token_days() { "每日 token", "每日 token", "Tokens by day" }
    day() { "日期", "日期", "Day" }
    stage() { "階段", "阶段", "Stage" }
    completed() { "完成", "完成", "Completed" }
    aborted() { "中斷", "中断", "Aborted" }
    started() { "開始", "开始", "Started" }
    of_runs(n: &str, runs: &str) { "{n}（共 {runs} 次）", "{n}（共 {runs} 次）", "{n} of {runs}" }
    nothing_counted() { "這段期間沒有。", "这段期间没有。", "None in this period." }
    runs() { "次數", "次数", "Runs" }
    errors() { "錯誤", "错误", "Errors" }
    median() { "中位數", "中位数", "Median" }
    p90() { "P90", "P90", "P90" }
    by_stage() { "各階段", "各阶段", "By stage" }
    by_agent() { "各代理", "各代理", "By agent" }

    // Instinct.
    instinct_lead() {
        "在各專案中學到的事，會在下一個工作階段開始時告知主代理。你的意見會改變它的信心。",
        "在各项目中学到的事，会在下一个会话开始时告知主代理。你的意见会改变它的信心。",
        "Lessons from a project are passed on to its next session. Your feedback changes their confidence."
    }
    search_lessons() { "搜尋經驗", "搜索经验", "Search lessons" }
    no_lessons() {
        "還沒有學到什麼。失敗、修復與糾正會留下經驗。",
        "还没有学到什么。失败、修复与纠正会留下经验。",
        "Nothing learned yet. Lessons come from failures, fixes and corrections."
    }
    lesson_count(n: &str) { "{n} 則", "{n} 条", "lessons: {n}" }
    lesson_error_resolutions() { "錯誤的解法", "错误的解法", "Resolving errors" }
    lesson_tool_preferences() { "工具偏好", "工具偏好", "Tool preferences" }
    lesson_wording_mismatch() { "措詞不一致", "措辞不一致", "Wording" }
    lesson_workflow_routing() { "工作流選擇", "工作流选择", "Choosing a workflow" }
    lesson_agent_performance() { "代理表現", "代理表现", "Agent performance" }
    confidence() { "信心", "信心", "Confidence" }
    seen(n: &str) { "看過 {n} 次", "见过 {n} 次", "seen {n}×" }
    in_use() { "使用中", "使用中", "in use" }
    your_opinion() { "你的意見", "你的意见", "Your feedback" }
    confirm() { "正確", "正确", "Confirm" }
    contradict() { "不對", "不对", "Contradict" }
    confirmed_it() { "已記下：正確", "已记下：正确", "Noted: confirmed" }
    contradicted_it() { "已記下：不對", "已记下：不对", "Noted: contradicted" }

    // The specs board.
    shelf_backlog() { "待辦", "待办", "Backlog" }
    shelf_in_progress() { "進行中", "进行中", "In progress" }
    shelf_paused() { "暫停", "暂停", "Paused" }
    shelf_archive() { "已歸檔", "已归档", "Archive" }
    empty_shelf() { "空的", "空的", "Empty" }
    no_specs() {
        "還沒有 feature。工作流會在專案的 specs/features 建立它們。",
        "还没有 feature。工作流会在项目的 specs/features 建立它们。",
        "No features yet. Workflows create them in the project's specs/features."
    }
    move_feature(feature: &str) { "移動 {feature}", "移动 {feature}", "Move {feature}" }
    move_to(shelf: &str) { "移到「{shelf}」", "移到“{shelf}”", "Move to {shelf}" }
    moved_it(feature: &str, shelf: &str) { "{feature} 已移到「{shelf}」", "{feature} 已移到“{shelf}”", "{feature} is now in {shelf}" }
}
