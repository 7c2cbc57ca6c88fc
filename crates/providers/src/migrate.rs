//! Takes an existing set-up over into `ccc.json`: the variables in the client's settings, or the file of another
//! launcher. What is there already is never overwritten, and a second time there is nothing to do.

use std::fs;
use std::path::{Path, PathBuf};

use overtone_settings::{Document, SettingsFile};
use serde_json::{Map, Value};

use crate::claim::{Claim, Hold, exchange};
use crate::mask::masked;
use crate::route::is_of_provider as decides_provider;
use crate::switch::{check_plain, lock};
use crate::{Fragment, Place, Places, ProvidersError, config, owned};

/// A provider that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub name: String,
    /// Its variables as they may be shown.
    pub env: Vec<(String, String)>,
    pub fate: Fate,
}

/// What becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Added,
    /// The configuration says the same already.
    Known,
    /// The configuration has another provider of this name, which stays.
    NameTaken,
    BadName,
    /// Nothing in it that could be a provider.
    NotUnderstood,
}

/// What a migration does, or would do.
#[derive(Debug, Default)]
pub struct Adoption {
    pub found: Vec<Found>,
    /// The provider that becomes the current one.
    pub current: Option<String>,
    /// Other keys of the configuration that are taken over.
    pub keys: Vec<String>,
    /// Variables of `settings.json` that are switched by `ccc` from now on.
    pub owned: Vec<String>,
}

impl Adoption {
    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        let adds = self.found.iter().any(|found| found.fate == Fate::Added);
        !adds && self.current.is_none() && self.keys.is_empty() && self.owned.is_empty()
    }
}

/// How to go about it.
pub struct Terms<'a> {
    /// Whether a name may be given to a provider.
    pub usable: &'a dyn Fn(&str) -> bool,
    pub dry_run: bool,
}

impl std::fmt::Debug for Terms<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Terms").field("dry_run", &self.dry_run).finish_non_exhaustive()
    }
}

type Migrated<T> = Result<T, ProvidersError>;

/// Makes a provider of the user's own variables in `settings.json`. They stay where they are, but belong to it:
/// the next switch to another provider takes them away.
pub fn adopt(places: &Places, name: Option<&str>, terms: &Terms<'_>) -> Migrated<Adoption> {
    let _lock = if terms.dry_run { None } else { Some(lock(places)?) };
    let path = places.settings();
    let settings = SettingsFile::at(&path).read()?;
    check_plain(&path, &settings)?;
    let claims = owned::load(&places.owned(), &path)?;
    let own = own_variables(&path, &settings, &claims)?;
    if own.is_empty() {
        return Ok(Adoption::default());
    }
    let adoption =
        in_config(places, terms, |document| adopt_into(document, &places.config_file(), name, &own, terms))?;
    if !terms.dry_run {
        SettingsFile::at(&path).backup_once(&places.backup())?;
        let name = adoption.found.first().map(|found| found.name.as_str());
        owned::save(&places.owned(), &path, &claimed(&settings, &claims, &own, name))?;
    }
    Ok(adoption)
}

/// The variables that decide about the provider, as they are without us.
fn own_variables(path: &Path, settings: &Document, claims: &[Claim]) -> Migrated<Fragment> {
    let mut own = Document::parse(path, &settings.to_text())?;
    exchange(&mut own, claims, &[])?;
    let Some(Value::Object(env)) = own.get(&["env"]) else { return Ok(Fragment::new()) };
    Ok(env.into_iter().filter(|(name, value)| is_of_provider(name) && text(value).is_some()).collect())
}

