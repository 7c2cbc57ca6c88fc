//! A notification, and the messages to the targets that subscribe to it.

use overtone_core::engine::state::Millis;
use overtone_core::engine::text::{cut, duration, printable};
use overtone_core::messages::{Lang, remote as messages};
use overtone_store::clock;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::remote::config::Settings;
use crate::remote::event::Event;
use crate::remote::outbox::{DAY_MS, OutgoingMessage};

/// Names of projects and stages are cut to this length.
const MAX_NAME: usize = 80;
/// How many characters of a session's id are shown.
const SHORT_ID: usize = 8;

/// What happened. No field quotes a prompt, code or an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notification {
    /// Each channel reports the first of these that it subscribes to.
    pub(crate) events: Vec<Event>,
    pub(crate) session: String,
    /// Identifies the notification within its session.
    pub(crate) key: String,
    pub(crate) at: Millis,
    pub(crate) project: Option<String>,
    pub(crate) workflow: Option<String>,
    pub(crate) stage: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) duration_ms: Option<i64>,
    pub(crate) cost_usd: Option<f64>,
}

impl Notification {
    /// One message for every target that subscribes to it.
    pub(crate) fn messages(&self, settings: &Settings, lang: Lang) -> Vec<OutgoingMessage> {
        let mut messages = Vec::new();
        if let Some(telegram) = &settings.telegram {
            let targets = telegram.chats.iter().map(|chat| format!("telegram/{chat}"));
            messages.extend(targets.filter_map(|target| self.message(target, &telegram.events, lang)));
        }
        if let Some(webhook) = &settings.webhook {
            messages.extend(self.message("webhook".to_owned(), &webhook.events, lang));
        }
        if let Some(ntfy) = &settings.ntfy {
            messages.extend(self.message("ntfy".to_owned(), &ntfy.events, lang));
        }
        messages
    }

    fn message(&self, target: String, subscribed: &[Event], lang: Lang) -> Option<OutgoingMessage> {
        let event = *self.events.iter().find(|event| subscribed.contains(event))?;
        let id = format!("{}:{}:{target}", self.session, self.key);
        Some(OutgoingMessage {
            fields: self.fields(&id, event, lang),
            title: self.title(event, lang),
            text: self.body(lang),
            event: event.key().to_owned(),
            expires_at: clock::now().0 + DAY_MS,
            attempts: 0,
            due: 0,
            other: Map::new(),
            id,
            target,
        })
    }

    fn title(&self, event: Event, lang: Lang) -> String {
        let name = single_line(self.project.as_deref().unwrap_or_else(|| short_id(&self.session)));
        let workflow = single_line(self.workflow.as_deref().unwrap_or("-"));
        match event {
            Event::Done => messages::done(lang, &name, &workflow),
            Event::Aborted => messages::aborted(lang, &name, &workflow),
            Event::NeedsAttention => messages::needs_person(lang, &name),
            Event::Supervisor => messages::supervisor(lang, &name),
            Event::Budget => {
                messages::budget(lang, &name, &format_dollars(self.cost_usd.unwrap_or_default()))
            }
        }
    }

    fn body(&self, lang: Lang) -> String {
        let lines = [
            self.stage.as_deref().map(|stage| messages::at_stage(lang, &single_line(stage))),
            self.reason.as_deref().map(|reason| messages::because(lang, &reason_text(lang, reason))),
            self.duration_ms.map(|ms| messages::took(lang, &duration(ms))),
            self.cost_usd.map(|cost| messages::cost(lang, &format_dollars(cost))),
            Some(messages::in_session(lang, &self.session)),
        ];
        lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    /// The same as JSON for webhooks; unknown fields are omitted.
    fn fields(&self, id: &str, event: Event, lang: Lang) -> Value {
        let payload = WebhookPayload {
            id,
            event: event.key(),
            session: &self.session,
            at: clock::to_iso(self.at),
            project: self.project.as_deref(),
            workflow: self.workflow.as_deref(),
            stage: self.stage.as_deref(),
            reason: self.reason.as_deref(),
            duration_ms: self.duration_ms,
            cost_usd: self.cost_usd,
            title: self.title(event, lang),
            text: self.body(lang),
        };
        // Strings and numbers cannot fail to serialize.
        serde_json::to_value(payload).unwrap_or_default()
    }
}

/// A notification as JSON. Fields without a value are omitted.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WebhookPayload<'a> {
    id: &'a str,
    event: &'static str,
    session: &'a str,
    at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    workflow: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_usd: Option<f64>,
    title: String,
    text: String,
}

/// The beginning of a session's id, as it is shown to users.
pub(crate) fn short_id(session: &str) -> &str {
    session.get(..SHORT_ID).unwrap_or(session)
}

pub(crate) fn format_dollars(amount: f64) -> String {
    format!("{amount:.2}")
}

/// Removes line breaks and control characters, and cuts the text to the length of a name.
pub(crate) fn single_line(text: &str) -> String {
    cut(&printable(text), MAX_NAME).to_owned()
}

/// A reason without a text of its own is shown as it was recorded.
fn reason_text(lang: Lang, reason: &str) -> String {
    match reason {
        "retry-limit" => messages::reason_retry_limit(lang),
        "needs-person" => messages::reason_verdict(lang),
        "stage-blocked" => messages::reason_blocked(lang),
        "replaced" => messages::reason_replaced(lang),
        "budget-reached" => overtone_core::messages::budget::is_reached(lang),
        "iteration-limit" => messages::reason_iterations(lang),
        "no-progress" => messages::reason_no_progress(lang),
        "stuck" => messages::reason_stuck(lang),
        "limit" => messages::reason_rounds(lang),
        "budget-spent" => messages::reason_review_budget(lang),
        "timeout" => messages::reason_timeout(lang),
        other => single_line(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_on_one_line_and_is_cut() {
        assert_eq!(single_line("a\nb\r\u{1b}[1m"), "a b [1m");
        assert_eq!(single_line(&"x".repeat(500)).len(), MAX_NAME);
        assert_eq!((short_id("abc"), short_id("0123456789")), ("abc", "01234567"));
    }
}
