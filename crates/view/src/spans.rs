//! When stages and agents were at work: bars for a chart, and spans for whoever measures.

use overtone_registry::EventKind;
use serde_json::{Map, Value, json};

use crate::page::Seen;

/// The spans in a run of events, in the order in which they began. One that has not ended has no end.
pub fn spans(events: &[Seen]) -> Vec<Value> {
    let mut spans = Spans::default();
    for event in events {
        spans.feed(event);
    }
    spans.list.iter().map(Span::to_json).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpanKind {
    Stage,
    Agent,
}

impl SpanKind {
    const fn key(self) -> &'static str {
        match self {
            Self::Stage => "stage",
            Self::Agent => "agent",
        }
    }
}

/// A stage or an agent at work.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub kind: SpanKind,
    pub stage: String,
    /// Empty for a stage.
    pub agent: String,
    /// Where the event stands that began it.
    pub place: u64,
    /// For an agent: where the stage began that it works on.
    pub within: Option<u64>,
    pub start: Value,
    pub attempt: Value,
    /// The fields of the event that ended it.
    pub end: Option<Map<String, Value>>,
    /// Which of several equal agents it is.
    slot: String,
    /// For a stage: when the last of its agents ended.
    last_report: Option<Value>,
}

impl Span {
    fn new(kind: SpanKind, event: &Seen) -> Self {
        Self {
            kind,
            stage: text(&event.fields, "stage").to_owned(),
            agent: if kind == SpanKind::Agent {
                text(&event.fields, "agent").to_owned()
            } else {
                String::new()
            },
            place: event.place,
            within: None,
            start: value(&event.fields, "ts"),
            attempt: value(&event.fields, "attempt"),
            end: None,
            slot: text(&event.fields, "slot").to_owned(),
            last_report: None,
        }
    }

    /// When it ended, as the timeline says.
    pub fn ended(&self) -> Value {
        self.end.as_ref().map(|fields| value(fields, "ts")).unwrap_or_default()
    }

    /// The verdict, or `error`.
    pub fn result(&self) -> Value {
        match &self.end {
            Some(fields) if fields.contains_key("error") => json!("error"),
            Some(fields) => value(fields, "result"),
            None => Value::Null,
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "kind": self.kind.key(), "key": self.stage, "agent": self.agent, "start": self.start,
            "end": self.ended(), "result": self.result(), "attempt": self.attempt,
        })
    }

    /// Whether this event is its end, as far as names go. An agent that belongs to no stage of the workflow reports
    /// without one.
    fn is_ended_by(&self, kind: SpanKind, fields: &Map<String, Value>) -> bool {
        let stage = text(fields, "stage");
        let is_same_agent = kind == SpanKind::Stage || self.agent == text(fields, "agent");
        let is_same_stage = self.stage == stage || (stage.is_empty() && kind == SpanKind::Agent);
        self.end.is_none() && self.kind == kind && is_same_agent && is_same_stage
    }
}

/// Spans, one event at a time.
#[derive(Debug, Clone, Default)]
pub struct Spans {
    list: Vec<Span>,
}

impl Spans {
    pub fn feed(&mut self, event: &Seen) {
        match EventKind::from_name(text(&event.fields, "type")) {
            Ok(EventKind::StageStart) => self.begin_stage(event),
            Ok(EventKind::AgentDelegate) => self.begin_agent(event),
            Ok(EventKind::StageComplete | EventKind::StageRetry) => self.end(SpanKind::Stage, &event.fields),
            Ok(EventKind::AgentComplete | EventKind::AgentError) => self.end(SpanKind::Agent, &event.fields),
            _ => {}
        }
    }

    /// Hands out those that have ended, and forgets them.
    pub fn take_ended(&mut self) -> Vec<Span> {
        self.list.extract_if(.., |span| span.end.is_some()).collect()
    }

    /// Those that have not ended.
    pub fn open(&self) -> impl Iterator<Item = &Span> {
        self.list.iter().filter(|span| span.end.is_none())
    }

    /// A stage whose agent broke off is begun again without a word about its end: it ended with that agent.
    fn begin_stage(&mut self, event: &Seen) {
        if let Some(span) = self.last(|span| span.is_ended_by(SpanKind::Stage, &event.fields)) {
            let at = span.last_report.clone().unwrap_or_else(|| value(&event.fields, "ts"));
            let broke_off =
                [("ts", at), ("error", Value::Null)].map(|(name, value)| (name.to_owned(), value));
            span.end = Some(broke_off.into_iter().collect());
        }
        self.list.push(Span::new(SpanKind::Stage, event));
    }

    fn begin_agent(&mut self, event: &Seen) {
        let mut span = Span::new(SpanKind::Agent, event);
        span.within =
            self.last(|span| span.is_ended_by(SpanKind::Stage, &event.fields)).map(|stage| stage.place);
        self.list.push(span);
    }

    /// Ends the agent in the named slot, else the last open one of its kind.
    fn end(&mut self, kind: SpanKind, fields: &Map<String, Value>) {
        let slot = text(fields, "slot");
        let has_slot = |span: &Span| !slot.is_empty() && span.slot == slot;
        let named = self.last(|span| has_slot(span) && span.is_ended_by(kind, fields)).map(|span| span.place);
        let is_meant = |span: &Span| named.is_none_or(|place| span.place == place && has_slot(span));
        let Some(span) = self.last(|span| is_meant(span) && span.is_ended_by(kind, fields)) else { return };
        span.end = Some(fields.clone());
        let within = span.within;
        if let Some(stage) = self.last(|span| span.kind == SpanKind::Stage && Some(span.place) == within) {
            stage.last_report = Some(value(fields, "ts"));
        }
    }

    fn last(&mut self, is_wanted: impl Fn(&Span) -> bool) -> Option<&mut Span> {
        self.list.iter_mut().rev().find(|span| is_wanted(span))
    }
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn value(fields: &Map<String, Value>, name: &str) -> Value {
    fields.get(name).cloned().unwrap_or_default()
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

    #[test]
    fn twins_are_told_apart_and_a_stage_that_broke_off_ends_with_its_agent() {
        let mut spans = Spans::default();
        for (place, text) in (0..).zip([
            r#"{"ts":"1","type":"stage:start","stage":"DEV","attempt":1}"#,
            r#"{"ts":"2","type":"agent:delegate","stage":"DEV","agent":"developer","slot":"developer"}"#,
            r#"{"ts":"3","type":"agent:delegate","stage":"DEV","agent":"developer","slot":"developer:2"}"#,
            r#"{"ts":"4","type":"agent:complete","stage":"DEV","agent":"developer","slot":"developer","result":"pass"}"#,
            r#"{"ts":"5","type":"agent:error","stage":"DEV","agent":"developer","slot":"developer:2","error":"x"}"#,
            r#"{"ts":"9","type":"stage:start","stage":"DEV","attempt":2}"#,
        ]) {
            spans.feed(&Seen { place, end: 0, fields: serde_json::from_str(text).unwrap() });
        }
        let ended: Vec<_> =
            spans.take_ended().iter().map(|s| (s.place, s.within, s.ended(), s.result())).collect();
        let wanted = [(0, None, "5", "error"), (1, Some(0), "4", "pass"), (2, Some(0), "5", "error")];
        assert_eq!(
            ended,
            wanted.map(|(place, within, end, result)| (place, within, json!(end), json!(result)))
        );
        assert_eq!(spans.open().map(|span| span.place).collect::<Vec<_>>(), [5]);
    }
}
