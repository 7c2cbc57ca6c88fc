//! The outcome of a review: a verdict, or the reason why there is none.

use std::io;
use std::time::Duration;

use overtone_core::engine::text::cut;
use overtone_core::messages::{Lang, supervisor as messages};

use crate::supervisor::stream::ResultLine;
use crate::supervisor::verdict::Verdict;
use overtone_store::supervision::RecordError;

/// Longer messages of other programs are cut; some servers answer with a whole page.
const MAX_UNITS: usize = 500;

/// Why there was no review. The stop is allowed and the user is notified; the agent is never sent back.
#[derive(Debug)]
pub(crate) enum NoReview {
    NoClient,
    CannotStart(io::Error),
    TimedOut(Duration),
    /// The client's error message, such as `API Error: 401 …`.
    Failed(String),
    /// The reviewer exited without a result; its exit status.
    NoResult(String),
    CannotCount(RecordError),
    /// The budget for reviews of this session, which is used up.
    BudgetSpent(f64),
    /// The reviewer's provider, by name, cannot be used.
    NoProvider(String),
    /// A signal ended the review.
    Interrupted,
    /// The rounds made no progress; the feedback of the last one.
    Stuck(String),
}

impl NoReview {
    /// A short name for the log, without texts that may contain secrets.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::NoClient => "no-claude",
            Self::CannotStart(_) => "cannot-start",
            Self::TimedOut(_) => "timeout",
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
            Self::NoClient => messages::no_claude(lang),
            Self::CannotStart(error) => messages::cannot_start(lang, &error.to_string()),
            Self::TimedOut(limit) => messages::too_late(lang, limit.as_secs()),
            Self::Failed(error) => messages::reviewer_failed(lang, cut(error, MAX_UNITS)),
            Self::NoResult(status) => messages::no_result(lang, cut(status, MAX_UNITS)),
            Self::CannotCount(error) => messages::cannot_count(lang, &error.to_string()),
            Self::BudgetSpent(dollars) => messages::budget_spent(lang, &format!("{dollars:.2}")),
            Self::NoProvider(name) => messages::no_provider(lang, name),
            Self::Interrupted => messages::interrupted(lang),
            Self::Stuck(feedback) => messages::stuck(lang, cut(feedback, MAX_UNITS)),
        }
    }
}

/// The verdict of a result line. A block without feedback gets the default feedback.
pub(crate) fn verdict_of(result: &ResultLine, budget: Option<f64>, lang: Lang) -> Result<Verdict, NoReview> {
    if result.out_of_budget
        && let Some(budget) = budget
    {
        return Err(NoReview::BudgetSpent(budget));
    }
    if result.is_error {
        return Err(NoReview::Failed(result.text.trim().to_owned()));
    }
    let mut verdict = Verdict::parse(result.structured.as_ref(), &result.text);
    if !verdict.allow_stop && verdict.feedback.is_empty() {
        verdict.feedback = messages::default_feedback(lang);
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
    fn an_error_result_is_never_a_verdict() {
        let error = verdict_of(&result(true, r#"{"completed":false,"feedback":"x"}"#), None, Lang::ZhCn);
        assert!(matches!(error, Err(NoReview::Failed(_))));
    }

    #[test]
    fn a_block_always_has_feedback() {
        assert_eq!(verdict_of(&result(false, ""), None, Lang::ZhCn).unwrap().feedback, "请继续完成任务");
        assert_eq!(verdict_of(&result(false, "do it"), None, Lang::ZhCn).unwrap().feedback, "do it");
    }
}