fn is_of_provider(variable: &str) -> bool {
    decides_provider(variable) || ["AWS_BEARER_TOKEN_BEDROCK", "CLOUD_ML_REGION"].contains(&variable)
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

fn adopt_into(
    document: &mut Document,
    file: &Path,
    name: Option<&str>,
    own: &Fragment,
    terms: &Terms<'_>,
) -> Migrated<Adoption> {
    let env: Fragment =
        own.iter().filter_map(|(key, value)| Some((key.clone(), text(value)?.into()))).collect();
    let (name, fate) = match (name, same_provider(document, &env)) {
        (None, Some(known)) => (known, Fate::Known),
        (Some(name), Some(known)) if name == known => (known, Fate::Known),
        (Some(name), _) => (unused(document, file, name)?, Fate::Added),
        (None, None) => (free_name(document, &suggested(&env), terms), Fate::Added),
    };
    if fate == Fate::Added {
        document.set(&["providers", &name, "env"], Value::Object(env.clone()))?;
    }
    let current = choose(document, Some(name.clone()))?;
    let found = vec![Found { name, env: shown(&env), fate }];
    Ok(Adoption { found, current, keys: Vec::new(), owned: own.keys().cloned().collect() })
}

fn providers(document: &Document) -> Map<String, Value> {
    match document.get(&["providers"]) {
        Some(Value::Object(providers)) => providers,
        _ => Map::new(),
    }
}

fn same_provider(document: &Document, env: &Fragment) -> Option<String> {
    let same = |entry: &Value| entry.get("env").and_then(Value::as_object) == Some(env);
    providers(document).into_iter().find(|(_, entry)| same(entry)).map(|(name, _)| name)
}

fn unused(document: &Document, file: &Path, name: &str) -> Migrated<String> {
    let name = name.to_owned();
    if document.get(&["providers", &name]).is_none() {
        return Ok(name);
    }
    let place = Place::of(file, document, &["providers", &name]);
    Err(ProvidersError::Exists { name, place })
}

fn free_name(document: &Document, wish: &str, terms: &Terms<'_>) -> String {
    let taken = providers(document);
    let numbered = |number: u32| if number == 1 { wish.to_owned() } else { format!("{wish}-{number}") };
    let free = |name: &String| (terms.usable)(name) && !taken.contains_key(name);
    (1..=10_000).map(numbered).find(free).unwrap_or_else(|| wish.to_owned())
}

/// The name that the address suggests: `https://api.moonshot.cn/anthropic` is `moonshot`.
fn suggested(env: &Fragment) -> String {
    let is_set = |name: &str| env.get(name).and_then(Value::as_str).is_some_and(|value| !value.is_empty());
    let routes = [
        ("CLAUDE_CODE_USE_BEDROCK", "bedrock"),
        ("CLAUDE_CODE_USE_VERTEX", "vertex"),
        ("CLAUDE_CODE_USE_FOUNDRY", "foundry"),
    ];
    let by_route =
        || routes.iter().find(|(variable, _)| is_set(variable)).map(|(_, name)| (*name).to_owned());
    let by_host = || name_of_host(env.get("ANTHROPIC_BASE_URL")?.as_str()?);
    by_route().or_else(by_host).unwrap_or_else(|| "default".to_owned())
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

/// Makes a provider the current one, if there is none.
fn choose(document: &mut Document, name: Option<String>) -> Migrated<Option<String>> {
    let known = providers(document);
    let is_chosen = match document.get(&["current_provider"]) {
        Some(Value::String(current)) => known.contains_key(&current),
        _ => false,
    };
    match name.filter(|name| !is_chosen && known.contains_key(name)) {
        Some(name) => {
            document.set(&["current_provider"], name.as_str())?;
            Ok(Some(name))
        }
        None => Ok(None),
    }
}

fn shown(env: &Fragment) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    env.iter().map(|(name, value)| (name.clone(), masked(name, &text(value)))).collect()
}

/// The claims, with the user's own variables among them, as if `ccc use` had written them: nothing comes back when
/// they go.
fn claimed(settings: &Document, claims: &[Claim], own: &Fragment, name: Option<&str>) -> Vec<Claim> {
    let used = name.map(str::to_owned);
    let is_own = |claim: &Claim| matches!(claim.path.as_slice(), [env, name] if env == "env" && own.contains_key(name));
    let mut all = Vec::new();
    for claim in claims.iter().filter(|claim| !is_own(claim) || claim.is_valid(settings)) {
        let mut claim = claim.clone();
        if let (true, Hold::Value { previous, .. }) = (is_own(&claim), &mut claim.hold) {
            *previous = None;
            claim.used.clone_from(&used);
        }
        all.push(claim);
    }
    for (name, value) in own {
        let path = vec!["env".to_owned(), name.clone()];
        if !all.iter().any(|claim| claim.path == path) {
            let hold = Hold::Value { ours: vec![value.clone()], previous: None };
            all.push(Claim { path, hold, made: false, used: used.clone() });
        }
    }
    all
}

/// Carries a change of the configuration out, after a copy of it was made, or only tries it.
fn in_config(
    places: &Places,
    terms: &Terms<'_>,
    change: impl Fn(&mut Document) -> Migrated<Adoption>,
) -> Migrated<Adoption> {
    let path = places.config_file();
    let file = SettingsFile::at(&path);
    let mut trial = file.read()?;
    let before = trial.to_text();
    let mut adoption = change(&mut trial)?;
    if terms.dry_run || trial.to_text() == before {
        return Ok(adoption);
    }
    back_up(&file, &places.config_backup())?;
    config::edit(&path, |document| {
        adoption = change(document)?;
        Ok(())
    })?;
    Ok(adoption)
}

fn back_up(file: &SettingsFile, backup: &Path) -> Migrated<()> {
    match fs::remove_file(backup) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(ProvidersError::io(backup, error));
        }
        _ => {}
    }
    file.backup_once(backup)?;
    Ok(())
}

/// Takes over the providers of another file: an older `ccc.json`, or one of a launcher with `profiles`.
pub fn import(places: &Places, from: &Path, terms: &Terms<'_>) -> Migrated<Adoption> {
    fs::metadata(from).map_err(|error| ProvidersError::io(from, error))?;
    let source = Source::read(from)?;
    let _lock = if terms.dry_run { None } else { Some(lock(places)?) };
    in_config(places, terms, |document| source.merge(document, terms))
}

/// A file that providers are taken from.
struct Source {
    document: Document,
    /// The key that the providers are under.
    key: &'static str,
    path: PathBuf,
}

