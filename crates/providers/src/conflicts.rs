//! Values in other settings files and in the process environment that get in the way of a provider.

use std::fmt;
use std::path::{Path, PathBuf};

use overtone_settings::SettingsFile;
use serde_json::Value;

use crate::claim::Hold;
use crate::{Fragment, Place, Places, ProvidersError, owned};

/// Where to look, beside the user's own settings: each of the files wins over them.
#[derive(Clone)]
pub struct Sources {
    pub project: Option<PathBuf>,
    pub managed: PathBuf,
    /// The variables that the client inherits. Every settings file wins over them.
    pub environment: Vec<(String, String)>,
    /// Whether the provider is in a private file, which also switches off what is ours in the user's settings.
    pub isolated: bool,
}

/// Shows no value: it may be a token.
impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sources").field("project", &self.project).finish_non_exhaustive()
    }
}

/// How a value gets in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictKind {
    /// It wins over the provider's value.
    Wins,
    /// The provider says nothing about it, so it stays in force.
    StaysInForce,
    /// The provider's value takes its place for now.
    Replaced,
}

/// Where a value is that gets in the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    File(Place),
    Environment,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    pub source: Source,
    pub variable: String,
    pub kind: ConflictKind,
}

/// Variables that decide where requests go, or as whom.
const ROUTES: [&str; 6] = [
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
    "CLAUDE_CODE_OAUTH_TOKEN",
];

/// Everything that differs from what is wanted. To be asked before a switch. A file of the project or of the
/// administrator that cannot be read is the client's business.
pub fn conflicts(
    places: &Places,
    sources: &Sources,
    wanted: &Fragment,
) -> Result<Vec<Conflict>, ProvidersError> {
    let env = wanted.get("env").and_then(Value::as_object).cloned().unwrap_or_default();
    let ours = our_values(places)?;
    let user = places.settings();
    let mut found = in_file(&user, |variable, value| {
        let is_ours = ours.iter().any(|(name, values)| name == variable && values.contains(value));
        if is_ours { None } else { kind(&env, variable, value, ConflictKind::Replaced) }
    });
    for path in files(sources).into_iter().filter(|path| *path != user) {
        found.extend(in_file(&path, |variable, value| kind(&env, variable, value, ConflictKind::Wins)));
    }
    let is_switched_off = |name: &str| sources.isolated && ours.iter().any(|(other, _)| other == name);
    let inherited = sources.environment.iter().filter(|(name, value)| {
        is_route(name) && !value.is_empty() && !env.contains_key(name) && !is_switched_off(name)
    });
    let inherited: Vec<_> =
        inherited.filter(|(name, _)| !in_settings(places, sources, &ours, name)).collect();
    found.extend(inherited.into_iter().map(|(name, _)| Conflict {
        source: Source::Environment,
        variable: name.clone(),
        kind: ConflictKind::StaysInForce,
    }));
    Ok(found)
}

/// Whether a settings file says something about a variable, and will after the switch.
fn in_settings(places: &Places, sources: &Sources, ours: &[(String, Vec<Value>)], name: &str) -> bool {
    let user = places.settings();
    let stays = |path: &PathBuf| {
        let document = SettingsFile::at(path).read().ok();
        let value = document.and_then(|document| document.get(&["env", name]));
        let is_ours =
            |value: &Value| ours.iter().any(|(other, values)| other == name && values.contains(value));
        value.is_some_and(|value| *path != user || !is_ours(&value))
    };
    files(sources).iter().chain([&user]).any(stays)
}

fn files(sources: &Sources) -> Vec<PathBuf> {
    let names = ["settings.json", "settings.local.json"];
    let of_project = |folder: &PathBuf| names.map(|name| folder.join(".claude").join(name));
    let project = sources.project.iter().flat_map(of_project);
    project.chain([sources.managed.clone()]).collect()
}

fn our_values(places: &Places) -> Result<Vec<(String, Vec<Value>)>, ProvidersError> {
    let claims = owned::load(&places.owned(), &places.settings())?;
    let of_env = claims.into_iter().filter(|claim| claim.path.len() == 2 && claim.path[0] == "env");
    let values = of_env.filter_map(|claim| match claim.hold {
        Hold::Value { ours, .. } => Some((claim.path[1].clone(), ours)),
        Hold::Items { .. } => None,
    });
    Ok(values.collect())
}

fn kind(env: &Fragment, variable: &str, value: &Value, same_key: ConflictKind) -> Option<ConflictKind> {
    match env.get(variable) {
        Some(wanted) if wanted == value => None,
        Some(_) => Some(same_key),
        // An empty value switches the variable off.
        None if is_route(variable) && value != "" => Some(ConflictKind::StaysInForce),
        None => None,
    }
}

pub(crate) fn is_route(variable: &str) -> bool {
    variable.starts_with("ANTHROPIC_") || ROUTES.contains(&variable)
}

fn in_file(path: &Path, judge: impl Fn(&str, &Value) -> Option<ConflictKind>) -> Vec<Conflict> {
    let Ok(document) = SettingsFile::at(path).read() else { return Vec::new() };
    let Some(Value::Object(env)) = document.get(&["env"]) else { return Vec::new() };
    let concerned = env
        .iter()
        .filter(|(variable, _)| variable.starts_with("ANTHROPIC_") || variable.starts_with("CLAUDE_"));
    let conflict = |(variable, value): (&String, &Value)| {
        let kind = judge(variable, value)?;
        let source = Source::File(Place::of(path, &document, &["env", variable]));
        Some(Conflict { source, variable: variable.clone(), kind })
    };
    concerned.filter_map(conflict).collect()
}
