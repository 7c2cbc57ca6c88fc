//! `ccc.json`: the providers and what goes with them.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use overtone_settings::{Document, SettingsFile};
use serde_json::Value;

use crate::expand::expand;
use crate::fragment::merge;
use crate::mask::is_secret;
use crate::route::ROUTE_KEYS;
use crate::{Fault, Fragment, Lookup, Place, ProvidersError, Wanted, check};

/// The file as it was read. Where a value has the wrong type, only asking for it is an error.
#[derive(Debug)]
pub struct Config {
    path: PathBuf,
    document: Document,
}

/// What a provider is made of.
pub(crate) struct Parts {
    /// Settings for every provider, without variables.
    pub(crate) general: Fragment,
    /// Settings of this provider alone, and whatever decides the route.
    pub(crate) own: Fragment,
    pub(crate) env: Fragment,
}

impl Config {
    /// A missing file has no providers.
    pub fn load(path: &Path) -> Result<Self, ProvidersError> {
        Ok(Self { path: path.to_owned(), document: SettingsFile::at(path).read()? })
    }

    /// A text that is to become the file.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ProvidersError> {
        Ok(Self { path: path.to_owned(), document: Document::parse(path, text)? })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything in the file that is not as it should be.
    pub fn faults(&self) -> Vec<Fault> {
        check::faults(self, &self.document)
    }

    /// The line that a provider begins on.
    pub fn line_of(&self, name: &str) -> Option<usize> {
        self.document.line_of(&["providers", name])
    }

    /// The names of the providers, in their order. One without a name is none: it could never be the current one.
    pub fn names(&self) -> Result<Vec<String>, ProvidersError> {
        Ok(self.object(&["providers"])?.keys().filter(|name| !name.is_empty()).cloned().collect())
    }

    /// The provider that is named in the file, whether there is such a one or not.
    pub fn current(&self) -> Result<Option<String>, ProvidersError> {
        match self.document.get(&["current_provider"]) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(name)) => Ok(Some(name).filter(|name| !name.is_empty())),
            Some(_) => Err(self.wrong(&["current_provider"], Wanted::Text)),
        }
    }

    /// Where the current provider is named.
    pub fn current_place(&self) -> Place {
        Place::of(&self.path, &self.document, &["current_provider"])
    }

    /// The provider to use when none is named: the current one, or the only one.
    pub fn chosen(&self) -> Result<String, ProvidersError> {
        let known = self.names()?;
        match (self.current()?, known.as_slice()) {
            (Some(name), _) if known.contains(&name) => Ok(name),
            (Some(name), _) => {
                Err(ProvidersError::UnknownProvider { name, known, place: Some(self.current_place()) })
            }
            (None, [only]) => Ok(only.clone()),
            (None, _) => Err(ProvidersError::NoneChosen { known, file: self.path.clone() }),
        }
    }

    /// Fails unless there is such a provider.
    pub fn check(&self, name: &str, place: Option<Place>) -> Result<(), ProvidersError> {
        let known = self.names()?;
        if known.iter().any(|other| other == name) {
            return Ok(());
        }
        Err(ProvidersError::UnknownProvider { name: name.to_owned(), known, place })
    }

    /// The environment of a provider as it is written, with `settings.env` under it.
    pub fn env(&self, name: &str) -> Result<Vec<(String, String)>, ProvidersError> {
        self.check(name, None)?;
        let mut env = self.env_at(&["settings", "env"], None)?;
        merge(&mut env, &self.env_at(&["providers", name, "env"], None)?);
        Ok(env.into_iter().map(|(key, value)| (key, value.as_str().unwrap_or_default().to_owned())).collect())
    }

    /// The arguments that the client is always given.
    pub fn claude_args(&self) -> Result<Vec<String>, ProvidersError> {
        self.texts("claude_args")
    }

    fn texts(&self, key: &str) -> Result<Vec<String>, ProvidersError> {
        let wrong = || self.wrong(&[key], Wanted::ListOfTexts);
        match self.document.get(&[key]) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => {
                let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
                texts.collect::<Option<_>>().ok_or_else(wrong)
            }
            Some(_) => Err(wrong()),
        }
    }

    /// Cloud credentials that the client is given although its provider does not use them: for the tools it runs.
    pub fn keep_env(&self) -> Result<Vec<String>, ProvidersError> {
        self.texts("keep_env")
    }

    /// Whether every start is to be supervised.
    pub fn is_supervised(&self) -> bool {
        self.document.get(&["supervisor", "enabled"]) == Some(Value::Bool(true))
    }

    /// The block `supervisor`, as it is written.
    pub fn supervisor(&self) -> Option<Value> {
        self.document.get(&["supervisor"])
    }

    /// All that the client's settings are to hold for a provider: `settings`, and the provider over it.
    pub fn fragment(&self, name: &str, lookup: Lookup<'_>) -> Result<Fragment, ProvidersError> {
        self.check(name, None)?;
        let mut fragment = self.piece(&["settings"], lookup)?;
        merge(&mut fragment, &self.piece(&["providers", name], lookup)?);
        Ok(fragment)
    }

    /// The same in its parts, as a start needs them.
    pub(crate) fn parts(&self, name: &str, lookup: Lookup<'_>) -> Result<Parts, ProvidersError> {
        self.check(name, None)?;
        let mut general = self.piece(&["settings"], lookup)?;
        let mut own = self.piece(&["providers", name], lookup)?;
        let mut env = take_object(&mut general, "env");
        merge(&mut env, &take_object(&mut own, "env"));
        for key in ROUTE_KEYS {
            if let Some(value) = general.remove(key) {
                own.entry(key).or_insert(value);
            }
        }
        Ok(Parts { general, own, env })
    }

    /// Every value in the file that is a secret by its name, as it is written and as it is used.
    pub fn secrets(&self, lookup: Lookup<'_>) -> Vec<String> {
        let mut found = Vec::new();
        let names = self.names().unwrap_or_default();
        let places = names.iter().map(|name| vec!["providers", name, "env"]);
        for place in places.chain([vec!["settings", "env"]]) {
            for (variable, value) in self.object(&place).unwrap_or_default() {
                if let Some(text) = value.as_str().filter(|_| is_secret(&variable)) {
                    found.extend(expand(text, lookup));
                }
            }
        }
        found
    }

    fn piece(&self, path: &[&str], lookup: Lookup<'_>) -> Result<Fragment, ProvidersError> {
        let mut piece = self.object(path)?;
        if piece.contains_key("env") {
            let env = self.env_at(&[path, &["env"]].concat(), Some(lookup))?;
            piece.insert("env".to_owned(), Value::Object(env));
        }
        Ok(piece)
    }

    /// The client takes texts only, and would discard the whole file for anything else.
    fn env_at(&self, path: &[&str], lookup: Option<Lookup<'_>>) -> Result<Fragment, ProvidersError> {
        let mut env = self.object(path)?;
        for (key, value) in &mut env {
            let at = [path, &[key]].concat();
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                _ => return Err(self.wrong(&at, Wanted::Text)),
            };
            let expanded = lookup.map_or(Ok(text.clone()), |lookup| expand(&text, lookup));
            *value = Value::String(expanded.map_err(|variable| self.unset(&at, variable))?);
        }
        Ok(env)
    }

    fn object(&self, path: &[&str]) -> Result<Fragment, ProvidersError> {
        match self.document.get(path) {
            None | Some(Value::Null) => Ok(Fragment::new()),
            Some(Value::Object(object)) => Ok(object),
            Some(_) => Err(self.wrong(path, Wanted::Object)),
        }
    }

    fn wrong(&self, path: &[&str], wanted: Wanted) -> ProvidersError {
        ProvidersError::WrongType { place: self.place(path), key: path.join("."), wanted }
    }

    fn unset(&self, path: &[&str], variable: String) -> ProvidersError {
        ProvidersError::Unset { place: self.place(path), key: path.join("."), variable }
    }

    fn place(&self, path: &[&str]) -> Place {
        Place::of(&self.path, &self.document, path)
    }
}

