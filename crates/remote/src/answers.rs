//! What a command from afar does and says.

use overtone_engine::state::WorkflowState;
use overtone_messages::{Lang, remote as words};
use overtone_store::Session;
use overtone_view::{State, Summary};

use crate::notice::{dollars, plain, short};
use crate::remote::Host;

/// More does not fit on a phone.
const MAX_LISTED: usize = 10;

pub(crate) struct Answers<'a> {
    pub(crate) host: &'a dyn Host,
    pub(crate) lang: Lang,
    /// Whether a bot's name is this bot's.
    pub(crate) is_own_name: &'a dyn Fn(&str) -> bool,
}

impl Answers<'_> {
    /// `None` for what is no command, and for a command to another bot.
    pub(crate) fn to(&self, text: &str, by: &str) -> Option<String> {
        let mut parts = text.split_whitespace();
        let word = parts.next().filter(|word| word.starts_with('/'))?;
        // In a group with several bots it is `/status@name_of_the_bot`.
        let command = match word.split_once('@') {
            Some((command, name)) if (self.is_own_name)(name) => command,
            Some(_) => return None,
            None => word,
        };
        self.host.touch();
        Some(match command {
            "/status" => self.status(),
            "/sessions" => self.sessions(),
            "/stop" => self.stop(parts.next(), by),
            _ => words::commands(self.lang),
        })
    }

    /// The last active first.
    fn recent(&self) -> Vec<Summary> {
        let mut sessions = self.host.sessions();
        sessions.sort_by_key(|summary| std::cmp::Reverse(summary.last_activity));
        sessions
    }

    fn status(&self) -> String {
        let open: Vec<_> = self.recent().into_iter().filter(|summary| summary.state.is_open()).collect();
        let running = open.iter().filter(|summary| summary.state == State::Running).count();
        let waiting = self.host.sessions().iter().filter(|summary| summary.needs_person()).count();
        let mut lines = vec![words::counts(self.lang, running, open.len() - running, waiting)];
        lines.extend(open.iter().take(MAX_LISTED).map(|summary| self.line(summary)));
        lines.join("\n")
    }

    fn sessions(&self) -> String {
        let lines: Vec<_> = self.recent().iter().take(MAX_LISTED).map(|summary| self.line(summary)).collect();
        if lines.is_empty() { words::no_sessions(self.lang) } else { lines.join("\n") }
    }

    fn line(&self, summary: &Summary) -> String {
        let lang = self.lang;
        let workflow = summary.workflow.as_ref();
        let done = workflow.map_or(0, WorkflowState::resolved_count);
        let total = workflow.map_or(0, |workflow| workflow.stages.len());
        let name = summary.project_name().unwrap_or_else(|| "-".to_owned());
        let kind = summary.workflow_name().unwrap_or("-");
        let cost = summary.usage.cost_usd.map(|cost| format!(" · ${}", dollars(cost))).unwrap_or_default();
        let (id, state) = (short(summary.id()), state_words(lang, summary.state));
        format!("{id} {} {} {done}/{total} · {state}{cost}", plain(&name), plain(kind))
    }

    fn stop(&self, name: Option<&str>, by: &str) -> String {
        let Some(name) = name else { return words::stop_whom(self.lang) };
        match self.find(name).as_slice() {
            [] => words::no_such_session(self.lang, &plain(name)),
            [session] => match self.host.stop(session, by) {
                Ok(()) => words::stopped(self.lang, short(session.id().as_str())),
                Err(problem) => words::not_stopped(self.lang, short(session.id().as_str()), &problem),
            },
            _ => words::several_sessions(self.lang, &plain(name)),
        }
    }

    /// By its whole id, or by the beginning of one.
    fn find(&self, name: &str) -> Vec<Session> {
        let sessions: Vec<_> = self.host.sessions().into_iter().map(|summary| summary.session).collect();
        match sessions.iter().find(|session| session.id().as_str() == name) {
            Some(exact) => vec![exact.clone()],
            None => sessions.into_iter().filter(|session| session.id().as_str().starts_with(name)).collect(),
        }
    }
}

fn state_words(lang: Lang, state: State) -> String {
    match state {
        State::None => words::state_none(lang),
        State::Running => words::state_running(lang),
        State::Stopped => words::state_stopped(lang),
        State::Completed => words::state_completed(lang),
        State::Aborted => words::state_aborted(lang),
        State::Broken => words::state_broken(lang),
    }
}
