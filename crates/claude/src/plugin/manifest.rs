//! `plugin.json`, `settings.json` and `marketplace.json`: the folder is a plugin and, at the same time, a directory
//! marketplace that lists only this plugin, so that it installs offline and runs in place.

use overtone_core::registry::PLUGIN_NAME;
use serde::Serialize;
use serde_json::json;

/// The marketplace's name: the plugin is installed as `ot@overtone`.
pub const MARKETPLACE_NAME: &str = "overtone";

pub(crate) const PLUGIN_PATH: &str = ".claude-plugin/plugin.json";
pub(crate) const SETTINGS_PATH: &str = "settings.json";
pub(crate) const MARKETPLACE_PATH: &str = ".claude-plugin/marketplace.json";

const AUTHOR: &str = "The Overtone authors";
const DESCRIPTION: &str = "Makes Claude Code work like a disciplined development team: staged workflows, \
     specialised agents, and hooks that keep every stage honest.";

#[derive(Serialize)]
struct PluginManifest {
    name: &'static str,
    version: &'static str,
    description: &'static str,
    author: Person,
    license: &'static str,
}

#[derive(Serialize)]
struct Person {
    name: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PluginSettings {
    subagent_status_line: StatusLineCommand,
}

#[derive(Serialize)]
struct StatusLineCommand {
    #[serde(rename = "type")]
    kind: &'static str,
    command: &'static str,
}

#[derive(Serialize)]
struct Marketplace {
    name: &'static str,
    description: &'static str,
    owner: Person,
    plugins: [MarketplaceEntry; 1],
}

/// The version is only in `plugin.json`: two could differ.
#[derive(Serialize)]
struct MarketplaceEntry {
    name: &'static str,
    source: &'static str,
    description: &'static str,
}

/// The manifest has no `hooks` key: the client finds `hooks/hooks.json` itself and refuses to load it twice.
pub(crate) fn plugin() -> String {
    let manifest = PluginManifest {
        name: PLUGIN_NAME,
        version: env!("CARGO_PKG_VERSION"),
        description: DESCRIPTION,
        author: Person { name: AUTHOR },
        license: "MIT",
    };
    format!("{:#}\n", json!(manifest))
}

/// The status line of each sub-agent, for older clients; newer ones ignore the setting. The client does not insert the
/// plugin's folder here, so the shell finds the program.
pub(crate) fn settings() -> String {
    let command = r#""${OVERTONE_HOME:-$HOME/.overtone}/plugin/bin/overtone-hook" subagent-statusline"#;
    let settings = PluginSettings { subagent_status_line: StatusLineCommand { kind: "command", command } };
    format!("{:#}\n", json!(settings))
}

pub(crate) fn marketplace() -> String {
    let entry = MarketplaceEntry { name: PLUGIN_NAME, source: "./", description: DESCRIPTION };
    let manifest = Marketplace {
        name: MARKETPLACE_NAME,
        description: "Overtone, from the folder it was installed to.",
        owner: Person { name: AUTHOR },
        plugins: [entry],
    };
    format!("{:#}\n", json!(manifest))
}
