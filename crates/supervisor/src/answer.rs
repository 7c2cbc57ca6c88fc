//! What the hook prints.

use overtone_engine::Reply;
use overtone_messages::{Lang, supervisor as words};
use overtone_registry::Hook;

use crate::review::NoReview;
use crate::verdict::Verdict;

/// The recursion guard's answer, as the specification has it. The reviewer runs without hooks, so no client
/// ever reads it.
pub(crate) const GUARD: &str = r#"{"decision":"","":""}"#;

/// An answer that says nothing and lets go.
pub(crate) const NOTHING: &str = "{}";

/// One line of JSON. `shows_context`: the client can go on with a context, which the person does not see as an
/// error.
pub(crate) fn render(review: &Result<Verdict, NoReview>, shows_context: bool, lang: Lang) -> String {
    let reply = match review {
        Ok(verdict) if verdict.allow_stop => return NOTHING.to_owned(),
        Ok(verdict) if shows_context => {
            Reply { model_context: Some(verdict.feedback.clone()), ..Reply::default() }
        }
        Ok(verdict) => Reply { block: Some(verdict.feedback.clone()), ..Reply::default() },
        Err(reason) => {
            let text = words::not_reviewed(lang, &reason.reason(lang));
            Reply { system_message: Some(text), ..Reply::default() }
        }
    };
    overtone_wire::render(Hook::OnStop, reply, None).unwrap_or_else(|_| NOTHING.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn rendered(review: &Result<Verdict, NoReview>, shows_context: bool) -> Value {
        serde_json::from_str(&render(review, shows_context, Lang::En)).unwrap()
    }

    fn judged(allow_stop: bool, shows_context: bool) -> Value {
        rendered(&Ok(Verdict { allow_stop, feedback: "f".into() }), shows_context)
    }

    #[test]
    fn three_outcomes() {
        assert_eq!(judged(true, true), json!({}));
        assert_eq!(judged(false, false), json!({"decision":"block","reason":"f"}));
        let specific = json!({"hookEventName":"Stop","additionalContext":"f"});
        assert_eq!(judged(false, true), json!({"hookSpecificOutput": specific}));
        let gone = rendered(&Err(NoReview::NoClaude), true);
        assert_eq!(gone.as_object().unwrap().keys().collect::<Vec<_>>(), ["systemMessage"]);
    }
}
