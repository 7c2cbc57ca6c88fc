//! Registers the plugin through the client's own commands, and undoes it, while preserving the user's settings.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::plugin::MARKETPLACE_NAME;
use jsonc_edit::{Document, SettingsError, SettingsFile};
use overtone_core::registry::PLUGIN_NAME;
use overtone_store::Home;
use serde::Serialize;
use serde_json::{Value, json};

use crate::install::client::{Client, ClientError};
use crate::install::files::{Locations, read_file};
use crate::install::record::{InstallRecord, remove_if_exists};

/// The folder in which the client keeps the user's settings.
#[derive(Debug, Clone)]
pub struct ClientFolder {
    folder: PathBuf,
}

impl ClientFolder {
    /// `CLAUDE_CONFIG_DIR`, else `~/.claude`.
    pub fn new(config_dir: Option<PathBuf>, home: &Path) -> Self {
        let folder = config_dir.filter(|dir| dir.is_absolute()).unwrap_or_else(|| home.join(".claude"));
        Self { folder }
    }

    pub fn settings(&self) -> PathBuf {
        self.folder.join("settings.json")
    }

    /// The user's own slash commands.
    pub(crate) fn commands(&self) -> PathBuf {
        self.folder.join("commands")
    }

    /// The client's copies of our plugin, which it leaves behind.
    fn cache(&self) -> PathBuf {
        self.folder.join("plugins/cache").join(MARKETPLACE_NAME)
    }
}

/// What happened to the status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusLine {
    Set,
    AlreadyOurs,
    /// The user has another status line, which was left unchanged.
    Theirs,
}

/// The status line is refreshed every few seconds, so that the times of working agents advance between messages.
const STATUS_REFRESH_SECONDS: u32 = 5;

/// The `statusLine` object in the client's settings.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusLineSetting<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    command: &'a str,
    refresh_interval: u32,
}

/// The outcome of the registration.
#[derive(Debug)]
pub struct Registered {
    pub status_line: StatusLine,
    /// Why the client does not have the plugin, if it does not.
    pub refused: Option<ClientError>,
}

/// Why the user's settings could not be used.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    #[error(transparent)]
    Settings(#[from] SettingsError),
    #[error("cannot use {path}: {error}", path = .0.display(), error = .1)]
    Io(PathBuf, #[source] io::Error),
}

impl RegisterError {
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Settings(error) => error.hint(),
            Self::Io(..) => None,
        }
    }
}

fn plugin_id() -> String {
    format!("{PLUGIN_NAME}@{MARKETPLACE_NAME}")
}

/// The keys that the client adds to the user's settings for us.
fn own_keys(id: &str) -> [[&str; 2]; 2] {
    [["enabledPlugins", id], ["extraKnownMarketplaces", MARKETPLACE_NAME]]
}

/// Registers the plugin folder and sets the status line if there is none. Running it again repairs.
pub fn register(
    home: &Home,
    client_folder: &ClientFolder,
    client: &Client,
    locations: &Locations,
) -> Result<Registered, RegisterError> {
    let file = SettingsFile::at(client_folder.settings());
    let existed = exists(&client_folder.settings())?;
    // An unreadable file is reported before anything is changed.
    let before = file.read()?.to_text();
    record_settings(home, &file, existed)?;
    let refused = install(client, &locations.plugin).err();
    let id = plugin_id();
    let (_, status_line) = file.edit(|settings| -> Result<_, RegisterError> {
        let added = own_keys(&id).map(|key| (key, settings.get(&key)));
        if existed {
            // The client has rewritten the whole file. Only the keys of the plugin are taken over.
            *settings = Document::parse(file.path(), &before)?;
        }
        for (key, value) in added {
            if let Some(value) = value {
                settings.set(&key, value)?;
            }
        }
        Ok(set_status_line(settings, locations)?)
    })?;
    Ok(Registered { status_line, refused })
}

/// Fails if it is unknown whether the file exists: a file that counts as missing would not be backed up.
fn exists(path: &Path) -> Result<bool, RegisterError> {
    path.try_exists().map_err(|error| RegisterError::Io(path.to_owned(), error))
}

/// Records which settings file is edited, and keeps a copy of it as it was before the first installation.
fn record_settings(home: &Home, file: &SettingsFile, existed: bool) -> Result<(), RegisterError> {
    let mut record = InstallRecord::load(home);
    if record.settings.as_deref() == Some(file.path()) {
        return Ok(());
    }
    if existed {
        file.backup_once(&InstallRecord::backup(home))?;
    }
    record.settings = Some(file.path().to_owned());
    record.settings_existed = existed;
    record.save(home).map_err(|error| RegisterError::Io(home.root().to_owned(), error))
}

