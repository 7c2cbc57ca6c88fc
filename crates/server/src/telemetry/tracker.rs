//! Reads one timeline and returns the workflows, stages and agents that have ended, and what to count.
//!
//! Only what has not ended is kept in memory, so a timeline may have any length, and reading again from the first line
//! of the open workflow gives the same result.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use overtone_core::engine::state::Millis;
use overtone_core::registry::EventKind;
use overtone_session::view::{Query, Span, SpanKind, Spans, TimelineEvent, read_page};
use overtone_store::clock;
use serde_json::{Map, Value};

use crate::telemetry::progress::Cursor;
use crate::telemetry::safe_name;
use crate::telemetry::stage_evidence::{Report, StageEvidence};
use crate::telemetry::totals::{Count, Metric};

/// How many events are read at a time.
const EVENTS_PER_READ: usize = 500;
const RELEVANT_EVENTS: [EventKind; 12] = [
    EventKind::WorkflowStart,
    EventKind::WorkflowComplete,
    EventKind::WorkflowAbort,
    EventKind::StageStart,
    EventKind::StageComplete,
    EventKind::StageRetry,
    EventKind::AgentDelegate,
    EventKind::AgentComplete,
    EventKind::AgentError,
    EventKind::LoopStart,
    EventKind::LoopAdvance,
    EventKind::SystemWarning,
];

/// How far a timeline was read, and what is open at that offset.
#[derive(Debug, Clone, Default)]
pub(crate) struct TimelineTracker {
    pub(crate) offset: u64,
    workflow: Option<OpenWorkflow>,
    /// The time of the last event, used for events without a time.
    last_time: Option<Millis>,
}

#[derive(Debug, Clone)]
struct OpenWorkflow {
    /// The offset of its first line, which identifies the trace.
    offset: u64,
    name: String,
    /// `None` after an abort; the user may resume the workflow.
    root: Option<Root>,
    spans: Spans,
    /// The evidence for the open stages.
    evidence: HashMap<String, StageEvidence>,
}

/// The root span: the workflow itself, or the part of it since it was resumed.
#[derive(Debug, Clone, Copy)]
struct Root {
    offset: u64,
    started: Millis,
}

/// A workflow, stage or agent that has ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FinishedSpan {
    /// The offset of the first line of its workflow.
    pub(crate) trace: u64,
    pub(crate) offset: u64,
    pub(crate) parent: Option<u64>,
    pub(crate) name: String,
    pub(crate) start: Millis,
    pub(crate) end: Millis,
    pub(crate) status: SpanStatus,
    pub(crate) workflow: String,
    pub(crate) stage: Option<String>,
    /// The client's id of the agent, by which its conversation is found. It is not sent.
    pub(crate) agent_id: Option<String>,
    pub(crate) attributes: Vec<(&'static str, Attribute)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Attribute {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
}

/// The status of a span; an error has a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpanStatus {
    Ok,
    Unset,
    Error(&'static str),
}

/// What was found in a part of the timeline.
#[derive(Debug, Default)]
pub(crate) struct ExportBatch {
    pub(crate) finished: Vec<FinishedSpan>,
    pub(crate) counts: Vec<Count>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Completed,
    Aborted,
    Replaced,
}

impl Outcome {
    const fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Aborted => "aborted",
            Self::Replaced => "replaced",
        }
    }

    /// A replaced workflow is not an error, because the user chose to replace it.
    const fn status(self) -> SpanStatus {
        match self {
            Self::Completed => SpanStatus::Ok,
            Self::Aborted => SpanStatus::Error("workflow aborted"),
            Self::Replaced => SpanStatus::Unset,
        }
    }
}

