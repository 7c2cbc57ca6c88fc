//! A supervised start: the hook on `Stop` in the client's settings, what the hook is told, and where its logs are.

use std::env;
use std::ffi::OsStr;
use std::path::{self, Path, PathBuf};

use overtone_messages::Lang;
use overtone_providers::{Config, Fragment};
use overtone_supervisor::{StateFolder, hook_seconds, launch_notice};
use serde_json::json;

use super::entry::is_called;

/// `CCC_SUPERVISOR` decides, else `supervisor.enabled`.
pub(super) fn is_on(config: &Config) -> bool {
    match env::var("CCC_SUPERVISOR").as_deref() {
        Ok("1") => true,
        Ok("0") => false,
        _ => config.is_supervised(),
    }
}

/// What a supervised start adds to the settings; otherwise nothing, so that the next switch takes it away.
pub(super) fn settings(config: &Config) -> Fragment {
    if !is_on(config) {
        return Fragment::new();
    }
    let hook = json!({ "type": "command", "command": command(), "timeout": hook_seconds() });
    Fragment::from_iter([("hooks".to_owned(), json!({ "Stop": [{ "hooks": [hook] }] }))])
}

/// Variables that say what a start is. One that is made inside of another session must not inherit them.
pub(super) const OF_A_START: [&str; 3] = ["CCC_PROVIDER", "CCC_ISOLATED_PROVIDER", "CCC_ISOLATED_SUPERVISOR"];

/// What a start has to tell its hooks: which provider it is on, since the next start may be on another; that it is
/// supervised, since another session may have left the hook in the shared settings; and of an isolated one, whether
/// its private settings have the supervisor.
pub(super) fn variables(config: &Config, provider: &str, isolated: bool) -> Vec<(&'static str, String)> {
    let mut variables = vec![("CCC_PROVIDER", provider.to_owned())];
    if is_on(config) {
        variables.push(("CCC_SUPERVISOR", "1".to_owned()));
    }
    if isolated {
        let supervisor = if is_on(config) { "1" } else { "" };
        variables.push(("CCC_ISOLATED_PROVIDER", provider.to_owned()));
        variables.push(("CCC_ISOLATED_SUPERVISOR", supervisor.to_owned()));
    }
    variables
}

/// Where the logs are, for a person.
pub(super) fn notice(config: &Config, lang: Lang) -> Option<String> {
    let folder = StateFolder::from_process()?;
    is_on(config).then(|| launch_notice(&folder, lang))
}

/// The absolute path of `ccc`, as it was called; without one, this program and `ccc` as its command.
fn command() -> String {
    let program = env::args_os().next().unwrap_or_default();
    let ccc = if is_called(&program) { absolute(&program) } else { None };
    match ccc {
        Some(ccc) => format!("{} supervisor-hook", quoted(&ccc)),
        None => format!("{} ccc supervisor-hook", quoted(&env::current_exe().unwrap_or(program.into()))),
    }
}

fn absolute(program: &OsStr) -> Option<PathBuf> {
    let program = Path::new(program);
    if program.components().count() > 1 {
        return path::absolute(program).ok();
    }
    let search_path = env::var_os("PATH")?;
    env::split_paths(&search_path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_absolute() && file.is_file())
}

/// As a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
