//! Detects the supervisor's hook in the client's settings. If it is there, it reviews and the plugin does not.

use std::env;
use std::ffi::OsStr;

use crate::providers::CccPaths;
use overtone_store::files;
use serde_json::Value;

/// Whether the user's settings, or the private settings of an isolated start, contain the hook.
pub(crate) fn is_hook_installed() -> bool {
    if env::var_os("CCC_ISOLATED_SUPERVISOR").as_deref() == Some(OsStr::new("1")) {
        return true;
    }
    let Ok(paths) = CccPaths::resolve(&|name| env::var_os(name)) else { return false };
    // Links are followed, since many users keep this file elsewhere.
    let Ok(path) = paths.settings().canonicalize() else { return false };
    let Ok(Some(text)) = files::read_small(&path) else { return false };
    match serde_json::from_str(&text) {
        Ok(settings) => contains_hook(&settings),
        Err(_) => false,
    }
}

fn contains_hook(settings: &Value) -> bool {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let hooks = list(&settings["hooks"]["Stop"]).into_iter().flat_map(|group| list(&group["hooks"]));
    hooks.into_iter().any(|hook| is_supervisor_hook(&hook["command"]))
}

fn is_supervisor_hook(command: &Value) -> bool {
    matches!(command, Value::String(command) if command.trim_end().ends_with("supervisor-hook"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_supervisors_hook_is_distinguished_from_others() {
        let with = |command: &str| json!({"hooks": {"Stop": [{"hooks": [{"command": command}]}]}});
        assert!(contains_hook(&with("/usr/local/bin/ccc supervisor-hook")));
        for other in [with("say done"), json!({}), json!({"hooks": {"Stop": 3}}), json!([])] {
            assert!(!contains_hook(&other), "{other}");
        }
    }
}
