//! Selects the session of a command: the given one, else the one it runs in, else one of the current folder.

use std::env;

use overtone_core::messages::cli as words;
use overtone_store::{Home, MIN_PREFIX, Session, SessionId, StoreError, clock};

use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult, note};
use crate::ui::nearest::nearest;
use crate::ui::quantity::age;

/// The variables that name the session a command runs in: the plugin's own, then the client's.
const SESSION_VARIABLES: [&str; 2] = ["OVERTONE_SESSION_ID", "CLAUDE_CODE_SESSION_ID"];

/// How many sessions are listed when a prefix is ambiguous.
const MAX_CANDIDATES: usize = 8;

/// A session, and how it was selected.
#[derive(Debug)]
pub(crate) struct SelectedSession {
    pub(crate) session: Session,
    selected_by: SelectedBy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SelectedBy {
    /// It was given, or the command runs in it.
    Given,
    /// It works in the current folder.
    Folder,
    /// The current folder has none, so it is the last one of all.
    Last,
}

/// Where the command runs.
enum RunsIn {
    /// In a session of the client. If its id is unusable there is no session; another one must not be used instead.
    Client(Option<Session>),
    Terminal,
}

impl SelectedSession {
    const fn new(session: Session, selected_by: SelectedBy) -> Self {
        Self { session, selected_by }
    }

    /// Prints on stderr which session is used, unless it was given by the command or its environment.
    pub(crate) fn announce(&self, context: &Context) {
        if self.selected_by == SelectedBy::Given {
            return;
        }
        let (lang, id) = (context.lang, self.session.id().short());
        let project = self.session.origin().project;
        let project = match project {
            Some(path) => path.display().to_string(),
            None => words::unknown_project(lang),
        };
        let since = age(clock::now().since(self.session.last_active()));
        note(&match self.selected_by {
            SelectedBy::Last => words::last_session_used(lang, id, &project, &since),
            _ => words::session_used(lang, id, &project, &since),
        });
    }
}

impl Context {
    /// The session that a command shows. If the current folder has none, it is the last one of all.
    pub(crate) fn session_to_read(&self, named: Option<&str>) -> CommandResult<Option<SelectedSession>> {
        if let Some(name) = named {
            return self.named_session(name).map(Some);
        }
        if let RunsIn::Client(session) = self.runs_in()? {
            return Ok(session.map(|session| SelectedSession::new(session, SelectedBy::Given)));
        }
        let current = self.current_session()?;
        if let Some(session) = self.session_of_folder(current.as_ref())? {
            return Ok(Some(SelectedSession::new(session, SelectedBy::Folder)));
        }
        let last = match current {
            Some(session) => Some(session),
            None => self.store_result(self.home()?.last_session())?,
        };
        Ok(last.map(|session| SelectedSession::new(session, SelectedBy::Last)))
    }

    /// As [`session_to_read`](Self::session_to_read), for commands that show nothing without one.
    pub(crate) fn required_session_to_read(&self, named: Option<&str>) -> CommandResult<SelectedSession> {
        self.session_to_read(named)?.ok_or_else(|| self.no_session_error())
    }

    /// The session that a command changes: never one of another project, unless it is named. `None` if the command runs
    /// in a client that gives it no usable id.
    pub(crate) fn session_to_change(&self, named: Option<&str>) -> CommandResult<Option<SelectedSession>> {
        if let Some(name) = named {
            return self.named_session(name).map(Some);
        }
        if let RunsIn::Client(session) = self.runs_in()? {
            return Ok(session.map(|session| SelectedSession::new(session, SelectedBy::Given)));
        }
        let current = self.current_session()?;
        match self.session_of_folder(current.as_ref())? {
            Some(session) => Ok(Some(SelectedSession::new(session, SelectedBy::Folder))),
            None => Err(self.no_session_of_folder_error()),
        }
    }

    /// The session that a workflow is started in. It may be new, so its id must be complete. A session of this folder
    /// that has ended is not used, since no client would run the workflow.
    pub(crate) fn session_to_start(&self, named: Option<&str>) -> CommandResult<Session> {
        if let Some(name) = named {
            return Ok(self.home()?.session(&self.parse_session(name)?));
        }
        if let RunsIn::Client(session) = self.runs_in()? {
            return session.ok_or_else(|| self.no_session_error());
        }
        let folder = self.project(None)?;
        let current = self.current_session()?.ok_or_else(|| self.no_session_error())?;
        match current.works_in(&folder) {
            Some(false) => Err(self.no_session_of_folder_error()),
            _ => Ok(current),
        }
    }

    /// The session whose timeline is followed, which may begin later.
    pub(crate) fn session_to_follow(&self, named: Option<&str>) -> CommandResult<SelectedSession> {
        let Some(name) = named else { return self.required_session_to_read(None) };
        let (home, id) = (self.home()?, self.parse_session(name)?);
        let session = match self.sessions_named(home, &id)?.as_slice() {
            [] => home.session(&id),
            _ => self.existing_session(name)?,
        };
        Ok(SelectedSession::new(session, SelectedBy::Given))
    }

