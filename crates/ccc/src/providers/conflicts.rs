//! Finds values in the client's settings files that win over the environment of a start, and so over its provider.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use jsonc_edit::{Document, SettingsFile};
use serde_json::Value;

use crate::providers::claim::exchange;
use crate::providers::route::{CREDENTIALS, KEY_HELPER, Meaning, meaning_of, uses_login};
use crate::providers::switch::is_leftover;
use crate::providers::{
    CccPaths, FileLocation, Fragment, ProvidersError, SettingsArgument, client_state, owned,
};

const BASE_URL: &str = "ANTHROPIC_BASE_URL";

/// The folder of the administrator's settings.
const MANAGED: &str =
    if cfg!(target_os = "macos") { "/Library/Application Support/ClaudeCode" } else { "/etc/claude-code" };

/// The settings to examine besides the user's `settings.json`.
#[derive(Debug)]
pub struct Sources<'a> {
    /// The folder in which the client is started.
    pub project: Option<PathBuf>,
    /// The user's own `--settings`.
    pub settings_argument: Option<&'a SettingsArgument>,
}

/// The kind of settings file, which decides what can overrule it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// Settings of the user or the project, or the client's state file. A private settings file wins over them.
    Shared,
    /// The user's `--settings` argument.
    Argument,
    /// The administrator's, which win over everything.
    Managed,
}

/// How a value conflicts with the provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictKind {
    /// It wins over the provider's value.
    Wins,
    /// The provider does not set it, so it stays in force.
    StaysInForce,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub location: FileLocation,
    /// The variable, or the key of the settings.
    pub key: String,
    pub layer: Layer,
    pub kind: ConflictKind,
    /// Whether requests would go to another server, carry another key, or ask for another model.
    pub is_decisive: bool,
}

/// Every value that differs from the environment of a provider. `has_helper`: the provider has its own `apiKeyHelper`.
/// A file that cannot be read is skipped, since the client reports it itself.
pub(crate) fn find_conflicts(
    paths: &CccPaths,
    sources: &Sources<'_>,
    env: &Fragment,
    has_helper: bool,
) -> Result<Vec<Conflict>, ProvidersError> {
    let mut found = Vec::new();
    let user = paths.settings();
    if let Ok(document) = SettingsFile::at(&user).read() {
        let kept = without_leftovers(paths, &document)?;
        found.extend(in_document(&user, &document, &kept, Layer::Shared, env));
    }
    let shared = shared_files(paths, sources).into_iter().map(|path| (path, Layer::Shared));
    let managed = managed_files(paths).into_iter().map(|path| (path, Layer::Managed));
    for (path, layer) in shared.chain(managed).filter(|(path, _)| *path != user) {
        if let Some(document) = client_state::read(&path) {
            found.extend(in_document(&path, &document, &document, layer, env));
        }
    }
    if let Some(SettingsArgument { path, document }) = sources.settings_argument {
        found.extend(in_document(path, document, document, Layer::Argument, env));
    }
    found.retain(|conflict| !(has_helper && conflict.key == KEY_HELPER));
    // Anthropic itself, without credentials in the provider: a login in the settings is the one to use.
    if uses_login(env) && !found.iter().any(|conflict| conflict.key == BASE_URL) {
        let is_login = |key: &str| key == KEY_HELPER || CREDENTIALS.contains(&key);
        found.retain(|conflict| !is_login(&conflict.key));
    }
    Ok(found)
}

/// The user's settings without leftovers of an earlier version, which are removed before the client starts.
fn without_leftovers(paths: &CccPaths, document: &Document) -> Result<Document, ProvidersError> {
    let path = paths.settings();
    let claims = owned::load(&paths.owned(), &path)?;
    let leftovers: Vec<_> = claims.into_iter().filter(is_leftover).collect();
    let mut kept = Document::parse(&path, &document.to_text())?;
    exchange(&mut kept, &leftovers, &[])?;
    Ok(kept)
}

fn shared_files(paths: &CccPaths, sources: &Sources<'_>) -> Vec<PathBuf> {
    let names = ["settings.json", "settings.local.json"];
    let of_project = |folder: &PathBuf| names.map(|name| folder.join(".claude").join(name));
    let project = sources.project.iter().flat_map(of_project);
    std::iter::once(paths.client_state().to_owned()).chain(project).collect()
}

fn managed_files(paths: &CccPaths) -> Vec<PathBuf> {
    let folder = Path::new(MANAGED);
    let more = fs::read_dir(folder.join("managed-settings.d")).into_iter().flatten().flatten();
    let mut more: Vec<_> = more.map(|entry| entry.path()).collect();
    more.retain(|path| path.extension() == Some(OsStr::new("json")));
    more.sort();
    let fixed = [folder.join("managed-settings.json"), paths.remote_settings()];
    fixed.into_iter().chain(more).collect()
}

/// The conflicts in one file. Values are read from `kept`, line numbers from `document`, the file as it is on disk.
fn in_document(
    path: &Path,
    document: &Document,
    kept: &Document,
    layer: Layer,
    target: &Fragment,
) -> Vec<Conflict> {
    let mut found = Vec::new();
    if let Some(Value::Object(env)) = kept.get(&["env"]) {
        for (variable, value) in &env {
            if let Some((kind, is_decisive)) = compare(target, variable, value) {
                let location = FileLocation::of_key(path, document, &["env", variable]);
                found.push(Conflict { location, key: variable.clone(), layer, kind, is_decisive });
            }
        }
    }
    if let Some(helper) = kept.get(&[KEY_HELPER])
        && helper != ""
    {
        let location = FileLocation::of_key(path, document, &[KEY_HELPER]);
        let kind = ConflictKind::StaysInForce;
        found.push(Conflict { location, key: KEY_HELPER.to_owned(), layer, kind, is_decisive: true });
    }
    found
}

/// Compares a value of a settings file with the provider's. Returns the kind of conflict and whether it is decisive.
fn compare(target: &Fragment, variable: &str, value: &Value) -> Option<(ConflictKind, bool)> {
    let meaning = meaning_of(variable);
    match target.get(variable) {
        Some(target) if target == value => None,
        Some(_) => Some((ConflictKind::Wins, matches!(meaning, Meaning::Route | Meaning::Model))),
        // An empty value switches the variable off.
        None if value == "" => None,
        None => match meaning {
            Meaning::Route => Some((ConflictKind::StaysInForce, true)),
            Meaning::Model => Some((ConflictKind::StaysInForce, false)),
            Meaning::Cloud(_) | Meaning::Other => None,
        },
    }
}
