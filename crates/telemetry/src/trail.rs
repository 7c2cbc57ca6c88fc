//! Follows one timeline and says what has ended: workflows, stages, agents; and what is to be counted.
//!
//! Pure but for reading the timeline. What has not ended is all that is kept, so a timeline of any length fits, and
//! reading again from the first line of the open workflow gives the same.

use std::io;
use std::path::Path;

use overtone_engine::state::Millis;
use overtone_registry::EventKind;
use overtone_store::clock;
use overtone_view::{Query, Seen, Span, SpanKind, Spans, read_page};
use serde_json::{Map, Value};

use crate::ledger::Cursor;
use crate::plain;
use crate::totals::{Count, Metric};

/// How many events are read at once; more are read in further steps.
const STEP: usize = 500;
const KINDS: [EventKind; 11] = [
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
];

/// How far a timeline was read, and what is open there.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trail {
    pub(crate) place: u64,
    run: Option<Run>,
    /// The time of the last event, for one that has none.
    at: Option<Millis>,
}

#[derive(Debug, Clone)]
struct Run {
    /// Where its first line is, which names the trace.
    opened: u64,
    workflow: String,
    /// `None` when it was aborted; a person may let it go on.
    root: Option<Root>,
    spans: Spans,
}

/// The workflow itself, or the part of it since it was resumed.
#[derive(Debug, Clone, Copy)]
struct Root {
    place: u64,
    started: Millis,
}

/// Something that has ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finished {
    /// Where the first line of its workflow is.
    pub(crate) trace: u64,
    pub(crate) place: u64,
    pub(crate) parent: Option<u64>,
    pub(crate) name: String,
    pub(crate) start: Millis,
    pub(crate) end: Millis,
    pub(crate) judgement: Judgement,
    pub(crate) workflow: String,
    pub(crate) stage: Option<String>,
    /// The client's name for the agent, by which its conversation is found. It is not sent.
    pub(crate) agent_id: Option<String>,
    pub(crate) attributes: Vec<(&'static str, Attribute)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Attribute {
    Text(String),
    Whole(i64),
    Number(f64),
    Flag(bool),
}

/// What is said about how it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    Good,
    Unknown,
    Bad(&'static str),
}

/// What a step has found.
#[derive(Debug, Default)]
pub(crate) struct Harvest {
    pub(crate) finished: Vec<Finished>,
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

    /// Whoever replaces a workflow meant to.
    const fn judgement(self) -> Judgement {
        match self {
            Self::Completed => Judgement::Good,
            Self::Aborted => Judgement::Bad("workflow aborted"),
            Self::Replaced => Judgement::Unknown,
        }
    }
}

impl Trail {
    /// Goes where it was left: what is open there is read again.
    pub(crate) fn at(path: &Path, cursor: &Cursor) -> io::Result<Self> {
        let mut trail = Self { place: cursor.opened.unwrap_or(cursor.place), ..Self::default() };
        while trail.place < cursor.place {
            let page = read_page(path, &query(trail.place))?;
            for seen in page.events.iter().filter(|seen| seen.place < cursor.place) {
                trail.feed(seen, &mut Harvest::default());
            }
            let is_over = page.newer == trail.place;
            trail.place = if is_over { cursor.place } else { page.newer.min(cursor.place) };
        }
        Ok(trail)
    }

    pub(crate) fn cursor(&self) -> Cursor {
        let opened = self.run.as_ref().map(|run| run.opened);
        Cursor { place: self.place, opened, ..Cursor::default() }
    }

    /// Goes on by a step. Nothing is left when the place is the same afterwards.
    pub(crate) fn step(&mut self, path: &Path) -> io::Result<Harvest> {
        let page = read_page(path, &query(self.place))?;
        let mut harvest = Harvest::default();
        for seen in &page.events {
            self.feed(seen, &mut harvest);
        }
        self.place = page.newer;
        Ok(harvest)
    }

    fn feed(&mut self, seen: &Seen, harvest: &mut Harvest) {
        let at = clock::from_iso(text(&seen.fields, "ts")).or(self.at).unwrap_or(Millis(0));
        self.at = Some(at);
        let Ok(kind) = EventKind::from_name(text(&seen.fields, "type")) else { return };
        match kind {
            EventKind::WorkflowStart => self.begin(seen, at, harvest),
            EventKind::WorkflowComplete => self.end(Outcome::Completed, Some(&seen.fields), at, harvest),
            EventKind::WorkflowAbort if text(&seen.fields, "reason") == "replaced" => {
                self.end(Outcome::Replaced, Some(&seen.fields), at, harvest);
            }
            EventKind::WorkflowAbort => self.end(Outcome::Aborted, Some(&seen.fields), at, harvest),
            EventKind::LoopStart => self.resume(seen, at),
            _ => self.work(kind, seen, harvest),
        }
    }