/// Lets the client install the plugin, again if its copy is outdated.
fn install(client: &Client, plugin: &Path) -> Result<(), ClientError> {
    let id = plugin_id();
    client.plugin(&["marketplace", "add", &plugin.to_string_lossy()])?;
    let plugins = client.plugins()?;
    if let Some(installed) = plugins.iter().find(|entry| entry["id"] == id)
        && !is_current(installed, plugin)
    {
        client.plugin(&["uninstall", &id])?;
    }
    client.plugin(&["install", &id]).map(|_| ())
}

/// Newer clients read the folder itself; older ones a copy of it.
fn is_current(entry: &Value, plugin: &Path) -> bool {
    if entry["readFromFolder"] == json!(plugin) {
        return true;
    }
    let copy = PathBuf::from(entry["installPath"].as_str().unwrap_or_default());
    let same = |name: &str| matches!((read_file(&plugin.join(name)), read_file(&copy.join(name))), (Some(a), Some(b)) if a == b);
    let rendered = crate::plugin::render();
    same("bin/overtone") && same("bin/overtone-hook") && rendered.iter().all(|file| same(&file.path))
}

fn set_status_line(settings: &mut Document, locations: &Locations) -> Result<StatusLine, SettingsError> {
    let current = status_command(&locations.hook_binary);
    match settings.get(&["statusLine"]) {
        Some(present) if present["command"] == current => Ok(StatusLine::AlreadyOurs),
        // An earlier version named the other program.
        Some(present) if is_our_status_line(&present, locations) => {
            settings.set(&["statusLine", "command"], current)?;
            Ok(StatusLine::AlreadyOurs)
        }
        Some(_) => Ok(StatusLine::Theirs),
        None => {
            let line = StatusLineSetting {
                kind: "command",
                command: &current,
                refresh_interval: STATUS_REFRESH_SECONDS,
            };
            settings.set(&["statusLine"], json!(line))?;
            Ok(StatusLine::Set)
        }
    }
}

fn status_command(binary: &Path) -> String {
    format!("'{}' statusline", binary.to_string_lossy().replace('\'', r"'\''"))
}

fn is_our_status_line(value: &Value, locations: &Locations) -> bool {
    [&locations.hook_binary, &locations.binary]
        .iter()
        .any(|binary| value["command"] == status_command(binary))
}

/// Removes the plugin and the status line and restores the user's file. Also works without a client: then the client's own
/// lists keep an entry that it removes by itself later.
pub fn unregister(
    home: &Home,
    client_folder: &ClientFolder,
    client: Option<&Client>,
) -> Result<(), RegisterError> {
    let locations = Locations::new(home);
    let file = SettingsFile::at(client_folder.settings());
    let before = file.read()?.to_text();
    let id = plugin_id();
    if let Some(client) = client {
        // These fail if the plugin is not installed, and then there is nothing to do.
        let _ = client.plugin(&["uninstall", &id]);
        let _ = client.plugin(&["marketplace", "remove", MARKETPLACE_NAME]);
    }
    file.edit(|settings| -> Result<_, RegisterError> {
        *settings = Document::parse(file.path(), &before)?;
        for key in own_keys(&id) {
            settings.remove_pruning(&key)?;
        }
        if let Some(line) = settings.get(&["statusLine"])
            && is_our_status_line(&line, &locations)
        {
            settings.remove(&["statusLine"])?;
        }
        Ok(())
    })?;
    restore(home, client_folder, &file)?;
    match fs::remove_dir_all(client_folder.cache()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(RegisterError::Io(client_folder.cache(), error))
        }
        _ => Ok(()),
    }
}

/// If the file has the same settings as before the first installation, its original text is restored.
fn restore(home: &Home, client_folder: &ClientFolder, file: &SettingsFile) -> Result<(), RegisterError> {
    let backup = InstallRecord::backup(home);
    let io = |path: &Path, error| RegisterError::Io(path.to_owned(), error);
    if !InstallRecord::load(home).settings_existed {
        if file.read()?.is_empty() {
            remove_if_exists(&client_folder.settings())
                .map_err(|error| io(&client_folder.settings(), error))?;
        }
    } else if exists(&backup)? {
        let original = SettingsFile::at(&backup).read()?;
        file.edit(|settings| -> Result<_, RegisterError> {
            if settings.get(&[]) == original.get(&[]) {
                *settings = Document::parse(file.path(), &original.to_text())?;
            }
            Ok(())
        })?;
    }
    remove_if_exists(&backup).map_err(|error| io(&backup, error))?;
    InstallRecord::remove(home).map_err(|error| io(home.root(), error))
}
