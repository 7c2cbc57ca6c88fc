//! The prompt that the client makes when a background agent has ended.

use overtone_messages::flow as words;
use overtone_registry::EventKind;

use crate::completion;
use crate::outcome::{Effect, Outcome, Record};
use crate::prompt::deliver_notices;
use crate::state::WorkflowState;
use crate::tools::{self, Returned};
use crate::trigger::Facts;

/// The `error` of an agent that was killed or has failed.
pub const ENDED_WITHOUT_RESULT: &str = "ended-without-result";

const OPENING: &str = "<task-notification>";

/// What a notification says of its agent.
struct Notification<'a> {
    agent_id: Option<&'a str>,
    tool_use_id: Option<&'a str>,
    completed: bool,
    result: &'a str,
}

pub(crate) fn is_notification(prompt: &str) -> bool {
    prompt.starts_with(OPENING)
}

/// Delivers what waits, after making up for a `SubagentStop` that never came.
pub(crate) fn notified(workflow: Option<&WorkflowState>, prompt: &str, facts: &Facts) -> Outcome {
    let note = parse(prompt);
    let open = workflow.filter(|workflow| workflow.is_open());
    match open.filter(|workflow| completion::recorded(workflow, note.tool_use_id, note.agent_id).is_some()) {
        Some(workflow) if note.completed => {
            let content = unescape(note.result);
            let returned = Returned {
                tool_use_id: note.tool_use_id,
                agent_id: note.agent_id,
                subagent_type: "",
                finished: true,
                content: &content,
            };
            tools::agent_returned(Some(workflow), &returned, facts)
        }
        Some(workflow) => lost(workflow, &note, facts),
        None => {
            let mut outcome = Outcome::default();
            outcome.reply.model_context = deliver_notices(workflow, facts, &mut outcome);
            outcome
        }
    }
}

/// It was killed or has failed: nobody works on its stage any more.
fn lost(workflow: &WorkflowState, note: &Notification, facts: &Facts) -> Outcome {
    let released = completion::release(workflow, |a| a.is(note.tool_use_id, note.agent_id), facts);
    let mut outcome = Outcome::default();
    let mut next = released.workflow;
    for agent in &released.lost {
        let record =
            Record::new(EventKind::AgentError).with("agent", agent.name()).with("stage", agent.stage);
        outcome.emit(record.with("slot", &*agent.slot).with("error", ENDED_WITHOUT_RESULT));
        if completion::is_missed(&next, agent) {
            next.leave_notice(words::agent_lost(facts.lang, agent.name()));
        }
    }
    outcome.effects.extend(released.effects);
    outcome.push(Effect::PutWorkflow(next.clone()));
    outcome.reply.model_context = deliver_notices(Some(&next), facts, &mut outcome);
    outcome
}

fn parse(prompt: &str) -> Notification<'_> {
    let status = element(prompt, "status");
    Notification {
        agent_id: element(prompt, "task-id"),
        tool_use_id: element(prompt, "tool-use-id"),
        completed: status == Some("completed"),
        result: element(prompt, "result").unwrap_or_default(),
    }
}

fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let inner = text.split_once(&format!("<{name}>"))?.1;
    inner.split_once(&format!("</{name}>")).map(|(inner, _)| inner)
}

/// The client escapes a result so that it cannot close the element; `&amp;` comes last.
fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_is_taken_apart() {
        let prompt = "<task-notification>\n<task-id>a1</task-id>\n<tool-use-id>t1</tool-use-id>\n\
            <status>completed</status>\n<result>ok &lt;!-- &amp;lt; --&gt;</result>\n</task-notification>";
        let note = parse(prompt);
        assert_eq!((note.agent_id, note.tool_use_id, note.completed), (Some("a1"), Some("t1"), true));
        assert_eq!(unescape(note.result), "ok <!-- &lt; -->");
        let killed = parse("<task-notification><task-id>a1</task-id><status>killed</status>");
        assert!(!killed.completed && killed.tool_use_id.is_none() && killed.result.is_empty());
    }
}
