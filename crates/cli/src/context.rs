//! What every command is given: the home, the language, the configuration, and the session or project it is about.

use std::env;
use std::path::{Path, PathBuf};

use overtone_engine::settings::Settings;
use overtone_hooks::Environment;
use overtone_messages::{Lang, cli as words};
use overtone_store::config::{Config, Key};
use overtone_store::{Home, Session, SessionId};

use crate::ui::error::Failure;
use crate::ui::nearest::nearest;
use crate::ui::style::Palette;

/// Where a session is looked for when none is named: the plugin's own variable, then the client's.
const SESSION_VARIABLES: [&str; 2] = ["OVERTONE_SESSION_ID", "CLAUDE_CODE_SESSION_ID"];

#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) environment: Environment,
    pub(crate) lang: Lang,
    pub(crate) palette: Palette,
    config: Config,
}

impl Context {
    pub(crate) fn new(environment: Environment) -> Self {
        // As for hooks, a broken configuration counts as none; `overtone config` tells about it.
        let config = environment.home.as_ref().map(Config::load_or_default).unwrap_or_default();
        let lang = environment.lang().unwrap_or_else(|| config.language());
        Self { environment, lang, palette: Palette::for_stdout(), config }
    }

    pub(crate) fn home(&self) -> Result<&Home, Failure> {
        let missing = || Failure::new(words::no_home(self.lang)).hint(words::no_home_hint(self.lang));
        self.environment.home.as_ref().ok_or_else(missing)
    }

    pub(crate) fn settings(&self) -> Settings {
        self.config.settings()
    }

    /// A whole number of the configuration.
    pub(crate) fn number(&self, key: &str) -> u64 {
        Key::find(key).and_then(|key| self.config.value(key).as_u64()).unwrap_or_default()
    }

    /// The session that a command is about: the named one, else the one it runs in, else the one that started
    /// last. A variable with an unusable value means no session; another one must not take its place.
    pub(crate) fn session(&self, named: Option<&str>) -> Result<Option<Session>, Failure> {
        let home = self.home()?;
        if let Some(name) = named {
            return self.parse_session(name).map(|id| Some(home.session(&id)));
        }
        let given = SESSION_VARIABLES.iter().filter_map(env::var_os).find(|value| !value.is_empty());
        let id = match given {
            Some(value) => value.to_str().and_then(SessionId::parse),
            None => home.look_up_current_session().map_err(|error| Failure::store(self.lang, &error))?,
        };
        Ok(id.map(|id| home.session(&id)))
    }

    /// As [`session`](Self::session), for commands that are about nothing without one.
    pub(crate) fn required_session(&self, named: Option<&str>) -> Result<Session, Failure> {
        let missing = || Failure::new(words::no_session(self.lang)).hint(words::no_session_hint(self.lang));
        self.session(named)?.ok_or_else(missing)
    }

    /// A session by name that must be there.
    pub(crate) fn existing_session(&self, name: &str) -> Result<Session, Failure> {
        let session = self.home()?.session(&self.parse_session(name)?);
        if session.exists() { Ok(session) } else { Err(self.no_such_session(name)) }
    }

    /// Every session that this process may be part of.
    pub(crate) fn own_sessions(&self) -> Result<Vec<SessionId>, Failure> {
        let variables = SESSION_VARIABLES.iter().filter_map(env::var_os);
        let named = variables.filter_map(|value| SessionId::parse(value.to_str()?));
        Ok(named.chain(self.home()?.current_session()).collect())
    }

    fn parse_session(&self, name: &str) -> Result<SessionId, Failure> {
        let bad = || {
            Failure::new(words::bad_session_id(self.lang, name)).hint(words::bad_session_id_hint(self.lang))
        };
        SessionId::parse(name).ok_or_else(bad)
    }

    fn no_such_session(&self, name: &str) -> Failure {
        let sessions = self.home().ok().and_then(|home| home.sessions().ok()).unwrap_or_default();
        let hint = match nearest(name, sessions.iter().map(|session| session.id().as_str())) {
            Some(near) => words::did_you_mean(self.lang, near),
            None => words::list_sessions_hint(self.lang),
        };
        Failure::new(words::no_such_session(self.lang, name)).hint(hint)
    }

    /// The project: the named folder, else where the client was started, else the current folder.
    pub(crate) fn project(&self, named: Option<&Path>) -> Result<PathBuf, Failure> {
        if let Some(dir) = named {
            return dir.canonicalize().map_err(|error| Failure::io(self.lang, dir, &error));
        }
        let variables = ["OVERTONE_PROJECT_DIR", "CLAUDE_PROJECT_DIR"].iter().filter_map(env::var_os);
        let started_in = variables.map(PathBuf::from).find(|dir| dir.is_absolute());
        let here = || env::current_dir().map_err(|error| Failure::io(self.lang, Path::new("."), &error));
        started_in.map_or_else(here, Ok)
    }
}
