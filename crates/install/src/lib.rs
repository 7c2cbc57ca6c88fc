//! Puts Overtone where the client finds it, takes it away again, and finds out why it does not work.
//!
//! The client is registered with through its own plugin commands. It rewrites the user's `settings.json` when it
//! carries them out (other order, other formats, and an old one drops what it does not know), so the file is put
//! back as it was, with only our keys added. Not here: what is said to people; the command line has that.

mod client;
mod commands;
pub mod doctor;
mod files;
mod link;
mod record;
mod register;

pub use client::{Client, ClientError, OLDEST_CLIENT, Version};
pub use commands::{install_commands, remove_commands};
pub use files::{Installed, install_files, is_own_plugin};
pub use link::{Link, link_program, unlink_program};
pub use record::Record;
pub use register::{Place, RegisterError, Registered, StatusLine, register, unregister};
