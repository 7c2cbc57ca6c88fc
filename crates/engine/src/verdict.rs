//! Reads an agent's last message: the verdict marker first, then the wording.
//!
//! Numbers are parsed as numbers: "10 failed" is not "0 failed". An unknown marker never becomes a pass.

use overtone_registry::Stage;

use crate::state::Verdict;

/// What an agent's last message says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    Verdict(Verdict),
    /// The message is not the agent's: the API broke.
    Broken,
}

/// How the client begins its own words about a request that failed.
pub(crate) const API_ERROR: &str = "API Error";

pub fn judge(stage: Option<Stage>, message: &str) -> Judgement {
    if message.trim_start().starts_with(API_ERROR) {
        return Judgement::Broken;
    }
    let verdict = match marker(message) {
        Marker::Known(verdict) => verdict,
        Marker::Unknown => wording(stage, message).unwrap_or(Verdict::Fail),
        Marker::Absent => wording(stage, message).unwrap_or(Verdict::Pass),
    };
    Judgement::Verdict(fit_to_stage(stage, verdict))
}

/// The score of a grader's `<!-- GRADE: {"score":85} -->`.
pub(crate) fn grade(message: &str) -> Option<i64> {
    let body = last_comment(message, "GRADE:")?;
    let digits = body.split_once("\"score\"")?.1.trim_start_matches([':', ' ', '"']);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

enum Marker {
    Known(Verdict),
    Unknown,
    Absent,
}

/// An agent may quote the contract before it gives its verdict, so the last marker counts.
fn marker(message: &str) -> Marker {
    let Some(body) = last_comment(message, "VERDICT:") else {
        return Marker::Absent;
    };
    let value = body.split_once("\"result\"").map_or(body, |(_, rest)| rest);
    let word: String = value
        .chars()
        .skip_while(|c| !c.is_ascii_alphabetic())
        .take_while(|c| c.is_ascii_alphabetic() || *c == '_' || *c == '-')
        .collect();
    match word.to_ascii_uppercase().as_str() {
        "PASS" | "PASSED" | "APPROVE" | "APPROVED" | "OK" | "DONE" | "COMPLETED" | "SUCCESS" => {
            Marker::Known(Verdict::Pass)
        }
        "FAIL" | "FAILED" | "FAILURE" => Marker::Known(Verdict::Fail),
        "REJECT" | "REJECTED" | "REQUEST_CHANGES" | "REQUEST-CHANGES" => Marker::Known(Verdict::Reject),
        "ISSUES" | "ISSUE" => Marker::Known(Verdict::Issues),
        _ => Marker::Unknown,
    }
}

fn last_comment<'a>(message: &'a str, name: &str) -> Option<&'a str> {
    message.rmatch_indices("<!--").find_map(|(at, _)| {
        let body = message[at + 4..].trim_start().strip_prefix(name)?;
        Some(body.split("-->").next().unwrap_or(body))
    })
}

/// Issues are for retrospectives; elsewhere they are what the stage is there to find.
fn fit_to_stage(stage: Option<Stage>, verdict: Verdict) -> Verdict {
    match (stage, verdict) {
        (Some(Stage::Retro), Verdict::Fail | Verdict::Reject) => Verdict::Issues,
        (Some(stage), Verdict::Issues) if is_reviewer(stage) => Verdict::Reject,
        (Some(stage), Verdict::Issues) if stage != Stage::Retro => Verdict::Fail,
        (_, verdict) => verdict,
    }
}

const fn is_reviewer(stage: Stage) -> bool {
    matches!(stage, Stage::Review | Stage::Security | Stage::DbReview)
}

fn wording(stage: Option<Stage>, message: &str) -> Option<Verdict> {
    let text = message.to_lowercase();
    match stage? {
        stage if is_reviewer(stage) => mentions(&text, &REJECTING).then_some(Verdict::Reject),
        Stage::Test | Stage::Qa | Stage::E2e => mentions(&text, &FAILING).then_some(Verdict::Fail),
        Stage::Retro => mentions(&text, &ISSUES).then_some(Verdict::Issues),
        _ => None,
    }
}

/// The words of one kind of bad news.
struct Vocabulary {
    /// Count as bad news by themselves and with a number above zero.
    words: &'static [&'static str],
    /// Count only with a number above zero: "2 errors".
    counted: &'static [&'static str],
    phrases: &'static [&'static str],
    /// When one of these is there, an uncounted word is history ("the test that failed is fixed").
    all_clear: &'static [&'static str],
}

const REJECTING: Vocabulary = Vocabulary {
    words: &["reject", "rejected", "rejects", "rejection", "rejections"],
    counted: &["blocker", "blockers"],
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
        "退回",
    ],
    all_clear: &[],
};

const FAILING: Vocabulary = Vocabulary {
    words: &["fail", "failed", "fails", "failure", "failures"],
    counted: &["error", "errors", "failing", "broken"],
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
    counted: &["issue", "improvement", "improvements", "problem", "problems"],
    phrases: &["發現問題", "发现问题", "有問題", "有问题", "待改善", "需改善", "需要改進", "需要改进"],
    all_clear: &[],
};

/// Words that turn the next word into its opposite.
const NEGATIONS: [&str; 9] = ["no", "not", "zero", "without", "never", "none", "any", "nothing", "non"];
const CJK_NEGATIONS: [&str; 8] = ["沒有", "没有", "無", "无", "零", "未", "不再", "並無"];

