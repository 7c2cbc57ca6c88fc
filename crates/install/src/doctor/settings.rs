//! Settings, the user's, the project's and the administrator's, that keep hooks from running.

use std::fs;
use std::path::{Path, PathBuf};

use overtone_settings::{Document, SettingsFile};
use serde_json::Value;

use super::{Finding, Patient};

pub(super) fn check(patient: &Patient) -> Vec<Finding> {
    let mut files = vec![patient.place.settings(), patient.managed_settings.clone()];
    if let Some(project) = &patient.project {
        files.extend(["settings.json", "settings.local.json"].map(|name| project.join(".claude").join(name)));
    }
    // A project in the home folder has the user's file.
    files.sort();
    files.dedup();
    files.iter().filter(|path| path.exists()).flat_map(|path| check_file(path)).collect()
}

fn check_file(path: &Path) -> Vec<Finding> {
    let settings = match SettingsFile::at(path).read() {
        Ok(settings) => settings,
        Err(error) => return vec![Finding::SettingsUnreadable { error: error.to_string() }],
    };
    let mut findings = Vec::new();
    // The client takes no comments: it ignores such a file as a whole.
    if let Some(error) = fs::read_to_string(path).ok().and_then(|text| strict_error(&text)) {
        findings.push(Finding::SettingsUnreadable { error: format!("{}: {error}", path.display()) });
    }
    findings.extend(
        switched_on(&settings, "disableAllHooks")
            .map(|line| Finding::HooksDisabled { path: path.to_owned(), line }),
    );
    findings.extend(
        switched_on(&settings, "allowManagedHooksOnly")
            .map(|line| Finding::ManagedHooksOnly { path: path.to_owned(), line }),
    );
    findings.extend(string_timeout(&settings, path));
    findings
}

fn strict_error(text: &str) -> Option<String> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return None;
    }
    let error = serde_json::from_str::<Value>(text).err()?;
    Some(format!("not plain JSON at line {}", error.line()))
}

fn switched_on(settings: &Document, key: &str) -> Option<usize> {
    let on = settings.get(&[key]) == Some(Value::Bool(true));
    on.then(|| settings.line_of(&[key]).unwrap_or(1))
}

/// A hook with its timeout in quotes makes the client discard the whole file without a word.
fn string_timeout(settings: &Document, path: &Path) -> Option<Finding> {
    let hooks = settings.get(&["hooks"])?;
    let (event, _) = hooks.as_object()?.iter().find(|(_, groups)| has_string_timeout(groups))?;
    let line = settings.line_of(&["hooks", event]).unwrap_or(1);
    Some(Finding::StringTimeout { path: PathBuf::from(path), line })
}

fn has_string_timeout(groups: &Value) -> bool {
    let groups = groups.as_array().into_iter().flatten();
    let mut entries = groups.filter_map(|group| group.get("hooks")?.as_array()).flatten();
    entries.any(|entry| entry.get("timeout").is_some_and(Value::is_string))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(text: &str) -> Vec<&'static str> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        overtone_store::files::write_atomic(&path, text.as_bytes(), 0o600).unwrap();
        check_file(&path).iter().map(Finding::name).collect()
    }

    #[test]
    fn what_keeps_hooks_from_running_is_found() {
        assert_eq!(findings(r#"{"disableAllHooks":true}"#), ["hooks-disabled"]);
        assert_eq!(findings(r#"{"allowManagedHooksOnly":true}"#), ["managed-hooks-only"]);
        assert_eq!(
            findings(r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","timeout":"5"}]}]}}"#),
            ["string-timeout"]
        );
        assert_eq!(findings("{\n// mine\n}"), ["settings-unreadable"]);
        assert_eq!(findings("{broken"), ["settings-unreadable"]);
        assert_eq!(findings("[]"), ["settings-unreadable"]);
    }

    #[test]
    fn good_settings_are_good() {
        for text in ["", "{}", r#"{"disableAllHooks":false,"hooks":{"Stop":[{"hooks":[{"timeout":5}]}]}}"#] {
            assert!(findings(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn the_line_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        overtone_store::files::write_atomic(&path, b"{\n  \"a\": 1,\n  \"disableAllHooks\": true\n}", 0o600)
            .unwrap();
        assert_eq!(check_file(&path), [Finding::HooksDisabled { path: path.clone(), line: 3 }]);
    }
}
