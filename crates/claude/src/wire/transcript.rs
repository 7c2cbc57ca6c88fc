//! An entry of an agent's transcript.

use std::borrow::Cow;

use overtone_core::economy::Tokens;
use serde::Deserialize;
use serde_json::Value;

/// What a line of an agent's transcript means for its report.
#[derive(Debug, PartialEq, Eq)]
pub enum TranscriptEntry {
    /// The text that the agent handed back, or else its message, with the time of the entry.
    Report { text: String, time: Option<String> },
    /// A new prompt for the agent. Earlier reports do not answer it.
    Prompt,
    /// A tool's result, an entry of the client, or a line that is not JSON, such as one that was cut off.
    Other,
}

pub fn read_transcript_entry(line: &str) -> TranscriptEntry {
    let Ok(entry) = serde_json::from_str::<Value>(line) else { return TranscriptEntry::Other };
    match entry["type"].as_str() {
        Some("assistant") => match report_in(&entry) {
            Some(text) => {
                TranscriptEntry::Report { text, time: entry["timestamp"].as_str().map(str::to_owned) }
            }
            None => TranscriptEntry::Other,
        },
        Some("user") if is_prompt(&entry["message"]["content"]) => TranscriptEntry::Prompt,
        _ => TranscriptEntry::Other,
    }
}

/// Tool results are entries of the type `user` too, but not prompts.
fn is_prompt(content: &Value) -> bool {
    match content {
        Value::String(_) => true,
        Value::Array(blocks) => {
            !blocks.is_empty() && blocks.iter().all(|block| block["type"] != "tool_result")
        }
        _ => false,
    }
}

fn report_in(entry: &Value) -> Option<String> {
    let blocks = entry["message"]["content"].as_array()?;
    let handed_back = blocks.iter().rev().find(|block| block["name"] == "SubagentHandback");
    if let Some(message) = handed_back.and_then(|block| block["input"]["message"].as_str()) {
        return Some(message.to_owned());
    }
    let texts: Vec<_> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    if texts.is_empty() { None } else { Some(texts.join("\n")) }
}

/// A part of a transcript that tells what the agent did.
#[derive(Debug, PartialEq, Eq)]
pub enum TranscriptAction {
    /// The agent calls a tool. `command` is that of a shell tool.
    Call { id: String, tool: String, command: String },
    /// A tool has answered.
    Result { id: String, failed: bool, output: String },
}

/// What the agent did in this entry, with the time of the entry. Empty for entries of other kinds.
pub fn read_transcript_actions(line: &str) -> (Option<String>, Vec<TranscriptAction>) {
    let Ok(entry) = serde_json::from_str::<Value>(line) else { return (None, Vec::new()) };
    let time = entry["timestamp"].as_str().map(str::to_owned);
    let blocks = entry["message"]["content"].as_array().into_iter().flatten();
    (time, blocks.filter_map(read_action).collect())
}

fn read_action(block: &Value) -> Option<TranscriptAction> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match block["type"].as_str()? {
        "tool_use" => Some(TranscriptAction::Call {
            id: text(&block["id"]),
            tool: text(&block["name"]),
            command: text(&block["input"]["command"]),
        }),
        "tool_result" => Some(TranscriptAction::Result {
            id: text(&block["tool_use_id"]),
            failed: block["is_error"] == true,
            output: result_text(&block["content"]),
        }),
        _ => None,
    }
}

/// The text of a result, which is a string or a list of blocks.
fn result_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

/// What one message of the model has used, as far as it is written.
#[derive(Debug, PartialEq, Eq)]
pub struct MessageUsage {
    pub id: String,
    pub model: String,
    pub time: Option<String>,
    pub tokens: Tokens,
    /// The message is part of a sub-agent's conversation.
    pub is_sidechain: bool,
    /// The message was copied from the conversation that this one was forked from.
    pub is_copied: bool,
}

/// The model of messages that the client made up, such as errors of the API.
const SYNTHETIC_MODEL: &str = "<synthetic>";

