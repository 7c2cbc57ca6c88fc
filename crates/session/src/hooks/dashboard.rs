//! Starts the dashboard together with a session, unless it already runs or is disabled. The hook does not wait for it.

use std::env;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use overtone_core::registry::{HOOK_PROGRAM, PROGRAM};
use overtone_store::config::{Config, keys};
use overtone_store::{Home, files};

/// The environment variables that the server inherits. API keys are not among them.
const INHERITED_VARIABLES: [&str; 14] = [
    "HOME",
    "OVERTONE_HOME",
    "OVERTONE_LANG",
    "PATH",
    "CCC_CONFIG_DIR",
    "CCC_WORK_DIR",
    "CLAUDE_CONFIG_DIR",
    "LANG",
    "LC_ALL",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
];

pub(crate) fn start(home: &Home) {
    let disabled = env::var_os("OVERTONE_NO_DASHBOARD").unwrap_or_default();
    let is_disabled = !disabled.is_empty() && disabled != "0";
    if is_disabled || files::is_locked(&home.root().join("dashboard/lock")) {
        return;
    }
    if Config::load_or_default(home).get(keys::DASHBOARD_ENABLED) {
        spawn_server();
    }
}

/// The program that has the `dashboard` command: this one, or the one beside the hook program. Other programs that link
/// this crate, such as tests, have none.
fn dashboard_program() -> Option<PathBuf> {
    let this = env::current_exe().ok()?;
    let name = this.file_name()?;
    if name == HOOK_PROGRAM {
        return Some(this.with_file_name(PROGRAM));
    }
    if name == PROGRAM { Some(this) } else { None }
}

/// Starts the server in its own process group, so that it survives when the client kills its hooks.
fn spawn_server() {
    let Some(program) = dashboard_program() else { return };
    let inherited = INHERITED_VARIABLES.iter().filter_map(|name| Some((name, env::var_os(name)?)));
    let mut command = Command::new(program);
    command.args(["dashboard", "--serve"]).env_clear().envs(inherited).current_dir("/").process_group(0);
    // The session does not depend on the dashboard, so a failed start is not reported.
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}
