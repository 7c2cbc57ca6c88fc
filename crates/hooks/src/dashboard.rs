//! Starts the dashboard with a session, unless one runs or nobody wants it. The hook does not wait for it.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use overtone_store::config::Config;
use overtone_store::{Home, files};

/// What the server may know of our environment. Keys are not among it.
const PASSED_ON: [&str; 14] = [
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
    let is_unwanted =
        env::var_os("OVERTONE_NO_DASHBOARD").is_some_and(|value| value != "0" && !value.is_empty());
    if is_unwanted || files::is_locked(&home.root().join("dashboard/lock")) {
        return;
    }
    if Config::load_or_default(home).switch("dashboard.enabled") {
        launch();
    }
}

/// In a group of its own, so that what ends the client's hooks does not end it.
fn launch() {
    let Ok(program) = env::current_exe() else { return };
    // Another program that uses this crate has no such command.
    if program.file_name().is_none_or(|name| name != "overtone") {
        return;
    }
    let known = PASSED_ON.iter().filter_map(|name| Some((name, env::var_os(name)?)));
    let mut command = Command::new(program);
    command.args(["dashboard", "--serve"]).env_clear().envs(known).current_dir("/").process_group(0);
    // A session does not depend on it, so nobody is told when it fails.
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}
