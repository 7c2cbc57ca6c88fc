//! Something that happened, and how it is told: one message for each place that wants to know.

use overtone_engine::state::Millis;
use overtone_engine::text::{cut, duration, printable};
use overtone_messages::{Lang, remote as words};
use overtone_store::clock;
use serde_json::{Map, Value, json};

use crate::config::Settings;
use crate::event::Event;
use crate::ledger::{DAY, Entry};

/// A name of a project or a stage is not longer than this.
const MAX_NAME: usize = 80;
/// How much of an id is enough for people.
const SHORT_ID: usize = 8;

/// What happened. Nothing here quotes a prompt, code or an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notice {
    /// What it is; a channel is told the first that it wants.
    pub(crate) events: Vec<Event>,
    pub(crate) session: String,
    /// Where it stands in the session's story; with the session it makes the id.
    pub(crate) place: String,
    pub(crate) at: Millis,
    pub(crate) project: Option<String>,
    pub(crate) workflow: Option<String>,
    pub(crate) stage: Option<String>,
    pub(crate) reason: Option<String>,
    pub(crate) duration_ms: Option<i64>,
    pub(crate) cost_usd: Option<f64>,
}

impl Notice {
    /// For every target that wants it.
    pub(crate) fn entries(&self, settings: &Settings, lang: Lang) -> Vec<Entry> {
        let mut entries = Vec::new();
        if let Some(telegram) = &settings.telegram {
            let targets = telegram.chats.iter().map(|chat| format!("telegram/{chat}"));
            entries.extend(targets.filter_map(|target| self.entry(target, &telegram.events, lang)));
        }
        let webhook = settings.webhook.as_ref().map(|webhook| ("webhook", &webhook.events));
        let ntfy = settings.ntfy.as_ref().map(|ntfy| ("ntfy", &ntfy.events));
        let others = [webhook, ntfy].into_iter().flatten();
        entries.extend(others.filter_map(|(target, wanted)| self.entry(target.to_owned(), wanted, lang)));
        entries
    }

    fn entry(&self, target: String, wanted: &[Event], lang: Lang) -> Option<Entry> {
        let event = *self.events.iter().find(|event| wanted.contains(event))?;
        let id = format!("{}:{}:{target}", self.session, self.place);
        Some(Entry {
            fields: self.fields(&id, event, lang),
            title: self.title(event, lang),
            text: self.text(lang),
            event: event.key().to_owned(),
            until: clock::now().0 + DAY,
            tries: 0,
            due: 0,
            other: Map::new(),
            id,
            target,
        })
    }

    fn title(&self, event: Event, lang: Lang) -> String {
        let name = self.project.as_deref().unwrap_or_else(|| short(&self.session));
        let name = plain(name);
        let workflow = plain(self.workflow.as_deref().unwrap_or("-"));
        match event {
            Event::Done => words::done(lang, &name, &workflow),
            Event::Aborted => words::aborted(lang, &name, &workflow),
            Event::NeedsPerson => words::needs_person(lang, &name),
            Event::Supervisor => words::supervisor(lang, &name),
            Event::Budget => words::budget(lang, &name, &dollars(self.cost_usd.unwrap_or_default())),
        }
    }

    fn text(&self, lang: Lang) -> String {
        let lines = [
            self.stage.as_deref().map(|stage| words::at_stage(lang, &plain(stage))),
            self.reason.as_deref().map(|reason| words::because(lang, &reason_words(lang, reason))),
            self.duration_ms.map(|ms| words::took(lang, &duration(ms))),
            self.cost_usd.map(|cost| words::cost(lang, &dollars(cost))),
            Some(words::in_session(lang, &self.session)),
        ];
        lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    /// The same for programs; what is not known is left out.
    fn fields(&self, id: &str, event: Event, lang: Lang) -> Value {
        let mut fields = Map::new();
        let known = [
            ("id", json!(id)),
            ("event", json!(event.key())),
            ("session", json!(self.session)),
            ("at", json!(clock::to_iso(self.at))),
            ("project", json!(self.project)),
            ("workflow", json!(self.workflow)),
            ("stage", json!(self.stage)),
            ("reason", json!(self.reason)),
            ("durationMs", json!(self.duration_ms)),
            ("costUsd", json!(self.cost_usd)),
            ("title", json!(self.title(event, lang))),
            ("text", json!(self.text(lang))),
        ];
        fields.extend(
            known
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(name, value)| (name.to_owned(), value)),
        );
        Value::Object(fields)
    }
}

/// The beginning of a session's id, as people use it.
pub(crate) fn short(session: &str) -> &str {
    session.get(..SHORT_ID).unwrap_or(session)
}

pub(crate) fn dollars(amount: f64) -> String {
    format!("{amount:.2}")
}

/// On one line, and no longer than a name is.
pub(crate) fn plain(text: &str) -> String {
    cut(&printable(text), MAX_NAME).to_owned()
}

/// A reason that has no words of its own is shown as it was recorded.
fn reason_words(lang: Lang, reason: &str) -> String {
    match reason {
        "retry-limit" => words::reason_retry_limit(lang),
        "needs-person" => words::reason_verdict(lang),
        "stage-blocked" => words::reason_blocked(lang),
        "replaced" => words::reason_replaced(lang),
        "iteration-limit" => words::reason_iterations(lang),
        "no-progress" => words::reason_no_progress(lang),
        "stuck" => words::reason_stuck(lang),
        "limit" => words::reason_rounds(lang),
        "budget-spent" => words::reason_review_budget(lang),
        "timeout" => words::reason_timeout(lang),
        other => plain(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_break_lines() {
        assert_eq!(plain("a\nb\r\u{1b}[1m"), "a b [1m");
        assert_eq!(plain(&"x".repeat(500)).len(), MAX_NAME);
        assert_eq!((short("abc"), short("0123456789")), ("abc", "01234567"));
    }
}