impl TimelineTracker {
    /// Restores the tracker at a cursor by reading the open workflow again.
    pub(crate) fn at_cursor(path: &Path, cursor: &Cursor) -> io::Result<Self> {
        let mut tracker = Self { offset: cursor.workflow_offset.unwrap_or(cursor.offset), ..Self::default() };
        while tracker.offset < cursor.offset {
            let page = read_page(path, &query(tracker.offset))?;
            for event in page.events.iter().filter(|event| event.offset < cursor.offset) {
                tracker.process(event, &mut ExportBatch::default());
            }
            let is_at_end = page.newer == tracker.offset;
            tracker.offset = if is_at_end { cursor.offset } else { page.newer.min(cursor.offset) };
        }
        Ok(tracker)
    }

    pub(crate) fn cursor(&self) -> Cursor {
        let workflow_offset = self.workflow.as_ref().map(|workflow| workflow.offset);
        Cursor { offset: self.offset, workflow_offset, ..Cursor::default() }
    }

    /// Reads the next events. The offset does not change if there are none.
    pub(crate) fn read_next(&mut self, path: &Path) -> io::Result<ExportBatch> {
        let page = read_page(path, &query(self.offset))?;
        let mut batch = ExportBatch::default();
        for event in &page.events {
            self.process(event, &mut batch);
        }
        self.offset = page.newer;
        Ok(batch)
    }

    fn process(&mut self, event: &TimelineEvent, batch: &mut ExportBatch) {
        let fields = &event.fields;
        let at = clock::from_iso(text_field(fields, "ts")).or(self.last_time).unwrap_or(Millis(0));
        self.last_time = Some(at);
        let Ok(kind) = EventKind::from_name(text_field(fields, "type")) else { return };
        match kind {
            EventKind::WorkflowStart => self.start_workflow(event, at, batch),
            EventKind::WorkflowComplete => self.end_workflow(Outcome::Completed, Some(fields), at, batch),
            EventKind::WorkflowAbort if text_field(fields, "reason") == "replaced" => {
                self.end_workflow(Outcome::Replaced, Some(fields), at, batch);
            }
            EventKind::WorkflowAbort => self.end_workflow(Outcome::Aborted, Some(fields), at, batch),
            EventKind::LoopStart => self.resume_workflow(event, at),
            _ => self.process_stage_or_agent(kind, event, batch),
        }
    }

    fn start_workflow(&mut self, event: &TimelineEvent, at: Millis, batch: &mut ExportBatch) {
        self.end_workflow(Outcome::Replaced, None, at, batch);
        self.workflow = Some(OpenWorkflow {
            offset: event.offset,
            name: safe_name::name(text_field(&event.fields, "workflowType")).to_owned(),
            root: Some(Root { offset: event.offset, started: at }),
            spans: Spans::default(),
            evidence: HashMap::new(),
        });
    }

    /// The user resumes an aborted workflow: the trace gets a second root span.
    fn resume_workflow(&mut self, event: &TimelineEvent, at: Millis) {
        let Some(workflow) = &mut self.workflow else { return };
        if workflow.root.is_none() && text_field(&event.fields, "reason") == "resumed" {
            workflow.root = Some(Root { offset: event.offset, started: at });
        }
    }

    /// Ends the workflow together with its open stages and agents.
    fn end_workflow(
        &mut self,
        outcome: Outcome,
        fields: Option<&Map<String, Value>>,
        at: Millis,
        batch: &mut ExportBatch,
    ) {
        let Some(mut workflow) = self.workflow.take() else { return };
        let Some(root) = workflow.root.take() else {
            // It was aborted before. It is kept, because the user may still resume it.
            self.workflow = Some(workflow);
            return;
        };
        for span in workflow.spans.open() {
            batch.finished.push(workflow.finished_span(root, span, at, outcome.status()));
        }
        batch.finished.push(workflow.root_span(root, outcome, fields, at));
        batch.counts.push(workflow.count(Metric::Workflows, "", outcome.name()));
        if outcome == Outcome::Aborted {
            self.workflow =
                Some(OpenWorkflow { spans: Spans::default(), evidence: HashMap::new(), ..workflow });
        }
    }

