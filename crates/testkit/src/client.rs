//! The real Claude Code clients that scenarios run against.

use std::env;
use std::path::{Path, PathBuf};

const PINNED: &str = include_str!("../clients.txt");

/// The folder that holds `<version>/node_modules/…`.
const FOLDER_VARIABLE: &str = "OVERTONE_E2E_CLIENTS";

/// Versions to use instead of the pinned ones, separated by commas.
const VERSIONS_VARIABLE: &str = "OVERTONE_E2E_VERSIONS";

/// The oldest client that was seen to have auto mode.
const AUTO_MODE_SINCE: [u32; 3] = [2, 1, 325];

/// One version of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Client {
    version: String,
    program: PathBuf,
}

impl Client {
    /// Every client to test against, oldest first. Panics when one is not installed: a scenario that did not
    /// run must not look like one that passed.
    pub fn all() -> Vec<Self> {
        let chosen = env::var(VERSIONS_VARIABLE).unwrap_or_default();
        let folder = folder();
        versions(&chosen).map(|version| Self::in_folder(&folder, version)).collect()
    }

    pub fn version(&self) -> &str {
        &self.version
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The permission modes of this client. Where there is one named `auto`, terminals start in it by default.
    pub fn permission_modes(&self) -> &'static [&'static str] {
        const MODES: [&str; 5] = ["auto", "default", "acceptEdits", "plan", "bypassPermissions"];
        if self.has_auto_mode() { &MODES } else { &MODES[1..] }
    }

    /// Whether it has auto mode, as 2.1.325 does and 2.1.197 does not. Such a client also runs the sub-agents of a
    /// terminal session in the background, in every mode.
    pub fn has_auto_mode(&self) -> bool {
        let parts = self.version.split('.').map(|part| part.parse::<u32>().unwrap_or_default());
        parts.collect::<Vec<_>>() >= AUTO_MODE_SINCE.to_vec()
    }

    /// A client that is never started.
    #[cfg(test)]
    pub(crate) fn for_tests() -> Self {
        Self { version: "0.0.0".to_owned(), program: "/bin/true".into() }
    }

    fn in_folder(folder: &Path, version: &str) -> Self {
        let program = folder.join(version).join("node_modules/@anthropic-ai").join(package()).join("claude");
        assert!(
            program.is_file(),
            "Claude Code {version} is not installed: {}\nhint: run `cargo xtask e2e`, which fetches it",
            program.display()
        );
        Self { version: version.to_owned(), program }
    }
}

/// The chosen versions, else the pinned ones.
fn versions(chosen: &str) -> impl Iterator<Item = &str> {
    let listed = if chosen.is_empty() { PINNED } else { chosen };
    let lines = listed.lines().filter(|line| !line.starts_with('#'));
    lines.flat_map(|line| line.split(',')).map(str::trim).filter(|version| !version.is_empty())
}

fn folder() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if let Some(folder) = env::var_os(FOLDER_VARIABLE) {
        return folder.into();
    }
    let target = env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    workspace.join(target).join("clients")
}

/// npm's name for the package with the program of this machine.
fn package() -> String {
    let architecture = match env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => panic!("Claude Code has no package for this machine: {other}"),
    };
    format!("claude-code-linux-{architecture}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pinned_versions_are_read_without_comments() {
        let pinned: Vec<_> = versions("").collect();
        assert!(pinned.len() >= 2, "{pinned:?}");
        assert!(pinned.iter().all(|v| v.split('.').all(|part| part.parse::<u32>().is_ok())), "{pinned:?}");
        assert_eq!(versions("1.2.3, 4.5.6").collect::<Vec<_>>(), ["1.2.3", "4.5.6"]);
    }

    #[test]
    #[should_panic(expected = "hint: run `cargo xtask e2e`")]
    fn an_absent_client_names_the_command_that_fetches_it() {
        let empty = tempfile::tempdir().unwrap();
        Client::in_folder(empty.path(), "1.2.3");
    }
}
