//! Registering with the client through its own commands, and undoing it, without disturbing the user's settings.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use overtone_plugin::MARKETPLACE_NAME;
use overtone_registry::PLUGIN_NAME;
use overtone_settings::{Document, SettingsError, SettingsFile};
use overtone_store::Home;
use serde_json::{Value, json};

use crate::client::{Client, ClientError};
use crate::files::read_file;
use crate::record::{Record, remove_if_there};

/// Where the client keeps the user's settings.
#[derive(Debug, Clone)]
pub struct Place {
    folder: PathBuf,
}

impl Place {
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
    /// The user has one of their own; it was left alone.
    Theirs,
}

/// How far the registration came.
#[derive(Debug)]
pub struct Registered {
    pub status_line: StatusLine,
    /// Why the client does not have the plugin, if it does not.
    pub refused: Option<ClientError>,
}

/// Why the user's settings could not be used.
#[derive(Debug)]
pub enum RegisterError {
    Settings(SettingsError),
    Io(PathBuf, io::Error),
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(error) => error.fmt(f),
            Self::Io(path, error) => write!(f, "cannot use {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for RegisterError {}

impl From<SettingsError> for RegisterError {
    fn from(error: SettingsError) -> Self {
        Self::Settings(error)
    }
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
    place: &Place,
    client: &Client,
    plugin: &Path,
    binary: &Path,
) -> Result<Registered, RegisterError> {
    let file = SettingsFile::at(place.settings());
    let existed = is_there(&place.settings())?;
    // A file that we cannot read is told before anything is changed.
    let before = file.read()?.to_text();
    remember(home, &file, existed)?;
    let refused = install(client, plugin).err();
    let id = plugin_id();
    let (_, status_line) = file.edit(|settings| -> Result<_, RegisterError> {
        let added = own_keys(&id).map(|key| (key, settings.get(&key)));
        if existed {
            // The client has rewritten all of it; only our keys are new.
            *settings = Document::parse(file.path(), &before)?;
        }
        for (key, value) in added {
            value.map_or(Ok(()), |value| settings.set(&key, value))?;
        }
        Ok(set_status_line(settings, binary)?)
    })?;
    Ok(Registered { status_line, refused })
}

/// One that cannot be looked at is not taken for missing: it would not be kept.
fn is_there(path: &Path) -> Result<bool, RegisterError> {
    path.try_exists().map_err(|error| RegisterError::Io(path.to_owned(), error))
}

/// Keeps the user's file as it was before the first time, and notes what is edited.
fn remember(home: &Home, file: &SettingsFile, existed: bool) -> Result<(), RegisterError> {
    let mut record = Record::load(home);
    if record.settings.as_deref() == Some(file.path()) {
        return Ok(());
    }
    if existed {
        file.backup_once(&Record::backup(home))?;
    }
    record.settings = Some(file.path().to_owned());
    record.settings_existed = existed;
    record.save(home).map_err(|error| RegisterError::Io(home.root().to_owned(), error))
}

/// Lets the client install the plugin, and again if its copy is an old one.
fn install(client: &Client, plugin: &Path) -> Result<(), ClientError> {
    let id = plugin_id();
    client.plugin(&["marketplace", "add", &plugin.to_string_lossy()])?;
    let plugins = client.plugins()?;
    let installed = plugins.iter().find(|entry| entry["id"] == json!(id));
    if installed.is_some_and(|entry| !is_current(entry, plugin)) {
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
    let rendered = overtone_plugin::render();
    same("bin/overtone") && rendered.iter().all(|file| same(&file.path))
}

fn set_status_line(settings: &mut Document, binary: &Path) -> Result<StatusLine, SettingsError> {
    match settings.get(&["statusLine"]) {
        Some(present) if is_our_status_line(&present, binary) => Ok(StatusLine::AlreadyOurs),
        Some(_) => Ok(StatusLine::Theirs),
        None => {
            settings.set(&["statusLine"], status_line(binary))?;
            Ok(StatusLine::Set)
        }
    }
}

/// Drawn anew every few seconds: the times of working agents go on between messages.
fn status_line(binary: &Path) -> Value {
    json!({"type": "command", "command": status_command(binary), "refreshInterval": 5})
}

fn status_command(binary: &Path) -> String {
    format!("'{}' statusline", binary.to_string_lossy().replace('\'', r"'\''"))
}

fn is_our_status_line(value: &Value, binary: &Path) -> bool {
    value["command"] == json!(status_command(binary))
}

/// Takes the plugin and the status line away again and leaves the user's file as it was. Works without a client,
/// too; then the client's own lists keep an entry that it drops by itself.
pub fn unregister(
    home: &Home,
    place: &Place,
    client: Option<&Client>,
    binary: &Path,
) -> Result<(), RegisterError> {
    let file = SettingsFile::at(place.settings());
    let before = file.read()?.to_text();
    let id = plugin_id();
    if let Some(client) = client {
        // Whether it was installed or not, it is not afterwards.
        let _ = client.plugin(&["uninstall", &id]);
        let _ = client.plugin(&["marketplace", "remove", MARKETPLACE_NAME]);
    }
    file.edit(|settings| -> Result<_, RegisterError> {
        *settings = Document::parse(file.path(), &before)?;
        for key in own_keys(&id) {
            settings.remove_pruning(&key)?;
        }
        if settings.get(&["statusLine"]).is_some_and(|line| is_our_status_line(&line, binary)) {
            settings.remove(&["statusLine"])?;
        }
        Ok(())
    })?;
    restore(home, place, &file)?;
    match fs::remove_dir_all(place.cache()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(RegisterError::Io(place.cache(), error)),
        _ => Ok(()),
    }
}

/// A file that says the same as before the first installation becomes the same, byte for byte.
fn restore(home: &Home, place: &Place, file: &SettingsFile) -> Result<(), RegisterError> {
    let backup = Record::backup(home);
    let io = |path: &Path, error| RegisterError::Io(path.to_owned(), error);
    if !Record::load(home).settings_existed {
        if file.read()?.is_empty() {
            remove_if_there(&place.settings()).map_err(|error| io(&place.settings(), error))?;
        }
    } else if is_there(&backup)? {
        let original = SettingsFile::at(&backup).read()?;
        file.edit(|settings| -> Result<_, RegisterError> {
            if settings.get(&[]) == original.get(&[]) {
                *settings = Document::parse(file.path(), &original.to_text())?;
            }
            Ok(())
        })?;
    }
    remove_if_there(&backup).map_err(|error| io(&backup, error))?;
    Record::remove(home).map_err(|error| io(home.root(), error))
}
