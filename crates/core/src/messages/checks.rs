//! The commands about checks: `overtone checks`, `overtone trust`, `overtone evidence`, and what `init` and `status` say
//! about them.

messages! {
    // A project's file that cannot be used.
    invalid_file(path: &str, line: usize, problem: &str) {
        "{path} 第 {line} 行：{problem}",
        "{path} 第 {line} 行：{problem}",
        "{path} line {line}: {problem}"
    }
    not_toml(error: &str) { "不是有效的 TOML（{error}）", "不是有效的 TOML（{error}）", "not valid TOML ({error})" }
    not_toml_hint() {
        "格式範例請見 overtone checks --help",
        "格式示例请见 overtone checks --help",
        "overtone checks --help has an example"
    }
    wrong_type(key: &str, expected: &str) {
        "{key} 應為{expected}",
        "{key} 应为{expected}",
        "{key} should be {expected}"
    }
    type_table(key: &str) { "表格，例如 [{key}]", "表格，例如 [{key}]", "a table, like [{key}]" }
    type_text() { "文字，例如 \"make test\"", "文本，例如 \"make test\"", "a text, like \"make test\"" }
    type_list() {
        "文字清單，例如 [\"DEV\", \"TEST\"]",
        "文本列表，例如 [\"DEV\", \"TEST\"]",
        "a list of texts, like [\"DEV\", \"TEST\"]"
    }
    bad_check_name(name: &str) { "無效的檢查名稱: {name}", "无效的检查名称: {name}", "not a name for a check: {name}" }
    bad_check_name_hint() {
        "只能使用小寫英文字母、數字與連字號，例如 test-node",
        "只能使用小写英文字母、数字与连字符，例如 test-node",
        "lower-case letters, digits and hyphens only, like test-node"
    }
    no_command(name: &str) { "檢查 {name} 沒有指令", "检查 {name} 没有命令", "the check {name} has no command" }
    no_command_hint() { "加上 run = \"…\"", "加上 run = \"…\"", "add run = \"…\"" }
    bad_timeout(key: &str, given: &str) {
        "{key} 不接受這個值: {given}",
        "{key} 不接受这个值: {given}",
        "bad value for {key}: {given}"
    }
    bad_timeout_hint() {
        "使用 \"90s\"、\"10m\" 或 \"1h\" 這樣的時間，最多 1h",
        "使用 \"90s\"、\"10m\" 或 \"1h\" 这样的时间，最多 1h",
        "a time like \"90s\", \"10m\" or \"1h\", at most 1h"
    }
    unknown_stage(key: &str, given: &str) {
        "{key} 中沒有這個階段: {given}",
        "{key} 中没有这个阶段: {given}",
        "no such stage in {key}: {given}"
    }
    unknown_level(given: &str) { "沒有這個關卡等級: {given}", "没有这个关卡级别: {given}", "no such guard level: {given}" }
    bad_choice(key: &str, given: &str) {
        "{key} 不接受這個值: {given}",
        "{key} 不接受这个值: {given}",
        "bad value for {key}: {given}"
    }
    label_rules() { "依規則", "按规则", "By rule" }
    unknown_key(path: &str, line: usize, key: &str) {
        "{path} 第 {line} 行：未知的設定 {key}，已忽略",
        "{path} 第 {line} 行：未知的设置 {key}，已忽略",
        "{path} line {line}: unknown key {key}, ignored"
    }

    // `overtone checks`.
    head_check() { "檢查", "检查", "check" }
    head_command() { "指令", "命令", "command" }
    head_stages() { "階段", "阶段", "stages" }
    head_trusted() { "信任", "信任", "trusted" }
    head_last() { "最近結果", "最近结果", "last result" }
    head_result() { "結果", "结果", "result" }
    head_time() { "耗時", "耗时", "time" }
    head_tree() { "程式碼", "代码", "tree" }
    head_verdict() { "結論", "结论", "verdict" }
    head_attempts() { "次數", "次数", "attempts" }
    head_evidence() { "證據", "证据", "evidence" }
    yes() { "是", "是", "yes" }
    no() { "否", "否", "no" }
    changed() { "已變更", "已变更", "changed" }
    not_run_yet() { "尚未執行", "尚未执行", "not run yet" }
    last_result(result: &str, age: &str) { "{result}（{age} 前）", "{result}（{age} 前）", "{result}, {age} ago" }
    no_checks(path: &str) {
        "沒有檢查（{path}）。",
        "没有检查（{path}）。",
        "No checks ({path})."
    }
    detect_hint() {
        "overtone checks detect 會依專案的檔案提出檢查。",
        "overtone checks detect 会依项目的文件提出检查。",
        "overtone checks detect proposes some from the project's files."
    }
    trust_hint() {
        "這些檢查尚未信任，不會在工作流中執行。overtone trust 可查看並信任。",
        "这些检查尚未信任，不会在工作流中执行。overtone trust 可查看并信任。",
        "These checks are not trusted, so workflows do not run them. See and trust them with overtone trust."
    }
    changed_hint() {
        "檢查的定義在你信任之後已變更，不會在工作流中執行。overtone trust 可查看並重新信任。",
        "检查的定义在你信任之后已变更，不会在工作流中执行。overtone trust 可查看并重新信任。",
        "The checks have changed since you trusted them, so workflows do not run them. See and trust them with overtone trust."
    }

    // `overtone checks detect`.
    head_found_in() { "依據", "依据", "found in" }
    nothing_detected(path: &str) {
        "在 {path} 找不到可以提出的檢查。可自行寫入 overtone.toml，範例請見 overtone checks --help。",
        "在 {path} 找不到可以提出的检查。可自行写入 overtone.toml，示例请见 overtone checks --help。",
        "Nothing to propose in {path}. You can write overtone.toml yourself; overtone checks --help has an example."
    }
    write_hint() {
        "overtone checks detect --write 會將它們寫入 overtone.toml。",
        "overtone checks detect --write 会将它们写入 overtone.toml。",
        "overtone checks detect --write adds them to overtone.toml."
    }
    written(path: &str, names: &str) {
        "已加入 {path}: {names}。執行 overtone trust 後，工作流就會使用它們。",
        "已加入 {path}: {names}。执行 overtone trust 后，工作流就会使用它们。",
        "Added to {path}: {names}. Workflows use them after overtone trust."
    }
    nothing_to_add(path: &str) {
        "{path} 已有這些名稱的檢查，沒有變更。",
        "{path} 已有这些名称的检查，没有变更。",
        "{path} already has checks with these names; nothing was changed."
    }
    found_in(file: &str) { "依據 {file}", "依据 {file}", "from {file}" }
    not_appendable(path: &str) {
        "無法在 {path} 後面加入檢查",
        "无法在 {path} 后面加入检查",
        "cannot add checks at the end of {path}"
    }
    not_appendable_hint(text: &str) {
        "請自行加入：\n{text}",
        "请自行加入：\n{text}",
        "add them yourself:\n{text}"
    }

    // `overtone checks run`.
    running(name: &str, command: &str) { "▶ {name}: {command}", "▶ {name}: {command}", "▶ {name}: {command}" }
    ran(result: &str, duration: &str) { "{result} · {duration}", "{result} · {duration}", "{result} · {duration}" }
    no_such_check(name: &str) { "沒有這個檢查: {name}", "没有这个检查: {name}", "no such check: {name}" }
    not_trusted_here() {
        "這些檢查尚未信任，不能由代理執行",
        "这些检查尚未信任，不能由代理执行",
        "these checks are not trusted, so an agent cannot run them"
    }
    not_trusted_here_hint() {
        "請使用者在自己的終端機執行 overtone trust",
        "请用户在自己的终端执行 overtone trust",
        "let the user run overtone trust in a terminal"
    }

    // `overtone trust`.
    trust_question(path: &str) {
        "允許工作流在 {path} 執行以上指令？",
        "允许工作流在 {path} 执行以上命令？",
        "Allow workflows to run these commands in {path}?"
    }
    trust_needs_yes() {
        "沒有終端機可以詢問",
        "没有终端可以询问",
        "there is no terminal to ask on"
    }
    trust_needs_yes_hint() {
        "看過指令後執行 overtone trust --yes",
        "看过命令后执行 overtone trust --yes",
        "when you have read the commands, run overtone trust --yes"
    }
    trusted(path: &str) {
        "已信任。工作流會在 {path} 執行這些檢查，直到定義變更。",
        "已信任。工作流会在 {path} 执行这些检查，直到定义变更。",
        "Trusted. Workflows run these checks in {path} until their definitions change."
    }
    already_trusted(path: &str) {
        "{path} 的檢查已是信任狀態。",
        "{path} 的检查已是信任状态。",
        "The checks of {path} are trusted already."
    }
    not_trusted() { "未信任，沒有變更。", "未信任，没有变更。", "Not trusted; nothing was changed." }
    revoked(path: &str) {
        "已撤回信任，不再執行 {path} 的檢查。",
        "已撤回信任，不再执行 {path} 的检查。",
        "Trust revoked. The checks of {path} are not run any more."
    }
    nothing_to_revoke(path: &str) {
        "{path} 原本就沒有信任。",
        "{path} 原本就没有信任。",
        "Nothing was trusted in {path}."
    }
    nothing_to_trust(path: &str) {
        "沒有可以信任的檢查: {path}",
        "没有可以信任的检查: {path}",
        "no checks to trust: {path}"
    }
    nothing_to_trust_hint() { "overtone checks detect --write", "overtone checks detect --write", "overtone checks detect --write" }
    label_guard() { "關卡", "关卡", "Guard" }

    // `overtone init` and `overtone status`.
    label_checks() { "檢查", "检查", "Checks" }
    untrusted_names(names: &str) {
        "{names}（尚未信任，不會執行：overtone trust）",
        "{names}（尚未信任，不会执行：overtone trust）",
        "{names} (not trusted, so not run: overtone trust)"
    }
    unusable(problem: &str) {
        "無：{problem}",
        "无：{problem}",
        "none: {problem}"
    }
    none_yet() {
        "無；overtone checks detect 會依專案的檔案提出",
        "无；overtone checks detect 会依项目的文件提出",
        "none; overtone checks detect proposes some from the project's files"
    }
    tree_not_read(path: &str) {
        "無法讀取 {path} 的檔案（或檔案太多），這個工作流不會依檔案的變更判斷",
        "无法读取 {path} 的文件（或文件太多），这个工作流不会依文件的变更判断",
        "the files of {path} cannot be read, or are too many: this workflow is not judged by what changes in them"
    }
    running_check(name: &str, duration: &str) {
        "正在執行 {name} · {duration}",
        "正在执行 {name} · {duration}",
        "running {name} · {duration}"
    }

    // `overtone evidence`.
    evidence_title() { "Overtone 證據", "Overtone 证据", "Overtone evidence" }
    evidence_headline(workflow: &str, state: &str, session: &str) {
        "工作流 {workflow} · {state} · 工作階段 {session}",
        "工作流 {workflow} · {state} · 会话 {session}",
        "Workflow {workflow} · {state} · session {session}"
    }
    evidence_stages() { "階段", "阶段", "Stages" }
    evidence_receipts() { "檢查收據", "检查收据", "Receipts" }
    evidence_notes() { "備註", "备注", "Notes" }
    no_receipts() { "沒有檢查收據。", "没有检查收据。", "No receipts." }
    sent_back(reason: &str, count: usize) {
        "退回 {count} 次：{reason}",
        "退回 {count} 次：{reason}",
        "sent back {count} times: {reason}",
        count == 1: "sent back once: {reason}"
    }
    files_changed(count: u64) {
        "修改 {count} 個檔案",
        "修改 {count} 个文件",
        "{count} files changed",
        count == 1: "{count} file changed"
    }
    failed_for(reason: &str) { "未採信：{reason}", "未采信：{reason}", "not accepted: {reason}" }
    not_run(names: &str) { "未執行（未信任）：{names}", "未执行（未信任）：{names}", "not run, not trusted: {names}" }
    reason_no_verdict() { "沒有結論", "没有结论", "no verdict" }
    reason_open_tasks() { "任務未完成", "任务未完成", "open tasks" }
    reason_checks_failed() { "檢查沒有通過", "检查没有通过", "checks failed" }
    reason_fewer_tests() { "測試變少", "测试变少", "fewer tests" }
    reason_nothing_changed() { "沒有修改", "没有修改", "nothing changed" }
    reason_tests_removed() { "測試被移除", "测试被移除", "tests removed" }
    reason_tests_changed() { "測試的預期被修改", "测试的预期被修改", "tests expect something else" }
    reason_contradiction() { "回報自相矛盾", "回报自相矛盾", "report contradicts itself" }
    reason_nothing_run() { "沒有執行", "没有执行", "nothing run" }
    reason_nothing_read() { "沒有讀取", "没有读取", "nothing read" }
    reason_test_failed() { "最後的測試失敗", "最后的测试失败", "last test failed" }
    state_open() { "進行中", "进行中", "in progress" }
}
