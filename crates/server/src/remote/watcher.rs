//! Finds what to notify about: events in the timelines, the state of sessions, and the supervisor's audit trail.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::SystemTime;

use overtone_core::engine::state::{Millis, Pause, StoppedBy};
use overtone_core::messages::Lang;
use overtone_core::registry::EventKind;
use overtone_session::view::{Query, SessionState, Summary, TimelineEvent, read_page};
use overtone_store::supervision::{StateFolder, list_trails, read_rounds};
use overtone_store::{Log, SessionId, clock};
use serde_json::Value;

use crate::file_length::file_length;
use crate::remote::config::Settings;
use crate::remote::event::Event;
use crate::remote::notification::Notification;
use crate::remote::outbox::{Cursor, DAY_MS, Outbox};
use crate::remote::service::SessionBackend;

/// How many events are read at a time; a longer timeline is read in several steps.
const EVENTS_PER_READ: usize = 500;
const RELEVANT_EVENTS: [EventKind; 7] = [
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
    pub(crate) backend: Arc<dyn SessionBackend>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) lang: Lang,
    pub(crate) log: Log,
    /// The modification time of each supervised session's audit trail when it was last read.
    pub(crate) audit_times: HashMap<SessionId, SystemTime>,
    /// It is not known what was sent before, so nothing that exists already is reported.
    pub(crate) skips_existing: bool,
}

impl Watcher {
    /// Queues what is new in a session. Returns false if it could not be written to the outbox: the session has to be
    /// checked again.
    pub(crate) fn check_session(&self, id: &SessionId) -> bool {
        let Some(summary) = self.backend.session(id) else { return true };
        let mut cursor = self.outbox.cursor(id).unwrap_or_else(|| self.initial_cursor(&summary));
        let mut notifications = read_new_events(&summary, &mut cursor);
        notifications.extend(self.check_state(&summary, &mut cursor));
        let recent = notifications.iter().filter(|notification| is_recent(notification.at));
        let messages: Vec<_> = recent.flat_map(|one| one.messages(&self.settings, self.lang)).collect();
        let result = if messages.is_empty() {
            self.outbox.advance(id, cursor)
        } else {
            self.outbox.enqueue(messages, id, cursor)
        };
        self.log_failure(result)
    }

    /// Returns whether the result is a success.
    fn log_failure(&self, result: io::Result<()>) -> bool {
        match result {
            Ok(()) => true,
            Err(error) => {
                self.log.write_line(&format!("cannot note what is to be sent: {error}"));
                false
            }
        }
    }

    /// A new session is read from its beginning, unless it is not known what was sent about it.
    fn initial_cursor(&self, summary: &Summary) -> Cursor {
        if !self.skips_existing {
            return Cursor::default();
        }
        Cursor {
            offset: summary.timeline_bytes,
            attention_reported: summary.needs_user(),
            stall_reported: true,
            budget_reported: self.is_over_budget(summary),
            ..Cursor::default()
        }
    }

    /// Conditions that no event reports: the loop is at its limit, makes no progress, or costs too much.
    fn check_state(&self, summary: &Summary, cursor: &mut Cursor) -> Vec<Notification> {
        let mut found = Vec::new();
        let notification = |event: Event, key: String, reason: Option<&str>| Notification {
            events: vec![event],
            key,
            at: summary.last_activity,
            reason: reason.map(str::to_owned),
            cost_usd: summary.usage.cost_usd,
            ..session_notification(summary)
        };
        let offset = cursor.offset;
        if is_at_limit(summary) {
            if !cursor.attention_reported {
                let key = format!("limit-{offset}");
                found.push(notification(Event::NeedsAttention, key, Some(reason_of_limit(summary))));
            }
            cursor.attention_reported = true;
        }
        let is_stalled = is_stalled(summary);
        if is_stalled && !cursor.stall_reported {
            let key = format!("stalled-{offset}");
            found.push(notification(Event::NeedsAttention, key, Some("no-progress")));
        }
        cursor.stall_reported = is_stalled;
        if self.is_over_budget(summary) && !cursor.budget_reported {
            cursor.budget_reported = true;
            found.push(notification(Event::Budget, "budget".to_owned(), None));
        }
        found
    }

    fn is_over_budget(&self, summary: &Summary) -> bool {
        let cost = summary.usage.cost_usd.unwrap_or_default();
        match self.settings.budget_usd {
            Some(budget) => cost > budget,
            None => false,
        }
    }

    /// Checks the supervisor's own folder, which covers sessions with and without a workflow.
    pub(crate) fn check_supervisor(&mut self) {
        if !self.settings.is_subscribed(Event::Supervisor) {
            return;
        }
        let Some(folder) = StateFolder::from_process() else { return };
        for (session, modified) in list_trails(&folder).unwrap_or_default() {
            if !is_recent(to_millis(modified)) || self.audit_times.get(&session) == Some(&modified) {
                continue;
            }
            let rounds = read_rounds(&folder, &session).ok().flatten().unwrap_or_default();
            if self.check_rounds(&session, &rounds) {
                self.audit_times.insert(session, modified);
            }
        }
    }

