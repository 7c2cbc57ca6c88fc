//! Where the text of a request comes from.

use serde::Serialize;
use serde_json::Value;

use super::steady::Steady;
use crate::Request;
use crate::flatten::text_of;

/// Who is the reason that a text is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The client: its instructions, its tools, its own reminders.
    Client,
    /// What a plugin adds to every session: its agents and skills in the client's lists, its texts at the start.
    AlwaysOn,
    /// Pages of skills, and what Overtone's commands print.
    Pages,
    /// The instructions of our agents.
    Agents,
    /// What hooks add while the session runs.
    Injected,
    /// The work: requests, the model's own words and calls, and their results.
    Work,
}

/// A part of a request that has one origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) origin: Origin,
    pub(super) text: String,
    /// Whether the client asks the API to keep everything up to here.
    pub(super) is_breakpoint: bool,
}

/// The client's line about itself. The API removes it.
const BILLING: &str = "x-anthropic-billing-header";

/// How the client begins the body of a skill.
const SKILL_OPENING: &str = "Base directory for this skill:";

/// How the client begins its own texts between the messages, and how it begins those of hooks.
const REMINDER: &str = "<system-reminder>";
const HOOK_WORDS: [&str; 2] = [" hook additional context: ", " hook feedback:"];
const SESSION_START: &str = "SessionStart";

/// How the client's own parts of such a text begin. A part ends where the next one begins.
const CLIENT_OPENINGS: [&str; 8] = [
    "# Environment",
    "You are powered by",
    "The following deferred tools",
    "Available agent types",
    "The following skills",
    "The user hasn't heard from you",
    "Today's date is",
    "<system-reminder>",
];

/// The block that Overtone puts before the prompt of an agent, and what ends it.
const CONTEXT_BLOCK: &str = "[Overtone Workflow Context]";
const CONTEXT_END: &str = "\n---\n\n";

/// How the names of tools begin that a plugin brings.
const PLUGIN_TOOL: &str = "mcp__plugin_";

/// The program whose output counts as a page.
const PROGRAM: &str = "overtone ";

/// Reads the requests of one session.
#[derive(Debug)]
pub(super) struct Reader {
    steady: Steady,
    /// The instructions of the agents of the installed plugin.
    agents: Vec<String>,
}

impl Reader {
    pub(super) fn new(steady: Steady, agents: Vec<String>) -> Self {
        Self { steady, agents }
    }

    /// The request in the order in which the API's cache compares it: tools, instructions, messages.
    pub(super) fn segments(&self, request: &Request) -> Vec<Segment> {
        let body = request.body();
        let mut found = Found { steady: &self.steady, segments: Vec::new() };
        for tool in list(&body["tools"]) {
            let name = tool["name"].as_str().unwrap_or_default();
            let origin = if name.starts_with(PLUGIN_TOOL) { Origin::AlwaysOn } else { Origin::Client };
            found.add(tool, vec![(origin, tool_text(tool))]);
        }
        for block in list(&body["system"]) {
            found.add(block, self.instructions(&text_of(block)));
        }
        let commands = Commands::of(body);
        for message in list(&body["messages"]) {
            let role = message["role"].as_str().unwrap_or_default();
            match &message["content"] {
                Value::Array(blocks) => {
                    for block in blocks {
                        found.add(block, pieces(role, block, &commands));
                    }
                }
                content => found.add(content, pieces(role, content, &commands)),
            }
        }
        found.segments
    }

    /// A block of the system prompt: the instructions of one of our agents, the client's, or both.
    fn instructions(&self, text: &str) -> Vec<(Origin, String)> {
        if text.starts_with(BILLING) {
            return Vec::new();
        }
        for agent in &self.agents {
            if let Some((before, after)) = text.split_once(agent.as_str()) {
                return vec![
                    (Origin::Client, before.to_owned()),
                    (Origin::Agents, agent.clone()),
                    (Origin::Client, after.to_owned()),
                ];
            }
        }
        vec![(Origin::Client, text.to_owned())]
    }
}

/// The segments so far.
struct Found<'a> {
    steady: &'a Steady,
    segments: Vec<Segment>,
}

