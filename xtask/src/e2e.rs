//! `cargo xtask e2e`: the real Claude Code clients, with our plugin, against a scripted API.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Error, Result};
use crate::tools::Missing;
use crate::{shell, tools};

/// The versions to test against; the test kit reads the same file.
const PINNED: &str = include_str!("../../crates/testkit/clients.txt");

const PACKAGE: &str = "@anthropic-ai/claude-code";

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Use this version instead of the pinned ones; may be repeated
    #[arg(long = "client", value_name = "VERSION")]
    clients: Vec<String>,
    /// Parts of test names, and options of the test runner such as --nocapture
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    filters: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let environment = prepare(&options.clients)?;
    let mut tests = shell::cargo();
    tests.arg("test").args(shell::TEST_PACKAGES).args(["--test", "e2e", "--"]).args(&options.filters);
    shell::run(tests.envs(environment))
}

/// Fetches the clients and builds the development programs. Returns the variables that the tests find them by.
pub(crate) fn prepare(clients: &[String]) -> Result<Vec<(&'static str, OsString)>> {
    let (versions, folder) = (versions(clients)?, folder()?);
    for version in &versions {
        fetch(&folder.join(version), version)?;
    }
    // The dev build: the tests ask what it does, not how fast, and it is there in a fraction of the time.
    Ok(vec![
        ("OVERTONE_BIN", shell::dev_binary()?.into()),
        ("OVERTONE_E2E_CLIENTS", folder.into()),
        ("OVERTONE_E2E_VERSIONS", versions.join(",").into()),
    ])
}

/// The newest pinned version, with which everything runs that needs only one.
pub(crate) fn newest_client() -> Result<String> {
    versions(&[])?.pop().ok_or_else(|| Error::new("clients.txt names no version"))
}

/// Fetches the pinned versions, unless they are there.
pub(crate) fn fetch_clients() -> Result<()> {
    let folder = folder()?;
    for version in versions(&[])? {
        fetch(&folder.join(&version), &version)?;
    }
    Ok(())
}

/// The pinned versions that are not there.
pub(crate) fn missing_clients() -> Result<Vec<Missing>> {
    let folder = folder()?;
    let mut missing = Vec::new();
    for version in versions(&[])? {
        let folder = folder.join(&version);
        if !program(&folder)?.is_file() {
            missing.push(Missing {
                what: format!("Claude Code {version}"),
                why: "the end-to-end tests use the real client",
                command: format!(
                    "npm install --no-save --ignore-scripts --prefix {} {PACKAGE}@{version}",
                    folder.display()
                ),
            });
        }
    }
    Ok(missing)
}

fn folder() -> Result<PathBuf> {
    Ok(shell::target_dir()?.join("clients"))
}

/// The chosen versions, else the pinned ones. Each becomes the name of a folder and of a package.
fn versions(chosen: &[String]) -> Result<Vec<String>> {
    let pinned =
        || PINNED.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned);
    let versions = if chosen.is_empty() { pinned().collect() } else { chosen.to_vec() };
    match versions.iter().find(|version| !is_version(version)) {
        Some(wrong) => Err(Error::new(format!("not a version of Claude Code: {wrong}"))
            .hint("name one exactly, such as --client 2.1.325")),
        None => Ok(versions),
    }
}

/// Three numbers: a range or a tag would make the same test run against another client tomorrow.
fn is_version(text: &str) -> bool {
    text.split('.').count() == 3 && text.split('.').all(|part| part.parse::<u32>().is_ok())
}

/// Installs one client unless it is there. Its install script is not needed and not run.
fn fetch(folder: &Path, version: &str) -> Result<()> {
    if program(folder)?.is_file() {
        return Ok(());
    }
    tools::may_install(&format!("Claude Code {version}"))?;
    tools::require("npm")?;
    eprintln!("e2e: fetching Claude Code {version} (once, some 300 MB on disk)");
    npm_install(folder, &format!("{PACKAGE}@{version}"))?;
    let program = program(folder)?;
    if program.is_file() {
        return Ok(());
    }
    Err(Error::new(format!("npm did not install the client: {}", program.display()))
        .hint("its package is an optional dependency: look at `npm config get omit`"))
}

/// Installs a package into a folder. Its install scripts are not run. npm's words go to stderr: stdout belongs to the tests.
pub(crate) fn npm_install(folder: &Path, package: &str) -> Result<()> {
    fs::create_dir_all(folder).map_err(|e| Error::io("cannot create folder", folder, &e))?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]);
    npm.arg("--prefix").arg(folder).arg(package);
    shell::run(npm.stdin(Stdio::null()).stdout(std::io::stderr()))
        .map_err(|e| e.hint("is the network there, and does this version exist?"))
}

/// Where npm puts the program of this machine.
fn program(folder: &Path) -> Result<PathBuf> {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => return Err(Error::new(format!("Claude Code has no package for this machine: {other}"))),
    };
    let package = format!("{PACKAGE}-linux-{architecture}");
    Ok(folder.join("node_modules").join(package).join("claude"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_versions_are_taken() {
        assert_eq!(versions(&["2.1.325".into()]).unwrap(), ["2.1.325"]);
        assert!(versions(&[]).unwrap().len() >= 2);
        for wrong in ["latest", "^2.1.0", "../x", "2.1", "2.1.3.4", ""] {
            let error = versions(&[wrong.into()]).unwrap_err();
            assert!(error.to_string().starts_with("not a version of Claude Code"), "{error}");
        }
    }

    #[test]
    fn a_client_that_is_there_is_not_fetched_again() {
        let folder = tempfile::tempdir().unwrap();
        shell::write_file(&program(folder.path()).unwrap(), b"").unwrap();
        fetch(folder.path(), "0.0.0").unwrap();
    }
}
