//! `plugin.json`, `settings.json` and `marketplace.json`: the folder is a plugin and, at the same time, a directory
//! marketplace that lists only this plugin, so that it installs offline and runs in place.

use overtone_core::registry::PLUGIN_NAME;
use serde_json::json;

/// The marketplace's name: the plugin is installed as `ot@overtone`.
pub const MARKETPLACE_NAME: &str = "overtone";

pub(crate) const PLUGIN_PATH: &str = ".claude-plugin/plugin.json";
pub(crate) const SETTINGS_PATH: &str = "settings.json";
pub(crate) const MARKETPLACE_PATH: &str = ".claude-plugin/marketplace.json";

const AUTHOR: &str = "The Overtone authors";
const DESCRIPTION: &str = "Makes Claude Code work like a disciplined development team: staged workflows, \
     specialised agents, and hooks that keep every stage honest.";

/// Has no `hooks` key: the client finds `hooks/hooks.json` itself and refuses to load it twice.
pub(crate) fn plugin() -> String {
    let manifest = json!({
        "name": PLUGIN_NAME,
        "version": env!("CARGO_PKG_VERSION"),
        "description": DESCRIPTION,
        "author": { "name": AUTHOR },
        "license": "MIT",
    });
    format!("{manifest:#}\n")
}

/// The version is left to `plugin.json`: two places could disagree.
/// The line of each sub-agent, for older clients: newer ones have dropped the setting and pass over it. They do
/// not put the plugin's folder in here, so the shell finds the program.
pub(crate) fn settings() -> String {
    let command = r#""${OVERTONE_HOME:-$HOME/.overtone}/plugin/bin/overtone-hook" subagent-statusline"#;
    format!("{:#}\n", json!({"subagentStatusLine": {"type": "command", "command": command}}))
}

pub(crate) fn marketplace() -> String {
    let manifest = json!({
        "name": MARKETPLACE_NAME,
        "description": "Overtone, from the folder it was installed to.",
        "owner": { "name": AUTHOR },
        "plugins": [{
            "name": PLUGIN_NAME,
            "source": "./",
            "description": DESCRIPTION,
        }],
    });
    format!("{manifest:#}\n")
}