impl Source {
    fn read(path: &Path) -> Migrated<Self> {
        let document = SettingsFile::at(path).read()?;
        let key = if document.get(&["providers"]).is_some() { "providers" } else { "profiles" };
        Ok(Self { document, key, path: path.to_owned() })
    }

    fn merge(&self, document: &mut Document, terms: &Terms<'_>) -> Migrated<Adoption> {
        let mut adoption = Adoption::default();
        for (name, entry) in self.entries()? {
            adoption.found.push(self.take(document, name, &entry, terms)?);
        }
        adoption.keys = self.other_keys(document)?;
        let current = ["current_provider", "current", "active", "default"].iter();
        let mut named = current.filter_map(|key| self.document.get(&[key])?.as_str().map(str::to_owned));
        adoption.current = choose(document, named.next())?;
        Ok(adoption)
    }

    fn entries(&self) -> Migrated<Map<String, Value>> {
        match self.document.get(&[self.key]) {
            Some(Value::Object(entries)) => Ok(entries),
            None | Some(Value::Null) => Ok(Map::new()),
            Some(_) => Err(ProvidersError::WrongType {
                place: Place::of(&self.path, &self.document, &[self.key]),
                key: self.key.to_owned(),
                wanted: crate::Wanted::Object,
            }),
        }
    }

    fn take(
        &self,
        document: &mut Document,
        name: String,
        entry: &Value,
        terms: &Terms<'_>,
    ) -> Migrated<Found> {
        let is_ours = self.key == "providers";
        let Some(piece) = provider(entry, is_ours) else {
            return Ok(Found { name, env: Vec::new(), fate: Fate::NotUnderstood });
        };
        let env = piece.get("env").and_then(Value::as_object).map(shown).unwrap_or_default();
        let piece = Value::Object(piece);
        let fate = match document.get(&["providers", &name]) {
            Some(known) if known == piece => Fate::Known,
            Some(_) => Fate::NameTaken,
            None if !(terms.usable)(&name) => Fate::BadName,
            None => {
                document.set(&["providers", &name], piece)?;
                Fate::Added
            }
        };
        Ok(Found { name, env, fate })
    }

    /// The rest of an older `ccc.json`, where there is nothing yet.
    fn other_keys(&self, document: &mut Document) -> Migrated<Vec<String>> {
        let mut taken = Vec::new();
        for key in ["settings", "claude_args", "supervisor"] {
            let value = self.document.get(&[key]).filter(|_| self.key == "providers");
            if let (Some(value), None) = (value, document.get(&[key])) {
                document.set(&[key], value)?;
                taken.push(key.to_owned());
            }
        }
        Ok(taken)
    }
}

/// How other launchers call what the client has a variable for.
const NAMES: [(&str, &[&str]); 4] = [
    ("ANTHROPIC_BASE_URL", &["base_url", "baseUrl", "baseURL", "url", "endpoint"]),
    ("ANTHROPIC_AUTH_TOKEN", &["token", "auth_token", "authToken"]),
    ("ANTHROPIC_API_KEY", &["api_key", "apiKey"]),
    ("ANTHROPIC_MODEL", &["model"]),
];

/// An entry as a piece of settings. Of foreign entries only the environment is known to mean the same.
fn provider(entry: &Value, is_ours: bool) -> Option<Fragment> {
    let fields = entry.as_object()?;
    let env = match fields.get("env") {
        Some(Value::Object(_)) if is_ours => return Some(fields.clone()),
        Some(Value::Object(env)) => env.clone(),
        _ => Fragment::new(),
    };
    let variables = fields.iter().filter(|(key, _)| is_of_provider(key));
    let variables = variables.map(|(key, value)| (key.clone(), value.clone()));
    let named = NAMES.iter().filter_map(|(variable, keys)| {
        let value = keys.iter().find_map(|key| fields.get(*key))?;
        Some(((*variable).to_owned(), value.clone()))
    });
    let all = named.chain(variables).chain(env);
    let env: Fragment = all.filter_map(|(key, value)| Some((key, text(&value)?.into()))).collect();
    (!env.is_empty()).then(|| Fragment::from_iter([("env".to_owned(), Value::Object(env))]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_come_from_hosts() {
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
        assert_eq!(suggested(&env(json!({ "ANTHROPIC_API_KEY": "x" }))), "default");
        assert_eq!(suggested(&env(json!({ "CLAUDE_CODE_USE_BEDROCK": "1" }))), "bedrock");
    }

    #[test]
    fn other_launchers_use_other_names() {
        let entry = json!({ "base_url": "https://a", "apiKey": "k", "model": "m", "color": "red" });
        let env =
            json!({ "ANTHROPIC_BASE_URL": "https://a", "ANTHROPIC_API_KEY": "k", "ANTHROPIC_MODEL": "m" });
        assert_eq!(provider(&entry, false).map(Value::Object), Some(json!({ "env": env })));
        assert_eq!(provider(&json!({ "color": "red" }), false), None);
        let ours = json!({ "env": { "A": "1" }, "permissions": {} });
        assert_eq!(provider(&ours, true), ours.as_object().cloned());
        assert_eq!(provider(&ours, false).map(Value::Object), Some(json!({ "env": { "A": "1" } })));
    }
}
