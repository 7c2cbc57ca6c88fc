//! The list of all files of the plugin.

use overtone_core::registry::{Agent, Economy};

use crate::plugin::skills::SkillPage;
use crate::plugin::{agents, hooks, manifest};

/// One file of the plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedFile {
    /// Relative to the plugin's folder, with `/` between the parts.
    pub path: String,
    pub contents: String,
}

/// Every file of the plugin as it is specified, but the binary, always in the same order and with the same bytes.
pub fn render() -> Vec<RenderedFile> {
    render_for(Economy::Standard)
}

/// Every file of a plugin of this economy.
pub fn render_for(economy: Economy) -> Vec<RenderedFile> {
    let mut files = vec![
        file(manifest::PLUGIN_PATH, manifest::plugin()),
        file(manifest::MARKETPLACE_PATH, manifest::marketplace()),
        file(manifest::SETTINGS_PATH, manifest::settings()),
        file(hooks::PATH, hooks::render()),
    ];
    files.extend(
        Agent::ALL.into_iter().map(|agent| file(&agents::path(agent), agents::render(agent, economy))),
    );
    files.extend(SkillPage::all().map(|skill| file(&skill.path(), skill.render())));
    files
}

fn file(path: &str, contents: String) -> RenderedFile {
    RenderedFile { path: path.to_owned(), contents }
}