    fn process_stage_or_agent(&mut self, kind: EventKind, event: &TimelineEvent, batch: &mut ExportBatch) {
        let Some(workflow) = &mut self.workflow else { return };
        let Some(root) = workflow.root else { return };
        batch.counts.extend(workflow.count_event(kind, &event.fields));
        if let Some(report) = Report::from_event(kind, &event.fields) {
            let stage = text_field(&event.fields, "stage");
            batch.counts.extend(workflow.count_checks(stage, &report));
            workflow.add_report(stage, report);
        }
        workflow.spans.add_event(event);
        for span in workflow.spans.take_ended() {
            let end = time(&span.ended()).unwrap_or(root.started);
            batch.finished.push(workflow.finished_span(root, &span, end, span_status(&span)));
            if span.kind == SpanKind::Stage {
                workflow.evidence.remove(&span.stage);
            }
        }
    }
}

impl OpenWorkflow {
    fn count(&self, metric: Metric, stage: &str, detail: &str) -> Count {
        let stage = if stage.is_empty() { "" } else { safe_name::name(stage) };
        Count::one(metric, &self.name, stage, detail)
    }

    fn count_event(&self, kind: EventKind, fields: &Map<String, Value>) -> Option<Count> {
        let stage = text_field(fields, "stage");
        match kind {
            EventKind::StageRetry => {
                Some(self.count(Metric::StageFailures, stage, safe_name::name(text_field(fields, "result"))))
            }
            EventKind::StageStart => {
                let attempt = fields.get("attempt").and_then(Value::as_i64)?;
                if attempt > 1 { Some(self.count(Metric::Retries, stage, "")) } else { None }
            }
            EventKind::LoopAdvance => Some(self.count(Metric::Blocks, stage, "")),
            _ => None,
        }
    }

    fn count_checks(&self, stage: &str, report: &Report) -> Vec<Count> {
        let stage = if stage.is_empty() { "" } else { safe_name::name(stage) };
        // Far below 2^32: an event is a line of bounded length.
        let amount = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let count =
            |(outcome, number)| Count::new(Metric::Checks, &self.name, stage, outcome, amount(number));
        report.outcomes().map(count).into_iter().filter(Count::is_positive).collect()
    }

    /// Reports of a stage that is not open belong to no span.
    fn add_report(&mut self, stage: &str, report: Report) {
        let is_open = |span: &Span| span.kind == SpanKind::Stage && span.stage == stage;
        if self.spans.open().any(is_open) {
            self.evidence.entry(stage.to_owned()).or_default().add(report);
        }
    }

    fn finished_span(&self, root: Root, span: &Span, end: Millis, status: SpanStatus) -> FinishedSpan {
        let start = time(&span.start).unwrap_or(root.started);
        let (kind, name) = match span.kind {
            SpanKind::Stage => ("stage", &span.stage),
            SpanKind::Agent => ("agent", &span.agent),
        };
        let agent_id =
            span.end.as_ref().map(|fields| text_field(fields, "agentId")).filter(|id| !id.is_empty());
        let stage = if span.stage.is_empty() { None } else { Some(safe_name::name(&span.stage).to_owned()) };
        FinishedSpan {
            trace: self.offset,
            offset: span.offset,
            parent: Some(span.stage_offset.unwrap_or(root.offset)),
            name: format!("{kind} {}", safe_name::name(name)),
            start,
            end: end.max(start),
            status,
            workflow: self.name.clone(),
            stage,
            agent_id: agent_id.map(str::to_owned),
            attributes: self.attributes(span),
        }
    }

    fn evidence_attributes(&self, span: &Span) -> Vec<(&'static str, Attribute)> {
        match span.kind {
            SpanKind::Stage => self.evidence.get(&span.stage).cloned().unwrap_or_default().attributes(),
            SpanKind::Agent => Vec::new(),
        }
    }

