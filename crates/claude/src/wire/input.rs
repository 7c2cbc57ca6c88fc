//! The payload on stdin.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Why a payload cannot be parsed.
#[derive(Debug, thiserror::Error)]
pub enum HookInputError {
    #[error("cannot read the hook input: not a JSON object")]
    NotAnObject,
    #[error("cannot read the hook input: {0}")]
    Json(#[from] serde_json::Error),
}

/// A field that is parsed only when its value is requested.
type Lazy<'a> = Option<&'a RawValue>;

/// A hook payload. Large values (tool inputs and responses) stay unparsed until they are needed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct HookInput<'a> {
    #[serde(borrow)]
    session_id: Lazy<'a>,
    transcript_path: Lazy<'a>,
    cwd: Lazy<'a>,
    hook_event_name: Lazy<'a>,
    source: Lazy<'a>,
    reason: Lazy<'a>,
    trigger: Lazy<'a>,
    prompt: Lazy<'a>,
    prompt_id: Lazy<'a>,
    tool_name: Lazy<'a>,
    tool_use_id: Lazy<'a>,
    tool_input: Lazy<'a>,
    tool_response: Lazy<'a>,
    agent_id: Lazy<'a>,
    agent_type: Lazy<'a>,
    agent_transcript_path: Lazy<'a>,
    permission_mode: Lazy<'a>,
    last_assistant_message: Lazy<'a>,
    error: Lazy<'a>,
    is_interrupt: Lazy<'a>,
    background_tasks: Lazy<'a>,
    stop_hook_active: Lazy<'a>,
    context_window: Lazy<'a>,
}

/// The result of the Agent tool.
#[derive(Debug, PartialEq, Eq)]
pub struct AgentResult {
    pub agent_id: Option<String>,
    /// False if the agent was only launched and still runs in the background.
    pub finished: bool,
    pub content: String,
    /// How the report was delivered to the caller: `send`, `flagged` or `withheld`. Empty if the client does not say.
    pub handback: String,
}

macro_rules! text_fields {
    ($($name:ident),*) => {
        $(pub fn $name(&self) -> Cow<'a, str> {
            string_value(self.$name)
        })*
    };
}

