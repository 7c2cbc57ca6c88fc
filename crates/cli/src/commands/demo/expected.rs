//! The answer that the demo expects from a hook, and the check.

use overtone_core::registry::Hook;
use serde_json::Value;

use super::error::HookError;

/// The expected words are the same in every language. The names of the variants are part of the error message.
#[derive(Debug, Clone, Copy)]
pub(super) enum Expected<'a> {
    /// Nothing for the model, nothing for the user, nothing denied.
    Quiet,
    /// As above, but an agent may get its reference texts.
    Harmless,
    Allowed,
    /// Denied, with these words in the reason.
    Denied(&'a [&'a str]),
    /// A delegation that is allowed in the foreground, with our context before this prompt.
    Briefed(&'a str),
    /// Text for the model with these words.
    ForModel(&'a [&'a str]),
    /// Text for the user with these words, and permission to stop.
    ForUser(&'a [&'a str]),
}

impl Expected<'_> {
    /// Returns an error unless the answer is the expected one.
    pub(super) fn check(self, hook: Hook, answer: &Value) -> Result<(), HookError> {
        if has_matching_event(hook, answer) && self.matches(answer) {
            return Ok(());
        }
        let name = hook.name().to_owned();
        Err(HookError::OtherAnswer { name, expected: format!("{self:?}"), answer: answer.to_string() })
    }

    fn matches(self, answer: &Value) -> bool {
        let (decision, prompt) = (permission(answer), prompt(answer));
        match self {
            Self::Quiet => continues(answer) && model_text(answer).is_empty() && user_text(answer).is_empty(),
            Self::Harmless => continues(answer) && user_text(answer).is_empty(),
            Self::Allowed => decision == "allow",
            Self::Denied(words) => decision == "deny" && has_all(denial_reason(answer), words),
            Self::Briefed(original) => {
                let foreground = answer["hookSpecificOutput"]["updatedInput"]["run_in_background"] == false;
                let briefing = prompt.strip_suffix(original).unwrap_or_default();
                decision == "allow" && foreground && briefing.starts_with("[Overtone Workflow Context]")
            }
            Self::ForModel(words) => decision.is_empty() && has_all(model_text(answer), words),
            Self::ForUser(words) => {
                continues(answer) && model_text(answer).is_empty() && has_all(user_text(answer), words)
            }
        }
    }
}

/// Text for the model.
pub(super) fn model_text(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default()
}

/// Text for the user.
pub(super) fn user_text(answer: &Value) -> &str {
    answer["systemMessage"].as_str().unwrap_or_default()
}

/// Why something was denied.
pub(super) fn denial_reason(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default()
}

fn permission(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or_default()
}

fn prompt(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["updatedInput"]["prompt"].as_str().unwrap_or_default()
}

/// Whether the client continues without a decision of ours.
fn continues(answer: &Value) -> bool {
    permission(answer).is_empty() && answer.get("decision").is_none()
}

/// The client discards an answer that names another event.
fn has_matching_event(hook: Hook, answer: &Value) -> bool {
    match answer.get("hookSpecificOutput") {
        Some(output) => output["hookEventName"] == hook.event(),
        None => answer.is_object(),
    }
}

fn has_all(text: &str, words: &[&str]) -> bool {
    !text.is_empty() && words.iter().all(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pre_tool_use(fields: &Value) -> Value {
        let mut output = json!({ "hookEventName": "PreToolUse" });
        output.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        json!({ "hookSpecificOutput": output })
    }

    #[test]
    fn a_denial_must_name_what_is_missing() {
        let expected = Expected::Denied(&["PLAN", "ARCH"]);
        let deny =
            |reason| pre_tool_use(&json!({"permissionDecision": "deny", "permissionDecisionReason": reason}));
        assert!(expected.check(Hook::PreTask, &deny("PLAN, ARCH not done")).is_ok());
        assert!(expected.check(Hook::PreTask, &deny("PLAN not done")).is_err());
        assert!(
            expected.check(Hook::PreTask, &pre_tool_use(&json!({"permissionDecision": "allow"}))).is_err()
        );
        assert!(expected.check(Hook::PreTask, &json!({})).is_err());
    }

    #[test]
    fn a_briefing_comes_before_the_whole_prompt() {
        let expected = Expected::Briefed("build it");
        let with = |prompt, background| {
            let input = json!({ "prompt": prompt, "run_in_background": background });
            pre_tool_use(&json!({ "permissionDecision": "allow", "updatedInput": input }))
        };
        let good = "[Overtone Workflow Context]\n…\n\n---\n\nbuild it";
        assert!(expected.check(Hook::PreTask, &with(good, false)).is_ok());
        assert!(expected.check(Hook::PreTask, &with(good, true)).is_err());
        assert!(expected.check(Hook::PreTask, &with("build it", false)).is_err());
        assert!(expected.check(Hook::PreTask, &with("[Overtone Workflow Context]", false)).is_err());
    }

    #[test]
    fn an_answer_under_another_event_is_no_answer() {
        let answer =
            json!({ "hookSpecificOutput": { "hookEventName": "Stop", "additionalContext": "ot:tester" } });
        assert!(Expected::ForModel(&["ot:tester"]).check(Hook::OnStop, &answer).is_ok());
        assert!(Expected::ForModel(&["ot:tester"]).check(Hook::PostUse, &answer).is_err());
        assert!(Expected::ForModel(&["ot:qa"]).check(Hook::OnStop, &answer).is_err());
    }

    #[test]
    fn quiet_and_shown_let_the_client_continue() {
        assert!(Expected::Quiet.check(Hook::OnStop, &json!({ "result": "x" })).is_ok());
        assert!(Expected::Quiet.check(Hook::OnStop, &json!({ "decision": "block", "reason": "x" })).is_err());
        assert!(Expected::Quiet.check(Hook::OnStop, &json!([])).is_err());
        let summary = json!({ "systemMessage": "standard complete" });
        assert!(Expected::ForUser(&["standard"]).check(Hook::OnStop, &summary).is_ok());
        assert!(Expected::Quiet.check(Hook::OnStop, &summary).is_err());
        let error = Expected::ForUser(&["quick"]).check(Hook::OnStop, &summary).unwrap_err();
        assert!(
            error
                .describe(overtone_core::messages::Lang::En)
                .contains("on-stop should have answered ForUser")
        );
    }
}
