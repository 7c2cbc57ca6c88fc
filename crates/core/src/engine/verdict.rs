//! Finds the verdict in an agent's report: by its marker, or else by words that report a failure.
//!
//! Only a marker makes a pass. Without a marker, words such as "2 tests failed" make a failure, and everything else is
//! [`Judgement::NoVerdict`], so that the agent can be asked. Numbers are parsed as numbers: "10 failed" is not
//! "0 failed".

use crate::registry::Stage;

use crate::engine::marker::{Marker, last_marker, verdict_word};
use crate::engine::state::Verdict;

/// The verdict of an agent's report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    Verdict(Verdict),
    /// The report has neither a marker nor words that report a failure.
    NoVerdict,
    /// The message is not from the agent but about an API error.
    Broken,
}

/// The beginning of the client's message about a failed request.
pub(crate) const API_ERROR: &str = "API Error";

/// Judges the report of an agent of this stage.
pub fn judge(stage: Option<Stage>, message: &str) -> Judgement {
    let marker = last_marker(message);
    if marker.is_none() && message.trim_start().starts_with(API_ERROR) {
        return Judgement::Broken;
    }
    let verdict = match marker {
        // A failure after a pass marker overrides it: the marker was quoted, or a mistake.
        Some(Marker { verdict: Verdict::Pass, after }) => {
            Some(failure_in_words(stage, after).unwrap_or(Verdict::Pass))
        }
        Some(marker) => Some(marker.verdict),
        None => failure_in_words(stage, message),
    };
    match verdict {
        Some(verdict) => Judgement::Verdict(fit_to_stage(stage, verdict)),
        None => Judgement::NoVerdict,
    }
}

/// Only retrospectives end with issues. In other stages, issues are a failure or a rejection.
fn fit_to_stage(stage: Option<Stage>, verdict: Verdict) -> Verdict {
    match (stage, verdict) {
        (Some(Stage::Retro), Verdict::Fail | Verdict::Reject) => Verdict::Issues,
        (Some(stage), Verdict::Issues) if stage.is_reviewer() => Verdict::Reject,
        (Some(stage), Verdict::Issues) if stage != Stage::Retro => Verdict::Fail,
        (_, verdict) => verdict,
    }
}

/// The failure that a report expresses in words. Success in words does not count, so the result is never a pass.
fn failure_in_words(stage: Option<Stage>, message: &str) -> Option<Verdict> {
    let text = message.to_lowercase();
    let tokens = tokens(&text);
    if let Some(verdict) = plain_verdict(&tokens)
        && verdict != Verdict::Pass
    {
        return Some(verdict);
    }
    if UNFINISHED.iter().any(|phrase| text.contains(phrase)) {
        return Some(Verdict::Fail);
    }
    match stage? {
        stage if stage.is_reviewer() => mentions(&text, &tokens, &REJECTING).then_some(Verdict::Reject),
        Stage::Test | Stage::Qa | Stage::E2e => {
            let failed = mentions(&text, &tokens, &FAILING) || has_bad_exit_code(&text, &tokens);
            failed.then_some(Verdict::Fail)
        }
        Stage::Retro => mentions(&text, &tokens, &ISSUES).then_some(Verdict::Issues),
        _ => None,
    }
}

/// Whether the last count of failed tests in a report is above zero: "3 tests failed", "failed: 3", but not "3 failed before
/// the repair, now 0 failed".
pub fn reports_failures(message: &str) -> bool {
    let text = message.to_lowercase();
    if FAILING.all_clear.iter().any(|phrase| text.contains(phrase)) {
        return false;
    }
    let tokens = tokens(&text);
    let last =
        (0..tokens.len()).rev().filter(|at| tokens[*at] == "failed").find_map(|at| count_near(&tokens, at));
    match last.or_else(|| last_cjk_count(&text)) {
        Some(count) => count > 0,
        None => false,
    }
}

/// The number of the last "3 個測試失敗".
fn last_cjk_count(text: &str) -> Option<u64> {
    let places = ["失敗", "失败"].into_iter().flat_map(|word| text.match_indices(word));
    let mut counts: Vec<_> = places
        .filter_map(|(at, word)| {
            let before = without_counter(text[..at].trim_end());
            let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            let after = text[at + word.len()..].trim_start_matches(['：', ':', ' ', '=']);
            let length = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
            let number = if digits > 0 { &before[before.len() - digits..] } else { &after[..length] };
            Some((at, number.parse().ok()?))
        })
        .collect();
    counts.sort_unstable();
    counts.pop().map(|(_, count)| count)
}

