//! What `overtone demo` prints while it plays a workflow: what the client does, and how it ended.

messages! {
    title(workflow: &str) {
        "Overtone 示範：以真正的 hook 程序跑完整個 {workflow} 工作流（一切都在臨時資料夾中）",
        "Overtone 演示：以真正的 hook 进程跑完整个 {workflow} 工作流（一切都在临时文件夹中）",
        "Overtone demo: a whole {workflow} workflow through the real hook processes, all in a temporary folder"
    }
    request() { "新增會記住我的登入頁", "新增会记住我的登录页", "add a login page that remembers me" }

    // What happens, in the order of the story.
    session_starts() { "Claude Code 開始一個工作階段", "Claude Code 开始一个会话", "Claude Code starts a session" }
    user_types(request: &str) { "你輸入：{request}", "你输入：{request}", "you type: {request}" }
    opens_skill() {
        "主代理開啟 /ot:auto，不需要詢問權限",
        "主代理打开 /ot:auto，不需要询问权限",
        "the main agent opens /ot:auto, without a permission prompt"
    }
    runs_command(command: &str) { "主代理執行：{command}", "主代理执行：{command}", "the main agent runs: {command}" }
    skips_ahead(agent: &str) {
        "主代理想跳過前面的階段，直接委派 {agent}",
        "主代理想跳过前面的阶段，直接委派 {agent}",
        "the main agent tries to skip ahead to {agent}"
    }
    goes_to_work(agent: &str) { "{agent} 開始工作", "{agent} 开始工作", "{agent} starts working" }
    go_to_work_together(first: &str, second: &str) {
        "{first} 與 {second} 同時開始工作",
        "{first} 与 {second} 同时开始工作",
        "{first} and {second} start working at the same time"
    }
    tests_fail(agent: &str) {
        "{agent} 回報：14 個測試通過，2 個失敗",
        "{agent} 回报：14 个测试通过，2 个失败",
        "{agent} reports: 14 tests passed, 2 failed"
    }
    wants_to_stop() { "主代理想就此停下", "主代理想就此停下", "the main agent wants to stop here" }
    compacts() {
        "Context 已滿，Claude Code 進行壓縮",
        "Context 已满，Claude Code 进行压缩",
        "the context is full: Claude Code compacts it"
    }
    comes_back() {
        "壓縮之後，狀態回到主代理手上",
        "压缩之后，状态回到主代理手上",
        "after the compaction, the main agent gets the state back"
    }
    stops_when_done() { "全部完成，主代理停下", "全部完成，主代理停下", "everything is done: the main agent stops" }
    session_ends() { "工作階段結束", "会话结束", "the session ends" }

    // What the hooks did, where their answer is not text.
    allowed() { "允許", "允许", "allowed" }
    pointed_to_auto() {
        "模型得知：要建置東西時先用 /ot:auto",
        "模型得知：要构建东西时先用 /ot:auto",
        "the model is told to use /ot:auto before building something"
    }
    briefed() {
        "代理得到工作流的 context",
        "代理得到工作流的 context",
        "the agent gets the workflow's context"
    }
    more_lines(count: usize) { "… 還有 {count} 行", "… 还有 {count} 行", "… {count} more lines" }

    // How it ended.
    archive(path: &str) { "已歸檔：{path}", "已归档：{path}", "archived: {path}" }
    timings(count: usize, median: &str, worst: &str, hook: &str) {
        "hook 程序 {count} 個：中位數 {median}，最慢 {worst}（{hook}）",
        "hook 进程 {count} 个：中位数 {median}，最慢 {worst}（{hook}）",
        "hook processes: {count}, median {median}, slowest {worst} ({hook})"
    }
    kept(path: &str) { "已保留：{path}", "已保留：{path}", "kept: {path}" }
    removed() { "臨時資料夾已移除，沒有留下任何東西。", "临时文件夹已移除，没有留下任何东西。", "The temporary folder is removed; nothing is left behind." }
    interrupted() { "已中斷", "已中断", "interrupted" }
    next() { "接下來輸入：", "接下来输入：", "What to type next:" }
    next_up() { "安裝外掛", "安装插件", "install the plugin" }
    next_claude() { "在你的專案中啟動", "在你的项目中启动", "start it in your project" }
    next_claude_missing() {
        "在你的專案中啟動（尚未安裝：npm install -g @anthropic-ai/claude-code）",
        "在你的项目中启动（尚未安装：npm install -g @anthropic-ai/claude-code）",
        "start it in your project (not installed yet: npm install -g @anthropic-ai/claude-code)"
    }
    next_auto() { "/ot:auto <你的需求>", "/ot:auto <你的需求>", "/ot:auto <your request>" }
    next_request() { "說出需求，其餘照此進行", "说出需求，其余照此进行", "say what you want; the rest runs as above" }

    // How it failed: the step, then what was wrong.
    failed(step: &str, problem: &str) {
        "示範在此步驟失敗：{step}（{problem}）",
        "演示在此步骤失败：{step}（{problem}）",
        "the demo failed at this step: {step} ({problem})"
    }
    failed_hint() {
        "overtone doctor 會檢查安裝；overtone demo --keep 會留下檔案以供查看",
        "overtone doctor 会检查安装；overtone demo --keep 会留下文件以供查看",
        "overtone doctor checks the installation; overtone demo --keep keeps the files for inspection"
    }
    cannot_start(program: &str, problem: &str) {
        "無法啟動 {program}：{problem}",
        "无法启动 {program}：{problem}",
        "cannot start {program}: {problem}"
    }
    no_answer(name: &str, seconds: u64) {
        "{name} 在 {seconds} 秒內沒有回應",
        "{name} 在 {seconds} 秒内没有回应",
        "{name} did not answer within {seconds} s"
    }
    bad_exit(name: &str, status: &str) { "{name} 結束時為 {status}", "{name} 结束时为 {status}", "{name} ended with {status}" }
    complained(name: &str, text: &str) { "{name} 回報錯誤：{text}", "{name} 回报错误：{text}", "{name} reported an error: {text}" }
    not_json(name: &str, text: &str) { "{name} 的回應不是 JSON：{text}", "{name} 的回应不是 JSON：{text}", "{name} did not answer with JSON: {text}" }
    other_answer(name: &str, expected: &str, answer: &str) {
        "{name} 應回應 {expected}，實際為 {answer}",
        "{name} 应回应 {expected}，实际为 {answer}",
        "{name} should have answered {expected}, not {answer}"
    }
    other_state(expected: &str, found: &str) {
        "狀態應為 {expected}，實際為 {found}",
        "状态应为 {expected}，实际为 {found}",
        "the state should be {expected}, not {found}"
    }
}
