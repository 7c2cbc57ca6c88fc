//! Identifies the actor behind a request by its content, since all actors share one address and one key.
//!
//! Every request of a sub-agent is marked as such; its instructions identify the agent.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use overtone_core::registry::Agent;
use serde_json::Value;

use crate::flatten::text_of;

/// Who makes a request of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Actor {
    /// The agent that the user talks to.
    Main,
    /// One of our sub-agents, by its name with or without `ot:`.
    Sub(&'static str),
    /// Any other sub-agent, such as the client's own `general-purpose`.
    ForeignSub,
    /// The summariser of a compaction.
    Compaction,
    /// A forked session that judges; the script supplies the text that it is known by.
    Reviewer,
    /// The client's small jobs without tools, such as titles.
    Side,
}

/// How the client begins the last text of a compaction request.
const COMPACTION_OPENING: &str = "CRITICAL: Respond with TEXT ONLY";

/// The header that the client adds to a sub-agent's requests, and the words in its billing line.
pub(crate) const AGENT_HEADER: &str = "x-claude-code-agent-id";
const AGENT_BILLING: &str = "cc_is_subagent=true";

impl Actor {
    /// The actor behind a request.
    pub(crate) fn identify(
        body: &Value,
        headers: &BTreeMap<String, String>,
        reviewer_marker: Option<&str>,
    ) -> Self {
        if last_user_text(body).starts_with(COMPACTION_OPENING) {
            return Self::Compaction;
        }
        if let Some(marker) = reviewer_marker
            && contains_marker(body, marker)
        {
            return Self::Reviewer;
        }
        match &body["tools"] {
            Value::Array(tools) if !tools.is_empty() => {}
            _ => return Self::Side,
        }
        let system = text_of(&body["system"]);
        if headers.contains_key(AGENT_HEADER) || system.contains(AGENT_BILLING) {
            return match sub_agent(&system) {
                Some(agent) => Self::Sub(agent.name()),
                None => Self::ForeignSub,
            };
        }
        Self::Main
    }

    /// The same actor with the plain name of an agent that exists: a mistyped name must not make a test wait for
    /// nobody.
    #[track_caller]
    pub(crate) fn checked(self) -> Self {
        let Self::Sub(name) = self else { return self };
        let agent = Agent::from_wire(name).or_else(|| Agent::from_name(name));
        Self::Sub(agent.unwrap_or_else(|| panic!("there is no agent named {name:?}")).name())
    }
}

/// The agent whose own instructions open with what is in the system prompt.
fn sub_agent(system: &str) -> Option<Agent> {
    MARKERS.iter().find(|(_, marker)| system.contains(marker)).map(|(agent, _)| *agent)
}

/// Each agent with the heading and the first paragraph of its file, which no other text of the plugin repeats.
static MARKERS: LazyLock<Vec<(Agent, String)>> = LazyLock::new(|| {
    let files = overtone_claude::plugin::render();
    let marker_of = |agent: Agent| {
        let path = format!("agents/{}.md", agent.name());
        let file =
            files.iter().find(|file| file.path == path).expect("the plugin has a file for every agent");
        (agent, opening(&file.contents))
    };
    Agent::ALL.into_iter().map(marker_of).collect()
});

/// The first two paragraphs after the front matter.
fn opening(markdown: &str) -> String {
    let body = markdown.splitn(3, "---\n").nth(2).unwrap_or(markdown);
    body.trim_start().splitn(3, "\n\n").take(2).collect::<Vec<_>>().join("\n\n")
}

/// The last block of the last message that has the role of the user; texts of the system may follow it.
fn last_user_text(body: &Value) -> String {
    let messages = body["messages"].as_array().into_iter().flatten();
    let last = messages.rev().find(|message| message["role"] == "user").map(|message| &message["content"]);
    match last {
        Some(Value::Array(blocks)) => blocks.last().map(text_of).unwrap_or_default(),
        Some(content) => text_of(content),
        None => String::new(),
    }
}