    fn begin(&mut self, seen: &Seen, at: Millis, harvest: &mut Harvest) {
        self.end(Outcome::Replaced, None, at, harvest);
        self.run = Some(Run {
            opened: seen.place,
            workflow: plain::name(text(&seen.fields, "workflowType")).to_owned(),
            root: Some(Root { place: seen.place, started: at }),
            spans: Spans::default(),
        });
    }

    /// A person lets an aborted workflow go on: the same trace, a new part.
    fn resume(&mut self, seen: &Seen, at: Millis) {
        let aborted = self.run.as_mut().filter(|run| run.root.is_none());
        if let Some(run) = aborted.filter(|_| text(&seen.fields, "reason") == "resumed") {
            run.root = Some(Root { place: seen.place, started: at });
        }
    }

    /// What is still open ends with its workflow.
    fn end(
        &mut self,
        outcome: Outcome,
        fields: Option<&Map<String, Value>>,
        at: Millis,
        harvest: &mut Harvest,
    ) {
        let Some(mut run) = self.run.take() else { return };
        let Some(root) = run.root.take() else {
            // It has ended already. Only another one can take its place.
            self.run = Some(run);
            return;
        };
        harvest
            .finished
            .extend(run.spans.open().map(|span| run.finished(root, span, at, outcome.judgement())));
        harvest.finished.push(run.whole(root, outcome, fields, at));
        harvest.counts.push(run.count(Metric::Workflows, "", outcome.name()));
        if outcome == Outcome::Aborted {
            self.run = Some(Run { spans: Spans::default(), ..run });
        }
    }

    fn work(&mut self, kind: EventKind, seen: &Seen, harvest: &mut Harvest) {
        let Some(run) = &mut self.run else { return };
        let Some(root) = run.root else { return };
        harvest.counts.extend(run.counted(kind, &seen.fields));
        run.spans.feed(seen);
        for span in run.spans.take_ended() {
            let (end, judgement) = (time(&span.ended()), judgement(&span));
            harvest.finished.push(run.finished(root, &span, end.unwrap_or(root.started), judgement));
        }
    }
}

impl Run {
    fn count(&self, metric: Metric, stage: &str, detail: &str) -> Count {
        let stage = if stage.is_empty() { "" } else { plain::name(stage) };
        Count::one(metric, &self.workflow, stage, detail)
    }

    fn counted(&self, kind: EventKind, fields: &Map<String, Value>) -> Option<Count> {
        let stage = text(fields, "stage");
        match kind {
            EventKind::StageRetry => {
                Some(self.count(Metric::StageFailures, stage, plain::name(text(fields, "result"))))
            }
            EventKind::StageStart => {
                let is_again =
                    fields.get("attempt").and_then(Value::as_i64).is_some_and(|attempt| attempt > 1);
                is_again.then(|| self.count(Metric::Retries, stage, ""))
            }
            EventKind::LoopAdvance => Some(self.count(Metric::Blocks, stage, "")),
            _ => None,
        }
    }

    fn finished(&self, root: Root, span: &Span, end: Millis, judgement: Judgement) -> Finished {
        let start = time(&span.start).unwrap_or(root.started);
        let (word, named) = match span.kind {
            SpanKind::Stage => ("stage", &span.stage),
            SpanKind::Agent => ("agent", &span.agent),
        };
        let agent_id = span.end.as_ref().map(|fields| text(fields, "agentId")).filter(|id| !id.is_empty());
        Finished {
            trace: self.opened,
            place: span.place,
            parent: Some(span.within.unwrap_or(root.place)),
            name: format!("{word} {}", plain::name(named)),
            start,
            end: end.max(start),
            judgement,
            workflow: self.workflow.clone(),
            stage: Some(plain::name(&span.stage).to_owned()).filter(|_| !span.stage.is_empty()),
            agent_id: agent_id.map(str::to_owned),
            attributes: self.attributes(span),
        }
    }

