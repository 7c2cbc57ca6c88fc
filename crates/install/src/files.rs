//! The plugin and the program in the home folder.

use std::io;
use std::path::{Path, PathBuf};
use std::{env, fs};

use overtone_registry::PLUGIN_NAME;
use overtone_store::{Home, files};
use serde_json::Value;

/// Executable for everyone who may enter the folder.
const EXECUTABLE: u32 = 0o755;

/// Far more than this program will ever be.
const MAX_FILE: u64 = 1024 * 1024 * 1024;

/// Whether a file has exactly this content. Something else in its place has not, and does not hang.
pub(crate) fn has_content(path: &Path, content: &[u8]) -> bool {
    matches!(read_file(path), Some(present) if present == content)
}

pub(crate) fn read_file(path: &Path) -> Option<Vec<u8>> {
    files::read_limited(path, MAX_FILE).ok().flatten()
}

/// What is in place now.
#[derive(Debug)]
pub struct Installed {
    pub plugin: PathBuf,
    pub binary: PathBuf,
    /// The program there was missing or another version.
    pub changed: bool,
}

/// Where the plugin goes, and the program inside of it.
pub(crate) fn locations(home: &Home) -> (PathBuf, PathBuf) {
    let plugin = home.root().join("plugin");
    let binary = plugin.join("bin").join("overtone");
    (plugin, binary)
}

/// Writes the plugin's files and this very program. An error names the path.
pub fn install_files(home: &Home) -> Result<Installed, (PathBuf, io::Error)> {
    let (plugin, binary) = locations(home);
    let at = |path: &Path| {
        let path = path.to_owned();
        move |error| (path, error)
    };
    // Two at once would write into the same temporary file.
    let _lock = home.lock().map_err(at(home.root()))?;
    // A folder that an earlier version made has no mark yet.
    home.mark().map_err(at(home.root()))?;
    overtone_plugin::write_to(&plugin).map_err(at(&plugin))?;
    let program = own_program().map_err(at(Path::new("overtone")))?;
    let changed = place(&binary, &program).map_err(at(&binary))?;
    Ok(Installed { plugin, binary, changed })
}

/// Whether the folder holds our plugin: something else of that name is not ours to delete.
pub fn is_own_plugin(dir: &Path) -> bool {
    let is_folder = dir.symlink_metadata().is_ok_and(|about| about.is_dir());
    let manifest =
        files::read_small(&dir.join(".claude-plugin/plugin.json")).ok().flatten().unwrap_or_default();
    let manifest: Value = serde_json::from_str(&manifest).unwrap_or_default();
    is_folder && (manifest["name"] == PLUGIN_NAME || dir.join("bin/overtone").symlink_metadata().is_ok())
}

/// This very program, even if its file has been replaced since it was started.
fn own_program() -> io::Result<Vec<u8>> {
    fs::read("/proc/self/exe").or_else(|_| env::current_exe().and_then(fs::read))
}

/// Exchanges the program in one step: a hook that starts meanwhile runs the old or the new one. False when it is
/// the same already.
fn place(binary: &Path, program: &[u8]) -> io::Result<bool> {
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
    path.symlink_metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o100 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_replaced_only_when_it_differs() {
        let dir = tempfile::tempdir().unwrap();
        let binary = dir.path().join("bin/overtone");
        assert!(place(&binary, b"one").unwrap());
        assert!(!place(&binary, b"one").unwrap());
        assert!(place(&binary, b"two").unwrap());
        assert!(is_executable(&binary));
        assert_eq!(fs::read_dir(dir.path().join("bin")).unwrap().count(), 1);
    }
}
