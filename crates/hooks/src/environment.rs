//! What a hook takes from its process: variables and the version. Read once, passed on.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use overtone_messages::Lang;
use overtone_store::{Home, SessionId};
use overtone_wire::HookInput;

/// What the client sets for its tools, or has us set.
const CLIENT_VARIABLES: [&str; 4] =
    ["CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID", "OVERTONE_SESSION_ID"];

/// The process environment, as far as hooks look at it. API keys in it are never touched.
#[derive(Debug)]
pub struct Environment {
    pub home: Option<Home>,
    pub version: &'static str,
    lang: Option<Lang>,
    project_dir: Option<OsString>,
    session_ids: [Option<OsString>; 2],
    is_in_client: bool,
    pub env_file: Option<PathBuf>,
    /// The user's folder of the client's settings, commands and skills.
    pub(crate) client_dir: Option<PathBuf>,
    pub(crate) user_home: Option<PathBuf>,
    /// The client that runs the hook has a screen, and a user who looks at it.
    pub(crate) has_screen: bool,
}

/// By what the client says of how it was started: `cli` in a terminal, `sdk-cli` for `-p`, and names of other
/// programs. Whatever is not the SDK has a screen.
fn has_screen(entry_point: &str) -> bool {
    !entry_point.is_empty() && !entry_point.starts_with("sdk")
}

impl Environment {
    pub fn from_process(version: &'static str) -> Self {
        Self {
            home: Home::resolve(env::var_os("OVERTONE_HOME"), env::var_os("HOME")),
            version,
            is_in_client: CLIENT_VARIABLES.iter().any(|name| env::var_os(name).is_some()),
            lang: env::var("OVERTONE_LANG").ok().and_then(|tag| Lang::from_tag(&tag)),
            project_dir: env::var_os("CLAUDE_PROJECT_DIR"),
            session_ids: [env::var_os("CLAUDE_SESSION_ID"), env::var_os("CLAUDE_CODE_SESSION_ID")],
            client_dir: client_dir(),
            user_home: env::var_os("HOME").map(PathBuf::from),
            has_screen: env::var("CLAUDE_CODE_ENTRYPOINT").is_ok_and(|entry| has_screen(&entry)),
            env_file: env::var_os("CLAUDE_ENV_FILE").map(PathBuf::from).filter(|path| path.is_absolute()),
        }
    }

    /// The language, if the environment names one; it wins over the configuration.
    pub fn lang(&self) -> Option<Lang> {
        self.lang
    }

    /// Whether this process was started by the client, as far as its environment says.
    pub fn is_in_client(&self) -> bool {
        self.is_in_client
    }

    /// The session: from stdin, else from the environment. A payload with an unusable id has no session; the
    /// environment must not put another one in its place.
    pub fn session_id(&self, input: &HookInput) -> Option<SessionId> {
        let given = input.session_id();
        if !given.is_empty() {
            return SessionId::parse(&given);
        }
        self.session_ids.iter().flatten().find_map(|id| SessionId::parse(id.to_str()?))
    }

    /// The project: where the client was started; its `cwd` moves with `cd`.
    pub fn project(&self, input: &HookInput) -> Option<PathBuf> {
        let started_in = self.project_dir.as_ref().map(PathBuf::from);
        let absolute = |path: &PathBuf| path.is_absolute();
        started_in
            .filter(absolute)
            .or_else(|| Some(PathBuf::from(&*input.cwd())).filter(absolute))
            .or_else(|| env::current_dir().ok())
    }
}

fn client_dir() -> Option<PathBuf> {
    let named = env::var_os("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    named.or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".claude")))
}
