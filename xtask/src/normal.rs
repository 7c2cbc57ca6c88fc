//! State without what differs from run to run: times and durations.

use jiff::Timestamp;
use serde_json::Value;

/// Put in place of a time.
const TIME: &str = "<time>";

/// The value with every point in time and every duration replaced.
pub(crate) fn timeless(value: Value) -> Value {
    match value {
        Value::String(text) if text.parse::<Timestamp>().is_ok() => Value::String(TIME.to_owned()),
        Value::Array(items) => Value::Array(items.into_iter().map(timeless).collect()),
        Value::Object(fields) => {
            let still = |(name, value)| {
                if name == "durationMs" { (name, Value::Null) } else { (name, timeless(value)) }
            };
            Value::Object(fields.into_iter().map(still).collect())
        }
        other => other,
    }
}

/// A JSON text without times; `None` if it is not JSON.
pub(crate) fn timeless_text(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().map(timeless)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_times_are_replaced() {
        let value = json!({"ts": "2026-02-23T14:00:00.000Z", "durationMs": 7, "list": ["x", "2026-02-23T14:00:00Z"], "n": 1});
        let wanted = json!({"ts": TIME, "durationMs": null, "list": ["x", TIME], "n": 1});
        assert_eq!(timeless(value), wanted);
        assert_eq!(timeless_text("{torn"), None);
    }
}
