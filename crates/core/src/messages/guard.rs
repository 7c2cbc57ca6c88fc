//! The guard: work that is not done by the agent of a stage, and steps that keep the gate from working.

messages! {
    main_agent() { "主代理", "主代理", "the main agent" }

    // What was done. `by` is the main agent or the name of another one.
    violation(by: &str, what: &str) { "{by}：{what}", "{by}：{what}", "{by}: {what}" }
    changes_files(files: &str) { "修改專案檔案 {files}", "修改项目文件 {files}", "changes files of the project: {files}" }
    native_workflow() {
        "用戶端的 Workflow 工具不屬於任何階段",
        "客户端的 Workflow 工具不属于任何阶段",
        "the client's Workflow tool belongs to no stage"
    }
    git_hooks_skipped() { "略過 git hooks", "跳过 git hooks", "git hooks are skipped" }
    forced_push() { "強制推送會覆寫歷史", "强制推送会覆盖历史", "a forced push overwrites history" }
    hooks_disabled() {
        "關閉用戶端的 hooks 或外掛",
        "关闭客户端的 hooks 或插件",
        "hooks or plugins of the client are switched off"
    }
    own_files() { "修改 Overtone 自己的檔案", "修改 Overtone 自己的文件", "Overtone's own files are changed" }

    // For the user.
    notice(text: &str) { "Overtone：{text}", "Overtone：{text}", "Overtone: {text}" }
    changed_notice(by: &str, files: &str) {
        "Overtone：{by} 在階段之外修改了 {files}，已記錄，審查者會看到。",
        "Overtone：{by} 在阶段之外修改了 {files}，已记录，审查者会看到。",
        "Overtone: {by} changed {files} outside a stage. It is recorded, and the reviewer is informed."
    }
    deny_change() {
        "Overtone：工作流進行中，檔案由各階段的代理修改",
        "Overtone：工作流进行中，文件由各阶段的代理修改",
        "Overtone: while a workflow runs, files are changed by the agents of its stages"
    }
    deny_read_only_command(agent: &str) {
        "Overtone：{agent} 只讀取檔案，不修改檔案",
        "Overtone：{agent} 只读取文件，不修改文件",
        "Overtone: {agent} is read-only and cannot change files"
    }
    deny_violation(what: &str) {
        "Overtone：工作流進行中不允許：{what}",
        "Overtone：工作流进行中不允许：{what}",
        "Overtone: not while a workflow runs: {what}"
    }

    // For the model.
    changed_advice(files: &str) {
        "⛔ 你在階段之外修改了 {files}。工作流進行中，專案檔案由各階段的代理修改；這次修改已記錄，審查者會看到。",
        "⛔ 你在阶段之外修改了 {files}。工作流进行中，项目文件由各阶段的代理修改；这次修改已记录，审查者会看到。",
        "⛔ {files} changed outside a stage. While a workflow runs, the agents of its stages change project files; this is recorded, and the reviewer is informed."
    }
    reopened(stages: &str) {
        "程式碼在 {stages} 之後有變動，這些階段要重新進行。",
        "代码在 {stages} 之后有变动，这些阶段要重新进行。",
        "The code changed after {stages}, so these stages are open again."
    }
    delegate_advice(next: &str) {
        "⛔ 不可自己完成階段的工作，請委派給該階段的代理。{next}",
        "⛔ 不可自己完成阶段的工作，请委派给该阶段的代理。{next}",
        "⛔ You MUST NOT do a stage's work yourself: delegate it to the agent of the stage. {next}"
    }
    read_only_advice() {
        "⛔ 你是唯讀代理，不可用指令修改檔案。請在回報中說明建議的修改。",
        "⛔ 你是只读代理，不可用命令修改文件。请在回报中说明建议的修改。",
        "⛔ You are read-only and MUST NOT change files by commands. Describe the change you propose in your report."
    }
    ask_user_advice() {
        "⛔ 這一步會使檢查失效，只有使用者可以決定。確有需要時，請先用 AskUserQuestion 詢問使用者。",
        "⛔ 这一步会使检查失效，只有用户可以决定。确有需要时，请先用 AskUserQuestion 询问用户。",
        "⛔ This step defeats the checks, and only the user may decide on it. If it is needed, ask with AskUserQuestion first."
    }

    // For the reviewer.
    review_note(files: &str) {
        "這些檔案是在階段之外修改的，請一併審查：{files}",
        "这些文件是在阶段之外修改的，请一并审查：{files}",
        "These files were changed outside a stage; review them as well: {files}"
    }
}
