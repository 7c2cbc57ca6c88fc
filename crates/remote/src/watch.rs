//! Finds what is to be told: events in the timelines, what sessions have come to, and what the supervisor wrote.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use overtone_engine::state::{Millis, Pause, StoppedBy};
use overtone_messages::Lang;
use overtone_registry::EventKind;
use overtone_store::{Log, SessionId, clock};
use overtone_supervisor::{StateFolder, audit, trails};
use overtone_view::{Query, Seen, State, Summary, read_page};
use serde_json::Value;

use crate::config::Settings;
use crate::event::Event;
use crate::ledger::{Cursor, DAY, Ledger};
use crate::notice::Notice;
use crate::remote::Host;

/// How many events are read at once; more are read in further steps.
const STEP: usize = 500;
/// What matters in a timeline.
const KINDS: [EventKind; 7] = [
    EventKind::WorkflowStart,
    EventKind::LoopStart,
    EventKind::StageStart,
    EventKind::WorkflowComplete,
    EventKind::WorkflowAbort,
    EventKind::ErrorFatal,
    EventKind::SystemWarning,
];

#[derive(Debug)]
pub(crate) struct Watcher {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) lang: Lang,
    pub(crate) log: Log,
    /// When each trail of the supervisor was last read, by the time it changed.
    pub(crate) trails: HashMap<SessionId, SystemTime>,
    /// Nothing is known of what was sent before: what is there now is passed over.
    pub(crate) begins_anew: bool,
}

impl Watcher {
    /// Goes on in a session where it was left. What cannot be written down is to be looked for again: `false`.
    pub(crate) fn look(&self, id: &SessionId) -> bool {
        let Some(summary) = self.host.session(id) else { return true };
        let known = self.ledger.cursor(id);
        let mut cursor = known.unwrap_or_else(|| self.beginning(&summary));
        let mut notices = read_on(&summary, &mut cursor);
        notices.extend(self.judge(&summary, &mut cursor));
        let recent = notices.iter().filter(|notice| is_recent(notice.at));
        let entries: Vec<_> = recent.flat_map(|notice| notice.entries(&self.settings, self.lang)).collect();
        let kept = if entries.is_empty() {
            self.ledger.advance(id, cursor)
        } else {
            self.ledger.enqueue(entries, id, cursor)
        };
        self.is_kept(&kept)
    }

    fn is_kept(&self, kept: &std::io::Result<()>) -> bool {
        if let Err(error) = kept {
            self.log.say(&format!("cannot note what is to be sent: {error}"));
        }
        kept.is_ok()
    }

    /// A session that was never looked at is read from its beginning, unless it is not known what was sent of it.
    fn beginning(&self, summary: &Summary) -> Cursor {
        if !self.begins_anew {
            return Cursor::default();
        }
        let asked = summary.needs_person();
        let budget = self.is_over_budget(summary);
        Cursor { place: summary.timeline_bytes, asked, stalled: true, budget, ..Cursor::default() }
    }

    /// What no event says: the loop is at its limit, nothing moves any more, it costs too much.
    fn judge(&self, summary: &Summary, cursor: &mut Cursor) -> Vec<Notice> {
        let mut found = Vec::new();
        let about = |event: Event, place: String, reason: Option<&str>| Notice {
            events: vec![event],
            place,
            at: summary.last_activity,
            reason: reason.map(str::to_owned),
            cost_usd: summary.usage.cost_usd,
            ..of_session(summary)
        };
        let place = cursor.place;
        let is_at_limit = is_at_limit(summary);
        if is_at_limit && !cursor.asked {
            found.push(about(Event::NeedsPerson, format!("limit-{place}"), Some("iteration-limit")));
        }
        cursor.asked |= is_at_limit;
        let is_stalled = Self::is_stalled(summary);
        if is_stalled && !cursor.stalled {
            found.push(about(Event::NeedsPerson, format!("stalled-{place}"), Some("no-progress")));
        }
        cursor.stalled = is_stalled;
        if self.is_over_budget(summary) && !cursor.budget {
            cursor.budget = true;
            found.push(about(Event::Budget, "budget".to_owned(), None));
        }
        found
    }

    /// Rounds without progress end the turn, but not the loop.
    fn is_stalled(summary: &Summary) -> bool {
        let looping = summary.looping.as_ref().filter(|_| summary.state == State::Running);
        looping.is_some_and(|looping| looping.paused == Some(Pause::NoProgress))
    }

    fn is_over_budget(&self, summary: &Summary) -> bool {
        let cost = summary.usage.cost_usd.unwrap_or_default();
        self.settings.budget_usd.is_some_and(|budget| cost > budget)
    }

    /// The supervisor writes into a folder of its own, for sessions with a workflow and for others.
    pub(crate) fn look_at_supervisor(&mut self) {
        if !self.settings.wants(Event::Supervisor) {
            return;
        }
        let Some(folder) = StateFolder::from_process() else { return };
        for (session, changed) in trails(&folder).unwrap_or_default() {
            if !is_recent(millis(changed)) || self.trails.get(&session) == Some(&changed) {
                continue;
            }
            let rounds = audit(&folder, &session).ok().flatten().unwrap_or_default();
            if self.look_at_rounds(&session, &rounds) {
                self.trails.insert(session, changed);
            }
        }
    }

