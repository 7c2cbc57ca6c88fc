//! What the command line says. Errors follow one form: a lowercase fragment, the path, then a hint.

messages! {
    // Sessions, home and files.
    no_session() { "找不到工作階段", "找不到会话", "no session found" }
    no_session_hint() {
        "請在 Claude Code 的 Bash 中執行，或以 --session ID 指定（overtone sessions 可列出）",
        "请在 Claude Code 的 Bash 中执行，或以 --session ID 指定（overtone sessions 可列出）",
        "run it inside Claude Code's Bash, or name one with --session ID (overtone sessions lists them)"
    }
    no_session_of_folder(path: &str) {
        "此資料夾沒有工作階段: {path}",
        "此文件夹没有会话: {path}",
        "no session has run in this folder: {path}"
    }
    choose_session_hint() {
        "overtone sessions 會列出所有工作階段；以 --session ID 指定其中一個",
        "overtone sessions 会列出所有会话；以 --session ID 指定其中一个",
        "overtone sessions lists all of them; choose one with --session ID"
    }
    session_used(id: &str, project: &str, age: &str) {
        "工作階段 {id}（{project}，{age} 前有活動）",
        "会话 {id}（{project}，{age} 前有活动）",
        "Session {id} in {project}, last active {age} ago"
    }
    last_session_used(id: &str, project: &str, age: &str) {
        "此資料夾沒有工作階段。顯示最後一個：{id}（{project}，{age} 前有活動）",
        "此文件夹没有会话。显示最后一个：{id}（{project}，{age} 前有活动）",
        "No session has run in this folder. Showing the last one: {id} in {project}, last active {age} ago"
    }
    user_command(command: &str) {
        "overtone {command} 由使用者決定，而使用者沒有被詢問",
        "overtone {command} 由用户决定，而用户没有被询问",
        "overtone {command} is the user's decision, and the user was not asked"
    }
    user_command_hint() {
        "單獨以 overtone … 執行，Claude Code 就會詢問使用者；或請使用者在自己的終端機執行",
        "单独以 overtone … 执行，Claude Code 就会询问用户；或请用户在自己的终端执行",
        "run it as a plain `overtone …` command, so that Claude Code asks the user, or let the user run it in a terminal"
    }
    unknown_project() { "未知的專案", "未知的项目", "an unknown project" }
    ambiguous_session(id: &str, count: usize) {
        "有 {count} 個工作階段的 ID 以 {id} 開頭",
        "有 {count} 个会话的 ID 以 {id} 开头",
        "{count} sessions have an id that starts with {id}"
    }
    short_prefix_hint(length: usize) {
        "請輸入完整 ID，或至少前 {length} 個字元；overtone sessions 會列出所有工作階段",
        "请输入完整 ID，或至少前 {length} 个字符；overtone sessions 会列出所有会话",
        "give the full id or at least its first {length} characters; overtone sessions lists all sessions"
    }
    bad_session_id(id: &str) { "無效的工作階段 ID: {id}", "无效的会话 ID: {id}", "not a session id: {id}" }
    bad_session_id_hint() {
        "只能使用英文字母、數字、點、底線與連字號，以字母或數字開頭，最多 128 個字元",
        "只能使用英文字母、数字、点、下划线与连字符，以字母或数字开头，最多 128 个字符",
        "letters, digits, dots, underscores and hyphens only, starting with a letter or digit, at most 128 characters"
    }
    no_such_session(id: &str) { "沒有這個工作階段: {id}", "没有这个会话: {id}", "no such session: {id}" }
    list_sessions_hint() {
        "overtone sessions 會列出所有工作階段",
        "overtone sessions 会列出所有会话",
        "overtone sessions lists all sessions"
    }
    no_home() { "沒有可用的家目錄", "没有可用的主目录", "no home folder" }
    no_home_hint() {
        "請將 HOME 或 OVERTONE_HOME 設為絕對路徑",
        "请将 HOME 或 OVERTONE_HOME 设为绝对路径",
        "set HOME or OVERTONE_HOME to an absolute path"
    }
    cannot_use(path: &str, problem: &str) {
        "無法使用檔案: {path}（{problem}）",
        "无法使用文件: {path}（{problem}）",
        "cannot use file: {path} ({problem})"
    }
    check_path_hint() {
        "請檢查該路徑與權限；內容沒有被更動",
        "请检查该路径与权限；内容没有被更动",
        "check the path and its permissions; nothing there was changed"
    }
    broken_file(path: &str, problem: &str) {
        "檔案內容損壞: {path}（{problem}）",
        "文件内容损坏: {path}（{problem}）",
        "broken file: {path} ({problem})"
    }
    broken_state_hint() {
        "檔案保持原樣。可以修好它、移走它，或執行 overtone init <workflow> --force 重新開始（會先把它改名保留）",
        "文件保持原样。可以修好它、移走它，或执行 overtone init <workflow> --force 重新开始（会先把它改名保留）",
        "the file was left as it is; fix it, move it away, or start again with overtone init <workflow> --force (which renames and keeps it)"
    }
    untrusted_file(path: &str) {
        "檔案被其他程式修改過，而且沒有可用的備份: {path}",
        "文件被其他程序修改过，而且没有可用的备份: {path}",
        "another program changed the file, and no copy is left: {path}"
    }
    untrusted_file_hint() {
        "採用目前的檔案：overtone resume --accept-edit；重新開始：overtone init <workflow> --force",
        "采用目前的文件：overtone resume --accept-edit；重新开始：overtone init <workflow> --force",
        "use it as it is: overtone resume --accept-edit; or start again: overtone init <workflow> --force"
    }
    broken_config_hint() {
        "檔案保持原樣，目前使用預設值。請修好它，或移走後重新設定",
        "文件保持原样，目前使用默认值。请修好它，或移走后重新设置",
        "the file was left as it is and the defaults apply; fix it, or move it away and set the values again"
    }
    busy(path: &str) {
        "工作階段忙碌中，另一個程序持有鎖: {path}",
        "会话忙碌中，另一个进程持有锁: {path}",
        "busy, another process holds the lock: {path}"
    }
    busy_hint() { "請稍後再試一次", "请稍后再试一次", "try again in a moment" }
    unreadable_lines(count: usize, path: &str) {
        "略過 {count} 行無法讀取的內容: {path}",
        "略过 {count} 行无法读取的内容: {path}",
        "skipped {count} unreadable lines: {path}",
        count == 1: "skipped {count} unreadable line: {path}"
    }

    // Names that were probably meant.
    did_you_mean(name: &str) { "是否指 {name}？", "是否指 {name}？", "did you mean {name}?" }
    did_you_mean_or(name: &str, list: &str) {
        "是否指 {name}？可用：{list}",
        "是否指 {name}？可用：{list}",
        "did you mean {name}? available: {list}"
    }
    one_of(list: &str) { "可用：{list}", "可用：{list}", "available: {list}" }
    unknown_workflow(name: &str) { "未知的工作流: {name}", "未知的工作流: {name}", "unknown workflow: {name}" }
    /// The argument is the registry's own text, which tools look for in every language.
    unknown_event(text: &str) { "{text}", "{text}", "unknown event type ({text})" }

    // What is not part of this version.

    // Starting, stopping, going on.
    running(name: &str, done: usize, total: usize) {
        "已有工作流在執行: {name}（{done}/{total} 個階段完成）",
        "已有工作流在执行: {name}（{done}/{total} 个阶段完成）",
        "a workflow is running: {name} ({done}/{total} stages done)"
    }
    running_hint() {
        "請先完成它，或以 --force 取代（原工作流會記為中斷）",
        "请先完成它，或以 --force 取代（原工作流会记为中断）",
        "finish it first, or replace it with --force (it is recorded as aborted)"
    }
    label_started() { "已啟動", "已启动", "Started" }
    label_stages() { "階段", "阶段", "Stages" }
    label_set_aside() { "已改名保留", "已改名保留", "Kept as" }
    workflow_with_purpose(name: &str, purpose: &str) { "{name}（{purpose}）", "{name}（{purpose}）", "{name} ({purpose})" }
    feature_created(name: &str, path: &str) { "{name}（新建：{path}）", "{name}（新建：{path}）", "{name} (new: {path})" }
    feature_taken_up(name: &str, shelf: &str) {
        "{name}（從{shelf}移回進行中）",
        "{name}（从{shelf}移回进行中）",
        "{name} (moved back from {shelf})"
    }
    feature_joined(name: &str, checked: usize, total: usize) {
        "{name}（已在進行中，任務 {checked}/{total}）",
        "{name}（已在进行中，任务 {checked}/{total}）",
        "{name} (already in progress, tasks {checked}/{total})"
    }
    feature_in_use(feature: &str, id: &str, age: &str) {
        "工作階段 {id} 正在做 {feature}（{age} 前有活動）",
        "会话 {id} 正在做 {feature}（{age} 前有活动）",
        "session {id} is working on {feature} (last active {age} ago)"
    }
    feature_in_use_hint(id: &str) {
        "請換一個 feature 名稱、以 overtone stop --session {id} 停止該工作階段，或加上 --anyway 仍然開始",
        "请换一个 feature 名称、以 overtone stop --session {id} 停止该会话，或加上 --anyway 仍然开始",
        "choose another feature name, stop that session with overtone stop --session {id}, or add --anyway to start regardless"
    }
    feature_not_ours(feature: &str, path: &str) {
        "{feature} 已在此儲存庫中，但並非在這台機器上開始：{path}",
        "{feature} 已在此仓库中，但并非在这台机器上开始：{path}",
        "{feature} is in this repository, but was not started on this machine: {path}"
    }
    feature_not_ours_hint() {
        "請換一個 feature 名稱；若已讀過其任務並要接手，請加上 --anyway",
        "请换一个 feature 名称；若已读过其任务并要接手，请加上 --anyway",
        "choose another feature name; if you have read its tasks and want to continue it, add --anyway"
    }
    archive_in_use_hint(id: &str) {
        "請先以 overtone stop --session {id} 停止該工作階段，或加上 --force 仍然歸檔",
        "请先以 overtone stop --session {id} 停止该会话，或加上 --force 仍然归档",
        "stop that session first with overtone stop --session {id}, or add --force to archive it regardless"
    }
    feature_ignored(name: &str) {
        "此工作流不保存文件，未建立 {name}",
        "此工作流不保存文档，未建立 {name}",
        "this workflow keeps no documents, {name} was not created"
    }
    stopped() {
        "已停止循環。工作流與所有紀錄都保留。",
        "已停止循环。工作流与所有记录都保留。",
        "The loop is stopped. The workflow and all records are kept."
    }
    stopped_already() { "循環先前已停止。", "循环先前已停止。", "The loop is already stopped." }
    resumed() { "工作流繼續執行。", "工作流继续执行。", "The workflow continues." }
    running_already() { "工作流正在執行，不需要恢復。", "工作流正在执行，不需要恢复。", "The workflow is running; there is nothing to resume." }
    edit_accepted() { "已採用修改過的狀態。", "已采用修改过的状态。", "The edited state is in use." }
    state_was_edited() {
        "workflow.json 被其他程式修改過；這是 Overtone 寫入的最後狀態。要採用修改的內容：overtone resume --accept-edit",
        "workflow.json 被其他程序修改过；这是 Overtone 写入的最后状态。要采用修改的内容：overtone resume --accept-edit",
        "another program changed workflow.json; this is the last state that Overtone wrote. To use the change: overtone resume --accept-edit"
    }
    no_edit() {
        "沒有等待你決定的修改。",
        "没有等待你决定的修改。",
        "There is no edited state to accept."
    }
    already_complete() { "工作流已經完成。", "工作流已经完成。", "The workflow is already complete." }
    message_left() {
        "訊息已留下，主代理下一次動作時會收到。",
        "消息已留下，主代理下一次动作时会收到。",
        "Message saved; the main agent gets it with its next step."
    }
    message_empty() { "訊息是空的", "消息是空的", "the message is empty" }
    message_empty_hint() {
        "例如：overtone message \"先修好登入\"",
        "例如：overtone message \"先修好登录\"",
        "for example: overtone message \"fix the login first\""
    }
    message_too_long(units: usize, limit: usize) {
        "訊息太長（{units} 字，上限 {limit}）",
        "消息太长（{units} 字，上限 {limit}）",
        "the message is too long ({units} characters, {limit} allowed)"
    }
    message_too_long_hint() {
        "請把內容寫進專案中的檔案，訊息只說檔案在哪裡",
        "请把内容写进项目中的文件，消息只说文件在哪里",
        "put it in a project file and send its path"
    }
    message_too_many() {
        "已有太多訊息等待主代理收取",
        "已有太多消息等待主代理收取",
        "too many messages are already waiting for the main agent"
    }
    message_too_many_hint() {
        "請等主代理的下一步，或在該工作階段輸入任何提示",
        "请等主代理的下一步，或在该会话输入任何提示",
        "wait for its next step, or type any prompt in that session"
    }
    no_workflow_to_tell() { "沒有可以收訊息的工作流", "没有可以收消息的工作流", "no workflow to receive a message" }
    moved_to(machine: &str) { "這個工作階段已移到 {machine}", "这个会话已移到 {machine}", "this session continues on {machine}" }
    moved_hint(session: &str) {
        "overtone fleet pull {session} 可將它移回",
        "overtone fleet pull {session} 可将它移回",
        "overtone fleet pull {session} brings it back"
    }
    resume_to_continue() {
        "循環已停止；執行 overtone resume 可繼續。",
        "循环已停止；执行 overtone resume 可继续。",
        "The loop is stopped. Run overtone resume to continue."
    }
    next_continue() {
        "已暫停；在 Claude Code 中說「繼續」，或執行 overtone resume。",
        "已暂停；在 Claude Code 中说“继续”，或执行 overtone resume。",
        "Paused. Say \"continue\" in Claude Code, or run overtone resume."
    }
    next_finish() {
        "所有階段都已完成；Claude Code 這一輪結束時工作流就會完成。",
        "所有阶段都已完成；Claude Code 这一轮结束时工作流就会完成。",
        "Every stage is done; the workflow completes at the end of this turn."
    }
    next_reopen(session: &str) {
        "工作階段已結束；在專案資料夾執行 claude --resume {session} 可繼續。",
        "会话已结束；在项目文件夹执行 claude --resume {session} 可继续。",
        "The session has ended. To continue it, run claude --resume {session} in its folder."
    }
    next_stages(stages: &str) { "下一步：{stages}。", "下一步：{stages}。", "Next: {stages}." }
    next_repair(stages: &str) {
        "下一步：修復 {stages} 的問題，然後重跑。",
        "下一步：修复 {stages} 的问题，然后重跑。",
        "Next: fix the findings of {stages}, then check again."
    }
    next_again(stage: &str) { "下一步：重做 {stage}。", "下一步：重做 {stage}。", "Next: {stage} again." }
    next_wait(stages: &str) { "等待 {stages} 完成。", "等待 {stages} 完成。", "Waiting for {stages}." }
    next_answer(stage: &str) {
        "{stage} 需要你：請在 Claude Code 中回答它的問題。",
        "{stage} 需要你：请在 Claude Code 中回答它的问题。",
        "{stage} needs you: answer its question in Claude Code."
    }
    next_decide(stage: &str) {
        "{stage} 已達重試上限。請決定怎麼做，再執行 overtone resume。",
        "{stage} 已达重试上限。请决定怎么做，再执行 overtone resume。",
        "{stage} reached its retry limit. Decide what to change, then run overtone resume."
    }
    next_judge(stage: &str) {
        "{stage} 未通過，由你決定。若要修復，可輸入 /ot:quick。",
        "{stage} 未通过，由你决定。若要修复，可输入 /ot:quick。",
        "{stage} did not pass, and the decision is yours. To fix it, type /ot:quick."
    }

    // Status.
    no_workflow() { "目前沒有進行中的工作流。", "目前没有进行中的工作流。", "No workflow is running." }
    how_to_start() {
        "開始：在 Claude Code 中輸入 /ot:auto <需求>，或執行 overtone init <workflow>。",
        "开始：在 Claude Code 中输入 /ot:auto <需求>，或执行 overtone init <workflow>。",
        "To start one: /ot:auto <task> in Claude Code, or overtone init <workflow>."
    }
    label_session() { "工作階段", "会话", "Session" }
    label_workflow() { "工作流", "工作流", "Workflow" }
    label_progress() { "進度", "进度", "Progress" }
    label_stage() { "階段", "阶段", "Stage" }
    label_agents() { "活躍代理", "活跃代理", "Agents" }
    label_counters() { "次數", "次数", "Counters" }
    label_loop() { "循環", "循环", "Loop" }
    label_feature() { "Feature", "Feature", "Feature" }
    label_context() { "Context", "Context", "Context" }
    label_folder() { "資料夾", "文件夹", "Folder" }
    retros(count: u32, limit: u32) { "回顧次數：{count}/{limit}", "回顾次数：{count}/{limit}", "Retros: {count}/{limit}" }
    rounds(count: u32, limit: u32) { "第 {count}/{limit} 輪", "第 {count}/{limit} 轮", "round {count}/{limit}" }
    loop_running() { "執行中", "运行中", "running" }
    loop_stopped_by_user() { "使用者已停止", "用户已停止", "stopped by the user" }
    loop_stopped_by_end() { "隨工作階段結束", "随会话结束", "ended with the session" }
    state_moved(machine: &str) { "已移到 {machine}", "已移到 {machine}", "moved to {machine}" }
    loop_stopped_by_limit() { "已達上限，等待指示", "已达上限，等待指示", "limit reached, waiting for you" }
    loop_interrupted() { "已由你中斷", "已由你中断", "paused: you interrupted it" }
    loop_stuck() { "沒有進展，等待你的訊息", "没有进展，等待你的消息", "paused: no progress" }
    feature_tasks(name: &str, checked: usize, total: usize) {
        "{name}（任務 {checked}/{total}）",
        "{name}（任务 {checked}/{total}）",
        "{name} (tasks {checked}/{total})"
    }
    compactions(all: u32, auto: u32, manual: u32) {
        "壓縮 {all} 次（自動 {auto}、手動 {manual}）",
        "压缩 {all} 次（自动 {auto}、手动 {manual}）",
        "compactions: {all} ({auto} automatic, {manual} manual)"
    }
    state_running() { "執行中", "运行中", "running" }
    state_finished() { "階段全部完成", "阶段全部完成", "finished" }
    state_paused() { "已暫停", "已暂停", "paused" }
    state_needs_you() { "等待你決定", "等待你决定", "waiting for you" }
    state_stopped() { "已停止", "已停止", "stopped" }
    state_completed() { "已完成", "已完成", "completed" }
    state_aborted() { "已中斷", "已中断", "aborted" }
    state_broken() { "檔案損壞", "文件损坏", "broken" }

    // Sessions.
    no_sessions() { "還沒有任何工作階段。", "还没有任何会话。", "There are no sessions yet." }
    head_project() { "專案", "项目", "Project" }
    head_session() { "工作階段", "会话", "Session" }
    head_state() { "狀態", "状态", "State" }
    head_activity() { "最後活動", "最后活动", "Last active" }
    head_size() { "大小", "大小", "Size" }
    ago(age: &str) { "{age} 前", "{age} 前", "{age} ago" }
    not_agreed() { "移除前需要確認", "移除前需要确认", "not removed without confirmation" }
    not_agreed_hint() {
        "沒有終端機可以詢問；確定要移除請加上 --yes",
        "没有终端可以询问；确定要移除请加上 --yes",
        "no terminal to ask in; add --yes if you are sure"
    }
    ask_remove(count: usize) { "移除這 {count} 個工作階段？", "移除这 {count} 个会话？", "Remove {count} sessions?", count == 1: "Remove {count} session?" }
    ask_remove_running(count: usize, running: usize) {
        "移除這 {count} 個工作階段（其中 {running} 個仍在執行）？",
        "移除这 {count} 个会话（其中 {running} 个仍在运行）？",
        "Remove {count} sessions ({running} still running)?",
        count == 1: "Remove {count} session ({running} still running)?"
    }
    nothing_removed() { "沒有移除任何東西。", "没有移除任何东西。", "Nothing was removed." }
    removed(count: usize, list: &str) { "已移除 {count} 個：{list}", "已移除 {count} 个：{list}", "Removed {count}: {list}" }
    gc_nothing(count: usize) {
        "沒有需要清理的工作階段（共 {count} 個）。",
        "没有需要清理的会话（共 {count} 个）。",
        "Nothing to clean up ({count} sessions).",
        count == 1: "Nothing to clean up ({count} session)."
    }
    gc_removed(count: usize, size: &str) {
        "已清理 {count} 個工作階段，釋出 {size}。",
        "已清理 {count} 个会话，释放 {size}。",
        "Removed {count} sessions and freed {size}.",
        count == 1: "Removed {count} session and freed {size}."
    }
    gc_would_remove(count: usize, size: &str) {
        "將清理 {count} 個工作階段，可釋出 {size}（--dry-run：尚未移除）。",
        "将清理 {count} 个会话，可释放 {size}（--dry-run：尚未移除）。",
        "Would remove {count} sessions and free {size} (--dry-run: nothing was removed).",
        count == 1: "Would remove {count} session and free {size} (--dry-run: nothing was removed)."
    }

    // Timeline and statistics.
    no_events() { "沒有符合的事件。", "没有符合的事件。", "No events to show." }
    no_stats() { "還沒有任何階段的結果可以統計。", "还没有任何阶段的结果可以统计。", "No stage has a result to count yet." }
    label_sessions() { "工作階段", "会话", "Sessions" }
    workflow_counts(started: usize, completed: usize, aborted: usize) {
        "啟動 {started}、完成 {completed}、中斷 {aborted}",
        "启动 {started}、完成 {completed}、中断 {aborted}",
        "{started} started, {completed} completed, {aborted} aborted"
    }
    head_runs() { "次數", "次数", "Runs" }
    head_failures() { "失敗", "失败", "Failures" }
    head_median() { "中位數", "中位数", "Median" }

    head_repairs() { "修復", "修复", "Repairs" }
    head_cost_each() { "每次費用", "每次费用", "Cost each" }

    // Costs.
    no_costs() {
        "還沒有任何 token 紀錄。",
        "还没有任何 token 记录。",
        "No tokens have been counted yet."
    }
    head_tries() { "嘗試", "尝试", "Tries" }
    head_tokens_in() { "輸入", "输入", "In" }
    head_tokens_out() { "輸出", "输出", "Out" }
    head_tokens_cached() { "快取", "缓存", "Cached" }
    head_cost() { "費用", "费用", "Cost" }
    head_agent() { "代理", "代理", "Agent" }
    head_day() { "日期", "日期", "Day" }
    head_model() { "模型", "模型", "Model" }
    head_cache_read() { "讀快取", "读缓存", "Cache read" }
    head_cache_write() { "寫快取", "写缓存", "Cache write" }
    head_cache_write_1h() { "寫快取 1h", "写缓存 1h", "Cache write 1h" }
    main_agent() { "主代理", "主代理", "main agent" }
    outside_workflows() { "工作流之外", "工作流之外", "outside workflows" }
    total() { "合計", "合计", "Total" }
    cost_of_repairs(cost: &str, share: &str) {
        "修復：{cost}（{share}）",
        "修复：{cost}（{share}）",
        "Repairs: {cost} ({share})"
    }
    cost_of_clean_reviews(cost: &str, share: &str) {
        "沒有發現問題的審查：{cost}（{share}）",
        "没有发现问题的审查：{cost}（{share}）",
        "Reviews that found nothing: {cost} ({share})"
    }
    cost_lean_savings(tokens: &str, requests: u64) {
        "精簡代理在 {requests} 次請求中約可少送 {tokens} 個輸入 token：overtone config set economy lean",
        "精简代理在 {requests} 次请求中约可少送 {tokens} 个输入 token：overtone config set economy lean",
        "Lean agents would have sent about {tokens} fewer input tokens in {requests} requests: overtone config set economy lean",
        requests == 1: "Lean agents would have sent about {tokens} fewer input tokens in {requests} request: overtone config set economy lean"
    }
    cost_of_unchanged(cost: &str, share: &str) {
        "沒有改動任何檔案的階段：{cost}（{share}）",
        "没有改动任何文件的阶段：{cost}（{share}）",
        "Stages that changed nothing: {cost} ({share})"
    }
    cost_of_finished(cost: &str, count: usize) {
        "每個完成的工作流：{cost}（共 {count} 個）",
        "每个完成的工作流：{cost}（共 {count} 个）",
        "Per completed workflow: {cost} ({count} completed)"
    }
    cost_without_price(tokens: &str) {
        "{tokens} token 的模型沒有價格，未計入費用。overtone cost --prices 說明如何設定。",
        "{tokens} token 的模型没有价格，未计入费用。overtone cost --prices 说明如何设置。",
        "{tokens} tokens are of models without a price and not part of the cost. overtone cost --prices shows how to set one."
    }
    cost_from_conversations(sessions: usize) {
        "{sessions} 個工作階段由對話紀錄計算：它們來自較早的版本。",
        "{sessions} 个会话由对话记录计算：它们来自较早的版本。",
        "{sessions} sessions of an earlier version were counted from their conversations.",
        sessions == 1: "{sessions} session of an earlier version was counted from its conversations."
    }
    cost_from_client(sessions: usize, cost: &str) {
        "另有 {sessions} 個工作階段只知道客戶端顯示的總額：{cost}。",
        "另有 {sessions} 个会话只知道客户端显示的总额：{cost}。",
        "Of {sessions} more sessions only the client's total is known: {cost}.",
        sessions == 1: "Of {sessions} more session only the client's total is known: {cost}."
    }
    prices_of(date: &str) {
        "內建價格，{date}，每百萬 token 的美元價格",
        "内置价格，{date}，每百万 token 的美元价格",
        "Built-in prices of {date}, in dollars per million tokens"
    }
    own_prices(date: &str) {
        "config.json 的價格，{date}，優先採用",
        "config.json 的价格，{date}，优先采用",
        "Prices from config.json, {date}, which come first"
    }
    prices_hint(path: &str, example: &str) {
        "在 {path} 加入 {example} 可設定價格。",
        "在 {path} 加入 {example} 可设置价格。",
        "Set your own prices in {path}: {example}"
    }
    bad_price(model: &str) {
        "config.json 中 {model} 的價格無法使用",
        "config.json 中 {model} 的价格无法使用",
        "the price of {model} in config.json cannot be used"
    }

    // Features.
    no_features() {
        "還沒有任何 feature；overtone specs new <name> 可建立一個。",
        "还没有任何 feature；overtone specs new <name> 可建立一个。",
        "There are no features yet; overtone specs new <name> creates one."
    }
    head_shelf() { "位置", "位置", "Shelf" }
    head_name() { "名稱", "名称", "Name" }
    head_tasks() { "任務", "任务", "Tasks" }
    head_created() { "建立", "建立", "Created" }
    bad_feature_name(name: &str) { "無效的 feature 名稱: {name}", "无效的 feature 名称: {name}", "not a feature name: {name}" }
    bad_feature_name_hint(example: &str) {
        "請使用小寫英文字母、數字與單一連字號，最多 64 個字元，例如 {example}",
        "请使用小写英文字母、数字与单一连字符，最多 64 个字符，例如 {example}",
        "use lowercase letters, digits and single hyphens, at most 64 characters, such as {example}"
    }
    feature_exists(path: &str) { "feature 已存在: {path}", "feature 已存在: {path}", "the feature already exists: {path}" }
    feature_exists_hint() {
        "請換一個名稱，或以 overtone specs resume 繼續它",
        "请换一个名称，或以 overtone specs resume 继续它",
        "choose another name, or continue that one with overtone specs resume"
    }
    no_feature(name: &str, path: &str) {
        "沒有名為 {name} 的 feature: {path}",
        "没有名为 {name} 的 feature: {path}",
        "no feature {name}: {path}"
    }
    no_feature_hint() {
        "overtone specs list 會列出所有 feature；新的請用 overtone specs new <name>（加 --backlog 只先記下）",
        "overtone specs list 会列出所有 feature；新的请用 overtone specs new <name>（加 --backlog 只先记下）",
        "overtone specs list shows all features; create one with overtone specs new <name> (--backlog saves it for later)"
    }
    real_folder_hint() {
        "請確認 specs 是一般資料夾且可寫入；不會跟隨符號連結",
        "请确认 specs 是普通文件夹且可写入；不会跟随符号链接",
        "specs must be a real, writable folder; symbolic links are not followed"
    }
    feature_made(name: &str, path: &str) { "已建立 {name}：{path}", "已建立 {name}：{path}", "Created {name}: {path}" }
    feature_moved(name: &str, from: &str, to: &str) { "{name}：{from} → {to}", "{name}：{from} → {to}", "{name}: {from} → {to}" }
    feature_there(name: &str, shelf: &str) { "{name} 已在{shelf}。", "{name} 已在{shelf}。", "{name} is already in {shelf}." }
    feature_archived(name: &str, path: &str) { "已歸檔 {name}：{path}", "已归档 {name}：{path}", "Archived {name}: {path}" }
    feature_archived_open(name: &str, path: &str, open: usize) {
        "已歸檔 {name}（還有 {open} 個任務未勾選）：{path}",
        "已归档 {name}（还有 {open} 个任务未勾选）：{path}",
        "Archived {name} with {open} open tasks: {path}",
        open == 1: "Archived {name} with {open} open task: {path}"
    }

    // Lessons.
    no_lessons() { "此專案還沒有學到任何經驗。", "此项目还没有学到任何经验。", "Nothing was learned in this project yet." }
    cannot_read_lessons(problem: &str) { "無法讀取經驗（{problem}）", "无法读取经验（{problem}）", "cannot read the lessons ({problem})" }
    no_lesson(id: &str) { "沒有這條經驗: {id}", "没有这条经验: {id}", "no such lesson: {id}" }
    no_lesson_hint() {
        "overtone instinct list 會列出此專案的經驗；其他專案請加 --project DIR",
        "overtone instinct list 会列出此项目的经验；其他项目请加 --project DIR",
        "overtone instinct list shows the lessons of this project; add --project DIR for another one"
    }
    lesson_judged(id: &str, confidence: &str) { "{id}：信心 {confidence}", "{id}：信心 {confidence}", "{id}: confidence {confidence}" }
    lesson_forgotten(id: &str) {
        "{id}：信心不足 20%，已忘記。",
        "{id}：信心不足 20%，已忘记。",
        "{id}: below 20%, forgotten."
    }
    nothing_faded() { "沒有淡忘的經驗。", "没有淡忘的经验。", "No lesson has faded." }
    faded(count: usize, list: &str) { "已移除 {count} 條淡忘的經驗：{list}", "已移除 {count} 条淡忘的经验：{list}", "Faded lessons removed ({count}): {list}" }
    head_confidence() { "信心", "信心", "Confidence" }
    head_seen() { "次數", "次数", "Seen" }
    head_last_seen() { "最後", "最后", "Last" }
    head_lesson() { "經驗", "经验", "Lesson" }
    head_from() { "來源", "来源", "From" }
    head_evidence() { "最後所見", "最后所见", "Seen last" }
    lessons_cleared(count: usize) { "已忘記 {count} 條經驗。", "已忘记 {count} 条经验。", "Forgotten lessons: {count}." }

    // Configuration.
    head_key() { "設定", "设置", "Key" }
    head_value() { "值", "值", "Value" }
    head_about() { "說明", "说明", "What it does" }
    unknown_key(name: &str) { "未知的設定: {name}", "未知的设置: {name}", "unknown configuration key: {name}" }
    did_you_mean_key(name: &str) {
        "是否指 {name}？overtone config list 會列出全部",
        "是否指 {name}？overtone config list 会列出全部",
        "did you mean {name}? overtone config list shows all"
    }
    list_keys_hint() { "overtone config list 會列出全部設定", "overtone config list 会列出全部设置", "overtone config list shows all keys" }
    bad_value(key: &str, given: &str) { "{key} 不接受這個值: {given}", "{key} 不接受这个值: {given}", "bad value for {key}: {given}" }
    bad_value_ignored(key: &str, given: &str, allowed: &str) {
        "config.json 中 {key} 的值 {given} 無效，使用預設值（可用：{allowed}）",
        "config.json 中 {key} 的值 {given} 无效，使用默认值（可用：{allowed}）",
        "{key} is {given} in config.json, which is not valid; using the default (allowed: {allowed})"
    }
    allowed(values: &str) { "可用：{values}", "可用：{values}", "allowed: {values}" }
    whole_number(low: u32, high: u32) { "{low} 到 {high} 的整數", "{low} 到 {high} 的整数", "a whole number from {low} to {high}" }
    any_number(high: &str) { "大於 0、最大 {high} 的數字", "大于 0、最大 {high} 的数字", "a number above 0, at most {high}" }
    about_language() { "所有文字的語言：zh-TW、zh-CN 或 en", "所有文字的语言：zh-TW、zh-CN 或 en", "language of every text: zh-TW, zh-CN or en" }
    about_threshold_mb() { "transcript 超過此大小（MB）時建議壓縮", "transcript 超过此大小（MB）时建议压缩", "suggest a compaction above this transcript size, in MB" }
    about_threshold_percent() { "或 context 使用超過此百分比時建議壓縮", "或 context 使用超过此百分比时建议压缩", "or above this context window usage, in percent" }
    about_cooldown() { "兩次壓縮建議之間至少完成的階段數", "两次压缩建议之间至少完成的阶段数", "stages to complete before the next suggestion" }
    about_iterations() { "循環最多讓主代理繼續的次數", "循环最多让主代理继续的次数", "maximum rounds of the loop" }
    about_errors() { "連續沒有進展的次數上限", "连续没有进展的次数上限", "rounds in a row without progress before the loop pauses" }
    about_failures() { "詢問使用者前允許的失敗次數", "询问用户前允许的失败次数", "failed stages before Overtone stops and asks you" }
    about_rejections() { "詢問使用者前允許的審查拒絕次數", "询问用户前允许的审查拒绝次数", "rejected reviews before Overtone stops and asks you" }
    about_retros() { "依回顧意見改善的次數上限", "依回顾意见改善的次数上限", "retrospectives whose issues may start another round" }
    about_helpers() { "工作流進行中可啟動的其他代理數量上限", "工作流进行中可启动的其他代理数量上限", "agents of other kinds that may be started while a workflow runs" }
    about_foreground() { "階段代理在前景執行", "阶段代理在前台运行", "run stage agents in the foreground" }
    about_guard() { "關卡的嚴格程度：notice 或 strict；專案只能更嚴格", "关卡的严格程度：notice 或 strict；项目只能更严格", "how strictly the gate is kept: notice or strict; a project can only make it stricter" }
    about_economy() {
        "已安裝代理的工具：standard，或 lean（每次請求送出較少 token）",
        "已安装代理的工具：standard，或 lean（每次请求发送较少 token）",
        "tools of the installed agents: standard, or lean to send fewer tokens with every request"
    }
    about_stage_retro() {
        "何時執行 RETRO：always，或 on-trouble（有階段失敗、被拒絕或受阻時）",
        "何时执行 RETRO：always，或 on-trouble（有阶段失败、被拒绝或受阻时）",
        "when RETRO runs: always, or on-trouble if a stage failed, rejected or was blocked"
    }
    about_stage_docs() {
        "何時執行 DOCS：always，或 on-change（文件或使用者看得到的行為有變更，且開發者未寫入文件時）",
        "何时执行 DOCS：always，或 on-change（文档或用户看得到的行为有变更，且开发者未写入文档时）",
        "when DOCS runs: always, or on-change if a document changed or users see a difference, unless the developer documented it"
    }
    about_dashboard() { "工作階段開始時啟動 dashboard", "会话开始时启动 dashboard", "start the dashboard when a session starts" }
    about_port() { "dashboard 在本機的連接埠", "dashboard 在本机的端口", "port of the dashboard on this machine" }
    about_idle() { "dashboard 閒置多少分鐘後結束", "dashboard 闲置多少分钟后结束", "stop the dashboard after this many idle minutes" }
    about_days() { "已結束的工作階段保留天數", "已结束的会话保留天数", "keep finished sessions for this many days" }
    about_sessions() { "最多保留的工作階段數", "最多保留的会话数", "keep at most this many sessions" }
    about_instinct() { "從工具使用中學習並告知經驗", "从工具使用中学习并告知经验", "learn from tool use and pass lessons on to new sessions" }

    // The plugin.
    no_plugin(path: &str) { "找不到外掛資料夾: {path}", "找不到插件文件夹: {path}", "no plugin folder: {path}" }
    no_plugin_hint() {
        "overtone up 會安裝外掛；或以 --plugin DIR 指定",
        "overtone up 会安装插件；或以 --plugin DIR 指定",
        "overtone up installs the plugin; or name a folder with --plugin DIR"
    }
    plugin_is_good(path: &str) { "檢查通過：{path}", "检查通过：{path}", "the plugin is valid: {path}" }
    plugin_is_bad(count: usize, path: &str) { "外掛有 {count} 個問題: {path}", "插件有 {count} 个问题: {path}", "problems in the plugin ({count}): {path}" }
    plugin_is_bad_hint() {
        "overtone up 會重新寫入外掛的檔案",
        "overtone up 会重新写入插件的文件",
        "overtone up rewrites the plugin's files"
    }
}
