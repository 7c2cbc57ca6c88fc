//! When stages and agents were at work: bars for a chart.

use overtone_registry::EventKind;
use serde_json::{Map, Value, json};

use crate::page::Seen;

/// The spans in a run of events, in the order in which they began. One that has not ended has no end.
pub fn spans(events: &[Seen]) -> Vec<Value> {
    let mut spans: Vec<Span> = Vec::new();
    for event in events {
        let text = |name: &str| event.fields.get(name).and_then(Value::as_str).unwrap_or_default();
        match EventKind::from_name(text("type")) {
            Ok(EventKind::StageStart) => spans.push(Span::new("stage", text("stage"), "", &event.fields)),
            Ok(EventKind::AgentDelegate) => {
                spans.push(Span::new("agent", text("stage"), text("agent"), &event.fields));
            }
            Ok(EventKind::StageComplete | EventKind::StageRetry) => {
                end(&mut spans, "stage", text("stage"), "", &event.fields);
            }
            Ok(EventKind::AgentComplete | EventKind::AgentError) => {
                end(&mut spans, "agent", text("stage"), text("agent"), &event.fields);
            }
            _ => {}
        }
    }
    spans.iter().map(Span::to_json).collect()
}

struct Span {
    kind: &'static str,
    key: String,
    agent: String,
    start: Value,
    end: Value,
    result: Value,
    attempt: Value,
}

impl Span {
    fn new(kind: &'static str, key: &str, agent: &str, fields: &Map<String, Value>) -> Self {
        let value = |name: &str| fields.get(name).cloned().unwrap_or_default();
        Self {
            kind,
            key: key.to_owned(),
            agent: agent.to_owned(),
            start: value("ts"),
            end: Value::Null,
            result: Value::Null,
            attempt: value("attempt"),
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "kind": self.kind, "key": self.key, "agent": self.agent, "start": self.start, "end": self.end,
            "result": self.result, "attempt": self.attempt,
        })
    }
}

/// Ends the last open span of its kind. An agent that belongs to no stage of the workflow reports without one.
fn end(spans: &mut [Span], kind: &str, key: &str, agent: &str, fields: &Map<String, Value>) {
    let is_same_key = |span: &Span| span.key == key || (key.is_empty() && kind == "agent");
    let open = |span: &&mut Span| {
        span.kind == kind && is_same_key(span) && span.agent == agent && span.end.is_null()
    };
    if let Some(span) = spans.iter_mut().rev().find(open) {
        let value = |name: &str| fields.get(name).cloned().unwrap_or_default();
        span.end = value("ts");
        span.result = if fields.contains_key("error") { json!("error") } else { value("result") };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_without_a_stage_ends_too() {
        let event = |text: &str| Seen { place: 0, end: 0, fields: serde_json::from_str(text).unwrap() };
        let found = spans(&[
            event(r#"{"ts":"1","type":"agent:delegate","stage":"DEBUG","agent":"debugger"}"#),
            event(r#"{"ts":"2","type":"agent:complete","stage":null,"agent":"debugger","result":"pass"}"#),
        ]);
        assert_eq!(found[0]["end"], "2");
    }

    #[test]
    fn a_span_ends_with_its_own_end() {
        let event = |text: &str| Seen { place: 0, end: 0, fields: serde_json::from_str(text).unwrap() };
        let found = spans(&[
            event(r#"{"ts":"1","type":"stage:start","stage":"DEV","attempt":1}"#),
            event(r#"{"ts":"2","type":"agent:delegate","stage":"DEV","agent":"developer"}"#),
            event(r#"{"ts":"3","type":"agent:complete","stage":"DEV","agent":"developer","result":"fail"}"#),
            event(r#"{"ts":"3","type":"stage:retry","stage":"DEV","result":"fail"}"#),
            event(r#"{"ts":"4","type":"stage:start","stage":"DEV","attempt":2}"#),
        ]);
        let ends: Vec<_> = found.iter().map(|span| (span["kind"].as_str().unwrap(), &span["end"])).collect();
        assert_eq!(ends, [("stage", &json!("3")), ("agent", &json!("3")), ("stage", &Value::Null)]);
        assert_eq!((&found[0]["result"], &found[2]["attempt"]), (&json!("fail"), &json!(2)));
    }
}
