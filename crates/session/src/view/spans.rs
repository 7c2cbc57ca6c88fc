//! The spans of time in which stages and agents were at work, for charts and telemetry.

use overtone_core::registry::EventKind;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::view::page::TimelineEvent;
use crate::view::summary::to_value;

/// The spans in a sequence of events as JSON, in the order in which they began. An open span has no end.
pub fn spans(events: &[TimelineEvent]) -> Vec<Value> {
    let mut spans = Spans::default();
    for event in events {
        spans.add_event(event);
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

/// The time in which a stage or an agent was at work.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    pub kind: SpanKind,
    pub stage: String,
    /// Empty for a stage.
    pub agent: String,
    /// The offset of the event that began it.
    pub offset: u64,
    /// For an agent: the `offset` of the span of its stage.
    pub stage_offset: Option<u64>,
    pub start: Value,
    pub attempt: Value,
    /// The fields of the event that ended it.
    pub end: Option<Map<String, Value>>,
    /// Tells apart several agents of the same type.
    slot: String,
    /// For a stage: when its last agent ended.
    last_report: Option<Value>,
}

impl Span {
    fn new(kind: SpanKind, event: &TimelineEvent) -> Self {
        let agent = if kind == SpanKind::Agent { text_field(&event.fields, "agent") } else { "" };
        Self {
            kind,
            stage: text_field(&event.fields, "stage").to_owned(),
            agent: agent.to_owned(),
            offset: event.offset,
            stage_offset: None,
            start: value(&event.fields, "ts"),
            attempt: value(&event.fields, "attempt"),
            end: None,
            slot: text_field(&event.fields, "slot").to_owned(),
            last_report: None,
        }
    }

    /// The timestamp of its end; `null` if it is open.
    pub fn ended(&self) -> Value {
        self.end.as_ref().map(|fields| value(fields, "ts")).unwrap_or_default()
    }

    /// The verdict, or `error`; `null` if it is open.
    pub fn result(&self) -> Value {
        match &self.end {
            Some(fields) if fields.contains_key("error") => json!("error"),
            Some(fields) => value(fields, "result"),
            None => Value::Null,
        }
    }

    fn to_json(&self) -> Value {
        to_value(&SpanJson {
            kind: self.kind.key(),
            key: &self.stage,
            agent: &self.agent,
            start: &self.start,
            end: self.ended(),
            result: self.result(),
            attempt: &self.attempt,
        })
    }

    /// Whether the span is open and the event with these fields is about the same stage or agent. The report of an agent
    /// that belongs to no stage of the workflow names no stage.
    fn is_open_for(&self, kind: SpanKind, fields: &Map<String, Value>) -> bool {
        let stage = text_field(fields, "stage");
        let is_same_agent = kind == SpanKind::Stage || self.agent == text_field(fields, "agent");
        let is_same_stage = self.stage == stage || (stage.is_empty() && kind == SpanKind::Agent);
        self.end.is_none() && self.kind == kind && is_same_agent && is_same_stage
    }
}

#[derive(Serialize)]
struct SpanJson<'a> {
    kind: &'static str,
    key: &'a str,
    agent: &'a str,
    start: &'a Value,
    end: Value,
    result: Value,
    attempt: &'a Value,
}

/// Collects spans from events, one event at a time.
#[derive(Debug, Clone, Default)]
pub struct Spans {
    list: Vec<Span>,
}

impl Spans {
    pub fn add_event(&mut self, event: &TimelineEvent) {
        match EventKind::from_name(text_field(&event.fields, "type")) {
            Ok(EventKind::StageStart) => self.begin_stage(event),
            Ok(EventKind::AgentDelegate) => self.begin_agent(event),
            Ok(EventKind::StageComplete | EventKind::StageRetry) => {
                self.end_span(SpanKind::Stage, &event.fields);
            }
            Ok(EventKind::AgentComplete | EventKind::AgentError) => {
                self.end_span(SpanKind::Agent, &event.fields);
            }
            _ => {}
        }
    }

    /// Removes the spans that have ended, and returns them.
    pub fn take_ended(&mut self) -> Vec<Span> {
        self.list.extract_if(.., |span| span.end.is_some()).collect()
    }

    /// The spans that have not ended.
    pub fn open(&self) -> impl Iterator<Item = &Span> {
        self.list.iter().filter(|span| span.end.is_none())
    }

