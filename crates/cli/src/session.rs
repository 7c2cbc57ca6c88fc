//! Which session a command is about: the named one, else the one it runs in, else one of the current folder.

use std::env;

use overtone_messages::cli as words;
use overtone_store::{Home, MIN_PREFIX, Session, SessionId, StoreError, clock};

use crate::context::Context;
use crate::ui::error::{Failure, say};
use crate::ui::nearest::nearest;
use crate::ui::quantity::age;

/// The variables that name the session a command runs in: the plugin's own, then the client's.
const SESSION_VARIABLES: [&str; 2] = ["OVERTONE_SESSION_ID", "CLAUDE_CODE_SESSION_ID"];

/// How many sessions are listed when the first characters fit several.
const CANDIDATES: usize = 8;

/// A session, and how it was chosen.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) session: Session,
    source: Source,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// It was named, or the command runs in it.
    Given,
    /// It works in the current folder.
    Folder,
    /// The current folder has none, so it is the last one of all.
    Last,
}

/// Where a command runs.
enum Surroundings {
    /// In a session of the client. An unusable id means no session, and another one must not take its place.
    Client(Option<Session>),
    Terminal,
}

impl Chosen {
    const fn new(session: Session, source: Source) -> Self {
        Self { session, source }
    }

    /// Says on stderr which session is used, unless that is known from the command or its environment.
    pub(crate) fn announce(&self, context: &Context) {
        if self.source == Source::Given {
            return;
        }
        let (lang, id) = (context.lang, self.session.id().short());
        let project = self.session.origin().project;
        let project = project.map_or_else(|| words::unknown_project(lang), |path| path.display().to_string());
        let since = age(clock::now().since(self.session.last_active()));
        say(&match self.source {
            Source::Last => words::last_session_used(lang, id, &project, &since),
            _ => words::session_used(lang, id, &project, &since),
        });
    }
}

impl Context {
    /// The session that a command shows. Where the current folder has none, it is the last one of all.
    pub(crate) fn session_to_read(&self, named: Option<&str>) -> Result<Option<Chosen>, Failure> {
        if let Some(name) = named {
            return self.named_session(name).map(Some);
        }
        if let Surroundings::Client(session) = self.session_of_environment()? {
            return Ok(session.map(|session| Chosen::new(session, Source::Given)));
        }
        let current = self.current_session()?;
        if let Some(session) = self.session_of_folder(current.as_ref())? {
            return Ok(Some(Chosen::new(session, Source::Folder)));
        }
        let last = match current {
            Some(session) => Some(session),
            None => self.stored(self.home()?.last_session())?,
        };
        Ok(last.map(|session| Chosen::new(session, Source::Last)))
    }

    /// As [`session_to_read`](Self::session_to_read), for commands that show nothing without one.
    pub(crate) fn required_session_to_read(&self, named: Option<&str>) -> Result<Chosen, Failure> {
        self.session_to_read(named)?.ok_or_else(|| self.no_session())
    }

    /// The session that a command changes: never one of another project, unless it is named. `None` if the command runs
    /// in a client that gives it no usable id.
    pub(crate) fn session_to_change(&self, named: Option<&str>) -> Result<Option<Chosen>, Failure> {
        if let Some(name) = named {
            return self.named_session(name).map(Some);
        }
        if let Surroundings::Client(session) = self.session_of_environment()? {
            return Ok(session.map(|session| Chosen::new(session, Source::Given)));
        }
        let current = self.current_session()?;
        match self.session_of_folder(current.as_ref())? {
            Some(session) => Ok(Some(Chosen::new(session, Source::Folder))),
            None => Err(self.no_session_of_folder()),
        }
    }

    /// The session that a workflow is started in. It may be new, so its id is not completed; and a session of this
    /// folder that has ended is not taken, since nobody would run the workflow.
    pub(crate) fn session_to_start(&self, named: Option<&str>) -> Result<Session, Failure> {
        if let Some(name) = named {
            return Ok(self.home()?.session(&self.parse_session(name)?));
        }
        if let Surroundings::Client(session) = self.session_of_environment()? {
            return session.ok_or_else(|| self.no_session());
        }
        let folder = self.project(None)?;
        let current = self.current_session()?.ok_or_else(|| self.no_session())?;
        match current.works_in(&folder) {
            Some(false) => Err(self.no_session_of_folder()),
            _ => Ok(current),
        }
    }

