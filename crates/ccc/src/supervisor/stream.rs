//! Parses the reviewer's output, line by line: texts to show, and the result at the end.

use serde_json::Value;

/// A parsed line of the stream.
#[derive(Debug, PartialEq)]
pub enum StreamLine {
    Text(Vec<String>),
    Result(ResultLine),
    /// Not JSON, or a line that needs no action.
    Other,
}

/// The result line, which is the last line of a review.
#[derive(Debug, PartialEq)]
pub struct ResultLine {
    pub is_error: bool,
    /// The client ended the review because the budget was used up.
    pub out_of_budget: bool,
    pub cost_usd: f64,
    pub structured: Option<Value>,
    pub text: String,
}

/// Parses a line. It never fails: an unknown line is [`StreamLine::Other`].
pub fn parse_line(line: &str) -> StreamLine {
    let Ok(value) = serde_json::from_str::<Value>(line) else { return StreamLine::Other };
    match value["type"].as_str() {
        Some("result") => StreamLine::Result(result_line(&value)),
        Some("text") => texts(std::slice::from_ref(&value)),
        Some("assistant") => match &value["message"]["content"] {
            Value::Array(blocks) => texts(blocks),
            _ => texts(&[]),
        },
        _ => StreamLine::Other,
    }
}

fn texts(blocks: &[Value]) -> StreamLine {
    let text =
        |block: &Value| block["text"].as_str().or_else(|| block["content"].as_str()).map(str::to_owned);
    let blocks = blocks.iter().filter(|block| block["type"] == "text");
    StreamLine::Text(blocks.filter_map(text).filter(|text| !text.trim().is_empty()).collect())
}

fn result_line(value: &Value) -> ResultLine {
    let subtype = value["subtype"].as_str().unwrap_or_default();
    let failed = subtype.starts_with("error");
    ResultLine {
        out_of_budget: failed && subtype.contains("budget"),
        cost_usd: value["total_cost_usd"].as_f64().unwrap_or(0.0),
        is_error: failed || value["is_error"] == true,
        structured: value.get("structured_output").filter(|output| !output.is_null()).cloned(),
        text: result_text(&value["result"]),
    }
}

/// The result as text; JSON of another type is serialized.
fn result_text(result: &Value) -> String {
    match result {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_in_both_forms() {
        let assistant = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"a"},{"type":"tool_use","text":"no"},{"type":"text","text":"b"}]}}"#;
        assert_eq!(parse_line(assistant), StreamLine::Text(vec!["a".into(), "b".into()]));
        assert_eq!(parse_line(r#"{"type":"text","text":"c"}"#), StreamLine::Text(vec!["c".into()]));
    }

    #[test]
    fn error_results_are_recognised() {
        let is_error = |line: &str| match parse_line(line) {
            StreamLine::Result(result) => Some(result.is_error),
            _ => None,
        };
        assert_eq!(
            is_error(r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error"}"#),
            Some(true)
        );
        assert_eq!(is_error(r#"{"type":"result","subtype":"error_during_execution"}"#), Some(true));
        assert_eq!(is_error(r#"{"type":"result","subtype":"success","result":""}"#), Some(false));
        for other in ["", "x", "[]", "7", r#"{"type":7}"#, r#"{"type":"system","subtype":"init"}"#] {
            assert_eq!(parse_line(other), StreamLine::Other, "{other}");
        }
    }
}
