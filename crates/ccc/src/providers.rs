//! Providers: reads `ccc.json` and switches Claude Code's settings to a provider and back.
//!
//! A provider is a fragment of settings, mostly environment variables. A start passes them only to the process it
//! starts and drops inherited variables that decide the route or carry a key. The client's shared `settings.json`
//! receives what all sessions share; a provider's route is written there only by `ccc use`. `ccc/owned.json` records
//! what was written and which value it replaced, so that undoing a switch restores the user's own keys exactly. Where
//! a settings file would win over the environment, a private settings file overrules it; otherwise the start is
//! refused.
//!
//! This module contains no user-facing texts and does not start the client; reviews are in [`crate::supervisor`].
//! No error and no debug output contains a value of the environment, since it may be a token.

mod check;
mod claim;
mod client_state;
mod config;
mod conflicts;
pub mod doctor;
mod error;
mod expand;
mod fragment;
mod isolated;
mod login;
mod mask;
mod migrate;
mod owned;
mod paths;
mod pin;
mod redact;
mod route;
mod running;
mod settings_argument;
mod snapshot;
mod start;
mod switch;

pub use check::{Fault, FaultKind, ValueType};
pub use config::{Config, add_provider, is_provider_name};
pub use conflicts::{Conflict, ConflictKind, Layer, Sources};
pub use error::{FileLocation, ProvidersError};
pub use fragment::merge;
pub use isolated::write_private_settings;
pub use mask::{is_secret, masked};
pub use migrate::{
    FoundProvider, Migration, MigrationOptions, MigrationStatus, import_file, migrate_settings,
};
pub use paths::CccPaths;
pub use pin::{Pin, find_pin};
pub use redact::redact;
pub use running::{
    RunningClient, StartRecord, clients_on_shared_settings, record_start, remove_start_record,
};
pub use settings_argument::SettingsArgument;
pub use snapshot::{ConfigSnapshot, ReplaceOutcome};
pub use start::{StartMode, StartPlan, StartRequest, dropped_variables, plan_start, shared_route};
pub use switch::{
    Change, SwitchOutcome, prepare_start, preview_start, preview_switch, remove_provider, switch_off,
    switch_provider, used_provider,
};

/// A fragment of settings: some keys with their values.
pub type Fragment = serde_json::Map<String, serde_json::Value>;

/// Looks up a variable of the process environment.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;
