//! Imports an existing set-up into `ccc.json`: the variables in the client's settings, or the file of another launcher.
//! Existing entries are never overwritten, and repeating an import changes nothing.

use std::fs;
use std::path::{Path, PathBuf};

use jsonc_edit::{Document, SettingsFile};
use serde_json::{Map, Value};

use crate::providers::claim::{Claim, ClaimKind, exchange};
use crate::providers::mask::masked;
use crate::providers::route::belongs_to_provider;
use crate::providers::switch::{check_plain, lock};
use crate::providers::{CccPaths, FileLocation, Fragment, ProvidersError, ValueType, config, owned};

/// A provider found in the imported file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundProvider {
    pub name: String,
    /// Its variables, masked.
    pub env: Vec<(String, String)>,
    pub status: MigrationStatus,
}

/// What the migration does with a found provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MigrationStatus {
    Added,
    /// The configuration contains the same provider already.
    Known,
    /// The configuration contains another provider of this name, which is kept.
    NameTaken,
    BadName,
    /// The entry contains nothing that could be a provider.
    NotUnderstood,
}

/// The outcome of a migration, or of a dry run.
#[derive(Debug, Default)]
pub struct Migration {
    pub found: Vec<FoundProvider>,
    /// The provider that becomes the current one.
    pub current: Option<String>,
    /// Other keys of the configuration that are imported.
    pub keys: Vec<String>,
    /// Variables of `settings.json` that `ccc` manages from now on.
    pub owned: Vec<String>,
}

impl Migration {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        let adds = self.found.iter().any(|found| found.status == MigrationStatus::Added);
        !adds && self.current.is_none() && self.keys.is_empty() && self.owned.is_empty()
    }
}

/// Options of a migration.
pub struct MigrationOptions<'a> {
    /// Whether a provider may have this name.
    pub is_usable_name: &'a dyn Fn(&str) -> bool,
    pub dry_run: bool,
}

impl std::fmt::Debug for MigrationOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MigrationOptions").field("dry_run", &self.dry_run).finish_non_exhaustive()
    }
}

/// Makes a provider of the user's own variables in `settings.json`. The variables stay there but are claimed for the
/// provider, so that the next switch to another provider removes them.
pub fn migrate_settings(
    paths: &CccPaths,
    name: Option<&str>,
    options: &MigrationOptions<'_>,
) -> Result<Migration, ProvidersError> {
    let _lock = if options.dry_run { None } else { Some(lock(paths)?) };
    let path = paths.settings();
    let settings = SettingsFile::at(&path).read()?;
    check_plain(&path, &settings)?;
    let claims = owned::load(&paths.owned(), &path)?;
    let own = own_variables(&path, &settings, &claims)?;
    if own.is_empty() {
        return Ok(Migration::default());
    }
    let migration = edit_config(paths, options, |document| {
        add_own_variables(document, &paths.config_file(), name, &own, options)
    })?;
    if !options.dry_run {
        SettingsFile::at(&path).backup_once(&paths.backup())?;
        let name = migration.found.first().map(|found| found.name.as_str());
        owned::save(&paths.owned(), &path, &add_claims(&settings, &claims, &own, name))?;
    }
    Ok(migration)
}

/// The user's own variables that determine the provider, without the values that `ccc` has written.
fn own_variables(path: &Path, settings: &Document, claims: &[Claim]) -> Result<Fragment, ProvidersError> {
    let mut own = Document::parse(path, &settings.to_text())?;
    exchange(&mut own, claims, &[])?;
    let Some(Value::Object(env)) = own.get(&["env"]) else { return Ok(Fragment::new()) };
    Ok(env
        .into_iter()
        .filter(|(name, value)| is_provider_variable(name) && to_text(value).is_some())
        .collect())
}

fn is_provider_variable(variable: &str) -> bool {
    belongs_to_provider(variable) || ["AWS_BEARER_TOKEN_BEDROCK", "CLOUD_ML_REGION"].contains(&variable)
}