impl<'a> HookInput<'a> {
    /// Parses a payload. Empty input is an empty payload, because in some modes the client sends none.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, HookInputError> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self::default());
        }
        // Without this test, serde would accept an array and read the fields from its elements.
        if bytes.trim_ascii_start().first() != Some(&b'{') {
            return Err(HookInputError::NotAnObject);
        }
        Ok(serde_json::from_slice(bytes)?)
    }

    text_fields!(
        session_id,
        transcript_path,
        cwd,
        hook_event_name,
        source,
        reason,
        trigger,
        prompt,
        prompt_id,
        tool_name,
        tool_use_id,
        agent_id,
        agent_type,
        agent_transcript_path,
        last_assistant_message,
        error
    );

    /// Whether the session is in plan mode.
    pub fn is_plan_mode(&self) -> bool {
        string_value(self.permission_mode) == "plan"
    }

    /// Whether the session is in auto mode. In this mode an agent delivers its report by a separate tool call.
    pub fn is_auto_mode(&self) -> bool {
        string_value(self.permission_mode) == "auto"
    }

    pub fn is_interrupt(&self) -> bool {
        is_true(self.is_interrupt)
    }

    /// Whether the session continues because of a Stop hook. False after a prompt of the user.
    pub fn is_stop_hook_active(&self) -> bool {
        is_true(self.stop_hook_active)
    }

    /// A text field of `tool_input`.
    pub fn input_text(&self, name: &str) -> Cow<'a, str> {
        field(self.tool_input, name)
    }

    /// The complete `tool_input`, for an answer that changes it.
    pub fn tool_input(&self) -> Lazy<'a> {
        self.tool_input
    }

    /// The text that an editing tool writes: `content`, `new_string` or the `edits` of a multi-edit.
    pub fn written_text(&self) -> String {
        let whole = self.input_text("content");
        if !whole.is_empty() {
            return whole.into_owned();
        }
        let new = self.input_text("new_string");
        if !new.is_empty() {
            return new.into_owned();
        }
        let Some(edits) = member(self.tool_input, "edits") else { return String::new() };
        let edits: Vec<&RawValue> = serde_json::from_str(edits.get()).unwrap_or_default();
        edits.into_iter().map(|edit| field(Some(edit), "new_string")).collect::<Vec<_>>().join("\n")
    }

    /// The output of a Bash command that failed; `None` if it succeeded.
    pub fn bash_error(&self) -> Option<String> {
        let code = ["exit_code", "exitCode", "returnCode", "code"]
            .iter()
            .find_map(|name| member(self.tool_response, name)?.get().parse::<i64>().ok())?;
        // The client adds an interpretation to codes that are not failures, such as a grep without a match.
        if code == 0 || !field(self.tool_response, "returnCodeInterpretation").is_empty() {
            return None;
        }
        let stderr = field(self.tool_response, "stderr");
        let text = if stderr.trim().is_empty() { field(self.tool_response, "stdout") } else { stderr };
        Some(if text.trim().is_empty() { format!("exit code {code}") } else { text.into_owned() })
    }

    pub fn agent_result(&self) -> AgentResult {
        let names = ["status", "isAsync", "agentId", "handback", "handbackReport", "content"];
        let [status, is_async, agent_id, handback, handback_report, content] =
            members(self.tool_response, names);
        let is_async = matches!(is_async, Some(raw) if raw.get() == "true");
        let agent_id = string_value(agent_id);
        AgentResult {
            agent_id: if agent_id.is_empty() { None } else { Some(agent_id.into_owned()) },
            finished: !is_async && string_value(status) != "async_launched",
            content: self.result_text(handback_report, content),
            handback: string_value(handback).into_owned(),
        }
    }

    /// The report that was handed back, or else the content: a string, or the text blocks of a list. If a report was
    /// handed back, the content only says how it was delivered.
    fn result_text(&self, handback_report: Lazy, content: Lazy) -> String {
        let handed_back = field(handback_report, "text");
        if !handed_back.is_empty() {
            return handed_back.into_owned();
        }
        match content.or(self.tool_response).and_then(|raw| serde_json::from_str(raw.get()).ok()) {
            Some(Value::String(text)) => text,
            Some(Value::Array(blocks)) => {
                let texts = blocks.iter().filter_map(|block| block.get("text").and_then(Value::as_str));
                texts.collect::<Vec<_>>().join("\n")
            }
            _ => String::new(),
        }
    }

    /// The ids of the sub-agents that run in the background, with an empty text for one without an id. `None` if the
    /// client does not say.
    pub fn background_agents(&self) -> Option<Vec<String>> {
        let tasks: Vec<&RawValue> = serde_json::from_str(self.background_tasks?.get()).ok()?;
        let is_running_agent = |task: &&&RawValue| {
            let kind = field(Some(task), "type");
            (kind.is_empty() || kind == "subagent") && field(Some(task), "status") == "running"
        };
        Some(tasks.iter().filter(is_running_agent).map(|task| field(Some(task), "id").into_owned()).collect())
    }

    /// How much of the context window is used, in percent.
    pub fn context_percent(&self) -> Option<u32> {
        let percent: f64 = member(self.context_window, "used_percentage")?.get().parse().ok()?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=100")]
        Some(percent.clamp(0.0, 100.0) as u32)
    }
}

fn is_true(raw: Lazy<'_>) -> bool {
    matches!(raw, Some(raw) if raw.get() == "true")
}

/// The value of a string; empty for any other type.
fn string_value(raw: Option<&RawValue>) -> Cow<'_, str> {
    /// serde borrows a `Cow` only with this attribute.
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

    let Some(raw) = raw else { return Cow::Borrowed("") };
    match serde_json::from_str::<Text>(raw.get()) {
        Ok(text) => text.0,
        Err(_) => Cow::Borrowed(""),
    }
}

/// A text member of an object; empty if there is none.
fn field<'a>(object: Lazy<'a>, name: &str) -> Cow<'a, str> {
    string_value(member(object, name))
}

/// A member of an object. The other members are skipped without being stored.
fn member<'a>(object: Lazy<'a>, name: &str) -> Lazy<'a> {
    let [member] = members(object, [name]);
    member
}