fn take_object(fragment: &mut Fragment, key: &str) -> Fragment {
    match fragment.remove(key) {
        Some(Value::Object(object)) => object,
        _ => Fragment::new(),
    }
}

/// Whether a provider may have this name: it is typed on a command line and shown in a table.
pub fn is_name(name: &str) -> bool {
    let good = |c: char| c.is_alphanumeric() || "._-".contains(c);
    name.chars().next().is_some_and(char::is_alphanumeric) && name.len() <= 64 && name.chars().all(good)
}

/// Adds a provider; one of that name is not replaced. The first one becomes the current one.
pub fn add(path: &Path, name: &str, env: &[(String, String)]) -> Result<(), ProvidersError> {
    let env: Fragment = env.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect();
    edit(path, |document| {
        if document.get(&["providers", name]).is_some() {
            let place = Place::of(path, document, &["providers", name]);
            return Err(ProvidersError::Exists { name: name.to_owned(), place });
        }
        document.set(&["providers", name, "env"], Value::Object(env.clone()))?;
        if document.get(&["current_provider"]).is_none() {
            document.set(&["current_provider"], name)?;
        }
        Ok(())
    })
}

pub(crate) fn set_current(path: &Path, name: Option<&str>) -> Result<(), ProvidersError> {
    edit(path, |document| match name {
        Some(name) => Ok(document.set(&["current_provider"], name)?),
        None => Ok(document.remove(&["current_provider"]).map(|_| ())?),
    })
}

/// Takes a provider out, and the choice of it.
pub(crate) fn take_out(path: &Path, name: &str) -> Result<(), ProvidersError> {
    edit(path, |document| {
        document.remove(&["providers", name])?;
        if document.get(&["current_provider"]).is_some_and(|current| current == name) {
            document.remove(&["current_provider"])?;
        }
        Ok(())
    })
}

pub(crate) fn edit(
    path: &Path,
    change: impl FnMut(&mut Document) -> Result<(), ProvidersError>,
) -> Result<(), ProvidersError> {
    // First, so that nothing has changed when it fails.
    make_old_private(path).map_err(|error| ProvidersError::io(path, error))?;
    SettingsFile::at(path).edit(change)?;
    Ok(())
}

/// A new file is private from the start; what is no file is refused by the edit.
pub(crate) fn make_old_private(path: &Path) -> std::io::Result<()> {
    match fs::metadata(path) {
        Ok(about) if about.is_file() => make_private(path),
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The file holds tokens, and it is ours: nobody else is to read it.
pub(crate) fn make_private(path: &Path) -> std::io::Result<()> {
    let mode = fs::metadata(path)?.permissions().mode();
    let private = mode & 0o700;
    if mode & 0o777 == private { Ok(()) } else { fs::set_permissions(path, Permissions::from_mode(private)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_name_is_no_provider() {
        let text = r#"{"providers":{"":{"env":{"A":"b"}}}}"#;
        let config = Config::parse(Path::new("ccc.json"), text).unwrap();
        assert!(config.names().unwrap().is_empty());
        assert!(matches!(config.chosen(), Err(ProvidersError::NoneChosen { .. })));
        assert!(matches!(config.check("", None), Err(ProvidersError::UnknownProvider { .. })));
    }
}
