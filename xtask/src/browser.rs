//! `cargo xtask browser`: the dashboard's page in a real Chromium, against real servers.
//!
//! The tests are JavaScript (tests/browser), because that is what drives a browser. Nothing of it ships.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Error, Result};
use crate::tools::Missing;
use crate::{shell, tools};

const BROWSER: &str = "chromium";
const SUITE: &str = "tests/browser";
/// The lock file that the packages below the target folder were installed from.
const INSTALLED: &str = "installed.json";
const MANIFESTS: [&str; 2] = ["package.json", "package-lock.json"];

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Only tests whose name matches this regular expression
    filter: Option<String>,
    /// Draw the pictures of the documentation instead: docs/dashboard-*.png
    #[arg(long, conflicts_with = "filter")]
    shots: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    for program in ["node", BROWSER, "nats-server"] {
        tools::require(program)?;
    }
    let packages = packages()?;
    let binary = shell::dev_binary()?;
    let mut node = if options.shots { shots() } else { tests(options.filter.as_deref())? };
    node.env("OVERTONE_BIN", binary).env("OVERTONE_BROWSER_PACKAGES", packages).env("PATH", tools::path()?);
    shell::run(&mut node)
}

/// Every test, as CI runs them.
pub(crate) fn run_all() -> Result<()> {
    run(&Options { filter: None, shots: false })
}

fn node() -> Command {
    let mut node = Command::new("node");
    node.current_dir(shell::root()).stdin(Stdio::null());
    node
}

fn shots() -> Command {
    let mut node = node();
    node.arg(format!("{SUITE}/shots.mjs")).arg("docs");
    node
}

fn tests(filter: Option<&str>) -> Result<Command> {
    let mut node = node();
    // Two files at a time: each has a browser and servers of its own to keep busy, but also waits for them.
    node.args(["--test", "--test-concurrency=2", "--test-reporter=spec"]);
    node.args(filter.map(|filter| format!("--test-name-pattern={filter}")));
    node.args(suite(&shell::root().join(SUITE))?);
    Ok(node)
}

/// The files with tests, by name.
fn suite(folder: &Path) -> Result<Vec<PathBuf>> {
    let unreadable = |e: std::io::Error| Error::io("cannot read folder", folder, &e);
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let mut files: Vec<_> = entries.map_err(unreadable)?.iter().map(fs::DirEntry::path).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".test.mjs"));
    files.sort();
    Ok(files)
}

/// The folder with the npm packages. They are installed when the lock file is not the one they were installed from.
pub(crate) fn packages() -> Result<PathBuf> {
    let folder = folder()?;
    if are_installed(&folder)? {
        return Ok(folder);
    }
    tools::may_install("Playwright")?;
    tools::require("npm")?;
    for name in MANIFESTS {
        shell::write_file(&folder.join(name), &read(&shell::root().join(SUITE).join(name))?)?;
    }
    install(&folder)?;
    // Written last: an installation that broke off is not taken for a whole one.
    shell::write_file(&folder.join(INSTALLED), &lock_file()?)?;
    Ok(folder)
}

/// The npm packages, if they are not installed.
pub(crate) fn missing_packages() -> Result<Vec<Missing>> {
    if are_installed(&folder()?)? {
        return Ok(Vec::new());
    }
    Ok(vec![Missing {
        what: "Playwright and axe".to_owned(),
        why: "the browser tests; npm packages below the target folder",
        command: "cargo xtask browser".to_owned(),
    }])
}

fn folder() -> Result<PathBuf> {
    Ok(shell::target_dir()?.join("browser"))
}

fn are_installed(folder: &Path) -> Result<bool> {
    let expected = lock_file()?;
    Ok(fs::read(folder.join(INSTALLED)).is_ok_and(|lock| lock == expected))
}

/// The lock file to install from.
fn lock_file() -> Result<Vec<u8>> {
    read(&shell::root().join(SUITE).join("package-lock.json"))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|e| Error::io("cannot read", path, &e))
}

/// npm's words go to stderr: stdout belongs to the tests.
fn install(folder: &Path) -> Result<()> {
    eprintln!("browser: fetching the npm packages of {SUITE} (once)");
    let mut npm = Command::new("npm");
    npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "--prefix"])
        .arg(folder);
    shell::run(npm.stdin(Stdio::null()).stdout(std::io::stderr()))
        .map_err(|e| e.hint("it needs Node.js 20 or later with npm, and the network"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_suite_is_the_files_with_tests_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["b.test.mjs", "a.test.mjs", "world.mjs", "package.json"] {
            shell::write_file(&folder.path().join(name), b"").unwrap();
        }
        let found = suite(folder.path()).unwrap();
        assert_eq!(found, ["a.test.mjs", "b.test.mjs"].map(|name| folder.path().join(name)));
    }

    #[test]
    fn the_lock_file_names_exact_versions_and_no_host() {
        let lock = read(&shell::root().join(SUITE).join("package-lock.json")).unwrap();
        let lock = String::from_utf8(lock).unwrap();
        assert!(!lock.contains("resolved") && !lock.contains("://"), "strip the addresses: {lock}");
        assert!(lock.contains("integrity") && !lock.contains(['^', '~']), "{lock}");
    }
}
