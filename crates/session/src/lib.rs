//! Runs hook events, controls sessions, summarises them and watches them for changes.

pub mod control;
pub mod evidence;
pub mod hooks;
mod transcript;
pub mod usage;
pub mod view;
#[cfg(feature = "watch")]
pub mod watch;