/// The fields of an entry that are needed for its usage. The texts of the message are skipped.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UsageFields<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(default)]
    timestamp: Value,
    #[serde(default)]
    is_sidechain: Value,
    #[serde(default)]
    forked_from: Value,
    message: MessageFields,
}

#[derive(Deserialize)]
struct MessageFields {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    model: Value,
    usage: Value,
}

/// The usage in a line. `None` for a line without one.
pub fn read_transcript_usage(line: &[u8]) -> Option<MessageUsage> {
    let entry: UsageFields = serde_json::from_slice(line).ok()?;
    let (message, usage) = (&entry.message, &entry.message.usage);
    let model = message.model.as_str().unwrap_or_default();
    let is_answer = matches!(entry.kind.as_deref(), None | Some("assistant"));
    if !is_answer || !usage.is_object() || model == SYNTHETIC_MODEL {
        return None;
    }
    let count = |value: &Value| value.as_u64().unwrap_or(0);
    let cache_write = count(&usage["cache_creation_input_tokens"]);
    let tokens = Tokens {
        input: count(&usage["input_tokens"]),
        output: count(&usage["output_tokens"]),
        cache_read: count(&usage["cache_read_input_tokens"]),
        cache_write,
        cache_write_1h: count(&usage["cache_creation"]["ephemeral_1h_input_tokens"]).min(cache_write),
    };
    Some(MessageUsage {
        id: message.id.as_str().unwrap_or_default().to_owned(),
        model: model.to_owned(),
        time: entry.timestamp.as_str().map(str::to_owned),
        tokens,
        is_sidechain: entry.is_sidechain == true,
        is_copied: !entry.forked_from.is_null(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_results_are_read() {
        let call = r#"{"type":"assistant","timestamp":"2026-01-02T03:04:05.000Z","message":{"content":[
            {"type":"text","text":"now"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make test"}}]}}"#;
        let expected =
            TranscriptAction::Call { id: "t1".into(), tool: "Bash".into(), command: "make test".into() };
        assert_eq!(read_transcript_actions(call), (Some("2026-01-02T03:04:05.000Z".into()), vec![expected]));
        let result = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,
            "content":[{"type":"text","text":"1 failed"}]}]}}"#;
        let expected = TranscriptAction::Result { id: "t1".into(), failed: true, output: "1 failed".into() };
        assert_eq!(read_transcript_actions(result), (None, vec![expected]));
        assert_eq!(read_transcript_actions("{\"cut"), (None, Vec::new()));
    }

    #[test]
    fn the_usage_of_a_message_is_read() {
        let line = r#"{"type":"assistant","timestamp":"2026-01-02T03:04:05.000Z","isSidechain":true,"message":{
            "id":"m1","model":"claude-opus-5","content":[{"type":"text","text":"\"usage\""}],"usage":{
            "input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":9,
            "cache_creation":{"ephemeral_5m_input_tokens":5,"ephemeral_1h_input_tokens":4}}}}"#;
        let expected = MessageUsage {
            id: "m1".into(),
            model: "claude-opus-5".into(),
            time: Some("2026-01-02T03:04:05.000Z".into()),
            tokens: Tokens { input: 1, output: 2, cache_read: 3, cache_write: 9, cache_write_1h: 4 },
            is_sidechain: true,
            is_copied: false,
        };
        assert_eq!(read_transcript_usage(line.as_bytes()), Some(expected));
    }

    #[test]
    fn other_lines_have_no_usage() {
        let lines = [
            r#"{"type":"user","message":{"content":"x","usage":{"input_tokens":1}}}"#,
            r#"{"type":"user","toolUseResult":{"usage":{"input_tokens":1}},"message":{"content":"x"}}"#,
            r#"{"type":"assistant","message":{"id":"m","model":"<synthetic>","usage":{"input_tokens":0}}}"#,
            r#"{"type":"assistant","message":{"id":"m","usage":7}}"#,
            r#"{"type":"assistant","message":"x"}"#,
            r#"{"type":7,"message":{"usage":{}}}"#,
            r#"{"type":"assistant","message":{"usage":{"#,
            "[]",
            "",
        ];
        for line in lines {
            assert_eq!(read_transcript_usage(line.as_bytes()), None, "{line}");
        }
    }
}