fn mentions(text: &str, vocabulary: &Vocabulary) -> bool {
    let history = vocabulary.all_clear.iter().any(|phrase| text.contains(phrase));
    let tokens = tokens(text);
    let by_word = (0..tokens.len()).any(|at| counts_against(&tokens, at, vocabulary, history));
    by_word || (!history && vocabulary.phrases.iter().any(|phrase| has_phrase(text, phrase)))
}

fn counts_against(tokens: &[&str], at: usize, vocabulary: &Vocabulary, history: bool) -> bool {
    let bare = vocabulary.words.contains(&tokens[at]);
    if !bare && !vocabulary.counted.contains(&tokens[at]) {
        return false;
    }
    match count_near(tokens, at) {
        Some(count) => count > 0,
        None => bare && !history && !negated(tokens, at),
    }
}

/// The number that belongs to a word: "3 failed", "3 tests failed", "failed: 3".
fn count_near(tokens: &[&str], at: usize) -> Option<u64> {
    let number = |i: usize| tokens.get(i).and_then(|token| token.parse().ok());
    let before = at.checked_sub(1).and_then(number);
    let with_noun = at.checked_sub(2).and_then(number).filter(|_| {
        matches!(
            tokens[at - 1],
            "test"
                | "tests"
                | "case"
                | "cases"
                | "scenario"
                | "scenarios"
                | "spec"
                | "specs"
                | "check"
                | "checks"
        )
    });
    let after = (tokens.get(at + 1) == Some(&":")).then(|| number(at + 2)).flatten();
    before.or(with_noun).or(after)
}

/// "no failures", "not a single test failed", "did not fail": a negation shortly before, in the same clause.
fn negated(tokens: &[&str], at: usize) -> bool {
    let clause = tokens[..at].iter().rev().take_while(|token| !matches!(**token, "." | "," | ";")).take(4);
    clause.copied().any(|token| NEGATIONS.contains(&token) || token.ends_with("n't"))
}

/// A Chinese phrase without a negation in front of it or a zero behind it.
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
    let before = before.trim_end_matches(['個', '个', '項', '项', ' ', '測', '試', '测', '试']);
    let digits = before.len() - before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    digits > 0 && before[before.len() - digits..].bytes().all(|b| b == b'0')
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

    fn of(stage: Stage, message: &str) -> Verdict {
        match judge(Some(stage), message) {
            Judgement::Verdict(verdict) => verdict,
            Judgement::Broken => panic!("broken: {message}"),
        }
    }

    #[test]
    fn markers_decide_first() {
        use Verdict::{Fail, Issues, Pass, Reject};
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
        ] {
            let message = format!("3 failed, rejected\n<!-- VERDICT: {{\"result\":\"{word}\"}} -->");
            assert_eq!(of(stage, &message), verdict, "{stage:?} {word}");
        }
    }

    #[test]
    fn the_last_marker_counts_and_an_unknown_one_is_no_pass() {
        let quoted =
            "End with <!-- VERDICT: {\"result\":\"PASS\"} -->.\n<!-- VERDICT: {\"result\": \"FAIL\"} -->";
        assert_eq!(of(Stage::Test, quoted), Verdict::Fail);
        assert_eq!(of(Stage::Test, "<!-- VERDICT: {\"result\":\"MAYBE\"} -->"), Verdict::Fail);
        assert_eq!(of(Stage::Dev, "<!-- VERDICT: {\"result\":\"\"} -->"), Verdict::Fail);
        assert_eq!(of(Stage::Dev, "<!-- VERDICT"), Verdict::Pass);
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
            assert_eq!(of(Stage::Test, message), Verdict::Fail, "{message}");
        }
    }

    #[test]
    fn testers_pass_by_wording() {
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
            "everything is fine",
            "",
            "handles errors well",
            "0 tests failed",
            "無失敗",
        ] {
            assert_eq!(of(Stage::Test, message), Verdict::Pass, "{message}");
        }
    }

    #[test]
    fn reviewers_reject_by_wording() {
        for message in
            ["REQUEST CHANGES", "I reject this", "審查結果：拒絕", "不通過", "2 rejections", "Rejected: 1"]
        {
            assert_eq!(of(Stage::Review, message), Verdict::Reject, "{message}");
        }
        for message in
            ["no rejections", "0 rejected", "LGTM, approved", "沒有拒絕的理由", "nothing to reject"]
        {
            assert_eq!(of(Stage::Review, message), Verdict::Pass, "{message}");
        }
    }

    #[test]
    fn retrospectives_have_issues() {
        assert_eq!(of(Stage::Retro, "3 issues found"), Verdict::Issues);
        assert_eq!(of(Stage::Retro, "No issues."), Verdict::Pass);
        assert_eq!(of(Stage::Retro, "0 issues"), Verdict::Pass);
    }

    #[test]
    fn makers_pass_unless_they_say_otherwise() {
        assert_eq!(of(Stage::Dev, "fixed the 3 failed tests"), Verdict::Pass);
        assert_eq!(judge(Some(Stage::Dev), "API Error: 529 overloaded"), Judgement::Broken);
    }

    #[test]
    fn grades_are_read() {
        assert_eq!(grade("<!-- GRADE: {\"score\":85} -->"), Some(85));
        assert_eq!(grade("<!-- GRADE: {\"score\": \"7\"} -->"), Some(7));
        assert_eq!(grade("no grade"), None);
    }
}
