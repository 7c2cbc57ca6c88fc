//! Checks the client, the plugin's files, and whether the plugin is registered.

use std::fs;
use std::path::{Path, PathBuf};

use crate::plugin::MARKETPLACE_NAME;
use jsonc_edit::{Document, SettingsError, SettingsFile};
use overtone_core::registry::{Economy, PLUGIN_NAME};
use overtone_store::config::{Config, keys};
use serde_json::Value;

use super::{Finding, Installation};
use crate::install::client::{Client, OLDEST_CLIENT};
use crate::install::files::{Locations, has_content, is_executable, program_version, read_file};

pub(super) fn check_client(installation: &Installation) -> Vec<Finding> {
    let Some(client) = installation.client else { return vec![Finding::NoClient] };
    preserving_settings(&installation.client_folder.settings(), || check_version(client))
}

/// Calls `query` and restores the user's settings afterwards, because the first start of a client may rewrite them.
pub fn preserving_settings<T>(settings: &Path, query: impl FnOnce() -> T) -> T {
    let file = SettingsFile::at(settings);
    let before = match file.read() {
        Ok(settings) if file.path().exists() => Some(settings.to_text()),
        _ => None,
    };
    let answer = query();
    if let Some(text) = before {
        restore(&file, &text);
    }
    answer
}

fn restore(file: &SettingsFile, text: &str) {
    // The check of the settings reports a file that cannot be written.
    let _ = file.edit(|settings| -> Result<(), SettingsError> {
        *settings = Document::parse(file.path(), text)?;
        Ok(())
    });
}

fn check_version(client: &Client) -> Vec<Finding> {
    let mut findings = Vec::new();
    match client.version() {
        Ok(Some(found)) if found < OLDEST_CLIENT => {
            findings.push(Finding::ClientTooOld { found, oldest: OLDEST_CLIENT });
        }
        Ok(_) => {}
        Err(error) => return vec![Finding::ClientBroken { error: error.to_string() }],
    }
    findings.extend(check_registration(client));
    findings
}

fn check_registration(client: &Client) -> Vec<Finding> {
    let plugins = match client.plugins() {
        Ok(plugins) => plugins,
        Err(error) => return vec![Finding::ClientBroken { error: error.to_string() }],
    };
    let id = format!("{PLUGIN_NAME}@{MARKETPLACE_NAME}");
    let Some(entry) = plugins.iter().find(|entry| entry["id"] == id) else {
        return vec![Finding::NotRegistered];
    };
    let mut findings = Vec::new();
    if entry["enabled"] == false {
        findings.push(Finding::PluginDisabled);
    }
    findings.extend(plugin_errors(entry).map(|error| Finding::PluginErrors { error }));
    findings
}

fn plugin_errors(entry: &Value) -> Option<String> {
    let errors = entry.get("errors")?.as_array()?;
    if errors.is_empty() {
        return None;
    }
    let text = |error: &Value| match error {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Some(errors.iter().map(text).collect::<Vec<_>>().join("; "))
}

pub(super) fn check_files(installation: &Installation) -> Vec<Finding> {
    let Locations { plugin, binary, hook_binary } = Locations::new(installation.home);
    if !plugin.is_dir() {
        return vec![Finding::PluginMissing { path: plugin }];
    }
    let problems = crate::plugin::validate(&plugin).into_iter();
    let mut findings: Vec<_> =
        problems.map(|problem| Finding::PluginFile { path: problem.path, what: problem.what }).collect();
    if findings.is_empty() {
        let chosen = Config::load_or_default(installation.home).get(keys::ECONOMY);
        findings.extend(check_economy(plugin, chosen));
    }
    findings.extend(check_program(&binary));
    findings.extend(check_hook_program(&hook_binary, &binary, installation.hook_version));
    findings
}

/// Compares the plugin's files with those of the economy that the user has chosen.
fn check_economy(plugin: PathBuf, chosen: Economy) -> Option<Finding> {
    if is_current(&plugin, chosen) {
        return None;
    }
    let other = Economy::ALL.into_iter().find(|economy| is_current(&plugin, *economy));
    Some(match other {
        Some(found) => Finding::OtherEconomy { path: plugin, found, chosen },
        None => Finding::PluginStale { path: plugin },
    })
}

fn is_current(plugin: &Path, economy: Economy) -> bool {
    let same =
        |file: &crate::plugin::RenderedFile| has_content(&plugin.join(&file.path), file.contents.as_bytes());
    crate::plugin::render_for(economy).iter().all(same)
}

/// Compares the installed program, which hooks run, with the program that runs this check.
fn check_program(binary: &Path) -> Option<Finding> {
    if !is_executable(binary) {
        return Some(Finding::NotExecutable { path: binary.to_owned() });
    }
    let own = fs::read("/proc/self/exe").ok()?;
    if has_content(binary, &own) { None } else { Some(Finding::ProgramStale { path: binary.to_owned() }) }
}

/// Checks the hook program. A copy of the whole program is accepted, since it answers the same calls.
fn check_hook_program(hook_binary: &Path, binary: &Path, version: &str) -> Option<Finding> {
    if !is_executable(hook_binary) {
        return Some(Finding::NotExecutable { path: hook_binary.to_owned() });
    }
    if let Some(whole) = read_file(binary)
        && has_content(hook_binary, &whole)
    {
        return None;
    }
    let found = program_version(hook_binary).unwrap_or_default();
    if found == version {
        return None;
    }
    Some(Finding::HookProgramDiffers { path: hook_binary.to_owned(), found, expected: version.to_owned() })
}
