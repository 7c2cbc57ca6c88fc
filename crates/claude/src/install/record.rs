//! Records what `up` did in `install.json` of the home folder, so that it can be undone.

use std::io;
use std::path::{Path, PathBuf};

use overtone_store::{Home, files, object};
use serde_json::{Value, json};

/// The record of an installation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstallRecord {
    /// The user's settings file that was edited.
    pub settings: Option<PathBuf>,
    /// Whether that file existed before.
    pub settings_existed: bool,
    /// The link on the search path.
    pub link: Option<PathBuf>,
}

impl InstallRecord {
    fn file(home: &Home) -> PathBuf {
        home.root().join("install.json")
    }

    /// Reads the record. If there is none, returns an empty one.
    pub fn load(home: &Home) -> Self {
        let fields = object::read(&Self::file(home));
        let path = |name: &str| fields.get(name).and_then(Value::as_str).map(PathBuf::from);
        let settings_existed = fields.get("settingsExisted").and_then(Value::as_bool).unwrap_or(true);
        Self { settings: path("settings"), settings_existed, link: path("link") }
    }

    pub fn save(&self, home: &Home) -> io::Result<()> {
        let _lock = home.lock()?;
        let value = Value::Object(object::with_fields(
            &Self::file(home),
            [
                ("settings", json!(self.settings)),
                ("settingsExisted", json!(self.settings_existed)),
                ("link", json!(self.link)),
            ],
        )?);
        files::write_atomic(&Self::file(home), format!("{value:#}\n").as_bytes(), files::PRIVATE)
    }

    pub fn remove(home: &Home) -> io::Result<()> {
        remove_if_exists(&Self::file(home))
    }

    /// The copy of the user's settings from before the first installation.
    pub fn backup(home: &Home) -> PathBuf {
        home.root().join("settings.json.before-overtone")
    }
}

pub(crate) fn remove_if_exists(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_record_is_saved_and_unknown_fields_survive() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        assert_eq!(
            InstallRecord::load(&home),
            InstallRecord { settings_existed: true, ..InstallRecord::default() }
        );
        let record =
            InstallRecord { settings: Some("/s".into()), settings_existed: false, link: Some("/l".into()) };
        record.save(&home).unwrap();
        assert_eq!(InstallRecord::load(&home), record);
        let text = std::fs::read_to_string(InstallRecord::file(&home)).unwrap();
        let text = text.replacen('{', "{\"future\":[1],", 1);
        files::write_atomic(&InstallRecord::file(&home), text.as_bytes(), files::PRIVATE).unwrap();
        InstallRecord { link: None, ..record }.save(&home).unwrap();
        let fields: Vec<_> =
            object::read(&InstallRecord::file(&home)).into_iter().map(|(name, _)| name).collect();
        assert_eq!(fields, ["future", "settings", "settingsExisted", "link"]);
        InstallRecord::remove(&home).unwrap();
        InstallRecord::remove(&home).unwrap();
    }
}