fn to_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Adds the user's variables to the configuration as a provider, unless there is one with the same variables.
fn add_own_variables(
    document: &mut Document,
    file: &Path,
    name: Option<&str>,
    own: &Fragment,
    options: &MigrationOptions<'_>,
) -> Result<Migration, ProvidersError> {
    let env: Fragment =
        own.iter().filter_map(|(key, value)| Some((key.clone(), to_text(value)?.into()))).collect();
    let (name, status) = match (name, provider_with_env(document, &env)) {
        (None, Some(known)) => (known, MigrationStatus::Known),
        (Some(name), Some(known)) if name == known => (known, MigrationStatus::Known),
        (Some(name), _) => (check_unused(document, file, name)?, MigrationStatus::Added),
        (None, None) => (free_name(document, &suggest_name(&env), options), MigrationStatus::Added),
    };
    if status == MigrationStatus::Added {
        document.set(&["providers", &name, "env"], Value::Object(env.clone()))?;
    }
    let current = set_current_if_none(document, Some(name.clone()))?;
    let found = vec![FoundProvider { name, env: mask_env(&env), status }];
    Ok(Migration { found, current, keys: Vec::new(), owned: own.keys().cloned().collect() })
}

fn providers(document: &Document) -> Map<String, Value> {
    match document.get(&["providers"]) {
        Some(Value::Object(providers)) => providers,
        _ => Map::new(),
    }
}

fn provider_with_env(document: &Document, env: &Fragment) -> Option<String> {
    let same = |entry: &Value| entry.get("env").and_then(Value::as_object) == Some(env);
    providers(document).into_iter().find(|(_, entry)| same(entry)).map(|(name, _)| name)
}

/// Returns the name, or an error if a provider has it already.
fn check_unused(document: &Document, file: &Path, name: &str) -> Result<String, ProvidersError> {
    let name = name.to_owned();
    if document.get(&["providers", &name]).is_none() {
        return Ok(name);
    }
    let location = FileLocation::of_key(file, document, &["providers", &name]);
    Err(ProvidersError::Exists { name, location })
}

/// The preferred name, or the first free one of the form `name-2`.
fn free_name(document: &Document, preferred: &str, options: &MigrationOptions<'_>) -> String {
    let taken = providers(document);
    let numbered =
        |number: u32| if number == 1 { preferred.to_owned() } else { format!("{preferred}-{number}") };
    let free = |name: &String| (options.is_usable_name)(name) && !taken.contains_key(name);
    (1..=10_000).map(numbered).find(free).unwrap_or_else(|| preferred.to_owned())
}

/// Suggests a name by the route or the address: `moonshot` for `https://api.moonshot.cn/anthropic`.
fn suggest_name(env: &Fragment) -> String {
    let is_set = |name: &str| matches!(env.get(name), Some(Value::String(value)) if !value.is_empty());
    let routes = [
        ("CLAUDE_CODE_USE_BEDROCK", "bedrock"),
        ("CLAUDE_CODE_USE_VERTEX", "vertex"),
        ("CLAUDE_CODE_USE_FOUNDRY", "foundry"),
    ];
    if let Some((_, name)) = routes.iter().find(|(variable, _)| is_set(variable)) {
        return (*name).to_owned();
    }
    let address = env.get("ANTHROPIC_BASE_URL").and_then(Value::as_str);
    address.and_then(name_of_host).unwrap_or_else(|| "default".to_owned())
}

fn name_of_host(address: &str) -> Option<String> {
    let authority = address.split_once("://")?.1.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?.split(':').next()?.to_ascii_lowercase();
    let labels: Vec<_> = host.split('.').filter(|label| !label.is_empty()).collect();
    let is_number = |label: &&str| label.chars().all(|c| c.is_ascii_digit());
    match labels.as_slice() {
        ["localhost"] => Some("local".to_owned()),
        labels if labels.iter().all(is_number) => Some("local".to_owned()),
        [.., name, "com" | "co" | "net" | "org" | "ac", country] if country.len() == 2 => {
            Some((*name).to_owned())
        }
        [.., name, _] | [name] => Some((*name).to_owned()),
        [] => None,
    }
}

/// Makes a provider the current one unless there is one already. Returns its name if it did.
fn set_current_if_none(
    document: &mut Document,
    name: Option<String>,
) -> Result<Option<String>, ProvidersError> {
    let known = providers(document);
    let has_current = match document.get(&["current_provider"]) {
        Some(Value::String(current)) => known.contains_key(&current),
        _ => false,
    };
    let Some(name) = name else { return Ok(None) };
    if has_current || !known.contains_key(&name) {
        return Ok(None);
    }
    document.set(&["current_provider"], name.as_str())?;
    Ok(Some(name))
}

fn mask_env(env: &Fragment) -> Vec<(String, String)> {
    let mask = |(name, value): (&String, &Value)| {
        let text = to_text(value).unwrap_or_else(|| value.to_string());
        (name.clone(), masked(name, &text))
    };
    env.iter().map(mask).collect()
}