impl Found<'_> {
    /// Adds the pieces of a block. If the block is a breakpoint, its last piece is one.
    fn add(&mut self, block: &Value, pieces: Vec<(Origin, String)>) {
        let before = self.segments.len();
        for (origin, text) in pieces {
            if !text.is_empty() {
                let text = self.steady.text(&text);
                self.segments.push(Segment { origin, text, is_breakpoint: false });
            }
        }
        if let Some(last) = self.segments[before..].last_mut() {
            last.is_breakpoint = block.get("cache_control").is_some();
        }
    }
}

/// The Bash commands of a conversation by the ids of their calls.
struct Commands<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Commands<'a> {
    fn of(body: &'a Value) -> Self {
        let mut found = Vec::new();
        for message in list(&body["messages"]) {
            for block in list(&message["content"]) {
                if let (Some(id), Some(command)) = (block["id"].as_str(), block["input"]["command"].as_str())
                {
                    found.push((id, command));
                }
            }
        }
        Self(found)
    }

    /// Whether this result is the output of a command of Overtone's.
    fn is_ours(&self, result: &Value) -> bool {
        let id = result["tool_use_id"].as_str().unwrap_or_default();
        self.0.iter().any(|(call, command)| *call == id && command.starts_with(PROGRAM))
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A tool as the model reads it.
fn tool_text(tool: &Value) -> String {
    let word = |name: &str| tool[name].as_str().unwrap_or_default();
    format!("{}\n{}\n{}", word("name"), word("description"), tool["input_schema"])
}

/// The pieces of one block of a message.
fn pieces(role: &str, block: &Value, commands: &Commands<'_>) -> Vec<(Origin, String)> {
    match block["type"].as_str() {
        Some("tool_use") => {
            let call = format!("{} {}", block["name"].as_str().unwrap_or_default(), block["input"]);
            vec![(Origin::Work, call)]
        }
        Some("tool_result") => {
            let origin = if commands.is_ours(block) { Origin::Pages } else { Origin::Work };
            vec![(origin, text_of(block))]
        }
        _ => texts(role, &text_of(block)),
    }
}

/// The pieces of a text.
fn texts(role: &str, text: &str) -> Vec<(Origin, String)> {
    if role == "system" || text.starts_with(REMINDER) {
        return parts(text);
    }
    let whole = |origin| vec![(origin, text.to_owned())];
    if role == "assistant" {
        return whole(Origin::Work);
    }
    if text.starts_with(SKILL_OPENING) {
        return whole(Origin::Pages);
    }
    let first_line = text.lines().next().unwrap_or_default();
    if HOOK_WORDS.iter().any(|words| first_line.contains(words)) {
        return whole(Origin::Injected);
    }
    match text.split_once(CONTEXT_END) {
        Some((context, prompt)) if context.starts_with(CONTEXT_BLOCK) => {
            vec![(Origin::Injected, format!("{context}{CONTEXT_END}")), (Origin::Work, prompt.to_owned())]
        }
        _ => whole(Origin::Work),
    }
}

/// The parts of a text in which the client joins its own reminders and the texts of hooks. In a list of the client, the lines
/// about agents and skills of a plugin are the plugin's.
fn parts(text: &str) -> Vec<(Origin, String)> {
    let mut found: Vec<(Origin, String)> = Vec::new();
    let mut part = Origin::Client;
    for line in text.split_inclusive('\n') {
        part = opened_by(line).unwrap_or(part);
        let origin = if part == Origin::Client && is_of_plugin(line) { Origin::AlwaysOn } else { part };
        match found.last_mut() {
            Some((last, text)) if *last == origin => text.push_str(line),
            _ => found.push((origin, line.to_owned())),
        }
    }
    found
}

/// What kind of part begins with this line, if one does.
fn opened_by(line: &str) -> Option<Origin> {
    for words in HOOK_WORDS {
        if let Some((event, _)) = line.split_once(words)
            && event.chars().all(|c| c.is_ascii_alphanumeric() || c == ':')
        {
            let is_start = event.split(':').next() == Some(SESSION_START);
            return Some(if is_start { Origin::AlwaysOn } else { Origin::Injected });
        }
    }
    CLIENT_OPENINGS.iter().any(|opening| line.starts_with(opening)).then_some(Origin::Client)
}

/// Whether a line of a list is about something of a plugin: `- plugin:name: what it does`, or the name of a tool.
fn is_of_plugin(line: &str) -> bool {
    let Some(item) = line.strip_prefix("- ") else { return line.starts_with(PLUGIN_TOOL) };
    let Some((name, _)) = item.split_once(' ') else { return false };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == ':';
    name.trim_end_matches(':').contains(':') && name.chars().all(is_name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::Actor;
    use serde_json::json;

    fn read(body: Value, agents: &[&str]) -> Vec<(Origin, String)> {
        let agents = agents.iter().map(|agent| (*agent).to_owned()).collect();
        let request = Request::new(Actor::Main, body, BTreeMap::new(), &[]);
        let segments = Reader::new(Steady::for_tests(), agents).segments(&request);
        segments.into_iter().map(|segment| (segment.origin, segment.text)).collect()
    }

    fn system(text: &str) -> Value {
        json!({"messages": [{"role": "system", "content": text}]})
    }

    #[test]
    fn the_client_joins_its_reminders_with_texts_of_hooks_and_plugins() {
        let text = "# Environment\n - Platform: linux\n\nAvailable agent types for the Agent tool:\n- Plan: plans\n\
                    - ot:tester: TEST stage\n- a:b (a:c): d\nmcp__plugin_a\n- Explore: looks: around\n\nSessionStart hook additional context: hello\n\n\
                    - own: line\n\nPostToolUse:Agent hook additional context: next\n\nToday's date is X.";
        let owned = |origin, text: &str| (origin, text.to_owned());
        assert_eq!(
            read(system(text), &[]),
            [
                owned(
                    Origin::Client,
                    "# Environment\n - Platform: linux\n\nAvailable agent types for the Agent tool:\n- Plan: plans\n"
                ),
                owned(Origin::AlwaysOn, "- ot:tester: TEST stage\n- a:b (a:c): d\nmcp__plugin_a\n"),
                owned(Origin::Client, "- Explore: looks: around\n\n"),
                owned(Origin::AlwaysOn, "SessionStart hook additional context: hello\n\n- own: line\n\n"),
                owned(Origin::Injected, "PostToolUse:Agent hook additional context: next\n\n"),
                owned(Origin::Client, "Today's date is X."),
            ]
        );
    }

    #[test]
    fn pages_are_skills_and_the_output_of_our_commands() {
        let call = |id: &str, command: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
        let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "printed"});
        let body = json!({"messages": [
            {"role": "assistant", "content": [call("a", "overtone init quick"), call("b", "ls")]},
            {"role": "user", "content": [result("a"), result("b"), {"type": "text", "text": "Base directory for this skill: /x"}]},
        ]});
        let origins: Vec<_> = read(body, &[]).into_iter().map(|(origin, _)| origin).collect();
        assert_eq!(origins, [Origin::Work, Origin::Work, Origin::Pages, Origin::Work, Origin::Pages]);
    }

    #[test]
    fn an_agent_has_its_own_instructions_a_context_and_a_prompt() {
        let body = json!({
            "system": [
                {"type": "text", "text": "x-anthropic-billing-header: y"},
                {"type": "text", "text": "# Tester\n\nNotes:", "cache_control": {"type": "ephemeral"}},
            ],
            "messages": [{"role": "user", "content": "[Overtone Workflow Context]\nA\n\n---\n\nGoal"}],
        });
        let request = Request::new(Actor::Main, body, BTreeMap::new(), &[]);
        let segments = Reader::new(Steady::for_tests(), vec!["# Tester".to_owned()]).segments(&request);
        let found: Vec<_> = segments.iter().map(|s| (s.origin, s.text.as_str(), s.is_breakpoint)).collect();
        assert_eq!(
            found,
            [
                (Origin::Agents, "# Tester", false),
                (Origin::Client, "\n\nNotes:", true),
                (Origin::Injected, "[Overtone Workflow Context]\nA\n\n---\n\n", false),
                (Origin::Work, "Goal", false),
            ]
        );
    }
}
