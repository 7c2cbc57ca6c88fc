//! Installs the plugin and the program in the home folder.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use overtone_core::registry::{Economy, HOOK_PROGRAM, PLUGIN_NAME, PROGRAM};
use overtone_store::{Home, files, object};

/// Executable for every user who has access to the folder.
const EXECUTABLE: u32 = 0o755;

/// Larger files are not programs of ours.
const MAX_FILE: u64 = 1024 * 1024 * 1024;

/// Whether a file has exactly this content. False for anything that is not a regular file, such as a pipe.
pub(crate) fn has_content(path: &Path, content: &[u8]) -> bool {
    matches!(read_file(path), Some(present) if present == content)
}

pub(crate) fn read_file(path: &Path) -> Option<Vec<u8>> {
    files::read_limited(path, MAX_FILE).ok().flatten()
}

/// The installed files.
#[derive(Debug)]
pub struct Installed {
    pub plugin: PathBuf,
    pub binary: PathBuf,
    /// The program that the client starts.
    pub hook_binary: PathBuf,
    pub hook_kind: HookKind,
    /// Whether a program was missing or of another build.
    pub changed: bool,
}

/// Which program answers the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookKind {
    /// The small hook program.
    Small,
    /// A copy of the whole program, which answers the same calls: no hook program of the same build was found beside it.
    Whole,
}

/// The paths of the plugin and of the programs inside it.
#[derive(Debug)]
pub struct Locations {
    pub plugin: PathBuf,
    pub binary: PathBuf,
    pub hook_binary: PathBuf,
}

impl Locations {
    pub fn new(home: &Home) -> Self {
        let plugin = home.root().join("plugin");
        let bin = plugin.join("bin");
        Self { plugin, binary: bin.join(PROGRAM), hook_binary: bin.join(HOOK_PROGRAM) }
    }
}

/// Writes the plugin's files, a copy of the running program and the hook program. `hook_version` is what a hook program of the same
/// build prints for `--version`. An error comes with the path it is about.
pub fn install_files(
    home: &Home,
    hook_version: &str,
    economy: Economy,
) -> Result<Installed, (PathBuf, io::Error)> {
    let Locations { plugin, binary, hook_binary } = Locations::new(home);
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| (path, error)
    };
    // Without the lock, two processes could write to the same temporary file.
    let _lock = home.lock().map_err(at(home.root()))?;
    // The folder has no mark if an earlier version created it.
    home.mark().map_err(at(home.root()))?;
    crate::plugin::write_for(&plugin, economy).map_err(at(&plugin))?;
    let program = own_program().map_err(at(Path::new("overtone")))?;
    let (hook, hook_kind) = match hook_program(hook_version) {
        Some(hook) => (hook, HookKind::Small),
        None => (program.clone(), HookKind::Whole),
    };
    let hook_changed = replace_program(&hook_binary, &hook).map_err(at(&hook_binary))?;
    let changed = replace_program(&binary, &program).map_err(at(&binary))? || hook_changed;
    Ok(Installed { plugin, binary, hook_binary, hook_kind, changed })
}

/// Writes the files of an installed plugin again, for another economy. Its programs stay as they are. Returns false if no
/// plugin is installed.
pub fn rewrite_plugin(home: &Home, economy: Economy) -> Result<bool, (PathBuf, io::Error)> {
    let Locations { plugin, .. } = Locations::new(home);
    if !is_own_plugin(&plugin) {
        return Ok(false);
    }
    let _lock = home.lock().map_err(|error| (home.root().to_owned(), error))?;
    crate::plugin::write_for(&plugin, economy).map_err(|error| (plugin.clone(), error))?;
    Ok(true)
}

/// Whether the folder contains Overtone's plugin. Another folder with the same name must not be deleted.
pub fn is_own_plugin(dir: &Path) -> bool {
    let Ok(metadata) = dir.symlink_metadata() else { return false };
    if !metadata.is_dir() {
        return false;
    }
    let manifest = object::read(&dir.join(".claude-plugin/plugin.json"));
    let has_name = matches!(manifest.get("name"), Some(name) if name == PLUGIN_NAME);
    has_name || dir.join("bin/overtone").symlink_metadata().is_ok()
}

/// The running program, even if its file was replaced after the start.
fn own_program() -> io::Result<Vec<u8>> {
    fs::read("/proc/self/exe").or_else(|_| env::current_exe().and_then(fs::read))
}

/// The hook program beside this one, if it is of the same build.
fn hook_program(version: &str) -> Option<Vec<u8>> {
    let path = env::current_exe().ok()?.with_file_name(HOOK_PROGRAM);
    if program_version(&path)? != version {
        return None;
    }
    read_file(&path)
}

/// What a program prints for `--version`; `None` when it cannot be started.
pub(crate) fn program_version(path: &Path) -> Option<String> {
    let output =
        Command::new(path).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

/// Replaces the program atomically, so that a hook that starts meanwhile runs the old or the new one. Returns false if it
/// is up to date already.
fn replace_program(binary: &Path, program: &[u8]) -> io::Result<bool> {
    if is_executable(binary) && has_content(binary, program) {
        return Ok(false);
    }
    if let Some(folder) = binary.parent() {
        fs::create_dir_all(folder)?;
    }
    files::write_atomic(binary, program, EXECUTABLE)?;
    Ok(true)
}

pub(crate) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let Ok(metadata) = path.symlink_metadata() else { return false };
    metadata.is_file() && metadata.permissions().mode() & 0o100 != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_replaced_only_when_it_differs() {
        let dir = tempfile::tempdir().unwrap();
        let binary = dir.path().join("bin/overtone");
        assert!(replace_program(&binary, b"one").unwrap());
        assert!(!replace_program(&binary, b"one").unwrap());
        assert!(replace_program(&binary, b"two").unwrap());
        assert!(is_executable(&binary));
        assert_eq!(fs::read_dir(dir.path().join("bin")).unwrap().count(), 1);
    }
}
