//! Finds settings of the user, the project or the administrator that keep hooks from running.

use std::fs;
use std::path::{Path, PathBuf};

use jsonc_edit::{Document, SettingsFile};
use serde_json::Value;

use super::{Finding, Installation};

pub(super) fn check(installation: &Installation) -> Vec<Finding> {
    let mut files = vec![installation.client_folder.settings(), installation.managed_settings.clone()];
    if let Some(project) = &installation.project {
        files.extend(["settings.json", "settings.local.json"].map(|name| project.join(".claude").join(name)));
    }
    // If the project is the home folder, its file is the user's file.
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
    // The client does not accept comments: it ignores a file that has one.
    if let Ok(text) = fs::read_to_string(path)
        && let Some(error) = strict_error(&text)
    {
        findings.push(Finding::SettingsUnreadable { error: format!("{}: {error}", path.display()) });
    }
    if let Some(line) = line_of_enabled(&settings, "disableAllHooks") {
        findings.push(Finding::HooksDisabled { path: path.to_owned(), line });
    }
    if let Some(line) = line_of_enabled(&settings, "allowManagedHooksOnly") {
        findings.push(Finding::ManagedHooksOnly { path: path.to_owned(), line });
    }
    findings.extend(string_timeout(&settings, path));
    findings
}

/// Why the text is not JSON without comments.
fn strict_error(text: &str) -> Option<String> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return None;
    }
    let error = serde_json::from_str::<Value>(text).err()?;
    Some(format!("not plain JSON at line {}", error.line()))
}

/// The line of the setting, if it is `true`.
fn line_of_enabled(settings: &Document, key: &str) -> Option<usize> {
    if settings.get(&[key]) != Some(Value::Bool(true)) {
        return None;
    }
    Some(settings.line_of(&[key]).unwrap_or(1))
}

/// A hook whose timeout is a string makes the client silently ignore the whole file.
fn string_timeout(settings: &Document, path: &Path) -> Option<Finding> {
    let hooks = settings.get(&["hooks"])?;
    let (event, _) = hooks.as_object()?.iter().find(|(_, groups)| has_string_timeout(groups))?;
    let line = settings.line_of(&["hooks", event]).unwrap_or(1);
    Some(Finding::StringTimeout { path: PathBuf::from(path), line })
}

fn has_string_timeout(groups: &Value) -> bool {
    let groups = groups.as_array().into_iter().flatten();
    let mut entries = groups.filter_map(|group| group.get("hooks")?.as_array()).flatten();
    entries.any(|entry| matches!(entry.get("timeout"), Some(Value::String(_))))
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
    fn settings_that_keep_hooks_from_running_are_found() {
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
    fn valid_settings_have_no_findings() {
        for text in ["", "{}", r#"{"disableAllHooks":false,"hooks":{"Stop":[{"hooks":[{"timeout":5}]}]}}"#] {
            assert!(findings(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_finding_names_the_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        overtone_store::files::write_atomic(&path, b"{\n  \"a\": 1,\n  \"disableAllHooks\": true\n}", 0o600)
            .unwrap();
        assert_eq!(check_file(&path), [Finding::HooksDisabled { path: path.clone(), line: 3 }]);
    }
}