    fn look_at_rounds(&self, session: &SessionId, rounds: &[Value]) -> bool {
        let since = self.ledger.last_round(session).unwrap_or_default();
        let is_new = |round: &&Value| round["time"].as_str().is_some_and(|time| time > since.as_str());
        let new: Vec<_> = rounds.iter().filter(is_new).collect();
        let Some(last) = new.last().and_then(|round| round["time"].as_str()) else { return true };
        let about = self.host.session(session);
        let notices = new.iter().filter_map(|round| given_up(session, about.as_ref(), round));
        let recent = notices.filter(|notice| is_recent(notice.at) && !self.begins_anew);
        let entries = recent.flat_map(|notice| notice.entries(&self.settings, self.lang)).collect();
        self.is_kept(&self.ledger.enqueue_rounds(entries, session, last))
    }
}

/// What has been written since.
fn read_on(summary: &Summary, cursor: &mut Cursor) -> Vec<Notice> {
    let path = summary.session.timeline_file();
    // A timeline that has become shorter is another one.
    if path.symlink_metadata().map_or(0, |about| about.len()) < cursor.place {
        *cursor = Cursor::default();
    }
    let mut notices = Vec::new();
    loop {
        let Ok(page) = read_page(&path, &query(cursor.place)) else { return notices };
        let found = page.events.iter().filter_map(|seen| notice_of(summary, seen, cursor));
        notices.extend(found.collect::<Vec<_>>());
        if page.newer == cursor.place {
            return notices;
        }
        cursor.place = page.newer;
    }
}

fn query(place: u64) -> Query {
    Query { types: KINDS.map(|kind| kind.name().to_owned()).to_vec(), ..Query::from(place, STEP) }
}

fn is_recent(at: Millis) -> bool {
    clock::now().since(at) < DAY
}

fn millis(at: SystemTime) -> Millis {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

fn of_session(summary: &Summary) -> Notice {
    Notice {
        session: summary.id().to_owned(),
        project: summary.project_name(),
        workflow: summary.workflow_name().map(str::to_owned),
        ..Notice::default()
    }
}

/// An abort has an event of its own.
fn is_at_limit(summary: &Summary) -> bool {
    let stopped_by = summary.looping.as_ref().and_then(|looping| looping.stopped_by);
    summary.state == State::Stopped && stopped_by == Some(StoppedBy::Limit)
}

/// What an event is to people, if anything. A person is asked for once, until somebody lets it go on.
fn notice_of(summary: &Summary, seen: &Seen, cursor: &mut Cursor) -> Option<Notice> {
    let text = |name: &str| seen.fields.get(name).and_then(Value::as_str).map(str::to_owned);
    let kind = EventKind::from_name(&text("type")?).ok()?;
    let reason = text("reason");
    let mut events = Vec::new();
    match kind {
        EventKind::WorkflowStart | EventKind::LoopStart | EventKind::StageStart => cursor.asked = false,
        EventKind::WorkflowComplete => events.push(Event::Done),
        EventKind::WorkflowAbort => events.push(Event::Aborted),
        _ => {}
    }
    // Who replaces a workflow is there.
    let is_asking = kind == EventKind::ErrorFatal
        || (kind == EventKind::SystemWarning && reason.as_deref() == Some("stage-blocked"))
        || (kind == EventKind::WorkflowAbort && reason.as_deref() != Some("replaced"));
    if is_asking && !cursor.asked {
        cursor.asked = true;
        events.push(Event::NeedsPerson);
    }
    if events.is_empty() {
        return None;
    }
    let of_session = of_session(summary);
    Some(Notice {
        events,
        place: seen.place.to_string(),
        at: text("ts").and_then(|ts| clock::from_iso(&ts)).unwrap_or_default(),
        workflow: text("workflowType").or(of_session.workflow.clone()),
        stage: text("stage"),
        reason,
        duration_ms: seen.fields.get("durationMs").and_then(Value::as_i64),
        cost_usd: summary.usage.cost_usd,
        ..of_session
    })
}

/// A round without a verdict lets the session stop. A review that a person asked for or broke off is no news to them.
fn given_up(session: &SessionId, about: Option<&Summary>, round: &Value) -> Option<Notice> {
    let reason = round["reason"].as_str().unwrap_or_default();
    let time = round["time"].as_str()?;
    if round["outcome"] != "not-reviewed" || round["round"].is_null() || reason == "interrupted" {
        return None;
    }
    let of_session = about.map(of_session).unwrap_or_default();
    Some(Notice {
        events: vec![Event::Supervisor],
        session: session.to_string(),
        place: format!("round-{time}"),
        at: clock::from_iso(time)?,
        reason: Some(reason.to_owned()),
        ..of_session
    })
}
