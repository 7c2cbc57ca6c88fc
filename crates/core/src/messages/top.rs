//! `overtone top`: the overview in the terminal. States, stages and events have their names elsewhere.

messages! {
    // The line at the top.
    running(n: usize) { "執行中 {n}", "运行中 {n}", "running {n}" }
    needs_you(n: usize) { "需要你 {n}", "需要你 {n}", "need you {n}" }
    total(n: usize) { "共 {n}", "共 {n}", "total {n}" }
    filter_open() { "進行中", "进行中", "open" }
    filter_needs_you() { "需要我", "需要我", "needs me" }
    matching(n: usize) { "符合 {n}", "符合 {n}", "matching {n}" }

    // Facts about a session, short enough for its line.
    tasks(checked: usize, total: usize) { "任務 {checked}/{total}", "任务 {checked}/{total}", "tasks {checked}/{total}" }
    rounds(count: u32, limit: u32) { "循環 {count}/{limit}", "循环 {count}/{limit}", "loop {count}/{limit}" }
    context(percent: u32) { "ctx {percent}%", "ctx {percent}%", "ctx {percent}%" }
    supervised(rounds: usize, outcome: &str) {
        "Supervisor 第 {rounds} 輪：{outcome}",
        "Supervisor 第 {rounds} 轮：{outcome}",
        "supervisor round {rounds}: {outcome}"
    }
    supervisor_on() { "Supervisor 已開啟", "Supervisor 已开启", "supervisor on" }
    supervisor_off() { "Supervisor 已關閉", "Supervisor 已关闭", "supervisor off" }
    failures(count: u32) { "失敗 {count}", "失败 {count}", "{count} failures", count == 1: "{count} failure" }
    rejections(count: u32) { "退回 {count}", "退回 {count}", "{count} rejections", count == 1: "{count} rejection" }
    compactions(count: u32) { "壓縮 {count}", "压缩 {count}", "{count} compactions", count == 1: "{count} compaction" }
    open_task(task: &str) { "待辦 {task}", "待办 {task}", "to do: {task}" }
    no_events() { "還沒有任何事件", "还没有任何事件", "nothing has happened yet" }

    // What the keys do: a word at the bottom, a sentence in the help.
    key_select() { "選擇", "选择", "select" }
    key_details() { "詳情", "详情", "details" }
    key_back() { "返回", "返回", "back" }
    key_filter() { "篩選", "筛选", "filter" }
    key_search() { "搜尋", "搜索", "search" }
    key_stop() { "停止", "停止", "stop" }
    key_resume() { "繼續", "继续", "resume" }
    key_help() { "說明", "帮助", "help" }
    key_quit() { "離開", "退出", "quit" }
    help_title() { "按鍵", "按键", "Keys" }
    help_select() { "選擇工作階段；PgUp PgDn Home End 跳得更遠", "选择会话；PgUp PgDn Home End 跳得更远", "select a session; PgUp PgDn Home End jump" }
    help_details() { "顯示整個工作階段；← 或 Esc 返回", "显示整个会话；← 或 Esc 返回", "show the whole session; ← or Esc goes back" }
    help_filter() { "全部、進行中、需要我", "全部、进行中、需要我", "all, open, those that need me" }
    help_search() { "在專案、工作流、feature 與 ID 中搜尋", "在项目、工作流、feature 与 ID 中搜索", "search projects, workflows, features and ids" }
    help_stop() { "停止循環；工作流會保留", "停止循环；工作流会保留", "stop the loop; the workflow is kept" }
    help_resume() { "讓停止或中斷的工作流繼續", "让停止或中断的工作流继续", "continue a stopped or aborted workflow" }
    help_quit() { "離開；Esc 與 Ctrl-C 也可以", "退出；Esc 与 Ctrl-C 也可以", "quit; so do Esc and Ctrl-C" }
    help_marks() { "記號", "标记", "Marks" }
    mark_done() { "完成", "完成", "done" }
    mark_active() { "進行中", "进行中", "working" }
    mark_failed() { "未通過或損壞", "未通过或损坏", "failed, or broken" }
    mark_pending() { "等待中", "等待中", "pending" }
    mark_needs_you() { "需要你", "需要你", "needs you" }
    mark_stopped() { "已停止", "已停止", "stopped" }
    mark_none() { "無工作流", "无工作流", "no workflow" }
    mark_parallel() { "並行", "并行", "in parallel" }

    // Questions and what came of them.
    ask_stop(name: &str) { "停止 {name}？", "停止 {name}？", "Stop {name}?" }
    ask_resume(name: &str) { "繼續 {name}？", "继续 {name}？", "Resume {name}?" }
    not_running_anything(name: &str) { "{name} 沒有工作流", "{name} 没有工作流", "{name} has no workflow" }
    is_broken(name: &str) { "{name} 的檔案損壞，無法變更", "{name} 的文件损坏，无法更改", "{name} has broken files and cannot be changed" }
    failed(problem: &str) { "沒有成功：{problem}", "没有成功：{problem}", "failed: {problem}" }
    too_small() { "視窗太小", "窗口太小", "the window is too small" }

    // Without a terminal.
    no_terminal() { "stdout 不是終端機", "stdout 不是终端", "stdout is not a terminal" }
    no_terminal_hint() {
        "以 overtone top --once 印出一個畫面，或以 --json 取得資料",
        "以 overtone top --once 打印一个画面，或以 --json 取得数据",
        "overtone top --once prints one frame, --json prints the data"
    }
}