/// The verdict of the last `VERDICT: FAIL` or `"result": "FAIL"` that is not in a comment.
fn plain_verdict(tokens: &[&str]) -> Option<Verdict> {
    let named = |at: usize| matches!(tokens[at], "verdict" | "result") && tokens.get(at + 1) == Some(&":");
    (0..tokens.len()).rev().filter(|at| named(*at)).find_map(|at| verdict_word(tokens.get(at + 2)?))
}

/// Phrases with which an agent of any stage says that it did not finish.
const UNFINISHED: [&str; 23] = [
    "could not finish",
    "could not complete",
    "couldn't finish",
    "couldn't complete",
    "cannot finish",
    "cannot complete",
    "can't finish",
    "can't complete",
    "unable to finish",
    "unable to complete",
    "not able to finish",
    "not able to complete",
    "did not finish",
    "didn't finish",
    "did not complete",
    "無法完成",
    "无法完成",
    "未能完成",
    "沒能完成",
    "没能完成",
    "沒有完成",
    "没有完成",
    "做不完",
];

/// Whether the text has an exit code other than zero: "exit code 1", "exit status: 2", "結束碼 1".
fn has_bad_exit_code(text: &str, tokens: &[&str]) -> bool {
    for at in 0..tokens.len() {
        let after = match tokens[at..] {
            ["exited" | "exit", "with", "code" | "status", ..] => at + 3,
            ["exit" | "exited", "code" | "status", ..] | ["exited", "with", ..] => at + 2,
            _ => continue,
        };
        let number = if tokens.get(after) == Some(&":") { after + 1 } else { after };
        if let Some(code) = tokens.get(number)
            && is_bad_exit_code(code)
        {
            return true;
        }
    }
    for word in ["結束碼", "结束码", "退出碼", "退出码"] {
        for (at, _) in text.match_indices(word) {
            let rest = text[at + word.len()..].trim_start_matches(['：', ':', ' ', '為', '为', '=']);
            let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            if is_bad_exit_code(&rest[..length]) {
                return true;
            }
        }
    }
    false
}

fn is_bad_exit_code(digits: &str) -> bool {
    matches!(digits.parse::<u64>(), Ok(1..))
}

/// The words that express one kind of negative verdict.
struct Vocabulary {
    /// Count by themselves and with a number above zero.
    words: &'static [&'static str],
    /// Count only with a number above zero: "2 errors".
    counted: &'static [&'static str],
    phrases: &'static [&'static str],
    /// If one of these is present, a word without a number is about the past ("the test that failed is fixed").
    all_clear: &'static [&'static str],
}

const REJECTING: Vocabulary = Vocabulary {
    words: &["reject", "rejected", "rejects", "rejection", "rejections"],
    counted: &["blocker", "blockers", "blocking"],
    phrases: &[
        "request changes",
        "requesting changes",
        "changes requested",
        "changes are required",
        "not approved",
        "拒絕",
        "拒绝",
        "駁回",
        "驳回",
        "不通過",
        "不通过",
        "未通過",
        "未通过",
        "需要修改",
        "需修改",
        "需修正",
        "退回",
        "阻擋項目",
        "阻挡项目",
        "阻斷性問題",
        "阻断性问题",
    ],
    all_clear: &[],
};

const FAILING: Vocabulary = Vocabulary {
    words: &["fail", "failed", "fails", "failure", "failures"],
    counted: &["error", "errors", "failing", "broken", "red"],
    phrases: &["測試失敗", "测试失败", "失敗", "失败", "未通過", "未通过", "不通過", "不通过"],
    all_clear: &[
        "all tests pass",
        "all tests are passing",
        "all pass",
        "everything passes",
        "全部通過",
        "全部通过",
    ],
};

const ISSUES: Vocabulary = Vocabulary {
    words: &["issues"],
    counted: &["issue", "improvement", "improvements", "problem", "problems", "suggestion", "suggestions"],
    phrases: &[
        "發現問題",
        "发现问题",
        "有問題",
        "有问题",
        "待改善",
        "需改善",
        "需要改進",
        "需要改进",
        "改善建議",
        "改善建议",
        "改進建議",
        "改进建议",
    ],
    all_clear: &[],
};