/// Whether the system prompt or a user's message has the text.
fn contains_marker(body: &Value, marker: &str) -> bool {
    let messages = body["messages"].as_array().into_iter().flatten();
    let contents = messages.filter(|message| message["role"] == "user").map(|message| &message["content"]);
    contents.chain([&body["system"]]).any(|content| text_of(content).contains(marker))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(system: &str, user: &str) -> Value {
        json!({
            "system": [{"type": "text", "text": "You are Claude Code."}, {"type": "text", "text": system}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": user}]}],
            "tools": [{"name": "Bash"}],
        })
    }

    fn push(body: &mut Value, role: &str, content: &str) {
        body["messages"].as_array_mut().unwrap().push(json!({"role": role, "content": content}));
    }

    fn main_or(body: &Value, marker: Option<&str>) -> Actor {
        Actor::identify(body, &BTreeMap::new(), marker)
    }

    fn sub(body: &Value) -> Actor {
        Actor::identify(body, &BTreeMap::from([(AGENT_HEADER.to_owned(), "a1".to_owned())]), None)
    }

    #[test]
    fn every_agent_is_known_by_its_own_text_alone() {
        for file in overtone_claude::plugin::render() {
            let found: Vec<_> = MARKERS.iter().filter(|(_, marker)| file.contents.contains(marker)).collect();
            let body = request(&file.contents, "p");
            match file.path.strip_prefix("agents/").and_then(|name| name.strip_suffix(".md")) {
                Some(name) => assert_eq!(sub(&body), Actor::Sub(Agent::from_name(name).unwrap().name())),
                None => assert_eq!(sub(&body), Actor::ForeignSub, "{}", file.path),
            }
            assert_eq!(found.len(), usize::from(file.path.starts_with("agents/")), "{}", file.path);
        }
    }

    #[test]
    fn markers_are_sentences_and_not_only_headings() {
        for (agent, marker) in MARKERS.iter() {
            assert!(marker.starts_with("# ") && marker.len() > 60, "{}: {marker:?}", agent.name());
        }
    }

    #[test]
    fn only_the_client_makes_a_sub_agent() {
        let (_, marker) = &MARKERS[0];
        assert_eq!(main_or(&request(marker, "p"), None), Actor::Main, "claude --agent is the main agent");
        let billed = request(&format!("{AGENT_BILLING}; {marker}"), "p");
        assert_eq!(main_or(&billed, None), Actor::Sub(MARKERS[0].0.name()));
        assert_eq!(sub(&request("s", marker)), Actor::ForeignSub, "a prompt is not an instruction");
    }

    #[test]
    fn a_compaction_is_known_by_its_last_text_only() {
        let opening = format!("{COMPACTION_OPENING}. Do NOT call any tools.");
        let mut body = request("s", &opening);
        push(&mut body, "system", "a hook's context");
        assert_eq!(main_or(&body, None), Actor::Compaction);
        push(&mut body, "user", "go on");
        assert_eq!(main_or(&body, None), Actor::Main);
    }

    #[test]
    fn a_reviewer_is_known_by_the_marker_of_the_test() {
        let review = request("s", "<review> of the session");
        assert_eq!(main_or(&review, Some("<review>")), Actor::Reviewer);
        assert_eq!(main_or(&review, Some("<other>")), Actor::Main);
        let mut quoted = request("s", "p");
        push(&mut quoted, "assistant", "<review>");
        assert_eq!(main_or(&quoted, Some("<review>")), Actor::Main);
    }

    #[test]
    fn requests_without_tools_are_side_jobs() {
        let mut title = request("s", "name this");
        title["tools"] = json!([]);
        assert_eq!(main_or(&title, None), Actor::Side);
        assert_eq!(main_or(&json!({"messages": [{"role": "user", "content": "quota"}]}), None), Actor::Side);
    }

    #[test]
    fn agents_go_by_both_of_their_names() {
        assert_eq!(Actor::Sub("ot:tester").checked(), Actor::Sub("tester").checked());
    }

    #[test]
    #[should_panic(expected = "there is no agent named \"develloper\"")]
    fn a_mistyped_agent_is_refused() {
        let _ = Actor::Sub("develloper").checked();
    }
}
