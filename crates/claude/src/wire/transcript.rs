//! An entry of an agent's transcript.

use serde_json::Value;

/// What a line of an agent's transcript means for its report.
#[derive(Debug, PartialEq, Eq)]
pub enum TranscriptEntry {
    /// The text that the agent handed back, or else its message.
    Report(String),
    /// A new prompt for the agent. Earlier reports do not answer it.
    Prompt,
    /// A tool's result, an entry of the client, or a line that is not JSON, such as one that was cut off.
    Other,
}

pub fn read_transcript_entry(line: &str) -> TranscriptEntry {
    let Ok(entry) = serde_json::from_str::<Value>(line) else { return TranscriptEntry::Other };
    match entry["type"].as_str() {
        Some("assistant") => match report_in(&entry) {
            Some(report) => TranscriptEntry::Report(report),
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
