//! Carries out a chat command and composes the reply.

use overtone_core::messages::{Lang, remote as messages};
use overtone_session::view::{SessionState, Summary};
use overtone_store::Session;

use crate::remote::notification::{format_dollars, short_id, single_line};
use crate::remote::service::SessionBackend;

/// How many sessions a reply lists, so that it fits on a phone.
const MAX_LISTED: usize = 10;

pub(crate) struct CommandHandler<'a> {
    pub(crate) backend: &'a dyn SessionBackend,
    pub(crate) lang: Lang,
    /// Whether a bot's name is the name of this bot.
    pub(crate) is_own_name: &'a dyn Fn(&str) -> bool,
}

impl CommandHandler<'_> {
    /// Returns the reply. `None` if the text is not a command or addresses another bot.
    pub(crate) fn handle(&self, text: &str, by: &str) -> Option<String> {
        let mut parts = text.split_whitespace();
        let first = parts.next()?;
        if !first.starts_with('/') {
            return None;
        }
        // In a group with several bots a command looks like `/status@name_of_the_bot`.
        let command = match first.split_once('@') {
            Some((command, name)) if (self.is_own_name)(name) => command,
            Some(_) => return None,
            None => first,
        };
        self.backend.touch();
        Some(match command {
            "/status" => self.status(),
            "/sessions" => self.list_sessions(),
            "/stop" => self.stop(parts.next(), by),
            _ => messages::commands(self.lang),
        })
    }

    /// All sessions, the most recently active first.
    fn recent_sessions(&self) -> Vec<Summary> {
        let mut sessions = self.backend.sessions();
        sessions.sort_by_key(|summary| std::cmp::Reverse(summary.last_activity));
        sessions
    }

    fn status(&self) -> String {
        let open: Vec<_> =
            self.recent_sessions().into_iter().filter(|summary| summary.state.is_open()).collect();
        let running = open.iter().filter(|summary| summary.state == SessionState::Running).count();
        let waiting = self.backend.sessions().iter().filter(|summary| summary.needs_user()).count();
        let mut lines = vec![messages::counts(self.lang, running, open.len() - running, waiting)];
        lines.extend(open.iter().take(MAX_LISTED).map(|summary| self.session_line(summary)));
        lines.join("\n")
    }

    fn list_sessions(&self) -> String {
        let sessions = self.recent_sessions();
        if sessions.is_empty() {
            return messages::no_sessions(self.lang);
        }
        let lines: Vec<_> =
            sessions.iter().take(MAX_LISTED).map(|summary| self.session_line(summary)).collect();
        lines.join("\n")
    }

    fn session_line(&self, summary: &Summary) -> String {
        let (done, total) = match &summary.workflow {
            Some(workflow) => (workflow.resolved_count(), workflow.stages.len()),
            None => (0, 0),
        };
        let project = single_line(&summary.project_name().unwrap_or_else(|| "-".to_owned()));
        let kind = single_line(summary.workflow_name().unwrap_or("-"));
        let cost = match summary.usage.cost_usd {
            Some(cost) => format!(" · ${}", format_dollars(cost)),
            None => String::new(),
        };
        let (id, state) = (short_id(summary.id()), state_name(self.lang, summary.state));
        format!("{id} {project} {kind} {done}/{total} · {state}{cost}")
    }

    fn stop(&self, name: Option<&str>, by: &str) -> String {
        let Some(name) = name else { return messages::stop_whom(self.lang) };
        match self.find(name).as_slice() {
            [] => messages::no_such_session(self.lang, &single_line(name)),
            [session] => {
                let id = short_id(session.id().as_str());
                match self.backend.stop(session, by) {
                    Ok(()) => messages::stopped(self.lang, id),
                    Err(error) => messages::not_stopped(self.lang, id, &error),
                }
            }
            _ => messages::several_sessions(self.lang, &single_line(name)),
        }
    }

    /// The session with this id, else every session whose id begins with it.
    fn find(&self, name: &str) -> Vec<Session> {
        let sessions: Vec<_> = self.backend.sessions().into_iter().map(|summary| summary.session).collect();
        match sessions.iter().find(|session| session.id().as_str() == name) {
            Some(exact) => vec![exact.clone()],
            None => sessions.into_iter().filter(|session| session.id().as_str().starts_with(name)).collect(),
        }
    }
}

fn state_name(lang: Lang, state: SessionState) -> String {
    match state {
        SessionState::None => messages::state_none(lang),
        SessionState::Running => messages::state_running(lang),
        SessionState::Stopped => messages::state_stopped(lang),
        SessionState::Completed => messages::state_completed(lang),
        SessionState::Aborted => messages::state_aborted(lang),
        SessionState::Broken => messages::state_broken(lang),
    }
}
