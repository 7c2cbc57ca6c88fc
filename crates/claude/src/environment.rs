//! What a hook needs from its process: environment variables and the version. They are read once and passed on.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::wire::HookInput;
use overtone_core::messages::Lang;
use overtone_store::config::Config;
use overtone_store::{Home, SessionId};

/// Variables that the client sets for its tools, or that Overtone exports to them.
const CLIENT_VARIABLES: [&str; 4] =
    ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID", "OVERTONE_SESSION_ID"];

/// The part of the process environment that hooks use. API keys are not read.
#[derive(Debug)]
pub struct Environment {
    pub home: Option<Home>,
    pub version: &'static str,
    lang: Option<Lang>,
    project_dir: Option<OsString>,
    session_ids: [Option<OsString>; 2],
    is_in_client: bool,
    /// Whether a tool of the client runs this process, so that the model may have chosen the command.
    pub is_tool_call: bool,
    pub env_file: Option<PathBuf>,
    /// The folder with the user's settings, commands and skills of the client.
    pub client_dir: Option<PathBuf>,
    pub user_home: Option<PathBuf>,
    plugin_dir: Option<PathBuf>,
    /// Whether the client shows its output to a user.
    pub has_screen: bool,
}

/// The client names its entry point: `cli` in a terminal, `sdk-cli` for `-p`, or the name of another program. All but the
/// SDK have a screen.
fn has_screen(entry_point: &str) -> bool {
    !entry_point.is_empty() && !entry_point.starts_with("sdk")
}

impl Environment {
    pub fn from_process(version: &'static str) -> Self {
        Self {
            home: Home::resolve(env::var_os("OVERTONE_HOME"), env::var_os("HOME")),
            version,
            is_in_client: CLIENT_VARIABLES.iter().any(|name| env::var_os(name).is_some()),
            is_tool_call: env::var_os("CLAUDECODE").is_some_and(|value| !value.is_empty()),
            lang: language_variable(),
            project_dir: env::var_os("CLAUDE_PROJECT_DIR"),
            session_ids: [env::var_os("CLAUDE_SESSION_ID"), env::var_os("CLAUDE_CODE_SESSION_ID")],
            client_dir: client_dir(),
            user_home: env::var_os("HOME").map(PathBuf::from),
            plugin_dir: env::var_os("CLAUDE_PLUGIN_ROOT")
                .map(PathBuf::from)
                .filter(|path| path.is_absolute()),
            has_screen: has_screen(&env::var("CLAUDE_CODE_ENTRYPOINT").unwrap_or_default()),
            env_file: env::var_os("CLAUDE_ENV_FILE").map(PathBuf::from).filter(|path| path.is_absolute()),
        }
    }

    /// The language that the environment sets, if any. It overrides the configuration.
    pub fn lang(&self) -> Option<Lang> {
        self.lang
    }

    /// The folders with Overtone's own files: its home, and the plugin if it is elsewhere.
    pub fn own_folders(&self) -> Vec<&Path> {
        self.home.iter().map(Home::root).chain(self.plugin_dir.as_deref()).collect()
    }

    /// Whether the environment says that the client started this process.
    pub fn is_in_client(&self) -> bool {
        self.is_in_client
    }

    /// The session id from the payload, else from the environment. A payload with an invalid id has no session: using the
    /// one from the environment instead could affect the wrong session.
    pub fn session_id(&self, input: &HookInput) -> Option<SessionId> {
        let id = input.session_id();
        if !id.is_empty() {
            return SessionId::parse(&id);
        }
        self.session_ids.iter().flatten().find_map(|id| SessionId::parse(id.to_str()?))
    }

    /// The project is the folder where the client was started. The `cwd` of the payload is used only without it, because it
    /// changes with `cd`.
    pub fn project(&self, input: &HookInput) -> Option<PathBuf> {
        if let Some(started_in) = self.project_dir.as_ref().map(PathBuf::from)
            && started_in.is_absolute()
        {
            return Some(started_in);
        }
        let cwd = PathBuf::from(&*input.cwd());
        if cwd.is_absolute() { Some(cwd) } else { env::current_dir().ok() }
    }
}

fn language_variable() -> Option<Lang> {
    env::var("OVERTONE_LANG").ok().and_then(|tag| Lang::from_tag(&tag))
}

/// The language of texts that this process writes: that of its environment, else that of the configuration.
pub fn language_of_process(home: &Home) -> Lang {
    match language_variable() {
        Some(lang) => lang,
        None => Config::load_or_default(home).language(),
    }
}

fn client_dir() -> Option<PathBuf> {
    match env::var_os("CLAUDE_CONFIG_DIR") {
        Some(dir) if !dir.is_empty() => Some(PathBuf::from(dir)),
        _ => Some(PathBuf::from(env::var_os("HOME")?).join(".claude")),
    }
}