    fn attributes(&self, span: &Span) -> Vec<(&'static str, Attribute)> {
        let name = |text: &str| Attribute::Text(safe_name::name(text).to_owned());
        let optional_name = |text: &str| if text.is_empty() { None } else { Some(name(text)) };
        let verdict = span.result();
        let all = [
            ("overtone.workflow", Some(name(&self.name))),
            ("overtone.stage", optional_name(&span.stage)),
            ("overtone.agent", optional_name(&span.agent)),
            ("overtone.attempt", span.attempt.as_i64().map(Attribute::Integer)),
            ("overtone.verdict", verdict.as_str().and_then(optional_name)),
        ];
        let known = all.into_iter().filter_map(|(key, value)| Some((key, value?)));
        known.chain(self.evidence_attributes(span)).collect()
    }

    fn root_span(
        &self,
        root: Root,
        outcome: Outcome,
        fields: Option<&Map<String, Value>>,
        at: Millis,
    ) -> FinishedSpan {
        let is_resumed = root.offset != self.offset;
        let number = |name: &str| fields.and_then(|fields| fields.get(name)).and_then(Value::as_i64);
        let reason = fields.map(|fields| text_field(fields, "reason")).filter(|reason| !reason.is_empty());
        let all = [
            ("overtone.workflow", Some(Attribute::Text(self.name.clone()))),
            ("overtone.outcome", Some(Attribute::Text(outcome.name().to_owned()))),
            ("overtone.reason", reason.map(|reason| Attribute::Text(safe_name::name(reason).to_owned()))),
            ("overtone.failures", number("failCount").map(Attribute::Integer)),
            ("overtone.rejections", number("rejectCount").map(Attribute::Integer)),
            ("overtone.resumed", is_resumed.then_some(Attribute::Bool(true))),
        ];
        FinishedSpan {
            trace: self.offset,
            offset: root.offset,
            parent: is_resumed.then_some(self.offset),
            name: format!("workflow {}", self.name),
            start: root.started,
            end: at.max(root.started),
            status: outcome.status(),
            workflow: self.name.clone(),
            stage: None,
            agent_id: None,
            attributes: all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect(),
        }
    }
}

fn span_status(span: &Span) -> SpanStatus {
    match span.result().as_str() {
        Some("pass" | "issues") => SpanStatus::Ok,
        Some("fail") => SpanStatus::Error("verdict fail"),
        Some("reject") => SpanStatus::Error("verdict reject"),
        Some("error") => SpanStatus::Error("agent error"),
        _ => SpanStatus::Unset,
    }
}

fn query(offset: u64) -> Query {
    let types = RELEVANT_EVENTS.map(|kind| kind.name().to_owned()).to_vec();
    Query { types, ..Query::starting_at(offset, EVENTS_PER_READ) }
}

fn text_field<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn time(value: &Value) -> Option<Millis> {
    value.as_str().and_then(clock::from_iso)
}

#[cfg(test)]
mod tests {
    use overtone_store::files;

    use super::*;

    /// Parallel agents, an interrupted stage, an abort, a resumption, checks, a replacement, and lines of other kinds.
    const LINES: [&str; 26] = [
        r#""type":"stage:start","stage":"DEV""#,
        r#""type":"workflow:start","workflowType":"quick""#,
        r#""type":"loop:start""#,
        r#""type":"stage:start","stage":"DEV","attempt":1"#,
        r#""type":"agent:delegate","agent":"developer","stage":"DEV","slot":"developer""#,
        r#""type":"agent:delegate","agent":"developer","stage":"DEV","slot":"developer:2""#,
        r#""type":"agent:error","agent":"developer","stage":"DEV","slot":"developer","error":"x""#,
        r#""type":"loop:advance","stage":"DEV""#,
        r#""type":"agent:complete","agent":"developer","stage":"DEV","slot":"developer:2","result":"pass","agentId":"a""#,
        r#""type":"stage:start","stage":"DEV","attempt":2"#,
        r#""type":"some:thing""#,
        r#""type":"stage:retry","stage":"DEV","result":"fail""#,
        r#""type":"stage:start","stage":"DEV","attempt":3"#,
        r#""type":"workflow:abort","reason":"retry-limit""#,
        r#""type":"stage:complete","stage":"DEV","result":"pass""#,
        r#""type":"loop:start","reason":"resumed""#,
        r#""type":"stage:start","stage":"DEV","attempt":4"#,
        r#""type":"system:warning","reason":"report-sent-back","stage":"DEV","checks":[{"check":"t","result":"fail"}]"#,
        r#""type":"agent:complete","agent":"developer","stage":"DEV","checks":[{"check":"t","result":"pass"}]"#,
        r#""type":"stage:complete","stage":"DEV","result":"pass""#,
        r#""type":"workflow:complete","failCount":1"#,
        r#""type":"workflow:start","workflowType":"standard""#,
        r#""type":"agent:delegate","agent":"planner","stage":"PLAN""#,
        r#""type":"workflow:abort","reason":"replaced""#,
        r#""type":"workflow:start","workflowType":"standard""#,
        r#""type":"workflow:start","workflowType":"quick""#,
    ];

