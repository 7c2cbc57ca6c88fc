//! The hook's output.

use overtone_core::engine::Reply;
use overtone_core::messages::{Lang, supervisor as messages};
use overtone_core::registry::Hook;

use crate::supervisor::review::NoReview;
use crate::supervisor::verdict::Verdict;

/// The answer of the recursion guard, as specified. The reviewer runs without hooks, so no client reads it.
pub(crate) const RECURSION_GUARD: &str = r#"{"decision":"","":""}"#;

/// Allows the stop without a message.
pub(crate) const ALLOW_STOP: &str = "{}";

/// Renders the answer as one line of JSON. `supports_context`: the client can continue with additional context, which it
/// does not show to the user as an error.
pub(crate) fn render(review: &Result<Verdict, NoReview>, supports_context: bool, lang: Lang) -> String {
    let reply = match review {
        Ok(verdict) if verdict.allow_stop => return ALLOW_STOP.to_owned(),
        Ok(verdict) if supports_context => {
            Reply { model_context: Some(verdict.feedback.clone()), ..Reply::default() }
        }
        Ok(verdict) => Reply { block: Some(verdict.feedback.clone()), ..Reply::default() },
        Err(reason) => {
            let text = messages::not_reviewed(lang, &reason.reason(lang));
            Reply { system_message: Some(text), ..Reply::default() }
        }
    };
    overtone_claude::wire::render(Hook::OnStop, reply, None).unwrap_or_else(|_| ALLOW_STOP.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn rendered(review: &Result<Verdict, NoReview>, supports_context: bool) -> Value {
        serde_json::from_str(&render(review, supports_context, Lang::En)).unwrap()
    }

    fn rendered_verdict(allow_stop: bool, supports_context: bool) -> Value {
        rendered(&Ok(Verdict { allow_stop, feedback: "f".into() }), supports_context)
    }

    #[test]
    fn each_outcome_has_its_own_answer() {
        assert_eq!(rendered_verdict(true, true), json!({}));
        assert_eq!(rendered_verdict(false, false), json!({"decision":"block","reason":"f"}));
        let specific = json!({"hookEventName":"Stop","additionalContext":"f"});
        assert_eq!(rendered_verdict(false, true), json!({"hookSpecificOutput": specific}));
        let gone = rendered(&Err(NoReview::NoClient), true);
        assert_eq!(gone.as_object().unwrap().keys().collect::<Vec<_>>(), ["systemMessage"]);
    }
}
