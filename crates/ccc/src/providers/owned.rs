//! `owned.json`: records which keys of a settings file `ccc` has written. There is one entry per settings file, since
//! the client may be used with several configuration folders.

use std::path::Path;

use jsonc_edit::SettingsFile;
use serde_json::{Map, Value, json};

use crate::providers::ProvidersError;
use crate::providers::claim::{Claim, ClaimKind};
use crate::providers::config::make_existing_private;

/// Reads the claims on a settings file. Entries in an unknown format are left out.
pub(crate) fn load(owned: &Path, settings: &Path) -> Result<Vec<Claim>, ProvidersError> {
    let items = SettingsFile::at(owned).read()?.array_items(&[&settings.to_string_lossy()]);
    Ok(items.iter().filter_map(from_json).collect())
}

pub(crate) fn save(owned: &Path, settings: &Path, claims: &[Claim]) -> Result<(), ProvidersError> {
    let key = settings.to_string_lossy();
    // The values may be tokens.
    make_existing_private(owned).map_err(|error| ProvidersError::io(owned, error))?;
    SettingsFile::at(owned).edit(|document| {
        // Entries in an unknown format were written by another version of `ccc`, which alone can undo them.
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
    match &claim.kind {
        ClaimKind::Value { ours, previous } => {
            fields.insert("values".to_owned(), json!(ours));
            fields.extend(previous.clone().map(|previous| ("previous".to_owned(), previous)));
        }
        ClaimKind::Items { ours, created_list } => {
            fields.insert("items".to_owned(), json!(ours));
            fields.insert("whole".to_owned(), json!(created_list));
        }
    }
    if claim.created_parent {
        fields.insert("made".to_owned(), Value::Bool(true));
    }
    fields.extend(claim.used_provider.clone().map(|provider| ("used".to_owned(), provider.into())));
    Value::Object(fields)
}

fn from_json(value: &Value) -> Option<Claim> {
    let keys = value.get("path")?.as_array()?.iter().map(|key| key.as_str().map(str::to_owned));
    let path: Vec<String> = keys.collect::<Option<_>>()?;
    let list = |name: &str| value.get(name).and_then(Value::as_array).cloned();
    let is_true = |name: &str| value.get(name) == Some(&Value::Bool(true));
    let kind = match (list("values"), list("items")) {
        (Some(ours), _) => ClaimKind::Value { ours, previous: value.get("previous").cloned() },
        (None, items) => ClaimKind::Items { ours: items?, created_list: is_true("whole") },
    };
    let used_provider = value.get("used").and_then(Value::as_str).map(str::to_owned);
    Some(Claim { path, kind, created_parent: is_true("made"), used_provider })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_of_another_version_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let (owned, settings) = (dir.path().join("owned.json"), Path::new("/s.json"));
        let foreign = json!({"path": ["env"], "future": {"x": 1}});
        let before = json!({"/s.json": [foreign], "/other": [7]});
        SettingsFile::at(&owned).replace_text(None, &before.to_string()).unwrap();
        let claim = Claim {
            path: vec!["model".to_owned()],
            kind: ClaimKind::Value { ours: vec![json!("x")], previous: None },
            created_parent: false,
            used_provider: Some("kimi".to_owned()),
        };
        save(&owned, settings, std::slice::from_ref(&claim)).unwrap();
        assert!(load(&owned, settings).unwrap() == [claim]);
        save(&owned, settings, &[]).unwrap();
        let left = SettingsFile::at(&owned).read().unwrap();
        assert_eq!(left.get(&[]), Some(before));
    }
}
