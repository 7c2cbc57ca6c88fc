//! `ccc.json`: the providers and the options of `ccc`.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use jsonc_edit::{Document, SettingsFile};
use serde_json::Value;

use crate::providers::expand::expand;
use crate::providers::fragment::merge;
use crate::providers::mask::is_secret;
use crate::providers::route::ROUTE_KEYS;
use crate::providers::{Fault, FileLocation, Fragment, Lookup, ProvidersError, ValueType, check};

/// The parsed file. A value of the wrong type is an error only when it is requested.
#[derive(Debug)]
pub struct Config {
    path: PathBuf,
    document: Document,
}

/// The settings of a provider, split as a start needs them.
pub(crate) struct Parts {
    /// Settings for every provider, without environment variables.
    pub(crate) general: Fragment,
    /// Settings of this provider alone, and all keys that decide the route.
    pub(crate) own: Fragment,
    pub(crate) env: Fragment,
}

impl Config {
    /// Reads the file. A missing file is a configuration without providers.
    pub fn load(path: &Path) -> Result<Self, ProvidersError> {
        Ok(Self { path: path.to_owned(), document: SettingsFile::at(path).read()? })
    }

    /// Parses a text that is going to be written to `path`.
    pub fn parse(path: &Path, text: &str) -> Result<Self, ProvidersError> {
        Ok(Self { path: path.to_owned(), document: Document::parse(path, text)? })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Every fault of the file.
    pub fn faults(&self) -> Vec<Fault> {
        check::find_faults(self, &self.document)
    }

    /// The line on which a provider starts.
    pub fn line_of(&self, name: &str) -> Option<usize> {
        self.document.line_of(&["providers", name])
    }

    /// The names of the providers, in file order. An empty name is skipped: it could never be the current provider.
    pub fn names(&self) -> Result<Vec<String>, ProvidersError> {
        Ok(self.object(&["providers"])?.keys().filter(|name| !name.is_empty()).cloned().collect())
    }

    /// The name in `current_provider`, even if there is no such provider.
    pub fn current(&self) -> Result<Option<String>, ProvidersError> {
        match self.document.get(&["current_provider"]) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(name)) if name.is_empty() => Ok(None),
            Some(Value::String(name)) => Ok(Some(name)),
            Some(_) => Err(self.wrong_type(&["current_provider"], ValueType::Text)),
        }
    }

    /// Where `current_provider` is written.
    pub fn current_location(&self) -> FileLocation {
        FileLocation::of_key(&self.path, &self.document, &["current_provider"])
    }

    /// The provider to use when none is named: the current one, else the only one.
    pub fn chosen(&self) -> Result<String, ProvidersError> {
        let known = self.names()?;
        match (self.current()?, known.as_slice()) {
            (Some(name), _) if known.contains(&name) => Ok(name),
            (Some(name), _) => {
                Err(ProvidersError::UnknownProvider { name, known, location: Some(self.current_location()) })
            }
            (None, [only]) => Ok(only.clone()),
            (None, _) => Err(ProvidersError::NoneChosen { known, file: self.path.clone() }),
        }
    }

    /// Fails unless there is a provider of this name. `location` is where the name is written.
    pub fn check(&self, name: &str, location: Option<FileLocation>) -> Result<(), ProvidersError> {
        let known = self.names()?;
        if known.iter().any(|other| other == name) {
            return Ok(());
        }
        Err(ProvidersError::UnknownProvider { name: name.to_owned(), known, location })
    }

    /// The environment of a provider as it is written, merged over `settings.env`.
    pub fn env(&self, name: &str) -> Result<Vec<(String, String)>, ProvidersError> {
        self.check(name, None)?;
        let mut env = self.env_at(&["settings", "env"], None)?;
        merge(&mut env, &self.env_at(&["providers", name, "env"], None)?);
        Ok(env.into_iter().map(|(key, value)| (key, value.as_str().unwrap_or_default().to_owned())).collect())
    }

    /// The arguments that are passed to the client at every start.
    pub fn claude_args(&self) -> Result<Vec<String>, ProvidersError> {
        self.text_list("claude_args")
    }

    fn text_list(&self, key: &str) -> Result<Vec<String>, ProvidersError> {
        let wrong = || self.wrong_type(&[key], ValueType::ListOfTexts);
        match self.document.get(&[key]) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(items)) => {
                let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
                texts.collect::<Option<_>>().ok_or_else(wrong)
            }
            Some(_) => Err(wrong()),
        }
    }

    /// Cloud credentials that are passed to the client although its provider does not use them, for the tools it runs.
    pub fn keep_env(&self) -> Result<Vec<String>, ProvidersError> {
        self.text_list("keep_env")
    }

    /// Whether every start is supervised.
    pub fn is_supervised(&self) -> bool {
        self.document.get(&["supervisor", "enabled"]) == Some(Value::Bool(true))
    }

    /// The `supervisor` block as it is written.
    pub fn supervisor(&self) -> Option<Value> {
        self.document.get(&["supervisor"])
    }

    /// The client's settings for a provider: `settings` with the provider merged over it.
    pub fn fragment(&self, name: &str, lookup: Lookup<'_>) -> Result<Fragment, ProvidersError> {
        self.check(name, None)?;
        let mut fragment = self.expanded_fragment(&["settings"], lookup)?;
        merge(&mut fragment, &self.expanded_fragment(&["providers", name], lookup)?);
        Ok(fragment)
    }

    /// The same settings, split as a start needs them.
    pub(crate) fn parts(&self, name: &str, lookup: Lookup<'_>) -> Result<Parts, ProvidersError> {
        self.check(name, None)?;
        let mut general = self.expanded_fragment(&["settings"], lookup)?;
        let mut own = self.expanded_fragment(&["providers", name], lookup)?;
        let mut env = take_object(&mut general, "env");
        merge(&mut env, &take_object(&mut own, "env"));
        for key in ROUTE_KEYS {
            if let Some(value) = general.remove(key) {
                own.entry(key).or_insert(value);
            }
        }
        Ok(Parts { general, own, env })
    }

    /// Every value in the file whose variable name marks it as a secret, with references expanded.
    pub fn secrets(&self, lookup: Lookup<'_>) -> Vec<String> {
        let mut found = Vec::new();
        let names = self.names().unwrap_or_default();
        let mut env_paths: Vec<_> = names.iter().map(|name| vec!["providers", name, "env"]).collect();
        env_paths.push(vec!["settings", "env"]);
        for path in env_paths {
            for (variable, value) in self.object(&path).unwrap_or_default() {
                let Value::String(text) = value else { continue };
                if is_secret(&variable) {
                    found.extend(expand(&text, lookup));
                }
            }
        }
        found
    }

    fn expanded_fragment(&self, path: &[&str], lookup: Lookup<'_>) -> Result<Fragment, ProvidersError> {
        let mut fragment = self.object(path)?;
        if fragment.contains_key("env") {
            let env = self.env_at(&[path, &["env"]].concat(), Some(lookup))?;
            fragment.insert("env".to_owned(), Value::Object(env));
        }
        Ok(fragment)
    }

    /// The variables of an `env` object as texts, with references expanded if a lookup is given. Objects and lists are an
    /// error: the client would discard the whole settings file.
    fn env_at(&self, path: &[&str], lookup: Option<Lookup<'_>>) -> Result<Fragment, ProvidersError> {
        let mut env = self.object(path)?;
        for (key, value) in &mut env {
            let at = [path, &[key]].concat();
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                _ => return Err(self.wrong_type(&at, ValueType::Text)),
            };
            let expanded = match lookup {
                Some(lookup) => expand(&text, lookup).map_err(|variable| self.unset(&at, variable))?,
                None => text,
            };
            *value = Value::String(expanded);
        }
        Ok(env)
    }

    fn object(&self, path: &[&str]) -> Result<Fragment, ProvidersError> {
        match self.document.get(path) {
            None | Some(Value::Null) => Ok(Fragment::new()),
            Some(Value::Object(object)) => Ok(object),
            Some(_) => Err(self.wrong_type(path, ValueType::Object)),
        }
    }

    fn wrong_type(&self, path: &[&str], expected: ValueType) -> ProvidersError {
        ProvidersError::WrongType { location: self.location(path), key: path.join("."), expected }
    }

    fn unset(&self, path: &[&str], variable: String) -> ProvidersError {
        ProvidersError::Unset { location: self.location(path), key: path.join("."), variable }
    }

    fn location(&self, path: &[&str]) -> FileLocation {
        FileLocation::of_key(&self.path, &self.document, path)
    }
}

