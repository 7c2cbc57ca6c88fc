//! The client, the plugin's files, and whether the one knows the other.

use std::fs;
use std::path::Path;

use overtone_plugin::MARKETPLACE_NAME;
use overtone_registry::PLUGIN_NAME;
use overtone_settings::{Document, SettingsError, SettingsFile};
use serde_json::{Value, json};

use super::{Finding, Patient};
use crate::client::{Client, OLDEST_CLIENT};
use crate::files::{has_content, is_executable, locations};

pub(super) fn client(patient: &Patient) -> Vec<Finding> {
    let Some(client) = patient.client else { return vec![Finding::NoClient] };
    undisturbed(&patient.place.settings(), || ask(client))
}

/// A client's first start may rewrite the user's settings; whoever only asks leaves them as they were.
pub fn undisturbed<T>(settings: &Path, ask: impl FnOnce() -> T) -> T {
    let file = SettingsFile::at(settings);
    let before = file.read().ok().filter(|_| file.path().exists()).map(|settings| settings.to_text());
    let answer = ask();
    if let Some(text) = before {
        put_back(&file, &text);
    }
    answer
}

fn put_back(file: &SettingsFile, text: &str) {
    // A file that cannot be written is found by the check of the settings.
    let _ = file.edit(|settings| -> Result<(), SettingsError> {
        *settings = Document::parse(file.path(), text)?;
        Ok(())
    });
}

fn ask(client: &Client) -> Vec<Finding> {
    let version = match client.version() {
        Ok(Some(found)) if found < OLDEST_CLIENT => {
            Some(Finding::ClientTooOld { found, oldest: OLDEST_CLIENT })
        }
        Ok(_) => None,
        Err(error) => return vec![Finding::ClientBroken { error: error.to_string() }],
    };
    version.into_iter().chain(registration(client)).collect()
}

fn registration(client: &Client) -> Vec<Finding> {
    let plugins = match client.plugins() {
        Ok(plugins) => plugins,
        Err(error) => return vec![Finding::ClientBroken { error: error.to_string() }],
    };
    let id = json!(format!("{PLUGIN_NAME}@{MARKETPLACE_NAME}"));
    let Some(entry) = plugins.iter().find(|entry| entry["id"] == id) else {
        return vec![Finding::NotRegistered];
    };
    let mut findings = Vec::new();
    if entry["enabled"] == json!(false) {
        findings.push(Finding::PluginDisabled);
    }
    findings.extend(errors(entry).map(|error| Finding::PluginErrors { error }));
    findings
}

fn errors(entry: &Value) -> Option<String> {
    let errors = entry.get("errors")?.as_array()?;
    let texts: Vec<_> =
        errors.iter().map(|error| error.as_str().map_or_else(|| error.to_string(), str::to_owned)).collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

pub(super) fn files(patient: &Patient) -> Vec<Finding> {
    let (plugin, binary) = locations(patient.home);
    if !plugin.is_dir() {
        return vec![Finding::PluginMissing { path: plugin }];
    }
    let problems = overtone_plugin::validate(&plugin).into_iter();
    let mut findings: Vec<_> =
        problems.map(|problem| Finding::PluginFile { path: problem.path, what: problem.what }).collect();
    if findings.is_empty() && !is_current(&plugin) {
        findings.push(Finding::PluginStale { path: plugin });
    }
    findings.extend(program(&binary));
    findings
}

fn is_current(plugin: &Path) -> bool {
    let same = |file: &overtone_plugin::RenderedFile| {
        has_content(&plugin.join(&file.path), file.contents.as_bytes())
    };
    overtone_plugin::render().iter().all(same)
}

/// The hooks run the installed program; whoever asks the doctor may run another one.
fn program(binary: &Path) -> Option<Finding> {
    if !is_executable(binary) {
        return Some(Finding::NotExecutable { path: binary.to_owned() });
    }
    let own = fs::read("/proc/self/exe").ok()?;
    let same = has_content(binary, &own);
    (!same).then(|| Finding::ProgramStale { path: binary.to_owned() })
}
