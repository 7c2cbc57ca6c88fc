//! `trust.json` in the home: the checks that the user allows to run, by project.
//!
//! A repository must not run commands on the machine of whoever clones it. So the commands of a project's file run only after
//! the user has seen and allowed them, and the permission is for exactly these definitions in exactly this folder. The record
//! contains the definitions themselves, so that a change can be shown.

use std::path::{Path, PathBuf};

use overtone_core::engine::state::Millis;
use overtone_core::evidence::Check;
use overtone_core::registry::GuardLevel;
use serde_json::{Map, Value, json};

use crate::files::{self, PRIVATE};
use crate::{Home, StoreError, check_definitions, clock, object};

/// What the user has allowed for a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust {
    pub checks: Vec<Check>,
    /// The guard level of the file at that time. Removing it from the file later does not lower it.
    pub guard: Option<GuardLevel>,
    pub since: Option<Millis>,
}

impl Trust {
    /// What the user has allowed for this project. `None` if nothing, or if the record cannot be read.
    pub fn for_project(home: &Home, project: &Path) -> Option<Self> {
        let document = object::read(&trust_file(home));
        let entry = document.get("projects")?.get(project_key(project)?)?;
        Some(Self {
            checks: check_definitions::from_json(entry.get("checks")?)?,
            guard: entry.get("guard").and_then(Value::as_str).and_then(GuardLevel::from_name),
            since: entry.get("since").and_then(Value::as_str).and_then(clock::from_iso),
        })
    }

    /// Whether exactly these checks are allowed.
    pub fn covers(&self, checks: &[Check]) -> bool {
        Check::are_same(&self.checks, checks)
    }

    /// Records that the user allows these checks for a project, in place of what was allowed before.
    pub fn grant(
        home: &Home,
        project: &Path,
        checks: &[Check],
        guard: Option<GuardLevel>,
        now: Millis,
    ) -> Result<(), StoreError> {
        change(home, project, |projects, key| {
            let slot = projects.entry(key).or_insert_with(|| json!({}));
            if !slot.is_object() {
                *slot = json!({});
            }
            slot["checks"] = check_definitions::to_json(checks);
            slot["guard"] = json!(guard.map(GuardLevel::name));
            slot["since"] = json!(clock::to_iso(now));
            true
        })
        .map(drop)
    }

    /// Removes the permission. Returns whether there was one.
    pub fn revoke(home: &Home, project: &Path) -> Result<bool, StoreError> {
        change(home, project, |projects, key| projects.shift_remove(&key).is_some())
    }
}

fn trust_file(home: &Home) -> PathBuf {
    home.root().join("trust.json")
}

/// The folder without links, since the client and the user may name it in different ways. A folder whose name is not
/// UTF-8 cannot be told from others in JSON, so nothing is ever allowed there.
fn project_key(project: &Path) -> Option<String> {
    project.canonicalize().ok()?.to_str().map(str::to_owned)
}

/// Applies `edit` to the projects of the record, and writes it if `edit` returns true.
fn change(
    home: &Home,
    project: &Path,
    edit: impl FnOnce(&mut Map<String, Value>, String) -> bool,
) -> Result<bool, StoreError> {
    let path = trust_file(home);
    let failed = |error| StoreError::io(&path, error);
    let Some(key) = project_key(project) else {
        return Err(StoreError::broken(project, "not a folder, or its name is not UTF-8"));
    };
    let lock = home.lock().map_err(failed)?;
    let mut document = object::read_to_change(&path).map_err(failed)?;
    let projects = document.entry("projects").or_insert_with(|| json!({}));
    if !projects.is_object() {
        *projects = json!({});
    }
    let Some(projects) = projects.as_object_mut() else { return Ok(false) };
    if !edit(projects, key) {
        return Ok(false);
    }
    let text = format!("{:#}\n", Value::Object(document));
    let replaced = files::replace(&path, text.as_bytes(), PRIVATE).map_err(failed)?;
    drop(lock);
    drop(replaced);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::check_definitions::sample;

    fn folders() -> (tempfile::TempDir, Home, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let (shop, wiki) = (folder.path().join("shop"), folder.path().join("wiki"));
        fs::create_dir(&shop).unwrap();
        fs::create_dir(&wiki).unwrap();
        let home = Home::at(folder.path().join("home"));
        (folder, home, shop, wiki)
    }

    #[test]
    fn trust_is_for_these_definitions_in_this_folder() {
        let (folder, home, shop, wiki) = folders();
        let checks = [sample("test", "make test")];
        assert_eq!(Trust::for_project(&home, &shop), None);
        Trust::grant(&home, &shop, &checks, Some(GuardLevel::Strict), Millis(5)).unwrap();
        let link = folder.path().join("link");
        symlink(&shop, &link).unwrap();
        let trust = Trust::for_project(&home, &link).unwrap();
        assert!(trust.covers(&checks) && trust.guard == Some(GuardLevel::Strict));
        assert_eq!(trust.since, Some(Millis(5)));
        assert!(!trust.covers(&[sample("test", "make tests")]) && !trust.covers(&[]));
        assert_eq!(Trust::for_project(&home, &wiki), None);
        let mode = fs::metadata(trust_file(&home)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(Trust::revoke(&home, &shop).unwrap() && !Trust::revoke(&home, &shop).unwrap());
        assert_eq!(Trust::for_project(&home, &shop), None);
    }

    #[test]
    fn fields_of_other_versions_survive() {
        let (_folder, home, shop, wiki) = folders();
        Trust::grant(&home, &wiki, &[sample("a", "a")], None, Millis(0)).unwrap();
        Trust::grant(&home, &shop, &[sample("a", "a")], None, Millis(0)).unwrap();
        let mut document = object::read(&trust_file(&home));
        document.insert("later".into(), json!([1]));
        let key = project_key(&shop).unwrap();
        document["projects"][&key]["more"] = json!(true);
        files::write_atomic(&trust_file(&home), Value::Object(document).to_string().as_bytes(), PRIVATE)
            .unwrap();
        Trust::grant(&home, &shop, &[sample("b", "b")], None, Millis(0)).unwrap();
        Trust::revoke(&home, &wiki).unwrap();
        let document = object::read(&trust_file(&home));
        assert_eq!((&document["later"], &document["projects"][&key]["more"]), (&json!([1]), &json!(true)));
    }

    #[test]
    fn a_record_that_cannot_be_read_allows_nothing() {
        let (_folder, home, shop, _) = folders();
        home.create().unwrap();
        let key = project_key(&shop).unwrap();
        for broken in
            ["[]".to_owned(), "x".to_owned(), json!({ "projects": { key: { "checks": 7 } } }).to_string()]
        {
            files::write_atomic(&trust_file(&home), broken.as_bytes(), PRIVATE).unwrap();
            assert_eq!(Trust::for_project(&home, &shop), None, "{broken}");
        }
        Trust::grant(&home, &shop, &[sample("a", "a")], None, Millis(0)).unwrap();
        assert!(Trust::for_project(&home, &shop).is_some());
    }
}