    fn check_rounds(&self, session: &SessionId, rounds: &[Value]) -> bool {
        let since = self.outbox.last_round(session).unwrap_or_default();
        let is_new = |round: &&Value| round["time"].as_str() > Some(since.as_str());
        let new: Vec<_> = rounds.iter().filter(is_new).collect();
        let Some(last) = new.last().and_then(|round| round["time"].as_str()) else { return true };
        let summary = self.backend.session(session);
        let mut messages = Vec::new();
        if !self.skips_existing {
            for round in &new {
                let Some(notification) = unreviewed_round(session, summary.as_ref(), round) else { continue };
                if is_recent(notification.at) {
                    messages.extend(notification.messages(&self.settings, self.lang));
                }
            }
        }
        self.log_failure(self.outbox.enqueue_rounds(messages, session, last))
    }
}

/// Reads the timeline from the cursor on and moves the cursor to its end.
fn read_new_events(summary: &Summary, cursor: &mut Cursor) -> Vec<Notification> {
    let path = summary.session.timeline_file();
    // A timeline that has become shorter is a new file.
    if file_length(&path) < cursor.offset {
        *cursor = Cursor::default();
    }
    let types = RELEVANT_EVENTS.map(|kind| kind.name().to_owned()).to_vec();
    let mut notifications = Vec::new();
    loop {
        let query = Query { types: types.clone(), ..Query::starting_at(cursor.offset, EVENTS_PER_READ) };
        let Ok(page) = read_page(&path, &query) else { return notifications };
        for event in &page.events {
            notifications.extend(event_notification(summary, event, cursor));
        }
        if page.newer == cursor.offset {
            return notifications;
        }
        cursor.offset = page.newer;
    }
}

fn is_recent(at: Millis) -> bool {
    clock::now().since(at) < DAY_MS
}

fn to_millis(at: SystemTime) -> Millis {
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A notification with the fields that describe the session.
fn session_notification(summary: &Summary) -> Notification {
    Notification {
        session: summary.id().to_owned(),
        project: summary.project_name(),
        workflow: summary.workflow_name().map(str::to_owned),
        ..Notification::default()
    }
}

/// Which limit has stopped the loop.
fn reason_of_limit(summary: &Summary) -> &'static str {
    match &summary.workflow {
        Some(workflow) if workflow.budget.reached.is_some() => "budget-reached",
        _ => "iteration-limit",
    }
}

/// Whether the loop was stopped by its iteration limit or the budget. An abort has an event of its own.
fn is_at_limit(summary: &Summary) -> bool {
    let stopped_by = summary.looping.as_ref().and_then(|looping| looping.stopped_by);
    summary.state == SessionState::Stopped && stopped_by == Some(StoppedBy::Limit)
}

/// Whether the loop is paused for lack of progress, which ends the turn but not the loop.
fn is_stalled(summary: &Summary) -> bool {
    let Some(looping) = &summary.looping else { return false };
    summary.state == SessionState::Running && looping.paused == Some(Pause::NoProgress)
}

/// The notification for a timeline event, if it is worth one. The user's attention is requested once, until the
/// session continues.
fn event_notification(summary: &Summary, event: &TimelineEvent, cursor: &mut Cursor) -> Option<Notification> {
    let text = |name: &str| event.fields.get(name).and_then(Value::as_str).map(str::to_owned);
    let kind = EventKind::from_name(&text("type")?).ok()?;
    let reason = text("reason");
    let mut events = Vec::new();
    match kind {
        EventKind::WorkflowStart | EventKind::LoopStart | EventKind::StageStart => {
            cursor.attention_reported = false;
        }
        EventKind::WorkflowComplete => events.push(Event::Done),
        EventKind::WorkflowAbort => events.push(Event::Aborted),
        _ => {}
    }
    let needs_attention = match kind {
        EventKind::ErrorFatal => true,
        EventKind::SystemWarning => reason.as_deref() == Some("stage-blocked"),
        // A user who replaces a workflow is present.
        EventKind::WorkflowAbort => reason.as_deref() != Some("replaced"),
        _ => false,
    };
    if needs_attention && !cursor.attention_reported {
        cursor.attention_reported = true;
        events.push(Event::NeedsAttention);
    }
    if events.is_empty() {
        return None;
    }
    let base = session_notification(summary);
    Some(Notification {
        events,
        key: event.offset.to_string(),
        at: text("ts").and_then(|ts| clock::from_iso(&ts)).unwrap_or_default(),
        workflow: text("workflowType").or(base.workflow.clone()),
        stage: text("stage"),
        reason,
        duration_ms: event.fields.get("durationMs").and_then(Value::as_i64),
        cost_usd: summary.usage.cost_usd,
        ..base
    })
}

/// The notification for a supervisor round that let the session stop without a verdict. Reviews that the user requested
/// or interrupted are not reported.
fn unreviewed_round(session: &SessionId, summary: Option<&Summary>, round: &Value) -> Option<Notification> {
    let reason = round["reason"].as_str().unwrap_or_default();
    let time = round["time"].as_str()?;
    if round["outcome"] != "not-reviewed" || round["round"].is_null() || reason == "interrupted" {
        return None;
    }
    Some(Notification {
        events: vec![Event::Supervisor],
        session: session.to_string(),
        key: format!("round-{time}"),
        at: clock::from_iso(time)?,
        reason: Some(reason.to_owned()),
        ..summary.map(session_notification).unwrap_or_default()
    })
}
