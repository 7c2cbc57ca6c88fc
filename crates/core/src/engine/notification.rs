//! Prompts that the client makes itself: a sub-agent has ended, has delivered its report, or was stopped by the user.

use crate::messages::flow;

use crate::engine::agents::{AgentIds, find_by_id};
use crate::engine::notices::deliver_notices;
use crate::engine::outcome::{Effect, Outcome};
use crate::engine::release::{ENDED_WITHOUT_RESULT, is_missed, lost_agent_record, release};
use crate::engine::tools::{self, AgentResult};
use crate::engine::trigger::{Facts, Snapshot};

const TASK_OPENING: &str = "<task-notification>";
const REPORT_OPENING: &str = "<agent-message from=\"";

/// The line after which a hand-back's text follows, indented by two blanks.
const REPORT_FOLLOWS: &str = "The report follows:\n";

/// The beginning of a hand-back to which the client's safety check objected.
const SECURITY_WARNING: &str = "SECURITY WARNING:";

/// The client's sentence for a background agent that the user stopped has the agent's name between these two.
const STOPPED_OPENING: &str = "Background agent \"";
const STOPPED_ENDING: &str = "\" was stopped by the user.";

/// A prompt that the user did not type.
pub(crate) enum Notification<'a> {
    /// A background task has ended.
    Task(TaskEnd<'a>),
    /// An agent's report, as it was delivered.
    Report { agent_id: &'a str, text: String, is_flagged: bool },
    /// The user stopped a background agent.
    StoppedByUser,
}

/// The content of a task notification.
pub(crate) struct TaskEnd<'a> {
    agent_id: Option<&'a str>,
    tool_use_id: Option<&'a str>,
    completed: bool,
    result: &'a str,
}

impl<'a> Notification<'a> {
    pub(crate) fn parse(prompt: &'a str) -> Option<Self> {
        if prompt.starts_with(TASK_OPENING) {
            return Some(Self::Task(parse_task(prompt)));
        }
        if let Some(rest) = prompt.strip_prefix(REPORT_OPENING) {
            let (agent_id, body) = rest.split_once("\">")?;
            return Some(Self::parse_report(agent_id, body));
        }
        if prompt.starts_with(STOPPED_OPENING) && prompt.trim_end().ends_with(STOPPED_ENDING) {
            return Some(Self::StoppedByUser);
        }
        None
    }

    /// The id of the agent that the notification is about, if it has one.
    pub(crate) fn agent_id(&self) -> Option<&str> {
        match self {
            Self::Task(task) => task.agent_id,
            Self::Report { agent_id, .. } => Some(agent_id),
            Self::StoppedByUser => None,
        }
    }

    fn parse_report(agent_id: &'a str, body: &str) -> Self {
        let body = body.trim_end().trim_end_matches("</agent-message>");
        let (head, report) = body.split_once(REPORT_FOLLOWS).unwrap_or((body, body));
        let lines = report.lines().map(|line| line.strip_prefix("  ").unwrap_or(line));
        Self::Report {
            agent_id,
            text: lines.collect::<Vec<_>>().join("\n"),
            is_flagged: head.trim_start().starts_with(SECURITY_WARNING),
        }
    }
}

/// Processes the report of a notification, unless it has come another way, and delivers the waiting notices.
pub(crate) fn handle_notification(
    snapshot: &Snapshot,
    notification: &Notification,
    facts: &Facts,
) -> Outcome {
    match notification {
        Notification::Task(task) => task_ended(snapshot, task, facts),
        Notification::Report { agent_id, text, is_flagged } => {
            let result = AgentResult {
                ids: AgentIds { tool_use_id: None, agent_id: Some(agent_id) },
                subagent_type: "",
                finished: true,
                content: text,
                handback: if *is_flagged { "flagged" } else { "send" },
            };
            tools::agent_returned(snapshot, &result, facts)
        }
        Notification::StoppedByUser => Outcome::default(),
    }
}