    fn line(number: usize) -> String {
        format!("{{\"ts\":\"2026-02-23T14:00:{number:02}.000Z\",{}}}\n", LINES[number])
    }

    /// Reads to the end of the timeline.
    fn read_rest(tracker: &mut TimelineTracker, path: &Path) -> ExportBatch {
        let mut all = ExportBatch::default();
        loop {
            let before = tracker.offset;
            let batch = tracker.read_next(path).unwrap();
            all.finished.extend(batch.finished);
            all.counts.extend(batch.counts);
            if tracker.offset == before {
                return all;
            }
        }
    }

    #[test]
    fn an_interruption_at_any_line_does_not_change_the_result() {
        let dir = tempfile::tempdir().unwrap();
        let whole = dir.path().join("whole");
        files::append_lines(&whole, &(0..LINES.len()).map(line).collect::<String>()).unwrap();
        let expected = read_rest(&mut TimelineTracker::default(), &whole);
        assert_eq!((expected.finished.len(), expected.counts.len()), (11, 11));
        for cut in 0..=LINES.len() {
            let path = dir.path().join(cut.to_string());
            files::append_lines(&path, &(0..cut).map(line).collect::<String>()).unwrap();
            let mut first = TimelineTracker::default();
            let mut found = read_rest(&mut first, &path);
            let mut second = TimelineTracker::at_cursor(&whole, &first.cursor()).unwrap();
            let then = read_rest(&mut second, &whole);
            found.finished.extend(then.finished);
            found.counts.extend(then.counts);
            assert_eq!(found.finished, expected.finished, "cut at line {cut}");
            assert_eq!(found.counts, expected.counts, "cut at line {cut}");
        }
    }

    #[test]
    fn reports_of_stages_that_are_not_open_are_not_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("timeline");
        let lines = [
            r#"{"type":"workflow:start"}"#,
            r#"{"type":"agent:complete","stage":"DEV"}"#,
            r#"{"type":"stage:start","stage":"DEV"}"#,
            r#"{"type":"agent:complete","stage":"DEV"}"#,
            r#"{"type":"stage:start","stage":"TEST"}"#,
            r#"{"type":"agent:complete","stage":"TEST"}"#,
            r#"{"type":"stage:complete","stage":"DEV","result":"pass"}"#,
            r#"{"type":"agent:complete","stage":"QA"}"#,
        ];
        files::append_lines(&path, &(lines.join("\n") + "\n")).unwrap();
        let mut tracker = TimelineTracker::default();
        read_rest(&mut tracker, &path);
        let kept = tracker.workflow.unwrap().evidence;
        assert_eq!(kept.keys().collect::<Vec<_>>(), ["TEST"]);
    }

    #[test]
    fn an_event_without_a_time_gets_that_of_the_event_before() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("timeline");
        let text = "{\"ts\":\"2026-02-23T14:00:00.000Z\",\"type\":\"workflow:start\"}\nnonsense\n{\"type\":\"workflow:complete\"}\n";
        files::append_lines(&path, text).unwrap();
        let found = read_rest(&mut TimelineTracker::default(), &path).finished;
        assert_eq!((found.len(), found[0].start), (1, found[0].end));
        assert_eq!(found[0].name, "workflow other");
    }
}