    /// When an agent breaks off, its stage starts again without an event for the end of the first attempt. That attempt
    /// ended with its last agent.
    fn begin_stage(&mut self, event: &TimelineEvent) {
        if let Some(span) = self.find_last(|span| span.is_open_for(SpanKind::Stage, &event.fields)) {
            let at = span.last_report.clone().unwrap_or_else(|| value(&event.fields, "ts"));
            let broke_off =
                [("ts", at), ("error", Value::Null)].map(|(name, value)| (name.to_owned(), value));
            span.end = Some(broke_off.into_iter().collect());
        }
        self.list.push(Span::new(SpanKind::Stage, event));
    }

    fn begin_agent(&mut self, event: &TimelineEvent) {
        let mut span = Span::new(SpanKind::Agent, event);
        let stage = self.find_last(|span| span.is_open_for(SpanKind::Stage, &event.fields));
        span.stage_offset = stage.map(|stage| stage.offset);
        self.list.push(span);
    }

    /// Ends the agent in the slot that the event names, else the last open span that the event is about.
    fn end_span(&mut self, kind: SpanKind, fields: &Map<String, Value>) {
        let slot = text_field(fields, "slot");
        let is_candidate = |span: &Span| span.is_open_for(kind, fields);
        let in_slot = |span: &Span| !slot.is_empty() && span.slot == slot && is_candidate(span);
        let index = self.list.iter().rposition(in_slot).or_else(|| self.list.iter().rposition(is_candidate));
        let Some(index) = index else { return };
        let span = &mut self.list[index];
        span.end = Some(fields.clone());
        let Some(stage_offset) = span.stage_offset else { return };
        let is_stage = |span: &Span| span.kind == SpanKind::Stage && span.offset == stage_offset;
        if let Some(stage) = self.find_last(is_stage) {
            stage.last_report = Some(value(fields, "ts"));
        }
    }

    fn find_last(&mut self, matches: impl Fn(&Span) -> bool) -> Option<&mut Span> {
        self.list.iter_mut().rev().find(|span| matches(span))
    }
}

fn text_field<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn value(fields: &Map<String, Value>, name: &str) -> Value {
    fields.get(name).cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_of_an_agent_may_name_no_stage() {
        let event =
            |text: &str| TimelineEvent { offset: 0, end: 0, fields: serde_json::from_str(text).unwrap() };
        let found = spans(&[
            event(r#"{"ts":"1","type":"agent:delegate","stage":"DEBUG","agent":"debugger"}"#),
            event(r#"{"ts":"2","type":"agent:complete","stage":null,"agent":"debugger","result":"pass"}"#),
        ]);
        assert_eq!(found[0]["end"], "2");
    }

    #[test]
    fn a_span_ends_with_its_own_end() {
        let event =
            |text: &str| TimelineEvent { offset: 0, end: 0, fields: serde_json::from_str(text).unwrap() };
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
    fn agents_of_the_same_type_are_told_apart_and_a_broken_off_stage_ends_with_its_agent() {
        let mut spans = Spans::default();
        for (offset, text) in (0..).zip([
            r#"{"ts":"1","type":"stage:start","stage":"DEV","attempt":1}"#,
            r#"{"ts":"2","type":"agent:delegate","stage":"DEV","agent":"developer","slot":"developer"}"#,
            r#"{"ts":"3","type":"agent:delegate","stage":"DEV","agent":"developer","slot":"developer:2"}"#,
            r#"{"ts":"4","type":"agent:complete","stage":"DEV","agent":"developer","slot":"developer","result":"pass"}"#,
            r#"{"ts":"5","type":"agent:error","stage":"DEV","agent":"developer","slot":"developer:2","error":"x"}"#,
            r#"{"ts":"9","type":"stage:start","stage":"DEV","attempt":2}"#,
        ]) {
            spans.add_event(&TimelineEvent { offset, end: 0, fields: serde_json::from_str(text).unwrap() });
        }
        let ended: Vec<_> =
            spans.take_ended().iter().map(|s| (s.offset, s.stage_offset, s.ended(), s.result())).collect();
        let expected = [(0, None, "5", "error"), (1, Some(0), "4", "pass"), (2, Some(0), "5", "error")];
        assert_eq!(
            ended,
            expected.map(|(offset, stage, end, result)| (offset, stage, json!(end), json!(result)))
        );
        assert_eq!(spans.open().map(|span| span.offset).collect::<Vec<_>>(), [5]);
    }
}
