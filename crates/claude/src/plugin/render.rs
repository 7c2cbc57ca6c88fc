//! The list of all files of the plugin.

use overtone_core::registry::Agent;

use crate::plugin::skills::SkillPage;
use crate::plugin::{agents, hooks, manifest};

/// One file of the plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedFile {
    /// Relative to the plugin's folder, with `/` between the parts.
    pub path: String,
    pub contents: String,
}

/// Every file of the plugin but the binary, always in the same order and with the same bytes.
pub fn render() -> Vec<RenderedFile> {
    let mut files = vec![
        file(manifest::PLUGIN_PATH, manifest::plugin()),
        file(manifest::MARKETPLACE_PATH, manifest::marketplace()),
        file(manifest::SETTINGS_PATH, manifest::settings()),
        file(hooks::PATH, hooks::render()),
    ];
    files.extend(Agent::ALL.into_iter().map(|agent| file(&agents::path(agent), agents::render(agent))));
    files.extend(SkillPage::all().map(|skill| file(&skill.path(), skill.render())));
    files
}

fn file(path: &str, contents: String) -> RenderedFile {
    RenderedFile { path: path.to_owned(), contents }
}
