//! The context of every command: the home, the language, the configuration and the project.

use std::env;
use std::path::{Path, PathBuf};

use overtone_claude::Environment;
use overtone_core::economy::{Budget, PriceTable};
use overtone_core::engine::settings::Settings;
use overtone_core::engine::{Caller, Snapshot, initiator};
use overtone_core::messages::{Lang, cli as words};
use overtone_hook::ansi::Palette;
use overtone_store::config::{Config, Setting, SettingValue};
use overtone_store::{Home, Session};

use crate::ui::error::{CommandError, CommandResult};
use crate::ui::terminal;

#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) environment: Environment,
    pub(crate) lang: Lang,
    pub(crate) palette: Palette,
    config: Config,
}

impl Context {
    pub(crate) fn new(environment: Environment) -> Self {
        // As for hooks, a broken configuration counts as none; `overtone config` reports it.
        let config = environment.home.as_ref().map(Config::load_or_default).unwrap_or_default();
        let lang = environment.lang().unwrap_or_else(|| config.language());
        Self { environment, lang, palette: Palette::for_stdout(), config }
    }

    pub(crate) fn home(&self) -> CommandResult<&Home> {
        let missing = || CommandError::new(words::no_home(self.lang)).hint(words::no_home_hint(self.lang));
        self.environment.home.as_ref().ok_or_else(missing)
    }

    pub(crate) fn settings(&self) -> Settings {
        self.config.settings()
    }

    /// The limits of new workflows that the user has set.
    pub(crate) fn budget(&self) -> Budget {
        self.config.budget()
    }

    /// The prices of models that are in force.
    pub(crate) fn prices(&self) -> PriceTable {
        self.config.prices()
    }

    /// A value of the configuration.
    pub(crate) fn setting<T: SettingValue>(&self, setting: &Setting<T>) -> T {
        self.config.get(setting)
    }

    /// A value that the user has configured.
    pub(crate) fn explicit_setting<T: SettingValue>(&self, setting: &Setting<T>) -> Option<T> {
        self.config.get_explicit(setting)
    }

    /// Who gave this command, as the timeline records it.
    pub(crate) fn initiator(&self, snapshot: &Snapshot) -> &'static str {
        let arguments: Vec<_> = env::args().skip(1).collect();
        initiator(self.caller(), snapshot.looping.as_ref(), &arguments.join(" "))
    }

    /// Who gave this command about a session, for commands that do not read its state before.
    pub(crate) fn command_initiator(&self, session: &Session) -> &'static str {
        let looping = session.looping().ok().flatten().map(|document| document.state);
        self.initiator(&Snapshot { workflow: None, looping })
    }

    /// Inside the client the model is the caller, whatever standard input is.
    fn caller(&self) -> Caller {
        if self.environment.is_in_client() {
            Caller::Client
        } else if terminal::stdin_is_terminal() {
            Caller::Terminal
        } else {
            Caller::Other
        }
    }

    /// The project: the given folder, else where the client was started, else the current folder.
    pub(crate) fn project(&self, named: Option<&Path>) -> CommandResult<PathBuf> {
        if let Some(dir) = named {
            return dir.canonicalize().map_err(|error| CommandError::io(self.lang, dir, &error));
        }
        for variable in ["OVERTONE_PROJECT_DIR", "CLAUDE_PROJECT_DIR"] {
            if let Some(dir) = env::var_os(variable).map(PathBuf::from)
                && dir.is_absolute()
            {
                return Ok(dir);
            }
        }
        env::current_dir().map_err(|error| CommandError::io(self.lang, Path::new("."), &error))
    }
}