    /// A session by its id or the first characters of it.
    pub(crate) fn existing_session(&self, name: &str) -> CommandResult<Session> {
        let (home, id) = (self.home()?, self.parse_session(name)?);
        let mut found = self.sessions_named(home, &id)?;
        match found.len() {
            0 => Err(self.no_such_session(name)),
            1 => Ok(found.remove(0)),
            _ => Err(self.ambiguous_session(name, &found)),
        }
    }

    /// The sessions that this command may be part of, by its environment.
    pub(crate) fn sessions_of_environment() -> Vec<SessionId> {
        let variables = SESSION_VARIABLES.iter().filter_map(env::var_os);
        variables.filter_map(|value| SessionId::parse(value.to_str()?)).collect()
    }

    /// Every session that this process may be part of, with the one that started last.
    pub(crate) fn own_sessions(&self) -> CommandResult<Vec<SessionId>> {
        let mut own = Self::sessions_of_environment();
        own.extend(self.home()?.current_session());
        Ok(own)
    }

    fn runs_in(&self) -> CommandResult<RunsIn> {
        let given = SESSION_VARIABLES.iter().filter_map(env::var_os).find(|value| !value.is_empty());
        let Some(value) = given else { return Ok(RunsIn::Terminal) };
        let home = self.home()?;
        let id = value.to_str().and_then(SessionId::parse);
        Ok(RunsIn::Client(id.map(|id| home.session(&id))))
    }

    /// The session that started last, unless it was removed meanwhile.
    fn current_session(&self) -> CommandResult<Option<Session>> {
        let home = self.home()?;
        let id = self.store_result(home.look_up_current_session())?;
        Ok(id.map(|id| home.session(&id)).filter(Session::exists))
    }

    /// The one that started last if it works in the current folder, else the last active one that does.
    fn session_of_folder(&self, current: Option<&Session>) -> CommandResult<Option<Session>> {
        let folder = self.project(None)?;
        match current {
            Some(session) if session.works_in(&folder) == Some(true) => Ok(Some(session.clone())),
            _ => self.store_result(self.home()?.session_of_folder(&folder)),
        }
    }

    fn named_session(&self, name: &str) -> CommandResult<SelectedSession> {
        Ok(SelectedSession::new(self.existing_session(name)?, SelectedBy::Given))
    }

    /// The session of that id, else those whose id begins with it.
    fn sessions_named(&self, home: &Home, id: &SessionId) -> CommandResult<Vec<Session>> {
        let exact = home.session(id);
        if exact.exists() {
            return Ok(vec![exact]);
        }
        if id.as_str().len() < MIN_PREFIX {
            return Ok(Vec::new());
        }
        self.store_result(home.sessions_with_prefix(id.as_str()))
    }

    fn parse_session(&self, name: &str) -> CommandResult<SessionId> {
        match SessionId::parse(name) {
            Some(id) => Ok(id),
            None => Err(CommandError::new(words::bad_session_id(self.lang, name))
                .hint(words::bad_session_id_hint(self.lang))),
        }
    }

    fn store_result<T>(&self, result: Result<T, StoreError>) -> CommandResult<T> {
        result.map_err(|error| CommandError::store(self.lang, &error))
    }

    fn no_session_error(&self) -> CommandError {
        CommandError::new(words::no_session(self.lang)).hint(words::no_session_hint(self.lang))
    }

    fn no_session_of_folder_error(&self) -> CommandError {
        let folder = self.project(None).map(|path| path.display().to_string()).unwrap_or_default();
        CommandError::new(words::no_session_of_folder(self.lang, &folder))
            .hint(words::choose_session_hint(self.lang))
    }

    fn no_such_session(&self, name: &str) -> CommandError {
        let failure = CommandError::new(words::no_such_session(self.lang, name));
        let sessions = self.home().ok().and_then(|home| home.sessions().ok()).unwrap_or_default();
        failure.hint(match nearest(name, sessions.iter().map(|session| session.id().as_str())) {
            Some(near) => words::did_you_mean(self.lang, near),
            None if name.len() < MIN_PREFIX => words::short_prefix_hint(self.lang, MIN_PREFIX),
            None => words::list_sessions_hint(self.lang),
        })
    }

    fn ambiguous_session(&self, name: &str, found: &[Session]) -> CommandError {
        let mut names: Vec<_> = found.iter().take(MAX_CANDIDATES).map(candidate).collect();
        if found.len() > MAX_CANDIDATES {
            names.push("…".to_owned());
        }
        CommandError::new(words::ambiguous_session(self.lang, name, found.len()))
            .hint(words::one_of(self.lang, &names.join(", ")))
    }
}

/// `3c4d0f21-… (shop)`.
fn candidate(session: &Session) -> String {
    let project = session.origin().project;
    match project.as_deref().and_then(|path| path.file_name()) {
        Some(name) => format!("{} ({})", session.id(), name.to_string_lossy()),
        None => session.id().to_string(),
    }
}
