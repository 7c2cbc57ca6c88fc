//! Plain text out of the nested content of a request.

use serde_json::Value;

/// All text below a `system` field, a message's `content` or a tool result, one part per line. Tool calls,
/// images and thoughts have no text.
pub(crate) fn text_of(content: &Value) -> String {
    let mut parts = Vec::new();
    collect(content, &mut parts);
    parts.join("\n")
}

fn collect<'a>(content: &'a Value, parts: &mut Vec<&'a str>) {
    match content {
        Value::String(text) => parts.push(text),
        Value::Array(blocks) => blocks.iter().for_each(|block| collect(block, parts)),
        Value::Object(block) => match block.get("type").and_then(Value::as_str) {
            Some("text") => parts.extend(block.get("text").and_then(Value::as_str)),
            Some("tool_result") => block.get("content").into_iter().for_each(|c| collect(c, parts)),
            _ => {}
        },
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_and_tool_results_are_found_and_calls_are_not() {
        let content = json!([
            {"type": "text", "text": "a"},
            {"type": "tool_use", "name": "Bash", "input": {"command": "hidden"}},
            {"type": "tool_result", "content": "b"},
            {"type": "tool_result", "content": [{"type": "text", "text": "c"}, {"type": "image"}]},
            {"type": "tool_result"},
        ]);
        assert_eq!(text_of(&content), "a\nb\nc");
        assert_eq!(text_of(&json!("plain")), "plain");
        assert_eq!(text_of(&Value::Null), "");
    }
}
