//! Supervised starts: the `Stop` hook in the client's settings, the hook's variables, and the notice about its logs.

use std::env;
use std::ffi::OsStr;
use std::path::{self, Path, PathBuf};

use overtone_ccc::providers::{Config, Fragment};
use overtone_ccc::supervisor::{hook_timeout_seconds, launch_notice};
use overtone_core::messages::Lang;
use overtone_store::supervision::StateFolder;
use serde_json::json;

use super::entry::is_called;

/// Whether starts are supervised: `CCC_SUPERVISOR`, else `supervisor.enabled`.
pub(super) fn is_on(config: &Config) -> bool {
    match env::var("CCC_SUPERVISOR").as_deref() {
        Ok("1") => true,
        Ok("0") => false,
        _ => config.is_supervised(),
    }
}

/// The settings that a supervised start adds. Otherwise they are empty, so that the next switch removes the hook.
pub(super) fn settings(config: &Config) -> Fragment {
    if !is_on(config) {
        return Fragment::new();
    }
    let hook = json!({ "type": "command", "command": hook_command(), "timeout": hook_timeout_seconds() });
    Fragment::from_iter([("hooks".to_owned(), json!({ "Stop": [{ "hooks": [hook] }] }))])
}

/// Variables that describe a start. A start inside another session must not inherit them.
pub(super) const START_VARIABLES: [&str; 3] =
    ["CCC_PROVIDER", "CCC_ISOLATED_PROVIDER", "CCC_ISOLATED_SUPERVISOR"];

/// The variables of a start, which its hooks read: the provider, since the next start may use another one; that it is
/// supervised, since another session may have left the hook in the shared settings; and for an isolated start, whether
/// its private settings contain the hook.
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

/// The notice about the log files of a supervised start.
pub(super) fn notice(config: &Config, lang: Lang) -> Option<String> {
    if !is_on(config) {
        return None;
    }
    Some(launch_notice(&StateFolder::from_process()?, lang))
}

/// The hook's command: the absolute path of `ccc` if the program was called by that name, else this program with the
/// command `ccc`.
fn hook_command() -> String {
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

/// The path, quoted for a shell if necessary.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
