//! Evidence: what Overtone saw itself of an agent's work.

messages! {
    // A receipt in one line: `test: exit code 1 (12 run, 2 failed, 0 skipped)`.
    check(name: &str, result: &str) { "{name}：{result}", "{name}：{result}", "{name}: {result}" }
    succeeded() { "通過", "通过", "passed" }
    exit_code(code: i32) { "失敗，結束碼 {code}", "失败，退出码 {code}", "failed with exit code {code}" }
    signalled(signal: i32) { "被訊號 {signal} 終止", "被信号 {signal} 终止", "ended by signal {signal}" }
    timed_out() { "逾時，已終止", "超时，已终止", "killed at its time limit" }
    not_started() { "無法啟動", "无法启动", "could not be started" }
    tests_failed() { "有測試失敗", "有测试失败", "tests failed" }
    no_test_run() { "沒有執行任何測試", "没有执行任何测试", "no test was run" }
    counts(run: u32, failed: u32, skipped: u32) {
        "（執行 {run}，失敗 {failed}，略過 {skipped}）",
        "（执行 {run}，失败 {failed}，跳过 {skipped}）",
        " ({run} run, {failed} failed, {skipped} skipped)"
    }

    // Requests to an agent whose report is sent back.
    ask_checks(findings: &str, outputs: &str) {
        "Overtone 在你的修改上執行了專案的檢查，結果沒有通過：\n{findings}{outputs}\n請修正原因（不要修改檢查或刪除測試），然後再次回報；做不到時說明原因並回報 FAIL。",
        "Overtone 在你的修改上执行了项目的检查，结果没有通过：\n{findings}{outputs}\n请修正原因（不要修改检查或删除测试），然后再次回报；做不到时说明原因并回报 FAIL。",
        "Overtone ran the project's checks on your work, and they do not pass:\n{findings}{outputs}\nFix the cause (do not change the check or remove tests), then report again. If you cannot, say why and report FAIL."
    }
    ask_change() {
        "Overtone：沒有任何檔案被修改。請完成工作後再次回報；若確實不需要修改，請在結論中說明：<!-- VERDICT: {{\"result\":\"PASS\",\"unchanged\":\"原因\"}} -->",
        "Overtone：没有任何文件被修改。请完成工作后再次回报；若确实不需要修改，请在结论中说明：<!-- VERDICT: {{\"result\":\"PASS\",\"unchanged\":\"原因\"}} -->",
        "Overtone: no file has changed. Do the work, then report again. If nothing had to change, say why in the verdict: <!-- VERDICT: {{\"result\":\"PASS\",\"unchanged\":\"why\"}} -->"
    }
    ask_tests(finding: &str) {
        "Overtone：{finding}請恢復這些測試後再次回報；若移除是工作的一部分，請在結論中說明：<!-- VERDICT: {{\"result\":\"PASS\",\"removed_tests\":\"原因\"}} -->",
        "Overtone：{finding}请恢复这些测试后再次回报；若移除是工作的一部分，请在结论中说明：<!-- VERDICT: {{\"result\":\"PASS\",\"removed_tests\":\"原因\"}} -->",
        "Overtone: {finding} Restore them, then report again. If removing them is part of the work, say why in the verdict: <!-- VERDICT: {{\"result\":\"PASS\",\"removed_tests\":\"why\"}} -->"
    }
    ask_changed_tests(finding: &str) {
        "Overtone：{finding}請讓程式符合原本的測試後再次回報；若測試的預期應該改變，請在結論中說明：<!-- VERDICT: {{\"result\":\"PASS\",\"changed_tests\":\"原因\"}} -->",
        "Overtone：{finding}请让程序符合原本的测试后再次回报；若测试的预期应该改变，请在结论中说明：<!-- VERDICT: {{\"result\":\"PASS\",\"changed_tests\":\"原因\"}} -->",
        "Overtone: {finding} Make the code satisfy the tests as they were, then report again. If the tests have to expect something else, say why in the verdict: <!-- VERDICT: {{\"result\":\"PASS\",\"changed_tests\":\"why\"}} -->"
    }
    ask_contradiction() {
        "Overtone：你回報 PASS，但回報的最後一個計數顯示有測試失敗。請確認後以最終結果再次回報；仍有失敗時回報 FAIL。",
        "Overtone：你回报 PASS，但回报的最后一个计数显示有测试失败。请确认后以最终结果再次回报；仍有失败时回报 FAIL。",
        "Overtone: your report says PASS, but its last count has failed tests. Check, then report the final result: FAIL if tests still fail."
    }
    ask_run() {
        "Overtone：你沒有執行任何東西。請執行測試，再依結果回報；無法在此執行時回報 BLOCKED。",
        "Overtone：你没有执行任何东西。请执行测试，再依结果回报；无法在此执行时回报 BLOCKED。",
        "Overtone: you have run nothing. Run the tests, then report what they say. Report BLOCKED if they cannot be run here."
    }
    ask_green_test() {
        "Overtone：你最後一次執行的測試失敗了。請重新執行並依結果回報；仍然失敗時回報 FAIL。",
        "Overtone：你最后一次执行的测试失败了。请重新执行并依结果回报；仍然失败时回报 FAIL。",
        "Overtone: the last test command that you ran failed. Run it again and report what it says: FAIL if it still fails."
    }
    ask_read() {
        "Overtone：你沒有讀取任何檔案或差異。請實際審查修改後再回報。",
        "Overtone：你没有读取任何文件或差异。请实际审查修改后再回报。",
        "Overtone: you have read no file and no diff. Review the change itself, then report."
    }

    // The same facts for the main agent, the next agents and the user.
    nothing_changed() { "沒有任何檔案被修改。", "没有任何文件被修改。", "No file has changed." }
    tests_removed(before: u32, after: u32, skipped_before: u32, skipped_after: u32) {
        "測試被移除或停用：測試 {before} → {after}，略過 {skipped_before} → {skipped_after}。",
        "测试被移除或停用：测试 {before} → {after}，跳过 {skipped_before} → {skipped_after}。",
        "Tests were removed or disabled: {before} → {after} tests, {skipped_before} → {skipped_after} skipped."
    }
    assertions_removed(before: u32, after: u32) {
        "測試中的斷言變少：{before} → {after}。",
        "测试中的断言变少：{before} → {after}。",
        "The tests assert less than before: {before} → {after} assertions."
    }
    tests_changed(count: u32) {
        "既有測試的預期被修改：{count} 個斷言。",
        "既有测试的预期被修改：{count} 个断言。",
        "Existing tests expect something else than before: assertions changed: {count}."
    }
    contradiction() {
        "回報說 PASS，但最後一個計數顯示有測試失敗。",
        "回报说 PASS，但最后一个计数显示有测试失败。",
        "The report says PASS, but its last count has failed tests."
    }
    fewer_tests(check: &str, before: u32, after: u32, skipped_before: u32, skipped_after: u32) {
        "檢查 {check} 的測試比之前少：執行 {before} → {after}，略過 {skipped_before} → {skipped_after}。",
        "检查 {check} 的测试比之前少：执行 {before} → {after}，跳过 {skipped_before} → {skipped_after}。",
        "The check {check} ran fewer tests than before: {before} → {after} run, {skipped_before} → {skipped_after} skipped."
    }
    nothing_run() { "沒有執行任何測試。", "没有执行任何测试。", "Nothing was run." }
    last_test_failed() { "最後一次測試失敗。", "最后一次测试失败。", "The last test command failed." }
    nothing_read() { "沒有讀取任何檔案。", "没有读取任何文件。", "Nothing was read." }
    not_accepted(agent: &str, finding: &str) {
        "❌ {agent} 回報 PASS，但與 Overtone 所見不符：{finding}",
        "❌ {agent} 回报 PASS，但与 Overtone 所见不符：{finding}",
        "❌ {agent} reported PASS, but what Overtone saw does not agree: {finding}"
    }

    // At the end of a workflow.
    final_checks_failed(findings: &str) {
        "❌ 工作流即將完成，但專案的檢查在目前的程式碼上沒有通過：\n{findings}",
        "❌ 工作流即将完成，但项目的检查在当前的代码上没有通过：\n{findings}",
        "❌ The workflow was about to complete, but the project's checks do not pass on the code as it is:\n{findings}"
    }
    receipt(line: &str) { "🧾 {line}", "🧾 {line}", "🧾 {line}" }
    untrusted(names: &str) {
        "檢查 {names} 尚未執行：你還沒有信任它們。執行 overtone trust 查看並信任。",
        "检查 {names} 尚未执行：你还没有信任它们。执行 overtone trust 查看并信任。",
        "The checks {names} were not run, because you have not trusted them. Run overtone trust to see and trust them."
    }

    // Remarks for the reviewer about work that was accepted.
    unchanged_remark(agent: &str, why: &str) {
        "{agent} 沒有修改任何檔案，說明是：{why}",
        "{agent} 没有修改任何文件，说明是：{why}",
        "{agent} changed no file and gives this reason: {why}"
    }
    removed_tests_remark(agent: &str, why: &str) {
        "{agent} 移除或停用了測試，說明是：{why}",
        "{agent} 移除或停用了测试，说明是：{why}",
        "{agent} removed or disabled tests and gives this reason: {why}"
    }
    changed_tests_remark(agent: &str, count: u32, why: &str) {
        "{agent} 修改了既有測試的預期（{count} 個斷言），說明是：{why}",
        "{agent} 修改了既有测试的预期（{count} 个断言），说明是：{why}",
        "{agent} changed what existing tests expect (assertions: {count}) and gives this reason: {why}"
    }
    changed_tests_unexplained(agent: &str, count: u32) {
        "{agent} 修改了既有測試的預期（{count} 個斷言）",
        "{agent} 修改了既有测试的预期（{count} 个断言）",
        "{agent} changed what existing tests expect (assertions: {count})"
    }
    review_notes(notes: &str) {
        "請一併確認：\n{notes}",
        "请一并确认：\n{notes}",
        "Check these as well:\n{notes}"
    }
}
