//! Diagnoses why Overtone does not work, or soon will not. It changes nothing: the user or another command applies the fix
//! of each finding.

mod installation;
mod settings;
mod state;

use std::path::PathBuf;

use overtone_core::registry::Economy;
use overtone_store::Home;

use crate::install::client::{Client, Version};
use crate::install::register::ClientFolder;

pub use installation::preserving_settings;

/// What is examined.
#[derive(Debug)]
pub struct Installation<'a> {
    pub home: &'a Home,
    pub client_folder: &'a ClientFolder,
    pub client: Option<&'a Client>,
    pub project: Option<PathBuf>,
    /// What a hook program of this build prints for `--version`.
    pub hook_version: &'a str,
    /// The settings file of the administrator, which applies to all users.
    pub managed_settings: PathBuf,
}

/// A problem of the installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    NoClient,
    ClientBroken {
        error: String,
    },
    ClientTooOld {
        found: Version,
        oldest: Version,
    },
    PluginMissing {
        path: PathBuf,
    },
    PluginFile {
        path: String,
        what: String,
    },
    PluginStale {
        path: PathBuf,
    },
    /// The plugin was written for another economy than the one that the user has chosen.
    OtherEconomy {
        path: PathBuf,
        found: Economy,
        chosen: Economy,
    },
    ProgramStale {
        path: PathBuf,
    },
    /// The hook program and this one are of different builds.
    HookProgramDiffers {
        path: PathBuf,
        found: String,
        expected: String,
    },
    NotExecutable {
        path: PathBuf,
    },
    NotRegistered,
    PluginDisabled,
    PluginErrors {
        error: String,
    },
    SettingsUnreadable {
        error: String,
    },
    HooksDisabled {
        path: PathBuf,
        line: usize,
    },
    ManagedHooksOnly {
        path: PathBuf,
        line: usize,
    },
    StringTimeout {
        path: PathBuf,
        line: usize,
    },
    NotPrivate {
        path: PathBuf,
        mode: u32,
    },
    TokenExposed {
        path: PathBuf,
        mode: u32,
    },
    NotWritable {
        path: PathBuf,
        error: String,
    },
    BrokenFile {
        path: PathBuf,
        what: String,
    },
    BadConfigValue {
        key: &'static str,
        allowed: String,
    },
    OrphanedSession {
        id: String,
        days: u64,
    },
}

impl Finding {
    /// Whether Overtone cannot work because of it. The other findings are warnings.
    pub fn is_serious(&self) -> bool {
        !matches!(
            self,
            Self::NoClient
                | Self::OtherEconomy { .. }
                | Self::NotPrivate { .. }
                | Self::BadConfigValue { .. }
                | Self::OrphanedSession { .. }
        )
    }

    /// A short name for programs. It never changes.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NoClient => "no-client",
            Self::ClientBroken { .. } => "client-broken",
            Self::ClientTooOld { .. } => "client-too-old",
            Self::PluginMissing { .. } => "plugin-missing",
            Self::PluginFile { .. } => "plugin-file",
            Self::PluginStale { .. } => "plugin-stale",
            Self::OtherEconomy { .. } => "other-economy",
            Self::ProgramStale { .. } => "program-stale",
            Self::HookProgramDiffers { .. } => "hook-program-differs",
            Self::NotExecutable { .. } => "not-executable",
            Self::NotRegistered => "not-registered",
            Self::PluginDisabled => "plugin-disabled",
            Self::PluginErrors { .. } => "plugin-errors",
            Self::SettingsUnreadable { .. } => "settings-unreadable",
            Self::HooksDisabled { .. } => "hooks-disabled",
            Self::ManagedHooksOnly { .. } => "managed-hooks-only",
            Self::StringTimeout { .. } => "string-timeout",
            Self::NotPrivate { .. } => "not-private",
            Self::TokenExposed { .. } => "token-exposed",
            Self::NotWritable { .. } => "not-writable",
            Self::BrokenFile { .. } => "broken-file",
            Self::BadConfigValue { .. } => "bad-config-value",
            Self::OrphanedSession { .. } => "orphaned-session",
        }
    }
}

/// All problems, first those of the client, then those of the installed files, the settings and the state.
pub fn examine(installation: &Installation) -> Vec<Finding> {
    let mut findings = installation::check_client(installation);
    findings.extend(installation::check_files(installation));
    findings.extend(settings::check(installation));
    findings.extend(state::check(installation));
    findings
}