/// The claims including the user's own variables, as if `ccc use` had written them. Removing these restores no value.
fn add_claims(settings: &Document, claims: &[Claim], own: &Fragment, name: Option<&str>) -> Vec<Claim> {
    let used_provider = name.map(str::to_owned);
    let is_own = |claim: &Claim| matches!(claim.path.as_slice(), [env, name] if env == "env" && own.contains_key(name));
    let mut all = Vec::new();
    for claim in claims.iter().filter(|claim| !is_own(claim) || claim.is_valid(settings)) {
        let mut claim = claim.clone();
        if is_own(&claim)
            && let ClaimKind::Value { previous, .. } = &mut claim.kind
        {
            *previous = None;
            claim.used_provider.clone_from(&used_provider);
        }
        all.push(claim);
    }
    for (name, value) in own {
        let path = vec!["env".to_owned(), name.clone()];
        if !all.iter().any(|claim| claim.path == path) {
            let kind = ClaimKind::Value { ours: vec![value.clone()], previous: None };
            all.push(Claim { path, kind, created_parent: false, used_provider: used_provider.clone() });
        }
    }
    all
}

/// Changes the configuration after making a backup. In a dry run, or if nothing changes, nothing is written.
fn edit_config(
    paths: &CccPaths,
    options: &MigrationOptions<'_>,
    change: impl Fn(&mut Document) -> Result<Migration, ProvidersError>,
) -> Result<Migration, ProvidersError> {
    let path = paths.config_file();
    let file = SettingsFile::at(&path);
    let mut trial = file.read()?;
    let before = trial.to_text();
    let mut migration = change(&mut trial)?;
    if options.dry_run || trial.to_text() == before {
        return Ok(migration);
    }
    back_up(&file, &paths.config_backup())?;
    config::edit(&path, |document| {
        migration = change(document)?;
        Ok(())
    })?;
    Ok(migration)
}

fn back_up(file: &SettingsFile, backup: &Path) -> Result<(), ProvidersError> {
    match fs::remove_file(backup) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(ProvidersError::io(backup, error));
        }
        _ => {}
    }
    file.backup_once(backup)?;
    Ok(())
}

/// Imports the providers of another file: an older `ccc.json`, or the file of a launcher with `profiles`.
pub fn import_file(
    paths: &CccPaths,
    from: &Path,
    options: &MigrationOptions<'_>,
) -> Result<Migration, ProvidersError> {
    fs::metadata(from).map_err(|error| ProvidersError::io(from, error))?;
    let source = Source::read(from)?;
    let _lock = if options.dry_run { None } else { Some(lock(paths)?) };
    edit_config(paths, options, |document| source.merge(document, options))
}

/// The file to import from.
struct Source {
    document: Document,
    /// The key of the object that contains the providers.
    key: &'static str,
    path: PathBuf,
}

impl Source {
    fn read(path: &Path) -> Result<Self, ProvidersError> {
        let document = SettingsFile::at(path).read()?;
        let key = if document.get(&["providers"]).is_some() { "providers" } else { "profiles" };
        Ok(Self { document, key, path: path.to_owned() })
    }

    fn merge(
        &self,
        document: &mut Document,
        options: &MigrationOptions<'_>,
    ) -> Result<Migration, ProvidersError> {
        let mut migration = Migration::default();
        for (name, entry) in self.entries()? {
            migration.found.push(self.import_provider(document, name, &entry, options)?);
        }
        migration.keys = self.other_keys(document)?;
        let current = ["current_provider", "current", "active", "default"].iter();
        let mut named = current.filter_map(|key| self.document.get(&[key])?.as_str().map(str::to_owned));
        migration.current = set_current_if_none(document, named.next())?;
        Ok(migration)
    }

    fn entries(&self) -> Result<Map<String, Value>, ProvidersError> {
        match self.document.get(&[self.key]) {
            Some(Value::Object(entries)) => Ok(entries),
            None | Some(Value::Null) => Ok(Map::new()),
            Some(_) => Err(ProvidersError::WrongType {
                location: FileLocation::of_key(&self.path, &self.document, &[self.key]),
                key: self.key.to_owned(),
                expected: ValueType::Object,
            }),
        }
    }

