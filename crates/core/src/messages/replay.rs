//! What `overtone replay` says about a recorded session.

messages! {
    label_timeline() { "時間線", "时间线", "Timeline" }
    label_lines() { "行數", "行数", "Lines" }
    label_given() { "視為既定", "视为既定", "As given" }
    label_skipped() { "略過", "略过", "Skipped" }
    label_recorded_by() { "紀錄版本", "记录版本", "Recorded by" }
    label_stored() { "已存狀態", "已存状态", "Stored state" }
    label_result() { "結果", "结果", "Result" }
    label_expected() { "引擎寫下", "引擎写下", "Expected" }
    label_found() { "紀錄為", "记录为", "Found" }
    label_differs() { "不同欄位", "不同字段", "Differs in" }

    lines(count: u64, workflows: u64) {
        "已重播 {count} 行，工作流 {workflows} 個",
        "已重放 {count} 行，工作流 {workflows} 个",
        "{count} replayed, workflows started: {workflows}"
    }
    lines_until(count: u64, workflows: u64, until: u64) {
        "已重播 {count} 行（到第 {until} 行為止），工作流 {workflows} 個",
        "已重放 {count} 行（到第 {until} 行为止），工作流 {workflows} 个",
        "{count} replayed (up to line {until}), workflows started: {workflows}"
    }
    stopped_at(count: u64) {
        "已重播 {count} 行，停在第一個差異",
        "已重放 {count} 行，停在第一个差异",
        "{count} replayed, up to the first difference"
    }
    given_nothing() { "無", "无", "nothing" }
    unreadable(number: u64) { "第 {number} 行：不完整或不是事件", "第 {number} 行：不完整或不是事件", "line {number}: incomplete, or not an event" }
    unknown_type(number: u64, name: &str) {
        "第 {number} 行：未知的事件類型 {name}",
        "第 {number} 行：未知的事件类型 {name}",
        "line {number}: unknown event type {name}"
    }
    more_skipped(count: u64) { "… 還有 {count} 行", "… 还有 {count} 行", "… {count} more" }
    recorded_by(version: &str, own: &str) {
        "{version}（重播者為 {own}）",
        "{version}（重放者为 {own}）",
        "{version} (replayed by {own})"
    }

    // What was found.
    no_difference() { "沒有差異", "没有差异", "no difference" }
    differences(count: u64) { "差異 {count} 處", "差异 {count} 处", "differences: {count}" }
    changed(line: u64) {
        "第 {line} 行：引擎會寫下其他內容",
        "第 {line} 行：引擎会写下其他内容",
        "Line {line}: the engine would write something else"
    }
    missing(line: u64) {
        "第 {line} 行：這裡少了引擎會寫下的一行",
        "第 {line} 行：这里少了引擎会写下的一行",
        "Line {line}: a line the engine would write is missing here"
    }
    unexpected(line: u64) {
        "第 {line} 行：引擎不會在這裡寫下這一行",
        "第 {line} 行：引擎不会在这里写下这一行",
        "Line {line}: the engine would not write this line here"
    }
    no_workflow_yet() {
        "此時還沒有工作流；時間線的開頭是否遺失？",
        "此时还没有工作流；时间线的开头是否丢失？",
        "no workflow has been started at this point; is the beginning missing?"
    }
    end_of_timeline() { "（時間線在此結束）", "（时间线在此结束）", "(the timeline ends here)" }

    // The final state beside the stored one.
    stored_same() { "與 workflow.json 相同", "与 workflow.json 相同", "same as workflow.json" }
    stored_differs(name: &str, replayed: &str, stored: &str) {
        "{name}：重播為 {replayed}，workflow.json 為 {stored}",
        "{name}：重放为 {replayed}，workflow.json 为 {stored}",
        "{name}: {replayed} in the replay, {stored} in workflow.json"
    }
    stored_unsure() {
        "未比較：時間線不完整",
        "未比较：时间线不完整",
        "not compared: the timeline is incomplete"
    }
    stored_moved_on() {
        "未比較：工作階段仍在進行，時間線又變長了",
        "未比较：会话仍在进行，时间线又变长了",
        "not compared: the session has continued in the meantime"
    }
    stored_broken(problem: &str) {
        "未比較：{problem}",
        "未比较：{problem}",
        "not compared: {problem}"
    }

    // What cannot be replayed.
    no_timeline(name: &str) {
        "找不到時間線: {name}",
        "找不到时间线: {name}",
        "no timeline: {name}"
    }
    no_timeline_hint() {
        "請指定 timeline.jsonl 檔案、工作階段 ID（overtone sessions）或 - 代表標準輸入",
        "请指定 timeline.jsonl 文件、会话 ID（overtone sessions）或 - 代表标准输入",
        "name a timeline.jsonl, a session (overtone sessions), or - for standard input"
    }
    not_a_timeline(name: &str) {
        "檔案中沒有任何事件: {name}",
        "文件中没有任何事件: {name}",
        "not a timeline, no line is an event: {name}"
    }
}