    /// The session whose timeline is followed, which may begin later.
    pub(crate) fn session_to_follow(&self, named: Option<&str>) -> Result<Chosen, Failure> {
        let Some(name) = named else { return self.required_session_to_read(None) };
        let (home, id) = (self.home()?, self.parse_session(name)?);
        let session = match self.sessions_named(home, &id)?.as_slice() {
            [] => home.session(&id),
            _ => self.existing_session(name)?,
        };
        Ok(Chosen::new(session, Source::Given))
    }

    /// A session by its id or the first characters of it.
    pub(crate) fn existing_session(&self, name: &str) -> Result<Session, Failure> {
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
    pub(crate) fn own_sessions(&self) -> Result<Vec<SessionId>, Failure> {
        let mut own = Self::sessions_of_environment();
        own.extend(self.home()?.current_session());
        Ok(own)
    }

    fn session_of_environment(&self) -> Result<Surroundings, Failure> {
        let given = SESSION_VARIABLES.iter().filter_map(env::var_os).find(|value| !value.is_empty());
        let Some(value) = given else { return Ok(Surroundings::Terminal) };
        let home = self.home()?;
        let id = value.to_str().and_then(SessionId::parse);
        Ok(Surroundings::Client(id.map(|id| home.session(&id))))
    }

    /// The session that started last, unless it was removed meanwhile.
    fn current_session(&self) -> Result<Option<Session>, Failure> {
        let home = self.home()?;
        let id = self.stored(home.look_up_current_session())?;
        Ok(id.map(|id| home.session(&id)).filter(Session::exists))
    }

    /// The one that started last if it works in the current folder, else the last active one that does.
    fn session_of_folder(&self, current: Option<&Session>) -> Result<Option<Session>, Failure> {
        let folder = self.project(None)?;
        match current {
            Some(session) if session.works_in(&folder) == Some(true) => Ok(Some(session.clone())),
            _ => self.stored(self.home()?.session_of_folder(&folder)),
        }
    }

    fn named_session(&self, name: &str) -> Result<Chosen, Failure> {
        Ok(Chosen::new(self.existing_session(name)?, Source::Given))
    }

    /// The session of that id, else those whose id begins with it.
    fn sessions_named(&self, home: &Home, id: &SessionId) -> Result<Vec<Session>, Failure> {
        let exact = home.session(id);
        if exact.exists() {
            return Ok(vec![exact]);
        }
        if id.as_str().len() < MIN_PREFIX {
            return Ok(Vec::new());
        }
        self.stored(home.sessions_with_prefix(id.as_str()))
    }

    fn parse_session(&self, name: &str) -> Result<SessionId, Failure> {
        let bad = || {
            Failure::new(words::bad_session_id(self.lang, name)).hint(words::bad_session_id_hint(self.lang))
        };
        SessionId::parse(name).ok_or_else(bad)
    }

    fn stored<T>(&self, result: Result<T, StoreError>) -> Result<T, Failure> {
        result.map_err(|error| Failure::store(self.lang, &error))
    }

    fn no_session(&self) -> Failure {
        Failure::new(words::no_session(self.lang)).hint(words::no_session_hint(self.lang))
    }

    fn no_session_of_folder(&self) -> Failure {
        let folder = self.project(None).map(|path| path.display().to_string()).unwrap_or_default();
        Failure::new(words::no_session_of_folder(self.lang, &folder))
            .hint(words::choose_session_hint(self.lang))
    }

    fn no_such_session(&self, name: &str) -> Failure {
        let failure = Failure::new(words::no_such_session(self.lang, name));
        let sessions = self.home().ok().and_then(|home| home.sessions().ok()).unwrap_or_default();
        failure.hint(match nearest(name, sessions.iter().map(|session| session.id().as_str())) {
            Some(near) => words::did_you_mean(self.lang, near),
            None if name.len() < MIN_PREFIX => words::short_prefix_hint(self.lang, MIN_PREFIX),
            None => words::list_sessions_hint(self.lang),
        })
    }

    fn ambiguous_session(&self, name: &str, found: &[Session]) -> Failure {
        let mut names: Vec<_> = found.iter().take(CANDIDATES).map(candidate).collect();
        if found.len() > CANDIDATES {
            names.push("…".to_owned());
        }
        Failure::new(words::ambiguous_session(self.lang, name, found.len()))
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
