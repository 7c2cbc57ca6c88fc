//! The supervisor: what it says while it reviews, what it asks the reviewer, and why it lets go.
//!
//! Its specification is written in zh-CN, so that is the default here; the caller chooses.

messages! {
    // At launch.
    log_files() { "[Supervisor Mode] 日誌檔案:", "[Supervisor Mode] 日志文件:", "[Supervisor Mode] log files:" }
    state_folder(path: &str) { "  State 目錄: {path}", "  State 目录: {path}", "  state folder: {path}" }
    invocation_log(path: &str) { "  Hook 呼叫日誌: {path}", "  Hook 调用日志: {path}", "  hook calls: {path}" }
    output_log(path: &str) {
        "  Supervisor 輸出日誌: {path}",
        "  Supervisor 输出日志: {path}",
        "  supervisor output: {path}"
    }

    // While it works.
    begins() {
        "==================== [SUPERVISOR HOOK] 開始執行 ====================",
        "==================== [SUPERVISOR HOOK] 开始执行 ====================",
        "==================== [SUPERVISOR HOOK] begins ===================="
    }
    round(session: &str, iteration: u32, limit: u32) {
        "session_id: {session}\n迭代次數: {iteration}/{limit}",
        "session_id: {session}\n迭代次数: {iteration}/{limit}",
        "session_id: {session}\niteration: {iteration}/{limit}"
    }
    reviewing() {
        "[SUPERVISOR] 正在審查工作...",
        "[SUPERVISOR] 正在审查工作...",
        "[SUPERVISOR] reviewing the work..."
    }
    see_log() {
        "請在新視窗查看日誌檔案了解詳情",
        "请在新窗口查看日志文件了解详情",
        "see the log files in another window for details"
    }

    // How it ended.
    not_completed() { "[SUPERVISOR] 任務未完成", "[SUPERVISOR] 任务未完成", "[SUPERVISOR] the task is not complete" }
    goes_on() {
        "Agent 將根據回饋繼續工作",
        "Agent 将根据反馈继续工作",
        "the agent goes on with this feedback"
    }
    completed() { "[SUPERVISOR] 任務已完成", "[SUPERVISOR] 任务已完成", "[SUPERVISOR] the task is complete" }
    may_stop() { "允許停止", "允许停止", "allowed to stop" }
    default_feedback() { "請繼續完成任務", "请继续完成任务", "Please go on and complete the task" }
    limit_reached(limit: u32) {
        "[SUPERVISOR] 已達 {limit} 次迭代上限，允許停止",
        "[SUPERVISOR] 已达 {limit} 次迭代上限，允许停止",
        "[SUPERVISOR] the limit of {limit} iterations is reached: allowed to stop"
    }

    // Why there was no review.
    not_reviewed(reason: &str) {
        "[SUPERVISOR] 無法審查，工作未經檢查即停止：{reason}",
        "[SUPERVISOR] 无法审查，工作未经检查即停止：{reason}",
        "[SUPERVISOR] could not review, so the work stops unchecked: {reason}"
    }
    no_claude() { "PATH 中找不到 claude", "PATH 中找不到 claude", "there is no claude on the PATH" }
    cannot_start(problem: &str) { "無法啟動 claude：{problem}", "无法启动 claude：{problem}", "cannot start claude: {problem}" }
    too_late(seconds: u64) {
        "審查者在 {seconds} 秒內沒有完成",
        "审查者在 {seconds} 秒内没有完成",
        "the reviewer did not finish within {seconds} s"
    }
    reviewer_failed(problem: &str) { "審查者出錯：{problem}", "审查者出错：{problem}", "the reviewer failed: {problem}" }
    no_result(status: &str) {
        "審查者沒有給出結果（{status}）",
        "审查者没有给出结果（{status}）",
        "the reviewer ended without a result ({status})"
    }
    cannot_count(problem: &str) { "無法記錄迭代次數：{problem}", "无法记录迭代次数：{problem}", "cannot count the rounds: {problem}" }

    // For the reviewer.
    prompt() {
        "你是嚴格的審查者。請審查本次對話中 Agent 的工作：對照使用者最初的要求與其後的補充，逐項確認是否真正完成。\n- 以事實為準：查看檔案、diff 與測試結果，不要相信聲明。\n- 佔位、TODO、跳過的測試、模擬的結果、只說不做，都是未完成。\n- 需要使用者決定，或 Agent 正在等待使用者回答時，視為可以停止。\n- 只審查，不修改任何檔案。",
        "你是严格的审查者。请审查本次对话中 Agent 的工作：对照用户最初的要求与其后的补充，逐项确认是否真正完成。\n- 以事实为准：查看文件、diff 与测试结果，不要相信声明。\n- 占位、TODO、跳过的测试、模拟的结果、只说不做，都是未完成。\n- 需要用户决定，或 Agent 正在等待用户回答时，视为可以停止。\n- 只审查，不修改任何文件。",
        "You are a strict reviewer. Review the agent's work in this conversation: hold it against the user's original request and what was added later, point by point, and find out whether it is really done.\n- Go by facts: look at files, the diff and test results; do not believe claims.\n- Placeholders, TODOs, skipped tests, simulated results and announcements without work are not done.\n- When a decision of the user is needed, or the agent waits for the user's answer, it may stop.\n- Only review: change no file."
    }
    instruction() {
        "請立即審查以上工作並回傳 JSON：completed（任務是否已完成）與 feedback（未完成時，Agent 接下來必須做的具體事項）。",
        "请立即审查以上工作并返回 JSON：completed（任务是否已完成）与 feedback（未完成时，Agent 接下来必须做的具体事项）。",
        "Review the work above now and answer with JSON: completed (whether the task is done) and feedback (if not, exactly what the agent must do next)."
    }
}
