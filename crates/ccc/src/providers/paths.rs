//! The files and folders of `ccc` and of the client.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use overtone_store::supervision::StateFolder;

use crate::providers::ProvidersError;

/// The folders of `ccc` and of the client.
#[derive(Debug, Clone)]
pub struct CccPaths {
    state: StateFolder,
    claude: PathBuf,
    global: PathBuf,
}

impl CccPaths {
    /// Resolves the folders from the environment: `CCC_CONFIG_DIR`, else `CCC_WORK_DIR`, else `~/.claude` for `ccc`;
    /// `CLAUDE_CONFIG_DIR`, else `~/.claude` for the client. Relative paths count as not set.
    pub fn resolve(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, ProvidersError> {
        let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let state =
            StateFolder::resolve(variable("CCC_CONFIG_DIR"), variable("CCC_WORK_DIR"), variable("HOME"));
        let state = state.ok_or(ProvidersError::NoHome)?;
        // The client keeps `.claude.json` next to its default folder, but inside a folder named by the variable.
        if let Some(claude) = folder("CLAUDE_CONFIG_DIR") {
            let global = claude.join(".claude.json");
            return Ok(Self { state, claude, global });
        }
        let home = folder("HOME").ok_or(ProvidersError::NoHome)?;
        Ok(Self { state, claude: home.join(".claude"), global: home.join(".claude.json") })
    }

    pub fn config_file(&self) -> PathBuf {
        self.state.base().join("ccc.json")
    }

    /// The client's user settings.
    pub fn settings(&self) -> PathBuf {
        self.claude.join("settings.json")
    }

    /// The client's global state file, `.claude.json`, which may contain variables and a key.
    pub(crate) fn client_state(&self) -> &Path {
        &self.global
    }

    /// The file in which the client stores the login of a subscription.
    pub(crate) fn credentials(&self) -> PathBuf {
        self.claude.join(".credentials.json")
    }

    /// Settings that the client has received from the user's organisation.
    pub(crate) fn remote_settings(&self) -> PathBuf {
        self.claude.join("remote-settings.json")
    }

    /// The folder in which the client records its running processes.
    pub(crate) fn client_sessions(&self) -> PathBuf {
        self.claude.join("sessions")
    }

    /// The state folder: the ownership file, private settings, backups.
    pub fn state(&self) -> PathBuf {
        self.state.path()
    }

    pub(crate) fn owned(&self) -> PathBuf {
        self.state().join("owned.json")
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.state().join("switch.lock")
    }

    /// The configuration as it was before the last migration.
    pub fn config_backup(&self) -> PathBuf {
        self.state().join("ccc.backup.json")
    }

    pub(crate) fn backup(&self) -> PathBuf {
        self.state().join("settings.backup.json")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(variables: &[(&str, &str)]) -> Option<(PathBuf, PathBuf)> {
        let find = |name: &str| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| OsString::from(value))
        };
        CccPaths::resolve(&find).ok().map(|paths| (paths.config_file(), paths.settings()))
    }

    #[test]
    fn folders_come_from_the_environment() {
        let at = |config: &str, claude: &str| {
            Some((Path::new(config).join("ccc.json"), Path::new(claude).join("settings.json")))
        };
        let home = ("HOME", "/h");
        assert_eq!(resolve(&[home]), at("/h/.claude", "/h/.claude"));
        assert_eq!(resolve(&[home, ("CCC_WORK_DIR", "/w")]), at("/w", "/h/.claude"));
        assert_eq!(
            resolve(&[home, ("CCC_WORK_DIR", "/w"), ("CCC_CONFIG_DIR", "/c")]),
            at("/c", "/h/.claude")
        );
        assert_eq!(resolve(&[("CCC_CONFIG_DIR", "/c"), ("CLAUDE_CONFIG_DIR", "/x")]), at("/c", "/x"));
        assert_eq!(resolve(&[home, ("CCC_CONFIG_DIR", "")]), at("/h/.claude", "/h/.claude"));
        assert_eq!(resolve(&[("HOME", "")]), None);
    }
}
