//! Where everything is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::ProvidersError;

/// The folders of `ccc` and of the client.
#[derive(Debug, Clone)]
pub struct Places {
    config: PathBuf,
    claude: PathBuf,
    global: PathBuf,
}

impl Places {
    /// From the environment: `CCC_CONFIG_DIR`, else `CCC_WORK_DIR`, else `~/.claude` for `ccc`;
    /// `CLAUDE_CONFIG_DIR`, else `~/.claude` for the client. Relative paths count as not set.
    pub fn resolve(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, ProvidersError> {
        let folder = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = || folder("HOME").map(|home| home.join(".claude")).ok_or(ProvidersError::NoHome);
        let config = folder("CCC_CONFIG_DIR").or_else(|| folder("CCC_WORK_DIR"));
        let claude = folder("CLAUDE_CONFIG_DIR").map_or_else(home, Ok)?;
        // The client keeps this file beside its folder, unless the folder was named.
        let around = folder("CLAUDE_CONFIG_DIR").or_else(|| folder("HOME"));
        let global = around.unwrap_or_else(|| claude.clone()).join(".claude.json");
        Ok(Self { config: config.map_or_else(home, Ok)?, claude, global })
    }

    pub fn config_file(&self) -> PathBuf {
        self.config.join("ccc.json")
    }

    /// The client's settings of the user.
    pub fn settings(&self) -> PathBuf {
        self.claude.join("settings.json")
    }

    /// The client's own notes, which may hold variables and a key.
    pub(crate) fn global(&self) -> &Path {
        &self.global
    }

    /// Where the client keeps the login of a subscription.
    pub(crate) fn credentials(&self) -> PathBuf {
        self.claude.join(".credentials.json")
    }

    /// Settings that an organisation has given to the client.
    pub(crate) fn remote_settings(&self) -> PathBuf {
        self.claude.join("remote-settings.json")
    }

    /// Where the client notes which of its processes are running.
    pub(crate) fn client_sessions(&self) -> PathBuf {
        self.claude.join("sessions")
    }

    /// State: what is owned, private settings, the backup.
    pub fn state(&self) -> PathBuf {
        self.config.join("ccc")
    }

    pub(crate) fn owned(&self) -> PathBuf {
        self.state().join("owned.json")
    }

    pub(crate) fn lock(&self) -> PathBuf {
        self.state().join("switch.lock")
    }

    /// The configuration before the last migration.
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

    fn places(variables: &[(&str, &str)]) -> Option<(PathBuf, PathBuf)> {
        let find = |name: &str| {
            variables.iter().find(|(other, _)| *other == name).map(|(_, value)| OsString::from(value))
        };
        Places::resolve(&find).ok().map(|places| (places.config_file(), places.settings()))
    }

    #[test]
    fn folders_come_from_the_environment() {
        let at = |config: &str, claude: &str| {
            Some((Path::new(config).join("ccc.json"), Path::new(claude).join("settings.json")))
        };
        let home = ("HOME", "/h");
        assert_eq!(places(&[home]), at("/h/.claude", "/h/.claude"));
        assert_eq!(places(&[home, ("CCC_WORK_DIR", "/w")]), at("/w", "/h/.claude"));
        assert_eq!(places(&[home, ("CCC_WORK_DIR", "/w"), ("CCC_CONFIG_DIR", "/c")]), at("/c", "/h/.claude"));
        assert_eq!(places(&[("CCC_CONFIG_DIR", "/c"), ("CLAUDE_CONFIG_DIR", "/x")]), at("/c", "/x"));
        assert_eq!(places(&[home, ("CCC_CONFIG_DIR", "")]), at("/h/.claude", "/h/.claude"));
        assert_eq!(places(&[("HOME", "")]), None);
    }
}