/// Several members of an object, which is read only once: a result may be long.
fn members<'a, const N: usize>(object: Lazy<'a>, names: [&str; N]) -> [Lazy<'a>; N] {
    struct FindMembers<'n, const N: usize>([&'n str; N]);

    impl<'de, const N: usize> serde::de::Visitor<'de> for FindMembers<'_, N> {
        type Value = [Option<&'de RawValue>; N];

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = [None; N];
            while let Some(key) = map.next_key::<Cow<'_, str>>()? {
                let value = map.next_value::<&RawValue>()?;
                if let Some(index) = self.0.iter().position(|name| *name == key) {
                    found[index] = Some(value);
                }
            }
            Ok(found)
        }
    }

    let Some(object) = object else { return [None; N] };
    let mut deserializer = serde_json::Deserializer::from_str(object.get());
    let found = serde::Deserializer::deserialize_map(&mut deserializer, FindMembers(names));
    found.unwrap_or([None; N])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_the_wrong_type_count_as_missing() {
        let input =
            HookInput::parse(br#"{"session_id":7,"prompt":null,"tool_name":["x"],"is_interrupt":"true"}"#)
                .unwrap();
        assert_eq!(
            (input.session_id(), input.prompt(), input.tool_name()),
            ("".into(), "".into(), "".into())
        );
        assert!(!input.is_interrupt());
    }

    #[test]
    fn text_is_unescaped() {
        let input =
            HookInput::parse(r#"{"prompt":"a\n\"b\" 測","tool_input":{"command":"ls \u0041"}}"#.as_bytes())
                .unwrap();
        assert_eq!(input.prompt(), "a\n\"b\" 測");
        assert_eq!(input.input_text("command"), "ls A");
        assert_eq!(input.input_text("missing"), "");
    }

    #[test]
    fn a_payload_is_an_object_or_empty() {
        for bad in ["[]", "null", "42", "\"x\"", "{broken", "{} {}"] {
            assert!(HookInput::parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(HookInput::parse(b" \n").unwrap().session_id().is_empty());
        assert!(HookInput::parse(b"{\"a\":\xff}").is_err());
    }

    #[test]
    fn deep_nesting_is_skipped_or_refused_without_recursion() {
        let deep = format!("{{\"tool_input\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        let input = HookInput::parse(deep.as_bytes()).unwrap();
        assert_eq!(input.input_text("command"), "");
        assert_eq!(input.written_text(), "");
    }

    #[test]
    fn results_of_finished_and_launched_agents_are_parsed() {
        let done = br#"{"tool_response":{"status":"completed","agentId":"a1","content":[{"type":"text","text":"ok"}]}}"#;
        let result = HookInput::parse(done).unwrap().agent_result();
        assert_eq!(
            result,
            AgentResult {
                agent_id: Some("a1".into()),
                finished: true,
                content: "ok".into(),
                handback: String::new()
            }
        );
        let flagged = br#"{"tool_response":{"status":"completed","handback":"flagged",
            "handbackReport":{"text":"2 failed"},"content":[{"type":"text","text":"delivered as a message"}]}}"#;
        assert_eq!(HookInput::parse(flagged).unwrap().agent_result().content, "2 failed");
        let launched = br#"{"tool_response":{"isAsync":true,"status":"async_launched","agentId":"a2"}}"#;
        assert!(!HookInput::parse(launched).unwrap().agent_result().finished);
    }

    #[test]
    fn running_background_agents_are_listed() {
        let agents_in = |tasks: &str| {
            let json = format!("{{\"background_tasks\":{tasks}}}");
            HookInput::parse(json.as_bytes()).unwrap().background_agents()
        };
        let running =
            r#"[{"type":"subagent","status":"running","id":"a1"},{"type":"subagent","status":"running"}]"#;
        assert_eq!(agents_in(running), Some(vec!["a1".to_owned(), String::new()]));
        assert_eq!(
            agents_in(r#"[{"type":"subagent","status":"completed"},{"type":"shell","status":"running"}]"#),
            Some(Vec::new())
        );
        assert_eq!(agents_in("[]"), Some(Vec::new()));
        assert_eq!(agents_in("null"), None);
    }

    #[test]
    fn bash_failures_are_recognised_by_the_exit_code() {
        let error_in = |response: &str| {
            let json = format!("{{\"tool_response\":{response}}}");
            HookInput::parse(json.as_bytes()).unwrap().bash_error()
        };
        assert_eq!(error_in(r#"{"exit_code":2,"stderr":"boom"}"#).as_deref(), Some("boom"));
        assert_eq!(error_in(r#"{"exit_code":1,"returnCodeInterpretation":"No matches found"}"#), None);
        assert_eq!(error_in(r#"{"exit_code":0,"stderr":"warning"}"#), None);
        assert_eq!(error_in(r#"{"stdout":"fine"}"#), None);
    }
}