    fn import_provider(
        &self,
        document: &mut Document,
        name: String,
        entry: &Value,
        options: &MigrationOptions<'_>,
    ) -> Result<FoundProvider, ProvidersError> {
        let is_ours = self.key == "providers";
        let Some(fragment) = provider_fragment(entry, is_ours) else {
            return Ok(FoundProvider { name, env: Vec::new(), status: MigrationStatus::NotUnderstood });
        };
        let env = fragment.get("env").and_then(Value::as_object).map(mask_env).unwrap_or_default();
        let fragment = Value::Object(fragment);
        let status = match document.get(&["providers", &name]) {
            Some(known) if known == fragment => MigrationStatus::Known,
            Some(_) => MigrationStatus::NameTaken,
            None if !(options.is_usable_name)(&name) => MigrationStatus::BadName,
            None => {
                document.set(&["providers", &name], fragment)?;
                MigrationStatus::Added
            }
        };
        Ok(FoundProvider { name, env, status })
    }

    /// Imports the other keys of an older `ccc.json` that are not set yet.
    fn other_keys(&self, document: &mut Document) -> Result<Vec<String>, ProvidersError> {
        let mut imported = Vec::new();
        if self.key != "providers" {
            return Ok(imported);
        }
        for key in ["settings", "claude_args", "supervisor"] {
            if let (Some(value), None) = (self.document.get(&[key]), document.get(&[key])) {
                document.set(&[key], value)?;
                imported.push(key.to_owned());
            }
        }
        Ok(imported)
    }
}

/// The keys that other launchers use for the client's variables.
const FOREIGN_KEYS: [(&str, &[&str]); 4] = [
    ("ANTHROPIC_BASE_URL", &["base_url", "baseUrl", "baseURL", "url", "endpoint"]),
    ("ANTHROPIC_AUTH_TOKEN", &["token", "auth_token", "authToken"]),
    ("ANTHROPIC_API_KEY", &["api_key", "apiKey"]),
    ("ANTHROPIC_MODEL", &["model"]),
];

/// Converts an entry to a settings fragment. Of foreign entries only the environment is imported, since their other
/// keys may have another meaning.
fn provider_fragment(entry: &Value, is_ours: bool) -> Option<Fragment> {
    let fields = entry.as_object()?;
    let env = match fields.get("env") {
        Some(Value::Object(_)) if is_ours => return Some(fields.clone()),
        Some(Value::Object(env)) => env.clone(),
        _ => Fragment::new(),
    };
    let variables = fields.iter().filter(|(key, _)| is_provider_variable(key));
    let variables = variables.map(|(key, value)| (key.clone(), value.clone()));
    let named = FOREIGN_KEYS.iter().filter_map(|(variable, keys)| {
        let value = keys.iter().find_map(|key| fields.get(*key))?;
        Some(((*variable).to_owned(), value.clone()))
    });
    let all = named.chain(variables).chain(env);
    let env: Fragment = all.filter_map(|(key, value)| Some((key, to_text(&value)?.into()))).collect();
    if env.is_empty() {
        return None;
    }
    Some(Fragment::from_iter([("env".to_owned(), Value::Object(env))]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_suggested_by_hosts() {
        for (address, name) in [
            ("https://api.moonshot.cn/anthropic", "moonshot"),
            ("https://user:pw@open.bigmodel.cn:443/api", "bigmodel"),
            ("https://api.example.com.cn", "example"),
            ("http://localhost:4000", "local"),
            ("http://127.0.0.1:4000/x", "local"),
            ("http://gateway/x", "gateway"),
        ] {
            assert_eq!(name_of_host(address).as_deref(), Some(name), "{address}");
        }
        assert_eq!(name_of_host("nothing"), None);
        let env = |value: Value| value.as_object().cloned().unwrap();
        assert_eq!(suggest_name(&env(json!({ "ANTHROPIC_API_KEY": "x" }))), "default");
        assert_eq!(suggest_name(&env(json!({ "CLAUDE_CODE_USE_BEDROCK": "1" }))), "bedrock");
    }

    #[test]
    fn keys_of_other_launchers_are_converted() {
        let entry = json!({ "base_url": "https://a", "apiKey": "k", "model": "m", "color": "red" });
        let env =
            json!({ "ANTHROPIC_BASE_URL": "https://a", "ANTHROPIC_API_KEY": "k", "ANTHROPIC_MODEL": "m" });
        assert_eq!(provider_fragment(&entry, false).map(Value::Object), Some(json!({ "env": env })));
        assert_eq!(provider_fragment(&json!({ "color": "red" }), false), None);
        let ours = json!({ "env": { "A": "1" }, "permissions": {} });
        assert_eq!(provider_fragment(&ours, true), ours.as_object().cloned());
        assert_eq!(provider_fragment(&ours, false).map(Value::Object), Some(json!({ "env": { "A": "1" } })));
    }
}
