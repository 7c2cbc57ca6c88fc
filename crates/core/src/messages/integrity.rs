//! Integrity: calls and changes that came from neither the client nor Overtone.

messages! {
    // For the user.
    edited() {
        "Overtone：workflow.json 被其他程式修改過，因此使用 Overtone 自己寫入的最後狀態。修改的內容保存在 workflow.edited.json；要改用它：overtone resume --accept-edit",
        "Overtone：workflow.json 被其他程序修改过，因此使用 Overtone 自己写入的最后状态。修改的内容保存在 workflow.edited.json；要改用它：overtone resume --accept-edit",
        "Overtone: another program changed workflow.json, so the last state that Overtone wrote is used. The changed file is kept as workflow.edited.json; to use it: overtone resume --accept-edit"
    }
    removed() {
        "Overtone：workflow.json 被移除，已恢復 Overtone 寫入的最後狀態。",
        "Overtone：workflow.json 被移除，已恢复 Overtone 写入的最后状态。",
        "Overtone: workflow.json was removed, so the last state that Overtone wrote was restored."
    }
    untrusted() {
        "Overtone：workflow.json 被其他程式修改過，而且沒有可用的備份。在你決定之前不會委派任何階段：overtone resume --accept-edit 採用目前的檔案，overtone init --force 重新開始。",
        "Overtone：workflow.json 被其他程序修改过，而且没有可用的备份。在你决定之前不会委派任何阶段：overtone resume --accept-edit 采用目前的文件，overtone init --force 重新开始。",
        "Overtone: another program changed workflow.json, and no copy is left. No stage is delegated until you decide: overtone resume --accept-edit uses the file as it is, overtone init --force starts again."
    }
    deny_untrusted() {
        "Overtone：工作流狀態被其他程式修改過，等待你的決定",
        "Overtone：工作流状态被其他程序修改过，等待你的决定",
        "Overtone: another program changed the workflow's state, waiting for your decision"
    }
    file_edited(file: &str) {
        "Overtone：{file} 被其他程式修改過，不採用其中的內容。",
        "Overtone：{file} 被其他程序修改过，不采用其中的内容。",
        "Overtone: another program changed {file}, so what it added is not used."
    }
    forged(hook: &str) {
        "Overtone：忽略了一次不是來自 Claude Code 的呼叫（overtone hook {hook}），沒有任何改變。",
        "Overtone：忽略了一次不是来自 Claude Code 的调用（overtone hook {hook}），没有任何改变。",
        "Overtone: a call of `overtone hook {hook}` did not come from Claude Code and was ignored. Nothing was changed."
    }
    ticked(count: u32) {
        "Overtone：沒有代理在工作時，tasks.md 有 {count} 個任務被勾選。",
        "Overtone：没有代理在工作时，tasks.md 有 {count} 个任务被勾选。",
        "Overtone: {count} tasks in tasks.md were ticked while no agent was at work.",
        count == 1: "Overtone: {count} task in tasks.md was ticked while no agent was at work."
    }

    // For the model. The loop's text, which the user reads too, may contain those that wait: they are facts, not orders.
    edited_advice() {
        "⚠️ workflow.json 被其他程式修改過，已恢復 Overtone 的最後狀態。只有階段的代理能讓階段通過。",
        "⚠️ workflow.json 被其他程序修改过，已恢复 Overtone 的最后状态。只有阶段的代理能让阶段通过。",
        "⚠️ workflow.json was changed by another program, so Overtone's last state was restored. A stage passes only through its agent."
    }
    removed_advice() {
        "⚠️ workflow.json 被移除，已恢復 Overtone 的最後狀態。",
        "⚠️ workflow.json 被移除，已恢复 Overtone 的最后状态。",
        "⚠️ workflow.json was removed, so Overtone's last state was restored."
    }
    untrusted_advice() {
        "⛔ 工作流狀態被其他程式修改過，不可委派任何階段。請告訴使用者在終端機執行 overtone resume --accept-edit（採用目前的檔案）或 overtone init --force（重新開始），並等待。",
        "⛔ 工作流状态被其他程序修改过，不可委派任何阶段。请告诉用户在终端执行 overtone resume --accept-edit（采用目前的文件）或 overtone init --force（重新开始），并等待。",
        "⛔ Another program changed the workflow's state: delegate no stage. Ask the user to run `overtone resume --accept-edit` (use the file as it is) or `overtone init --force` (start again) in a terminal, and wait."
    }
    file_edited_advice(file: &str) {
        "⚠️ {file} 被其他程式修改過，不採用其中的內容。",
        "⚠️ {file} 被其他程序修改过，不采用其中的内容。",
        "⚠️ {file} was changed by another program, and what it added is not used."
    }
    forged_advice(hook: &str) {
        "⚠️ overtone hook {hook} 的呼叫不是來自用戶端，已忽略。只有階段的代理能讓階段通過。",
        "⚠️ overtone hook {hook} 的调用不是来自客户端，已忽略。只有阶段的代理能让阶段通过。",
        "⚠️ A call of `overtone hook {hook}` did not come from the client and was ignored. A stage passes only through its agent."
    }
    ticked_advice(count: u32) {
        "⚠️ 沒有代理在工作時，tasks.md 有 {count} 個任務被勾選。",
        "⚠️ 没有代理在工作时，tasks.md 有 {count} 个任务被勾选。",
        "⚠️ {count} tasks in tasks.md were ticked while no agent was at work.",
        count == 1: "⚠️ {count} task in tasks.md was ticked while no agent was at work."
    }
    ticked_remark(count: u32) {
        "tasks.md 有 {count} 個任務在沒有代理工作時被勾選：請確認已勾選的任務都已完成。",
        "tasks.md 有 {count} 个任务在没有代理工作时被勾选：请确认已勾选的任务都已完成。",
        "{count} tasks in tasks.md were ticked while no agent was at work: check that every ticked task is done.",
        count == 1: "{count} task in tasks.md was ticked while no agent was at work: check that every ticked task is done."
    }
}
