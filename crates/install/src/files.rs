//! The plugin and the program in the home folder.

use std::io;
use std::path::{Path, PathBuf};
use std::{env, fs};

use overtone_store::{Home, files};

/// Executable for everyone who may enter the folder.
const EXECUTABLE: u32 = 0o755;

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
    overtone_plugin::write_to(&plugin).map_err(at(&plugin))?;
    let program = own_program().map_err(at(Path::new("overtone")))?;
    let changed = place(&binary, &program).map_err(at(&binary))?;
    Ok(Installed { plugin, binary, changed })
}

/// This very program, even if its file has been replaced since it was started.
fn own_program() -> io::Result<Vec<u8>> {
    fs::read("/proc/self/exe").or_else(|_| env::current_exe().and_then(fs::read))
}

/// Exchanges the program in one step: a hook that starts meanwhile runs the old or the new one. False when it is
/// the same already.
fn place(binary: &Path, program: &[u8]) -> io::Result<bool> {
    if is_executable(binary) && fs::read(binary).is_ok_and(|present| present == program) {
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
