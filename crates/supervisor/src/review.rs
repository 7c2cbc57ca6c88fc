//! What came of a review: a verdict, or the reason why there is none.

use std::io;
use std::time::Duration;

use overtone_engine::text::cut;
use overtone_messages::{Lang, supervisor as words};

use crate::record::RecordError;
use crate::stream::ResultLine;
use crate::verdict::Verdict;

/// How much of another program's words is shown; some servers answer with a whole page.
const MAX_UNITS: usize = 500;

/// Why nobody looked at the work. It lets go and says so, and never sends the agent back.
#[derive(Debug)]
pub(crate) enum NoReview {
    NoClaude,
    CannotStart(io::Error),
    TooLate(Duration),
    /// The client's own words, such as `API Error: 401 …`.
    Failed(String),
    /// How the reviewer ended.
    NoResult(String),
    CannotCount(RecordError),
    /// All that reviews of this session may cost.
    BudgetSpent(f64),
    /// The reviewer's provider cannot be used; its name.
    NoProvider(String),
    /// Somebody did not want to wait.
    Interrupted,
    /// The rounds led nowhere; what the last one asked for.
    Stuck(String),
}

impl NoReview {
    /// For the log: without anybody's words, which may hold secrets.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::NoClaude => "no-claude",
            Self::CannotStart(_) => "cannot-start",
            Self::TooLate(_) => "timeout",
            Self::Failed(_) => "reviewer-error",
            Self::NoResult(_) => "no-result",
            Self::CannotCount(_) => "cannot-count",
            Self::BudgetSpent(_) => "budget-spent",
            Self::NoProvider(_) => "no-provider",
            Self::Interrupted => "interrupted",
            Self::Stuck(_) => "stuck",
        }
    }

    pub(crate) fn reason(&self, lang: Lang) -> String {
        match self {
            Self::NoClaude => words::no_claude(lang),
            Self::CannotStart(error) => words::cannot_start(lang, &error.to_string()),
            Self::TooLate(limit) => words::too_late(lang, limit.as_secs()),
            Self::Failed(problem) => words::reviewer_failed(lang, cut(problem, MAX_UNITS)),
            Self::NoResult(ending) => words::no_result(lang, cut(ending, MAX_UNITS)),
            Self::CannotCount(error) => words::cannot_count(lang, &error.to_string()),
            Self::BudgetSpent(dollars) => words::budget_spent(lang, &format!("{dollars:.2}")),
            Self::NoProvider(name) => words::no_provider(lang, name),
            Self::Interrupted => words::interrupted(lang),
            Self::Stuck(feedback) => words::stuck(lang, cut(feedback, MAX_UNITS)),
        }
    }
}

/// The verdict of a result line. A block without words gets the default ones.
pub(crate) fn judge(result: &ResultLine, budget: Option<f64>, lang: Lang) -> Result<Verdict, NoReview> {
    if let (true, Some(budget)) = (result.out_of_budget, budget) {
        return Err(NoReview::BudgetSpent(budget));
    }
    if result.is_error {
        return Err(NoReview::Failed(result.text.trim().to_owned()));
    }
    let mut verdict = Verdict::read(result.structured.as_ref(), &result.text);
    if !verdict.allow_stop && verdict.feedback.is_empty() {
        verdict.feedback = words::default_feedback(lang);
    }
    Ok(verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(is_error: bool, text: &str) -> ResultLine {
        ResultLine { is_error, out_of_budget: false, cost_usd: 0.0, structured: None, text: text.to_owned() }
    }

    #[test]
    fn an_error_is_no_verdict_whatever_it_says() {
        let error = judge(&result(true, r#"{"completed":false,"feedback":"x"}"#), None, Lang::ZhCn);
        assert!(matches!(error, Err(NoReview::Failed(_))));
    }

    #[test]
    fn a_block_has_words() {
        assert_eq!(judge(&result(false, ""), None, Lang::ZhCn).unwrap().feedback, "请继续完成任务");
        assert_eq!(judge(&result(false, "do it"), None, Lang::ZhCn).unwrap().feedback, "do it");
    }
}
