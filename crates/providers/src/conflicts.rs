//! Values in the client's settings files that win over the environment of a start, and so over its provider.

use std::fs;
use std::path::{Path, PathBuf};

use overtone_settings::{Document, SettingsFile};
use serde_json::Value;

use crate::claim::exchange;
use crate::route::{CREDENTIALS, KEY_HELPER, Meaning, meaning, uses_login};
use crate::switch::is_leftover;
use crate::{Fragment, Given, Place, Places, ProvidersError, notes, owned};

const BASE_URL: &str = "ANTHROPIC_BASE_URL";

/// The folder of the administrator's settings.
const MANAGED: &str =
    if cfg!(target_os = "macos") { "/Library/Application Support/ClaudeCode" } else { "/etc/claude-code" };

/// Where to look, beside the user's own settings.
#[derive(Debug)]
pub struct Sources<'a> {
    /// The folder that the client is started in.
    pub project: Option<PathBuf>,
    /// The user's own `--settings`.
    pub given: Option<&'a Given>,
}

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// The user's, the project's, or the client's own notes. A private file wins over them.
    Shared,
    /// The user's `--settings`.
    Given,
    /// The administrator's, which win over everything.
    Managed,
}

/// How a value gets in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictKind {
    /// It wins over the provider's value.
    Wins,
    /// The provider says nothing about it, so it stays in force.
    StaysInForce,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub place: Place,
    /// The variable, or the key of the settings.
    pub key: String,
    pub layer: Layer,
    pub kind: ConflictKind,
    /// Whether requests would go elsewhere, with a foreign key, or for a foreign model.
    pub is_decisive: bool,
}

/// Everything that differs from the environment a provider wants. `has_helper`: it brings its own `apiKeyHelper`.
/// A file that cannot be read is the client's business, apart from the user's own.
pub(crate) fn conflicts(
    places: &Places,
    sources: &Sources<'_>,
    env: &Fragment,
    has_helper: bool,
) -> Result<Vec<Conflict>, ProvidersError> {
    let mut found = Vec::new();
    let user = places.settings();
    if let Ok(document) = SettingsFile::at(&user).read() {
        let kept = without_leftovers(places, &document)?;
        found.extend(in_document(&user, &document, &kept, Layer::Shared, env));
    }
    let shared = shared_files(places, sources).into_iter().map(|path| (path, Layer::Shared));
    let managed = managed_files(places).into_iter().map(|path| (path, Layer::Managed));
    for (path, layer) in shared.chain(managed).filter(|(path, _)| *path != user) {
        if let Some(document) = notes::read(&path) {
            found.extend(in_document(&path, &document, &document, layer, env));
        }
    }
    if let Some(Given { path, document }) = sources.given {
        found.extend(in_document(path, document, document, Layer::Given, env));
    }
    found.retain(|conflict| !(has_helper && conflict.key == KEY_HELPER));
    // A login in the settings is the one to use where the provider is Anthropic itself, and has none of its own.
    if uses_login(env) && !found.iter().any(|conflict| conflict.key == BASE_URL) {
        let is_login = |key: &str| key == KEY_HELPER || CREDENTIALS.contains(&key);
        found.retain(|conflict| !is_login(&conflict.key));
    }
    Ok(found)
}

/// The user's settings without what an earlier version left in them, which goes before the client starts.
fn without_leftovers(places: &Places, document: &Document) -> Result<Document, ProvidersError> {
    let path = places.settings();
    let claims = owned::load(&places.owned(), &path)?;
    let leftovers: Vec<_> = claims.into_iter().filter(is_leftover).collect();
    let mut kept = Document::parse(&path, &document.to_text())?;
    exchange(&mut kept, &leftovers, &[])?;
    Ok(kept)
}

fn shared_files(places: &Places, sources: &Sources<'_>) -> Vec<PathBuf> {
    let names = ["settings.json", "settings.local.json"];
    let of_project = |folder: &PathBuf| names.map(|name| folder.join(".claude").join(name));
    let project = sources.project.iter().flat_map(of_project);
    std::iter::once(places.global().to_owned()).chain(project).collect()
}

fn managed_files(places: &Places) -> Vec<PathBuf> {
    let folder = Path::new(MANAGED);
    let more = fs::read_dir(folder.join("managed-settings.d")).into_iter().flatten().flatten();
    let mut more: Vec<_> = more.map(|entry| entry.path()).collect();
    more.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    more.sort();
    let fixed = [folder.join("managed-settings.json"), places.remote_settings()];
    fixed.into_iter().chain(more).collect()
}

/// `kept` is what of the file counts; the lines are those of the file as it is.
fn in_document(
    path: &Path,
    document: &Document,
    kept: &Document,
    layer: Layer,
    wanted: &Fragment,
) -> Vec<Conflict> {
    let mut found = Vec::new();
    if let Some(Value::Object(env)) = kept.get(&["env"]) {
        for (variable, value) in &env {
            if let Some((kind, is_decisive)) = judge(wanted, variable, value) {
                let place = Place::of(path, document, &["env", variable]);
                found.push(Conflict { place, key: variable.clone(), layer, kind, is_decisive });
            }
        }
    }
    if kept.get(&[KEY_HELPER]).is_some_and(|helper| helper != "") {
        let place = Place::of(path, document, &[KEY_HELPER]);
        let kind = ConflictKind::StaysInForce;
        found.push(Conflict { place, key: KEY_HELPER.to_owned(), layer, kind, is_decisive: true });
    }
    found
}

fn judge(wanted: &Fragment, variable: &str, value: &Value) -> Option<(ConflictKind, bool)> {
    let meaning = meaning(variable);
    match wanted.get(variable) {
        Some(wanted) if wanted == value => None,
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
