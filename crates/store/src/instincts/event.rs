//! What can happen to a lesson, as lines of the event log, and what it makes of the lesson's document.

use overtone_core::engine::instinct::{Confidence, Observation, Signal};
use overtone_core::engine::state::Millis;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{is_lesson_id, last_seen, signal_name, stored_confidence, to_line};
use crate::clock;

/// The field of a document with the mark of the log that was folded into it last.
const FOLD_MARK: &str = "foldMark";

/// The field of a document that is only there until the log with its lesson's end is deleted.
const REMOVED: &str = "removed";

/// A line of the event log.
#[derive(Debug)]
pub(super) enum Line {
    Event(Event),
    /// The lesson files that name this mark contain all events in front of it.
    FoldMark(String),
}

#[derive(Debug)]
pub(super) struct Event {
    pub(super) id: String,
    at: Millis,
    change: Change,
}

/// An event as it is written to the log.
#[derive(Serialize, Default)]
struct EventLine<'a> {
    ts: &'a str,
    event: &'static str,
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<&'static str>,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trigger: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<OriginFields<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<&'a str>,
}

#[derive(Serialize)]
struct OriginFields<'a> {
    session: &'a str,
    project: &'a str,
    at: &'a str,
}

#[derive(Debug)]
enum Change {
    /// A hook has seen something; `origin` is used for a new lesson.
    Observed { signal: Signal, fields: Map<String, Value>, origin: Value },
    /// The user has confirmed or contradicted the lesson.
    Judged(Signal),
    /// The user has removed the lesson, or it has faded.
    Forgotten,
}

impl Line {
    pub(super) fn fold_mark(mark: &str) -> String {
        json!({ "event": "folded", "mark": mark }).to_string()
    }

