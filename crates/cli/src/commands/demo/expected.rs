//! What the story needs a hook to answer, and whether it did.

use overtone_registry::Hook;
use serde_json::Value;

use super::stop::Problem;

/// The words are tokens that are the same in every language.
#[derive(Debug, Clone, Copy)]
pub(super) enum Expected<'a> {
    /// Nothing for the model, nothing for the person, nothing forbidden.
    Quiet,
    /// As above, but an agent may be given its reference texts.
    Harmless,
    Allowed,
    /// Refused, with these words in the reason.
    Denied(&'a [&'a str]),
    /// A delegation that goes through in the foreground, with our context before this prompt.
    Briefed(&'a str),
    /// Text for the model with these words.
    Told(&'a [&'a str]),
    /// Text for the person with these words, and leave to stop.
    Shown(&'a [&'a str]),
}

impl Expected<'_> {
    /// Compares an answer with what is needed.
    pub(super) fn check(self, hook: Hook, answer: &Value) -> Result<(), Problem> {
        if named_rightly(hook, answer) && self.is_met(answer) {
            return Ok(());
        }
        let name = hook.name().to_owned();
        Err(Problem::OtherAnswer { name, wanted: format!("{self:?}"), answer: answer.to_string() })
    }

    fn is_met(self, answer: &Value) -> bool {
        let (decision, prompt) = (permission(answer), prompt(answer));
        match self {
            Self::Quiet => goes_on(answer) && told(answer).is_empty() && shown(answer).is_empty(),
            Self::Harmless => goes_on(answer) && shown(answer).is_empty(),
            Self::Allowed => decision == "allow",
            Self::Denied(words) => decision == "deny" && has_all(reason(answer), words),
            Self::Briefed(original) => {
                let foreground = answer["hookSpecificOutput"]["updatedInput"]["run_in_background"] == false;
                let briefing = prompt.strip_suffix(original).unwrap_or_default();
                decision == "allow" && foreground && briefing.starts_with("[Overtone Workflow Context]")
            }
            Self::Told(words) => decision.is_empty() && has_all(told(answer), words),
            Self::Shown(words) => goes_on(answer) && told(answer).is_empty() && has_all(shown(answer), words),
        }
    }
}

/// Text for the model.
pub(super) fn told(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default()
}

/// Text for the person.
pub(super) fn shown(answer: &Value) -> &str {
    answer["systemMessage"].as_str().unwrap_or_default()
}

/// Why something was refused.
pub(super) fn reason(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default()
}

fn permission(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or_default()
}

fn prompt(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["updatedInput"]["prompt"].as_str().unwrap_or_default()
}

/// The client is neither held up nor told to decide anything.
fn goes_on(answer: &Value) -> bool {
    permission(answer).is_empty() && answer.get("decision").is_none()
}

/// The client throws an answer with another event's name away.
fn named_rightly(hook: Hook, answer: &Value) -> bool {
    answer.is_object()
        && answer.get("hookSpecificOutput").is_none_or(|output| output["hookEventName"] == hook.event())
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
        let wanted = Expected::Denied(&["PLAN", "ARCH"]);
        let deny =
            |reason| pre_tool_use(&json!({"permissionDecision": "deny", "permissionDecisionReason": reason}));
        assert!(wanted.check(Hook::PreTask, &deny("PLAN, ARCH not done")).is_ok());
        assert!(wanted.check(Hook::PreTask, &deny("PLAN not done")).is_err());
        assert!(wanted.check(Hook::PreTask, &pre_tool_use(&json!({"permissionDecision": "allow"}))).is_err());
        assert!(wanted.check(Hook::PreTask, &json!({})).is_err());
    }

    #[test]
    fn a_briefing_comes_before_the_whole_prompt() {
        let wanted = Expected::Briefed("build it");
        let with = |prompt, background| {
            let input = json!({ "prompt": prompt, "run_in_background": background });
            pre_tool_use(&json!({ "permissionDecision": "allow", "updatedInput": input }))
        };
        let good = "[Overtone Workflow Context]\n…\n\n---\n\nbuild it";
        assert!(wanted.check(Hook::PreTask, &with(good, false)).is_ok());
        assert!(wanted.check(Hook::PreTask, &with(good, true)).is_err());
        assert!(wanted.check(Hook::PreTask, &with("build it", false)).is_err());
        assert!(wanted.check(Hook::PreTask, &with("[Overtone Workflow Context]", false)).is_err());
    }

    #[test]
    fn an_answer_under_another_event_is_no_answer() {
        let told =
            json!({ "hookSpecificOutput": { "hookEventName": "Stop", "additionalContext": "ot:tester" } });
        assert!(Expected::Told(&["ot:tester"]).check(Hook::OnStop, &told).is_ok());
        assert!(Expected::Told(&["ot:tester"]).check(Hook::PostUse, &told).is_err());
        assert!(Expected::Told(&["ot:qa"]).check(Hook::OnStop, &told).is_err());
    }

    #[test]
    fn quiet_and_shown_hold_nobody_up() {
        assert!(Expected::Quiet.check(Hook::OnStop, &json!({ "result": "x" })).is_ok());
        assert!(Expected::Quiet.check(Hook::OnStop, &json!({ "decision": "block", "reason": "x" })).is_err());
        assert!(Expected::Quiet.check(Hook::OnStop, &json!([])).is_err());
        let summary = json!({ "systemMessage": "standard complete" });
        assert!(Expected::Shown(&["standard"]).check(Hook::OnStop, &summary).is_ok());
        assert!(Expected::Quiet.check(Hook::OnStop, &summary).is_err());
        let problem = Expected::Shown(&["quick"]).check(Hook::OnStop, &summary).unwrap_err();
        assert!(problem.told(overtone_messages::Lang::En).contains("on-stop should have answered Shown"));
    }
}
