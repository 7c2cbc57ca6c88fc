//! `owned.json`: which keys of which settings file are ours. One entry per settings file, since the client may be
//! used with several configuration folders.

use std::path::Path;

use overtone_settings::SettingsFile;
use serde_json::{Map, Value, json};

use crate::ProvidersError;
use crate::claim::{Claim, Hold};
use crate::config::make_old_private;

/// The claims on a settings file; what is not understood is left out.
pub(crate) fn load(owned: &Path, settings: &Path) -> Result<Vec<Claim>, ProvidersError> {
    let items = SettingsFile::at(owned).read()?.array_items(&[&settings.to_string_lossy()]);
    Ok(items.iter().filter_map(from_json).collect())
}

pub(crate) fn save(owned: &Path, settings: &Path, claims: &[Claim]) -> Result<(), ProvidersError> {
    let key = settings.to_string_lossy();
    // The values may be tokens.
    make_old_private(owned).map_err(|error| ProvidersError::io(owned, error))?;
    SettingsFile::at(owned).edit(|document| {
        // A claim of another version is kept for that version: nobody else could undo what it stands for.
        let foreign = document.array_items(&[&key]).into_iter().filter(|item| from_json(item).is_none());
        let list: Vec<Value> = foreign.chain(claims.iter().map(to_json)).collect();
        if list.is_empty() {
            return document.remove(&[&key]).map(|_| ());
        }
        document.set(&[&key], list)
    })?;
    Ok(())
}

fn to_json(claim: &Claim) -> Value {
    let mut fields = Map::from_iter([("path".to_owned(), json!(claim.path))]);
    match &claim.hold {
        Hold::Value { ours, previous } => {
            fields.insert("values".to_owned(), json!(ours));
            fields.extend(previous.clone().map(|previous| ("previous".to_owned(), previous)));
        }
        Hold::Items { ours, whole } => {
            fields.insert("items".to_owned(), json!(ours));
            fields.insert("whole".to_owned(), json!(whole));
        }
    }
    if claim.made {
        fields.insert("made".to_owned(), Value::Bool(true));
    }
    fields.extend(claim.used.clone().map(|provider| ("used".to_owned(), provider.into())));
    Value::Object(fields)
}

fn from_json(value: &Value) -> Option<Claim> {
    let keys = value.get("path")?.as_array()?.iter().map(|key| key.as_str().map(str::to_owned));
    let path: Vec<String> = keys.collect::<Option<_>>()?;
    let list = |name: &str| value.get(name).and_then(Value::as_array).cloned();
    let is_true = |name: &str| value.get(name) == Some(&Value::Bool(true));
    let hold = match (list("values"), list("items")) {
        (Some(ours), _) => Hold::Value { ours, previous: value.get("previous").cloned() },
        (None, items) => Hold::Items { ours: items?, whole: is_true("whole") },
    };
    let used = value.get("used").and_then(Value::as_str).map(str::to_owned);
    Some(Claim { path, hold, made: is_true("made"), used })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_of_another_version_stay() {
        let dir = tempfile::tempdir().unwrap();
        let (owned, settings) = (dir.path().join("owned.json"), Path::new("/s.json"));
        let foreign = json!({"path": ["env"], "future": {"x": 1}});
        let before = json!({"/s.json": [foreign], "/other": [7]});
        SettingsFile::at(&owned).replace_text(None, &before.to_string()).unwrap();
        let claim = Claim {
            path: vec!["model".to_owned()],
            hold: Hold::Value { ours: vec![json!("x")], previous: None },
            made: false,
            used: Some("kimi".to_owned()),
        };
        save(&owned, settings, std::slice::from_ref(&claim)).unwrap();
        assert!(load(&owned, settings).unwrap() == [claim]);
        save(&owned, settings, &[]).unwrap();
        let left = SettingsFile::at(&owned).read().unwrap();
        assert_eq!(left.get(&[]), Some(before));
    }
}
