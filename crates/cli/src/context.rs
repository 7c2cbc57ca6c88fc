//! What every command is given: the home, the language, the configuration, and the project it is about.

use std::env;
use std::path::{Path, PathBuf};

use overtone_engine::settings::Settings;
use overtone_engine::{Caller, Snapshot, initiator};
use overtone_hooks::Environment;
use overtone_messages::{Lang, cli as words};
use overtone_store::Home;
use overtone_store::config::{Config, Key};

use crate::ui::error::Failure;
use crate::ui::style::Palette;
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

    /// Who gave this command, for the timeline.
    pub(crate) fn initiator(&self, snapshot: &Snapshot) -> &'static str {
        let arguments: Vec<_> = env::args().skip(1).collect();
        initiator(self.caller(), snapshot.looping.as_ref(), &arguments.join(" "))
    }

    /// Inside the client everything is the model's, whatever its standard input looks like.
    fn caller(&self) -> Caller {
        if self.environment.is_in_client() {
            Caller::Client
        } else if terminal::stdin_is_terminal() {
            Caller::Terminal
        } else {
            Caller::Other
        }
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
