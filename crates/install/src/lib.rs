//! Puts Overtone where the client finds it, takes it away again, and finds out why it does not work.
//!
//! The client is registered with through its own plugin commands. It rewrites the user's `settings.json` when it
//! carries them out (other order, other formats, and an old one drops what it does not know), so the file is put
//! back as it was, with only our keys added. Not here: any text for people; the command line has those.

mod client;
pub mod doctor;
mod files;
mod link;
mod record;
mod register;

pub use client::{Client, ClientError, OLDEST_CLIENT, Version};
pub use files::{Installed, install_files};
pub use link::{Link, link_program, unlink_program};
pub use record::Record;
pub use register::{Place, RegisterError, Registered, StatusLine, register, unregister};