/// Words that negate the words after them.
const NEGATIONS: [&str; 9] = ["no", "not", "zero", "without", "never", "none", "any", "nothing", "non"];
const CJK_NEGATIONS: [&str; 8] = ["沒有", "没有", "無", "无", "零", "未", "不再", "並無"];

fn mentions(text: &str, tokens: &[&str], vocabulary: &Vocabulary) -> bool {
    let is_past = vocabulary.all_clear.iter().any(|phrase| text.contains(phrase));
    let by_word = (0..tokens.len()).any(|at| counts_against(tokens, at, vocabulary, is_past));
    by_word || (!is_past && vocabulary.phrases.iter().any(|phrase| has_phrase(text, phrase)))
}

fn counts_against(tokens: &[&str], at: usize, vocabulary: &Vocabulary, is_past: bool) -> bool {
    let bare = vocabulary.words.contains(&tokens[at]);
    if !bare && !vocabulary.counted.contains(&tokens[at]) {
        return false;
    }
    match count_near(tokens, at) {
        Some(count) => count > 0,
        None => bare && !is_past && !negated(tokens, at),
    }
}

/// Nouns that may stand between a number and its word: "3 tests failed".
const COUNTED_NOUNS: [&str; 10] =
    ["test", "tests", "case", "cases", "scenario", "scenarios", "spec", "specs", "check", "checks"];

/// The number that belongs to a word: "3 failed", "3 tests failed", "failed: 3".
fn count_near(tokens: &[&str], at: usize) -> Option<u64> {
    let number = |i: usize| tokens.get(i).and_then(|token| token.parse().ok());
    let before = at.checked_sub(1).and_then(number);
    if before.is_some() {
        return before;
    }
    if at >= 2
        && COUNTED_NOUNS.contains(&tokens[at - 1])
        && let Some(count) = number(at - 2)
    {
        return Some(count);
    }
    if tokens.get(at + 1) == Some(&":") { number(at + 2) } else { None }
}

/// Whether a negation stands shortly before, in the same clause: "no failures", "not a single test failed".
fn negated(tokens: &[&str], at: usize) -> bool {
    let clause = tokens[..at].iter().rev().take_while(|token| !matches!(**token, "." | "," | ";")).take(4);
    clause.copied().any(|token| NEGATIONS.contains(&token) || token.ends_with("n't"))
}

/// Whether the text has a Chinese phrase without a negation before it or a zero after it.
fn has_phrase(text: &str, phrase: &str) -> bool {
    text.match_indices(phrase).any(|(at, _)| {
        let before = text[..at].trim_end();
        let after = text[at + phrase.len()..].trim_start_matches(['：', ':', ' ', '數', '数', '=']);
        let zero_after = after.starts_with('0') && !after[1..].starts_with(|c: char| c.is_ascii_digit());
        !zero_after
            && !zero_before(before)
            && !CJK_NEGATIONS.iter().any(|negation| before.ends_with(negation))
    })
}

/// Whether the text ends in the number zero, with or without a counter: "0 個", but not "10 個".
fn zero_before(before: &str) -> bool {
    let before = without_counter(before);
    let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    digits > 0 && before[before.len() - digits..].bytes().all(|b| b == b'0')
}

/// The text without a counter and a noun at its end: "3 個測試".
fn without_counter(text: &str) -> &str {
    text.trim_end_matches(['個', '个', '項', '项', ' ', '測', '試', '测', '试'])
}

