//! Finds out why Overtone does not work, or soon will not. It only looks; each finding has a fix that a person or
//! another command carries out.

mod installation;
mod settings;
mod state;

use std::path::PathBuf;

use overtone_store::Home;

use crate::client::{Client, Version};
use crate::register::Place;

pub use installation::undisturbed;

/// Where to look.
#[derive(Debug)]
pub struct Patient<'a> {
    pub home: &'a Home,
    pub place: &'a Place,
    pub client: Option<&'a Client>,
    pub project: Option<PathBuf>,
    /// Settings that an administrator has laid down for everyone.
    pub managed_settings: PathBuf,
}

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    NoClient,
    ClientBroken { error: String },
    ClientTooOld { found: Version, oldest: Version },
    PluginMissing { path: PathBuf },
    PluginFile { path: String, what: String },
    PluginStale { path: PathBuf },
    ProgramStale { path: PathBuf },
    NotExecutable { path: PathBuf },
    NotRegistered,
    PluginDisabled,
    PluginErrors { error: String },
    SettingsUnreadable { error: String },
    HooksDisabled { path: PathBuf, line: usize },
    ManagedHooksOnly { path: PathBuf, line: usize },
    StringTimeout { path: PathBuf, line: usize },
    NotPrivate { path: PathBuf, mode: u32 },
    TokenExposed { path: PathBuf, mode: u32 },
    NotWritable { path: PathBuf, error: String },
    BrokenFile { path: PathBuf, what: String },
    BadConfigValue { key: &'static str, allowed: String },
    OrphanedSession { id: String, days: u64 },
}

impl Finding {
    /// Whether Overtone cannot work with it; the others only ask for attention.
    pub fn is_serious(&self) -> bool {
        !matches!(
            self,
            Self::NoClient
                | Self::NotPrivate { .. }
                | Self::BadConfigValue { .. }
                | Self::OrphanedSession { .. }
        )
    }

    /// A short stable name, for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::NoClient => "no-client",
            Self::ClientBroken { .. } => "client-broken",
            Self::ClientTooOld { .. } => "client-too-old",
            Self::PluginMissing { .. } => "plugin-missing",
            Self::PluginFile { .. } => "plugin-file",
            Self::PluginStale { .. } => "plugin-stale",
            Self::ProgramStale { .. } => "program-stale",
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

/// Everything that is wrong, the client first, then the installation, the settings and the state.
pub fn examine(patient: &Patient) -> Vec<Finding> {
    let checks: [fn(&Patient) -> Vec<Finding>; 4] =
        [installation::client, installation::files, settings::check, state::check];
    checks.iter().flat_map(|check| check(patient)).collect()
}