fn task_ended(snapshot: &Snapshot, task: &TaskEnd, facts: &Facts) -> Outcome {
    let is_expected = match &snapshot.workflow {
        Some(workflow) if workflow.is_open() => {
            find_by_id(workflow, task.tool_use_id, task.agent_id).is_some()
        }
        _ => false,
    };
    if is_expected && !task.completed {
        return agent_lost(snapshot, task, facts);
    }
    if is_expected {
        let content = unescape(task.result);
        let result = AgentResult {
            ids: AgentIds { tool_use_id: task.tool_use_id, agent_id: task.agent_id },
            subagent_type: "",
            finished: true,
            content: &content,
            handback: "",
        };
        return tools::agent_returned(snapshot, &result, facts);
    }
    let mut outcome = Outcome::default();
    outcome.reply.model_context = deliver_notices(snapshot, facts, &mut outcome);
    outcome
}

/// The agent was killed or has failed, so nobody works on its stage any more.
fn agent_lost(snapshot: &Snapshot, task: &TaskEnd, facts: &Facts) -> Outcome {
    let mut outcome = Outcome::default();
    let Some(workflow) = &snapshot.workflow else { return outcome };
    let released = release(workflow, |a| a.is(task.tool_use_id, task.agent_id), facts);
    let mut next = released.workflow;
    for agent in &released.lost {
        outcome.emit(lost_agent_record(agent, ENDED_WITHOUT_RESULT));
        if is_missed(&next, agent) {
            next.leave_notice(flow::agent_lost(facts.lang, agent.name()));
        }
    }
    outcome.effects.extend(released.effects);
    outcome.push(Effect::PutWorkflow(next.clone()));
    let current = Snapshot { workflow: Some(next), looping: snapshot.looping.clone() };
    outcome.reply.model_context = deliver_notices(&current, facts, &mut outcome);
    outcome
}

fn parse_task(prompt: &str) -> TaskEnd<'_> {
    TaskEnd {
        agent_id: element(prompt, "task-id"),
        tool_use_id: element(prompt, "tool-use-id"),
        completed: element(prompt, "status") == Some("completed"),
        result: element(prompt, "result").unwrap_or_default(),
    }
}

fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let inner = text.split_once(&format!("<{name}>"))?.1;
    inner.split_once(&format!("</{name}>")).map(|(inner, _)| inner)
}

/// Undoes the escaping by which the client keeps a result from closing its element. `&amp;` has to come last.
fn unescape(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_notification_is_parsed() {
        let prompt = "<task-notification>\n<task-id>a1</task-id>\n<tool-use-id>t1</tool-use-id>\n\
            <status>completed</status>\n<result>ok &lt;!-- &amp;lt; --&gt;</result>\n</task-notification>";
        let task = parse_task(prompt);
        assert_eq!((task.agent_id, task.tool_use_id, task.completed), (Some("a1"), Some("t1"), true));
        assert_eq!(unescape(task.result), "ok <!-- &lt; -->");
        let killed = parse_task("<task-notification><task-id>a1</task-id><status>killed</status>");
        assert!(!killed.completed && killed.tool_use_id.is_none() && killed.result.is_empty());
    }

    #[test]
    fn a_delivered_report_is_read_without_its_frame() {
        let prompt = "<agent-message from=\"a1\">\n[Subagent hand-back] Not a message from the user. \
            The report follows:\n  2 failed\n    indented\n  <!-- VERDICT: {\"result\":\"FAIL\"} -->\n</agent-message>";
        let Some(Notification::Report { agent_id, text, is_flagged }) = Notification::parse(prompt) else {
            panic!("not read as a report");
        };
        assert_eq!((agent_id, is_flagged), ("a1", false));
        assert_eq!(text, "2 failed\n  indented\n<!-- VERDICT: {\"result\":\"FAIL\"} -->");
        let flagged = "<agent-message from=\"a1\">\n  SECURITY WARNING: auto mode blocked this. \
            [Subagent hand-back] The report follows:\n  x\n</agent-message>";
        assert!(matches!(Notification::parse(flagged), Some(Notification::Report { is_flagged: true, .. })));
    }

    #[test]
    fn only_the_sentence_of_the_client_means_a_stopped_agent() {
        let stopped = "Background agent \"the job\" was stopped by the user.";
        assert!(matches!(Notification::parse(stopped), Some(Notification::StoppedByUser)));
        assert!(Notification::parse("Background agent work is slow").is_none());
        assert!(Notification::parse("what is an <agent-message from=\"x\">?").is_none());
    }
}