/// Words, numbers and the punctuation that ends a clause. A colon or an equals sign is kept as ":".
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '\'')).unwrap_or(rest.len());
        if word > 0 {
            tokens.push(&rest[..word]);
            rest = &rest[word..];
            continue;
        }
        match first {
            ':' | '=' | '：' => tokens.push(":"),
            '.' | '。' | '\n' | '!' | '?' => tokens.push("."),
            ',' | '，' | ';' | '；' | '(' | ')' => tokens.push(","),
            _ => {}
        }
        rest = &rest[first.len_utf8()..];
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The verdict that is read, or `None` where the agent has to be asked.
    fn read(stage: Stage, message: &str) -> Option<Verdict> {
        match judge(Some(stage), message) {
            Judgement::Verdict(verdict) => Some(verdict),
            Judgement::NoVerdict => None,
            Judgement::Broken => panic!("broken: {message}"),
        }
    }

    #[test]
    fn a_marker_decides_before_words() {
        use Verdict::{Blocked, Fail, Issues, Pass, Reject};
        for (stage, word, verdict) in [
            (Stage::Test, "PASS", Pass),
            (Stage::Test, "FAIL", Fail),
            (Stage::Test, "fail", Fail),
            (Stage::Review, "REJECT", Reject),
            (Stage::Review, "REQUEST_CHANGES", Reject),
            (Stage::Review, "ISSUES", Reject),
            (Stage::Qa, "ISSUES", Fail),
            (Stage::Retro, "ISSUES", Issues),
            (Stage::Retro, "FAIL", Issues),
            (Stage::Dev, "PASS", Pass),
            (Stage::Dev, "FAIL", Fail),
            (Stage::E2e, "BLOCKED", Blocked),
            (Stage::Review, "BLOCKED", Blocked),
            (Stage::Retro, "blocked", Blocked),
        ] {
            let message = format!("3 failed, rejected\n<!-- VERDICT: {{\"result\":\"{word}\"}} -->");
            assert_eq!(read(stage, &message), Some(verdict), "{stage:?} {word}");
        }
    }

    #[test]
    fn the_last_marker_counts_and_an_unknown_one_is_no_verdict() {
        let quoted =
            "End with <!-- VERDICT: {\"result\":\"PASS\"} -->.\n<!-- VERDICT: {\"result\": \"FAIL\"} -->";
        assert_eq!(read(Stage::Test, quoted), Some(Verdict::Fail));
        assert_eq!(read(Stage::Test, "<!-- VERDICT: {\"result\":\"MAYBE\"} -->"), None);
        assert_eq!(read(Stage::Test, "2 failed <!-- VERDICT: {\"result\":\"?\"} -->"), Some(Verdict::Fail));
        assert_eq!(read(Stage::Dev, "<!-- VERDICT: {\"result\":\"\"} -->"), None);
        assert_eq!(read(Stage::Dev, "<!-- VERDICT"), None);
    }

    #[test]
    fn a_quoted_pass_is_not_one_when_the_report_goes_on_to_say_otherwise() {
        let pass = "<!-- VERDICT: {\"result\":\"PASS\"} -->";
        for (stage, message, verdict) in [
            (Stage::Test, format!("I was to end with `{pass}`.\nVERDICT: FAIL"), Some(Verdict::Fail)),
            (Stage::Test, format!("{pass}\n2 tests failed after all."), Some(Verdict::Fail)),
            (Stage::Test, format!("{pass}\n更正：有 2 個測試失敗"), Some(Verdict::Fail)),
            (Stage::Test, format!("{pass}\n更正：有 2 个测试失败"), Some(Verdict::Fail)),
            (Stage::Review, format!("{pass}\nVERDICT：REJECT"), Some(Verdict::Reject)),
            (Stage::Dev, format!("```\n{pass}\n```\nI could not finish."), Some(Verdict::Fail)),
            (Stage::Test, format!("2 failed before the repair.\n{pass}\n"), Some(Verdict::Pass)),
        ] {
            assert_eq!(read(stage, &message), verdict, "{stage:?} {message}");
        }
    }

    #[test]
    fn the_last_count_of_failed_tests_decides_whether_a_report_contradicts_itself() {
        for message in [
            "3 tests failed, 0 passed.",
            "12 passed, 2 failed (known)",
            "Failed: 3",
            "0 failed in the unit tests; e2e: 2 failed",
            "有 3 個測試失敗",
            "失败：2",
        ] {
            assert!(reports_failures(message), "{message}");
        }
        for message in [
            "12 passed, 0 failed",
            "3 failed before the repair, now 12 passed, 0 failed",
            "no test failed",
            "the test that failed is repaired",
            "3 tests failed at first; all tests pass now",
            "10 個通過，0 個失敗",
            "先前 3 個失敗，現在 0 個失敗",
            "exit code 0",
            "",
        ] {
            assert!(!reports_failures(message), "{message}");
        }
    }

    #[test]
    fn nothing_is_a_pass_without_the_marker() {
        let claims = [
            "",
            "done",
            "All tests pass.",
            "everything is fine",
            "VERDICT: PASS",
            "{\"result\": \"PASS\"}",
            "0 failed",
            "LGTM, approved",
            "No issues.",
            "全部通過",
            "沒有失敗",
        ];
        for stage in Stage::ALL {
            for claim in claims {
                assert_eq!(read(stage, claim), None, "{stage:?} {claim}");
            }
        }
    }

    #[test]
    fn words_of_failure_are_failures_without_the_marker() {
        use Verdict::{Blocked, Fail, Issues, Reject};
        for (stage, message, verdict) in [
            (Stage::Dev, "I could not finish: the API is missing", Fail),
            (Stage::Plan, "I was unable to complete the plan.", Fail),
            (Stage::Docs, "文件無法完成", Fail),
            (Stage::Test, "VERDICT: FAIL", Fail),
            (Stage::Dev, "**VERDICT:** FAIL", Fail),
            (Stage::Test, "{\"result\": \"FAIL\"}", Fail),
            (Stage::E2e, "Verdict: BLOCKED", Blocked),
            (Stage::Review, "2 blocking findings", Reject),
            (Stage::Review, "Blocking: 1", Reject),
            (Stage::Review, "VERDICT: REJECT", Reject),
            (Stage::Security, "發現阻斷性問題", Reject),
            (Stage::Test, "cargo test: exit code 1, 3 red", Fail),
            (Stage::Test, "3 red, 4 green", Fail),
            (Stage::Qa, "the script exited with status 2", Fail),
            (Stage::Test, "結束碼：1", Fail),
            (Stage::Retro, "改善建議：縮短設定流程", Issues),
        ] {
            assert_eq!(read(stage, message), Some(verdict), "{stage:?} {message}");
        }
    }

    #[test]
    fn words_that_deny_a_failure_are_not_one() {
        for (stage, message) in [
            (Stage::Review, "0 blocking findings"),
            (Stage::Review, "Blocking: none"),
            (Stage::Review, "no blocking findings"),
            (Stage::Test, "exit code 0, 0 red"),
            (Stage::Test, "退出碼 0"),
            (Stage::Retro, "沒有改善建議"),
            (Stage::Dev, "fixed the 3 failed tests"),
        ] {
            assert_eq!(read(stage, message), None, "{stage:?} {message}");
        }
    }

    #[test]
    fn testers_fail_by_wording() {
        for message in [
            "10 failed",
            "20 errors",
            "2 tests failed",
            "failed: 3",
            "Failures=1",
            "The suite FAILED.",
            "12 passed, 1 failed",
            "測試失敗",
            "3 個測試失敗",
            "有 10 個失敗",
            "失敗：2",
            "all pass except: 1 failed",
            "一項未通過",
        ] {
            assert_eq!(read(Stage::Test, message), Some(Verdict::Fail), "{message}");
        }
    }

    #[test]
    fn counts_of_zero_are_no_failure() {
        for message in [
            "0 failed",
            "no failures",
            "10 passed, 0 failed",
            "0 errors",
            "failed: 0",
            "Failures: 0",
            "without any failure",
            "did not fail",
            "All tests pass. The case that failed before is fixed.",
            "沒有失敗",
            "0 個失敗",
            "失敗：0",
            "失敗數：0",
            "handles errors well",
            "0 tests failed",
            "無失敗",
        ] {
            assert_eq!(read(Stage::Test, message), None, "{message}");
        }
    }

    #[test]
    fn reviewers_reject_by_wording() {
        for message in
            ["REQUEST CHANGES", "I reject this", "審查結果：拒絕", "不通過", "2 rejections", "Rejected: 1"]
        {
            assert_eq!(read(Stage::Review, message), Some(Verdict::Reject), "{message}");
        }
        for message in
            ["no rejections", "0 rejected", "LGTM, approved", "沒有拒絕的理由", "nothing to reject"]
        {
            assert_eq!(read(Stage::Review, message), None, "{message}");
        }
    }

    #[test]
    fn retrospectives_have_issues() {
        assert_eq!(read(Stage::Retro, "3 issues found"), Some(Verdict::Issues));
        assert_eq!(read(Stage::Retro, "No issues."), None);
        assert_eq!(read(Stage::Retro, "0 issues"), None);
    }

    #[test]
    fn an_api_error_is_no_report() {
        assert_eq!(judge(Some(Stage::Dev), "API Error: 529 overloaded"), Judgement::Broken);
        let about_errors = "API Error handling is in place.\n<!-- VERDICT: {\"result\":\"PASS\"} -->";
        assert_eq!(read(Stage::Dev, about_errors), Some(Verdict::Pass));
    }
}
