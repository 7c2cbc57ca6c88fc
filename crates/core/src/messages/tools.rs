//! Tool failures, wording checks and permission reasons.

messages! {
    delegation_failed(error: &str) {
        "⚠️ Agent 委派失敗：{error}。請檢查 agent 名稱後重試；若再次失敗請人工介入。",
        "⚠️ Agent 委派失败：{error}。请检查 agent 名称后重试；若再次失败请人工介入。",
        "⚠️ The agent could not be delegated: {error}. Check its name and try again; ask the user if it fails again."
    }
    write_failed(tool: &str, error: &str) {
        "⚠️ {tool} 檔案寫入失敗：{error}。請檢查路徑和權限後重試。",
        "⚠️ {tool} 文件写入失败：{error}。请检查路径和权限后重试。",
        "⚠️ {tool} could not write the file: {error}. Check the path and the permissions, then try again."
    }
    // For the user, about the same failures.
    delegation_failed_notice(error: &str) {
        "⚠️ Agent 委派失敗：{error}。會再重試；若再次失敗，需要你介入。",
        "⚠️ Agent 委派失败：{error}。会再重试；若再次失败，需要你介入。",
        "⚠️ An agent could not be started: {error}. If it fails again, it needs you."
    }
    write_failed_notice(tool: &str, error: &str) {
        "⚠️ {tool} 檔案寫入失敗：{error}。可能是路徑或權限的問題。",
        "⚠️ {tool} 文件写入失败：{error}。可能是路径或权限的问题。",
        "⚠️ {tool} could not write the file: {error}. The path or its permissions may be the cause."
    }
    own_command() {
        "Overtone 自己的指令",
        "Overtone 自己的命令",
        "Overtone's own command"
    }
    ask_user_command(command: &str) {
        "Overtone：「{command}」由你決定。要執行嗎？",
        "Overtone：“{command}”由你决定。要执行吗？",
        "Overtone: \"{command}\" is your decision. Run it?"
    }
    error_guard(tool: &str, error: &str) {
        "[Overtone 錯誤守衛] {tool} 失敗：{error}\n⛔ MUST NOT 用 workaround 繞過此錯誤（如硬編碼、跳過、重試相同指令）。先找出根因；屬於某個階段的修復，交給該階段的 agent。",
        "[Overtone 错误守卫] {tool} 失败：{error}\n⛔ MUST NOT 用 workaround 绕过此错误（如硬编码、跳过、重试相同命令）。先找出根因；属于某个阶段的修复，交给该阶段的 agent。",
        "[Overtone error guard] {tool} failed: {error}\n⛔ You MUST NOT work around this error (hard-coding, skipping, repeating the same command). Find the cause first, and leave the fix to the agent of its stage."
    }
    wording_found(path: &str, list: &str) {
        "📝 措詞檢查（{path}）：{list}",
        "📝 措辞检查（{path}）：{list}",
        "📝 Wording check ({path}): {list}"
    }
    wording_mismatch(line: usize, marker: &str, word: &str) {
        "第 {line} 行 {marker} 與「{word}」強度不符",
        "第 {line} 行 {marker} 与“{word}”强度不符",
        "line {line}: {marker} does not match “{word}”"
    }
    use_tool_instead(tool: &str, command: &str) {
        "優先使用 {tool} 工具，而非 Bash 的 {command}",
        "优先使用 {tool} 工具，而非 Bash 的 {command}",
        "use the {tool} tool rather than {command} in Bash"
    }
    often_fails(name: &str) {
        "`{name}` 在此專案常失敗",
        "`{name}` 在此项目常失败",
        "`{name}` often fails in this project"
    }
    wording_lesson(marker: &str, word: &str) {
        "{marker} 與「{word}」強度不符",
        "{marker} 与“{word}”强度不符",
        "{marker} does not match “{word}”"
    }
    user_prefers_workflow(name: &str) {
        "使用者常指定工作流 {name}",
        "用户常指定工作流 {name}",
        "the user often asks for the workflow {name}"
    }
    agent_often_fails(stage: &str) {
        "{stage} 在此專案常未通過，請預留修復",
        "{stage} 在此项目常未通过，请预留修复",
        "{stage} often does not pass in this project; plan for repairs"
    }
}