fn take_object(fragment: &mut Fragment, key: &str) -> Fragment {
    match fragment.remove(key) {
        Some(Value::Object(object)) => object,
        _ => Fragment::new(),
    }
}

/// Whether a provider may have this name, which is typed on a command line and shown in a table.
pub fn is_provider_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_alphanumeric() || "._-".contains(c);
    name.starts_with(char::is_alphanumeric) && name.len() <= 64 && name.chars().all(is_allowed)
}

/// Adds a provider. An existing one of that name is an error. The first provider becomes the current one.
pub fn add_provider(path: &Path, name: &str, env: &[(String, String)]) -> Result<(), ProvidersError> {
    let env: Fragment = env.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect();
    edit(path, |document| {
        if document.get(&["providers", name]).is_some() {
            let location = FileLocation::of_key(path, document, &["providers", name]);
            return Err(ProvidersError::Exists { name: name.to_owned(), location });
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

/// Removes a provider, and `current_provider` if it names this one.
pub(crate) fn remove_provider(path: &Path, name: &str) -> Result<(), ProvidersError> {
    edit(path, |document| {
        document.remove(&["providers", name])?;
        if let Some(current) = document.get(&["current_provider"])
            && current == name
        {
            document.remove(&["current_provider"])?;
        }
        Ok(())
    })
}

pub(crate) fn edit(
    path: &Path,
    change: impl FnMut(&mut Document) -> Result<(), ProvidersError>,
) -> Result<(), ProvidersError> {
    // Before the edit, so that nothing has changed if this fails.
    make_existing_private(path).map_err(|error| ProvidersError::io(path, error))?;
    SettingsFile::at(path).edit(change)?;
    Ok(())
}

/// Makes an existing file private. A new file is created private, and the edit refuses anything that is not a file.
pub(crate) fn make_existing_private(path: &Path) -> std::io::Result<()> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => make_private(path),
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Removes the permissions of everybody but the owner, since the file contains tokens.
pub(crate) fn make_private(path: &Path) -> std::io::Result<()> {
    let mode = fs::metadata(path)?.permissions().mode();
    let private = mode & 0o700;
    if mode & 0o777 == private { Ok(()) } else { fs::set_permissions(path, Permissions::from_mode(private)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_with_an_empty_name_is_ignored() {
        let text = r#"{"providers":{"":{"env":{"A":"b"}}}}"#;
        let config = Config::parse(Path::new("ccc.json"), text).unwrap();
        assert!(config.names().unwrap().is_empty());
        assert!(matches!(config.chosen(), Err(ProvidersError::NoneChosen { .. })));
        assert!(matches!(config.check("", None), Err(ProvidersError::UnknownProvider { .. })));
    }
}
