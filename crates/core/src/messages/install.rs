//! Installing, uninstalling and finding out what is wrong.

messages! {
    label_plugin() { "外掛", "插件", "Plugin" }
    label_client() { "Claude", "Claude", "Claude" }
    label_status_line() { "狀態列", "状态栏", "Status line" }
    label_command() { "指令", "命令", "Command" }
    label_next() { "接著", "接着", "Next" }
    plugin_placed(path: &str, version: &str, language: &str) {
        "{path}（v{version}，語言 {language}）",
        "{path}（v{version}，语言 {language}）",
        "{path} (v{version}, language {language})"
    }
    registered(version: &str) {
        "{version}：外掛已註冊，每個新工作階段都會載入",
        "{version}：插件已注册，每个新会话都会加载",
        "{version}: the plugin is registered and loads in every new session"
    }
    not_registered(error: &str, command: &str) {
        "未註冊（{error}）；可改用 {command}",
        "未注册（{error}）；可改用 {command}",
        "not registered ({error}); use {command} instead"
    }
    no_client() {
        "找不到 claude：npm install -g @anthropic-ai/claude-code，再執行一次 overtone up",
        "找不到 claude：npm install -g @anthropic-ai/claude-code，再执行一次 overtone up",
        "claude was not found: npm install -g @anthropic-ai/claude-code, then run overtone up again"
    }
    client_skipped(command: &str) { "未註冊；以 {command} 啟動", "未注册；以 {command} 启动", "not registered; start with {command}" }
    status_line_set() { "已設定", "已设置", "set" }
    status_line_ours() { "已是 Overtone 的", "已是 Overtone 的", "already Overtone's" }
    status_line_theirs() {
        "保留你自己的（overtone statusline 可供使用）",
        "保留你自己的（overtone statusline 可供使用）",
        "yours is kept (overtone statusline is available if you want it)"
    }
    status_line_untouched() { "未更動", "未改动", "not changed" }
    command_at(path: &str) { "{path}", "{path}", "{path}" }
    command_taken(path: &str, binary: &str) {
        "{path} 已被其他程式使用，未更動；請使用 {binary}",
        "{path} 已被其他程序使用，未改动；请使用 {binary}",
        "{path} belongs to another program and was not changed; use {binary}"
    }
    command_not_on_path(binary: &str) {
        "{binary}（你的資料夾都不在 PATH 中）",
        "{binary}（你的文件夹都不在 PATH 中）",
        "{binary} (overtone is not on your PATH; add this folder to it)"
    }
    next_claude() {
        "執行 claude，直接說出需求，或輸入 /ot:auto <需求>",
        "执行 claude，直接说出需求，或输入 /ot:auto <需求>",
        "start claude and say what you want, or type /ot:auto <your request>"
    }
    label_economy() { "代理", "代理", "Agents" }
    agents_rewritten(economy: &str) {
        "已改寫安裝的代理（{economy}）。請重新啟動 Claude Code；會複製外掛的版本還需要執行 overtone up。",
        "已改写安装的代理（{economy}）。请重新启动 Claude Code；会复制插件的版本还需要执行 overtone up。",
        "The installed agents are now {economy}. Restart Claude Code; versions that copy plugins also need overtone up."
    }
    agents_not_installed() {
        "外掛尚未安裝；overtone up 會採用這個設定。",
        "插件尚未安装；overtone up 会采用这个设置。",
        "The plugin is not installed yet; overtone up uses this setting."
    }
    next_demo() {
        "overtone demo 可在沒有 Claude 時看完整流程",
        "overtone demo 可在没有 Claude 时看完整流程",
        "overtone demo shows the whole flow without Claude"
    }
    down_done() {
        "Overtone 已從 Claude Code 移除；狀態與檔案保留。overtone up 可重新啟用。",
        "Overtone 已从 Claude Code 移除；状态与文件保留。overtone up 可重新启用。",
        "Removed Overtone from Claude Code; its state and files are kept. overtone up adds it again."
    }
    uninstall_done(path: &str) {
        "Overtone 已解除安裝；工作階段與設定仍在 {path}（--purge 可一併刪除）。",
        "Overtone 已卸载；会话与设置仍在 {path}（--purge 可一并删除）。",
        "Overtone is uninstalled; sessions and configuration are still in {path} (--purge deletes them too)."
    }
    purge_done(path: &str) {
        "Overtone 已解除安裝，{path} 已刪除。",
        "Overtone 已卸载，{path} 已删除。",
        "Overtone is uninstalled and {path} is deleted."
    }
    purge_needs_yes(path: &str) {
        "--purge 會刪除 {path} 中的所有工作階段",
        "--purge 会删除 {path} 中的所有会话",
        "--purge deletes every session in {path}"
    }
    purge_refused(path: &str) {
        "{path} 不是 Overtone 建立的資料夾，不會刪除",
        "{path} 不是 Overtone 创建的文件夹，不会删除",
        "{path} was not created by Overtone, so it is not deleted"
    }
    purge_foreign(path: &str, entries: &str) {
        "{path} 中有不屬於 Overtone 的內容（{entries}），不會刪除",
        "{path} 中有不属于 Overtone 的内容（{entries}），不会删除",
        "{path} contains files that are not Overtone's ({entries}), so it is not deleted"
    }
    purge_refused_hint(path: &str) {
        "不加 --purge 解除安裝，再自行刪除 {path}/sessions 等內容",
        "不加 --purge 卸载，再自行删除 {path}/sessions 等内容",
        "uninstall without --purge, then delete {path}/sessions and the like yourself"
    }
    purge_unmarked(path: &str) {
        "{path} 沒有 Overtone 的標記，看來是較早的版本建立的。仍要全部刪除嗎？",
        "{path} 没有 Overtone 的标记，看来是较早的版本创建的。仍要全部删除吗？",
        "{path} has no Overtone marker; an earlier version probably created it. Delete all of it?"
    }
    purge_unmarked_hint() {
        "在終端機中執行並確認，或先以 overtone up 加上標記",
        "在终端中运行并确认，或先以 overtone up 加上标记",
        "run it in a terminal and confirm, or let overtone up mark the folder first"
    }
    purge_needs_yes_hint() { "確定的話請加上 --yes", "确定的话请加上 --yes", "add --yes if you are sure" }
    doctor_healthy() { "一切正常。", "一切正常。", "Everything is fine." }
    doctor_found(count: usize) { "發現 {count} 個問題", "发现 {count} 个问题", "{count} problems found", count == 1: "{count} problem found" }
    doctor_fix(text: &str) { "→ {text}", "→ {text}", "→ {text}" }

    finding_no_client() { "PATH 中找不到 claude", "PATH 中找不到 claude", "claude is not on PATH" }
    fix_no_client() {
        "npm install -g @anthropic-ai/claude-code，再執行 overtone up",
        "npm install -g @anthropic-ai/claude-code，再执行 overtone up",
        "npm install -g @anthropic-ai/claude-code, then overtone up"
    }
    finding_client_broken(error: &str) { "claude 無法執行：{error}", "claude 无法执行：{error}", "claude does not work: {error}" }
    fix_client_broken() {
        "在終端機執行 claude --version 查看原因",
        "在终端执行 claude --version 查看原因",
        "run claude --version in a terminal to see why"
    }
    finding_client_too_old(found: &str, oldest: &str) {
        "claude {found} 太舊，至少需要 {oldest}",
        "claude {found} 太旧，至少需要 {oldest}",
        "claude {found} is too old, the oldest supported version is {oldest}"
    }
    fix_client_too_old() { "claude update", "claude update", "claude update" }
    finding_plugin_missing(path: &str) { "外掛不存在：{path}", "插件不存在：{path}", "the plugin is missing: {path}" }
    finding_plugin_file(path: &str, what: &str) { "外掛檔案有誤：{path}: {what}", "插件文件有误：{path}: {what}", "invalid plugin file: {path}: {what}" }
    finding_plugin_stale(path: &str) { "外掛是另一個版本：{path}", "插件是另一个版本：{path}", "the plugin is from another version: {path}" }
    finding_other_economy(found: &str, chosen: &str) {
        "安裝的代理是 {found}，設定的 economy 是 {chosen}",
        "安装的代理是 {found}，设置的 economy 是 {chosen}",
        "the installed agents are {found}, but economy is set to {chosen}"
    }
    finding_hook_program_differs(path: &str, found: &str, expected: &str) { "hook 程式與 overtone 不是同一次建置：{path}（{found}，應為 {expected}）", "hook 程序与 overtone 不是同一次构建：{path}（{found}，应为 {expected}）", "the hook program is not from the same build as overtone: {path} ({found}, expected {expected})" }
    finding_program_stale(path: &str) { "安裝的程式是另一個版本：{path}", "安装的程序是另一个版本：{path}", "the installed program is from another version: {path}" }
    finding_not_executable(path: &str) { "程式不存在或無法執行：{path}", "程序不存在或无法执行：{path}", "the program is missing or not executable: {path}" }
    finding_not_registered() { "外掛沒有註冊到 Claude Code", "插件没有注册到 Claude Code", "the plugin is not registered with Claude Code" }
    fix_up() { "overtone up", "overtone up", "overtone up" }
    finding_plugin_disabled() { "外掛已被停用", "插件已被停用", "the plugin is disabled" }
    fix_plugin_disabled() { "claude plugin enable ot@overtone", "claude plugin enable ot@overtone", "claude plugin enable ot@overtone" }
    finding_plugin_errors(error: &str) { "Claude Code 載入外掛時出錯：{error}", "Claude Code 加载插件时出错：{error}", "Claude Code had errors loading the plugin: {error}" }
    finding_settings_unreadable(error: &str) {
        "Claude Code 讀不了這個設定檔，會整個忽略：{error}",
        "Claude Code 读不了这个设置文件，会整个忽略：{error}",
        "Claude Code cannot read this settings file and ignores all of it: {error}"
    }
    fix_settings_unreadable() {
        "改成不含註解的合法 JSON",
        "改成不含注释的合法 JSON",
        "make it valid JSON without comments"
    }
    finding_hooks_disabled(location: &str) { "所有 hook 都被關閉：{location} 的 disableAllHooks", "所有 hook 都被关闭：{location} 的 disableAllHooks", "all hooks are off: disableAllHooks in {location}" }
    fix_hooks_disabled() { "刪除 disableAllHooks 或改為 false", "删除 disableAllHooks 或改为 false", "remove disableAllHooks or set it to false" }
    finding_managed_only(location: &str) { "只允許管理者的 hook：{location}", "只允许管理员的 hook：{location}", "only an administrator's hooks may run: {location}" }
    fix_managed_only() { "請管理者允許外掛 ot@overtone", "请管理员允许插件 ot@overtone", "ask the administrator to allow the plugin ot@overtone" }
    finding_string_timeout(location: &str) {
        "{location} 有 hook 的 timeout 是字串，Claude Code 會忽略整個檔案",
        "{location} 有 hook 的 timeout 是字符串，Claude Code 会忽略整个文件",
        "{location}: a hook's timeout is a string, so Claude Code ignores the whole file"
    }
    fix_string_timeout() { "把 timeout 改成數字", "把 timeout 改成数字", "make the timeout a number" }
    finding_not_private(path: &str, mode: &str) { "其他使用者可進入 {path}（{mode}）", "其他用户可进入 {path}（{mode}）", "other users can access {path} ({mode})" }
    fix_not_private(path: &str) { "chmod 700 {path}", "chmod 700 {path}", "chmod 700 {path}" }
    finding_token_exposed(path: &str, mode: &str) {
        "其他使用者可存取 dashboard 的 token：{path}（{mode}）",
        "其他用户可访问 dashboard 的 token：{path}（{mode}）",
        "other users have access to the dashboard's token: {path} ({mode})"
    }
    fix_token_exposed(path: &str) {
        "rm -f {path}，下次啟動會產生新的 token",
        "rm -f {path}，下次启动会生成新的 token",
        "rm -f {path}; the dashboard creates a new one"
    }
    finding_not_writable(path: &str, error: &str) { "無法寫入 {path}：{error}", "无法写入 {path}：{error}", "cannot write to {path}: {error}" }
    fix_not_writable() { "檢查擁有者、權限與磁碟空間", "检查所有者、权限与磁盘空间", "check owner, permissions and disk space" }
    finding_broken_file(path: &str, what: &str) { "檔案損壞：{path}: {what}", "文件损坏：{path}: {what}", "broken file: {path}: {what}" }
    fix_broken_file(path: &str) {
        "確認內容後移開：mv {path} {path}.broken",
        "确认内容后移开：mv {path} {path}.broken",
        "look at it, then move it away: mv {path} {path}.broken"
    }
    finding_bad_config(key: &str) { "設定值無效，使用預設：{key}", "设置值无效，使用默认：{key}", "invalid configuration value, using the default: {key}" }
    fix_bad_config(key: &str, allowed: &str) { "overtone config set {key} <{allowed}>", "overtone config set {key} <{allowed}>", "overtone config set {key} <{allowed}>" }
    finding_orphaned(id: &str, days: u64) { "工作階段 {id} 已 {days} 天沒有動靜，工作流仍未完成", "会话 {id} 已 {days} 天没有动静，工作流仍未完成", "session {id} has been idle for {days} days with an unfinished workflow" }
    fix_orphaned(id: &str) { "overtone sessions rm {id}，或 claude --resume {id}", "overtone sessions rm {id}，或 claude --resume {id}", "overtone sessions rm {id}, or claude --resume {id}" }
}
