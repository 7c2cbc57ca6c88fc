//! An entry of an agent's transcript.

use serde_json::Value;

/// The report in one line of an agent's transcript: what it handed back, or else what it said. `None` for entries of
/// others and for lines that are no JSON, such as one that was cut.
pub fn report_in_transcript(line: &str) -> Option<String> {
    let entry: Value = serde_json::from_str(line).ok()?;
    if entry["type"] != "assistant" {
        return None;
    }
    let blocks = entry["message"]["content"].as_array()?;
    let handed_back = blocks.iter().rev().find(|block| block["name"] == "SubagentHandback");
    if let Some(message) = handed_back.and_then(|block| block["input"]["message"].as_str()) {
        return Some(message.to_owned());
    }
    let texts: Vec<_> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
