//! Installs Overtone for the client, uninstalls it, and diagnoses problems.
//!
//! The plugin is registered through the client's own plugin commands. These rewrite the user's `settings.json` (in another
//! order and format, and old clients drop unknown keys), so the file is restored afterwards, with only Overtone's keys
//! added. The texts for the user are in the command line.

mod client;
mod commands;
pub mod doctor;
mod files;
mod link;
mod record;
mod register;

pub use client::{Client, ClientError, OLDEST_CLIENT, Version};
pub use commands::{install_commands, remove_commands};
pub use files::{HookKind, Installed, Locations, install_files, is_own_plugin, rewrite_plugin};
pub use link::{Link, link_program, unlink_program};
pub use record::InstallRecord;
pub use register::{ClientFolder, RegisterError, Registered, StatusLine, register, unregister};
