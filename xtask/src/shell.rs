//! Starting other programs and finding the workspace's folders. No command line is ever given to a shell.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

const POLL: Duration = Duration::from_millis(100);

/// The root of the workspace: the folder above this package.
pub(crate) fn root() -> &'static Path {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package)
}

/// Where cargo builds, as cargo itself sees it (`CARGO_TARGET_DIR`, config files, default).
pub(crate) fn target_dir() -> Result<PathBuf> {
    let json = capture(cargo().args(["metadata", "--format-version=1", "--no-deps"]))?;
    let metadata: serde_json::Value =
        serde_json::from_str(&json).map_err(|e| Error::new(format!("cannot read cargo metadata: {e}")))?;
    metadata["target_directory"]
        .as_str()
        .map(PathBuf::from)
        .ok_or_else(|| Error::new("cargo metadata names no target directory"))
}

/// The cargo that runs this program, in the workspace's root.
pub(crate) fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// The packages and features that tests are built for. Builds with the same choice share their results; any other choice
/// would compile many dependencies again, with other features.
pub(crate) const TEST_PACKAGES: [&str; 3] = ["--workspace", "--features", "overtone-testkit/e2e"];

/// Whether this process has built the development programs already.
static DEV_PROGRAMS_ARE_BUILT: AtomicBool = AtomicBool::new(false);

/// Builds the development programs and returns the path of `overtone`; the hook program is beside it. `cargo test` by itself
/// builds a program only if its own package has integration tests, which the hook program's does not.
pub(crate) fn dev_binary() -> Result<PathBuf> {
    if !DEV_PROGRAMS_ARE_BUILT.load(Ordering::Relaxed) {
        // With one of the tests, so that the programs are built with the same features as by `cargo test`.
        run(cargo().args(["build", "--bins", "--test", "e2e"]).args(TEST_PACKAGES))?;
        DEV_PROGRAMS_ARE_BUILT.store(true, Ordering::Relaxed);
    }
    Ok(target_dir()?.join("debug/overtone"))
}

/// Runs a command with its output on the terminal; anything but success is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|e| cannot_start(command, &e))?;
    succeeded(command, status)
}

/// Runs a command and returns what it printed; its stderr stays on the terminal.
pub(crate) fn capture(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output().map_err(|e| cannot_start(command, &e))?;
    succeeded(command, output.status)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether a command can be started and says yes, quietly.
pub(crate) fn probe(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Runs a command that may hang without a network, and ends it after `limit`. Returns whether it succeeded.
pub(crate) fn run_within(command: &mut Command, limit: Duration) -> Result<bool> {
    let mut child = command.spawn().map_err(|e| cannot_start(command, &e))?;
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) => thread::sleep(POLL),
            Err(cause) => return Err(cannot_start(command, &cause)),
        }
    }
    // It may have ended in this very moment; either way there is nothing left to do but reap it.
    let _ = child.kill();
    let _ = child.wait();
    Ok(false)
}

/// Creates or replaces a file and the folders above it. Not atomic: these are scratch and build results.
pub(crate) fn write_file(path: &Path, contents: &[u8]) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|e| Error::io("cannot create folder", folder, &e))?;
    }
    File::create(path)
        .and_then(|mut file| file.write_all(contents))
        .map_err(|e| Error::io("cannot write", path, &e))
}

fn succeeded(command: &Command, status: ExitStatus) -> Result<()> {
    if status.success() {
        return Ok(());
    }
    Err(Error::new(format!("`{}` failed: {status}", line_of(command))))
}

fn cannot_start(command: &Command, cause: &std::io::Error) -> Error {
    Error::new(format!("cannot run `{}`: {cause}", line_of(command)))
}

/// The command as a person would type it: the program without its folder, then the arguments.
fn line_of(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    std::iter::once(name)
        .chain(command.get_args())
        .map(|part| part.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_hangs_is_ended() {
        // It does not end by itself, so any limit will do.
        assert!(!run_within(Command::new("sleep").arg("86400"), Duration::from_millis(200)).unwrap());
        assert!(run_within(&mut Command::new("true"), Duration::from_mins(10)).unwrap());
    }

    #[test]
    fn a_failure_names_the_command() {
        let error = run(Command::new("/bin/sh").args(["-c", "exit 3"])).unwrap_err();
        assert_eq!(error.to_string(), "`sh -c exit 3` failed: exit status: 3");
    }
}