    fn attributes(&self, span: &Span) -> Vec<(&'static str, Attribute)> {
        let named = |text: &str| Attribute::Text(plain::name(text).to_owned());
        let given = |text: &str| (!text.is_empty()).then(|| named(text));
        let verdict = span.result();
        let all = [
            ("overtone.workflow", Some(named(&self.workflow))),
            ("overtone.stage", given(&span.stage)),
            ("overtone.agent", given(&span.agent)),
            ("overtone.attempt", span.attempt.as_i64().map(Attribute::Whole)),
            ("overtone.verdict", verdict.as_str().and_then(given)),
        ];
        all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }

    fn whole(
        &self,
        root: Root,
        outcome: Outcome,
        fields: Option<&Map<String, Value>>,
        at: Millis,
    ) -> Finished {
        let is_resumed = root.place != self.opened;
        let number = |name: &str| fields.and_then(|fields| fields.get(name)).and_then(Value::as_i64);
        let reason = fields.map(|fields| text(fields, "reason")).filter(|reason| !reason.is_empty());
        let all = [
            ("overtone.workflow", Some(Attribute::Text(self.workflow.clone()))),
            ("overtone.outcome", Some(Attribute::Text(outcome.name().to_owned()))),
            ("overtone.reason", reason.map(|reason| Attribute::Text(plain::name(reason).to_owned()))),
            ("overtone.failures", number("failCount").map(Attribute::Whole)),
            ("overtone.rejections", number("rejectCount").map(Attribute::Whole)),
            ("overtone.resumed", is_resumed.then_some(Attribute::Flag(true))),
        ];
        Finished {
            trace: self.opened,
            place: root.place,
            parent: is_resumed.then_some(self.opened),
            name: format!("workflow {}", self.workflow),
            start: root.started,
            end: at.max(root.started),
            judgement: outcome.judgement(),
            workflow: self.workflow.clone(),
            stage: None,
            agent_id: None,
            attributes: all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect(),
        }
    }
}

fn judgement(span: &Span) -> Judgement {
    match span.result().as_str() {
        Some("pass" | "issues") => Judgement::Good,
        Some("fail") => Judgement::Bad("verdict fail"),
        Some("reject") => Judgement::Bad("verdict reject"),
        Some("error") => Judgement::Bad("agent error"),
        _ => Judgement::Unknown,
    }
}

fn query(place: u64) -> Query {
    Query { types: KINDS.map(|kind| kind.name().to_owned()).to_vec(), ..Query::from(place, STEP) }
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn time(value: &Value) -> Option<Millis> {
    value.as_str().and_then(clock::from_iso)
}

#[cfg(test)]
mod tests {
    use overtone_store::files;

    use super::*;

    /// Twins, a stage that breaks off, an abort, a resumption, a replacement, and lines that are no events.
    const LINES: [&str; 24] = [
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

    /// Reads on to the end.
    fn rest(trail: &mut Trail, path: &Path) -> Harvest {
        let mut all = Harvest::default();
        loop {
            let before = trail.place;
            let some = trail.step(path).unwrap();
            all.finished.extend(some.finished);
            all.counts.extend(some.counts);
            if trail.place == before {
                return all;
            }
        }
    }

    #[test]
    fn wherever_it_is_left_it_goes_on_as_if_it_had_not_been() {
        let dir = tempfile::tempdir().unwrap();
        let whole = dir.path().join("whole");
        files::append_lines(&whole, &(0..LINES.len()).map(line).collect::<String>()).unwrap();
        let wanted = rest(&mut Trail::default(), &whole);
        assert_eq!((wanted.finished.len(), wanted.counts.len()), (11, 9));
        for cut in 0..=LINES.len() {
            let path = dir.path().join(cut.to_string());
            files::append_lines(&path, &(0..cut).map(line).collect::<String>()).unwrap();
            let mut first = Trail::default();
            let mut found = rest(&mut first, &path);
            let mut second = Trail::at(&whole, &first.cursor()).unwrap();
            let then = rest(&mut second, &whole);
            found.finished.extend(then.finished);
            found.counts.extend(then.counts);
            assert_eq!(found.finished, wanted.finished, "cut at line {cut}");
            assert_eq!(found.counts, wanted.counts, "cut at line {cut}");
        }
    }

    #[test]
    fn what_has_no_time_has_that_of_the_event_before() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("timeline");
        let text = "{\"ts\":\"2026-02-23T14:00:00.000Z\",\"type\":\"workflow:start\"}\nnonsense\n{\"type\":\"workflow:complete\"}\n";
        files::append_lines(&path, text).unwrap();
        let found = rest(&mut Trail::default(), &path).finished;
        assert_eq!((found.len(), found[0].start), (1, found[0].end));
        assert_eq!(found[0].name, "workflow other");
    }
}