    /// Whether a line could be a mark, without parsing it.
    pub(super) fn may_be_fold_mark(line: &str) -> bool {
        line.starts_with(r#"{"event":"folded""#)
    }

    /// `None` for a torn line, and for an event that only another version knows.
    pub(super) fn parse(line: &str) -> Option<Self> {
        if line.is_empty() {
            return None;
        }
        let mut fields: Map<String, Value> = serde_json::from_str(line).ok()?;
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let event = text("event")?;
        if event == "folded" {
            return Some(Self::FoldMark(text("mark")?.to_owned()));
        }
        // It becomes the name of a file.
        let id = text("id").filter(|id| is_lesson_id(id))?.to_owned();
        let at = clock::from_iso(text("ts")?)?;
        let signal = match text("signal") {
            Some("confirm") => Some(Signal::Confirm),
            Some("contradict") => Some(Signal::Contradict),
            _ => None,
        };
        let change = match event {
            "observed" => {
                let origin = fields.shift_remove("origin").unwrap_or_default();
                fields.retain(|name, _| matches!(name.as_str(), "type" | "trigger" | "action" | "evidence"));
                Change::Observed { signal: signal?, fields, origin }
            }
            "judged" => Change::Judged(signal?),
            "forgotten" => Change::Forgotten,
            _ => return None,
        };
        Some(Self::Event(Event { id, at, change }))
    }
}

impl Event {
    /// How the id is written in a line, to find lines without parsing all of them.
    pub(super) fn id_field(id: &str) -> String {
        format!(r#""id":"{id}""#)
    }

    pub(super) fn observed_line(
        id: &str,
        seen: &Observation,
        now: Millis,
        session: &str,
        project: &str,
    ) -> String {
        let ts = clock::to_iso(now);
        let origin = OriginFields { session, project, at: &ts };
        to_line(&EventLine {
            ts: &ts,
            event: "observed",
            id,
            signal: Some(signal_name(seen.signal)),
            kind: Some(seen.kind.key()),
            trigger: Some(&seen.trigger),
            action: Some(&seen.lesson),
            origin: Some(origin),
            evidence: seen.evidence.as_deref(),
        })
    }

    pub(super) fn judged_line(id: &str, signal: Signal, now: Millis) -> String {
        let signal = Some(signal_name(signal));
        to_line(&EventLine { ts: &clock::to_iso(now), event: "judged", id, signal, ..EventLine::default() })
    }

    pub(super) fn forgotten_line(id: &str, now: Millis) -> String {
        to_line(&EventLine { ts: &clock::to_iso(now), event: "forgotten", id, ..EventLine::default() })
    }

    /// The document after this event; `None` if there is no such lesson any more.
    fn apply(&self, document: Option<Map<String, Value>>) -> Option<Map<String, Value>> {
        match &self.change {
            Change::Observed { signal, fields, origin } => {
                let mut document = match document {
                    Some(document) => document,
                    // A contradiction of a lesson that does not exist means nothing.
                    None if *signal == Signal::Contradict => return None,
                    None => Map::from_iter([("origin".to_owned(), origin.clone())]),
                };
                let confidence = confidence_after(Some(&document), *signal, self.at);
                if confidence.is_dropped() {
                    return None;
                }
                let count = document.get("count").and_then(Value::as_u64).unwrap_or(0).saturating_add(1);
                for name in ["type", "trigger", "action"] {
                    document.insert(name.to_owned(), fields.get(name).cloned().unwrap_or_default());
                }
                self.note_confidence(&mut document, confidence, Some(count));
                if let Some(evidence) = fields.get("evidence") {
                    document.insert("evidence".to_owned(), evidence.clone());
                }
                Some(document)
            }
            Change::Judged(signal) => {
                let mut document = document?;
                let confidence = confidence_after(Some(&document), *signal, self.at);
                if confidence.is_dropped() {
                    return None;
                }
                self.note_confidence(&mut document, confidence, None);
                Some(document)
            }
            Change::Forgotten => None,
        }
    }

    fn note_confidence(&self, document: &mut Map<String, Value>, confidence: Confidence, count: Option<u64>) {
        document.insert("confidence".to_owned(), json!(confidence.fraction()));
        if let Some(count) = count {
            document.insert("count".to_owned(), json!(count));
        }
        document.insert("lastSeen".to_owned(), json!(clock::to_iso(self.at)));
    }
}

/// How sure a lesson is after a signal. A lesson without a confidence is a new one.
pub(super) fn confidence_after(
    document: Option<&Map<String, Value>>,
    signal: Signal,
    at: Millis,
) -> Confidence {
    let Some(document) = document else { return Confidence::START };
    match stored_confidence(document) {
        Some(before) => before.decayed(last_seen(document).unwrap_or(at), at).after(signal),
        None => Confidence::START,
    }
}

/// The document of a lesson file with the events that it does not contain yet. `None` if there is no such lesson.
pub(super) fn replay(
    id: &str,
    document: Option<Map<String, Value>>,
    lines: &[Line],
) -> Option<Map<String, Value>> {
    let mut document = document;
    let mut rest = lines;
    if let Some(fields) = &document
        && let Some(Value::String(mark)) = fields.get(FOLD_MARK)
        && let Some(at) =
            lines.iter().rposition(|line| matches!(line, Line::FoldMark(other) if other == mark))
    {
        rest = &lines[at + 1..];
    }
    if let Some(fields) = &document
        && is_removed(fields)
    {
        document = None;
    }
    for line in rest {
        if let Line::Event(event) = line
            && event.id == id
        {
            document = event.apply(document);
        }
    }
    document
}

/// Notes in a document that it contains all events in front of a mark.
pub(super) fn set_fold_mark(document: &mut Map<String, Value>, mark: &str) {
    document.insert(FOLD_MARK.to_owned(), json!(mark));
}

/// Stands for a lesson that has ended, until the log is deleted.
pub(super) fn removed_document(mark: &str) -> Map<String, Value> {
    Map::from_iter([(REMOVED.to_owned(), json!(true)), (FOLD_MARK.to_owned(), json!(mark))])
}

pub(super) fn is_removed(document: &Map<String, Value>) -> bool {
    document.get(REMOVED) == Some(&Value::Bool(true))
}
