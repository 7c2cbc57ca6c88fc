//! Whether the client's settings have the supervisor's hook: then it is the one that reviews.

use std::env;

use overtone_providers::Places;
use overtone_store::files;
use serde_json::Value;

/// In the user's settings, or in the private ones of an isolated start.
pub(crate) fn in_settings() -> bool {
    if env::var_os("CCC_ISOLATED_SUPERVISOR").is_some_and(|value| value == "1") {
        return true;
    }
    let settings = Places::resolve(&|name| env::var_os(name)).map(|places| places.settings());
    // A link is followed: many keep this file somewhere else.
    let path = settings.ok().and_then(|path| path.canonicalize().ok());
    let text = path.and_then(|path| files::read_small(&path).ok().flatten());
    text.is_some_and(|text| serde_json::from_str(&text).is_ok_and(|settings| is_hooked(&settings)))
}

fn is_hooked(settings: &Value) -> bool {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let hooks = list(&settings["hooks"]["Stop"]).into_iter().flat_map(|group| list(&group["hooks"]));
    hooks.into_iter().any(|hook| is_ours(&hook["command"]))
}

fn is_ours(command: &Value) -> bool {
    command.as_str().is_some_and(|command| command.trim_end().ends_with("supervisor-hook"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn our_hook_is_told_from_others() {
        let with = |command: &str| json!({"hooks": {"Stop": [{"hooks": [{"command": command}]}]}});
        assert!(is_hooked(&with("/usr/local/bin/ccc supervisor-hook")));
        for other in [with("say done"), json!({}), json!({"hooks": {"Stop": 3}}), json!([])] {
            assert!(!is_hooked(&other), "{other}");
        }
    }
}
