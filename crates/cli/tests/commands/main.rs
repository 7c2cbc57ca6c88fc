//! Every command of the real binary, in a home of its own: as it should be, with nothing there, with broken files,
//! with wrong arguments, and as an object for programs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test may panic, and it prepares its files without the store it is testing"
)]

mod budget;
mod checks;
#[path = "../common/mod.rs"]
mod common;
mod config;
mod context;
mod cost;
mod demo;
mod economy;
mod foreign;
mod general;
mod init;
mod instinct;
mod integrity;
mod message;
mod moved;
mod plugin;
mod pty;
mod purge;
mod replay;
mod sessions;
mod specs;
mod stats;
mod status;
mod statusline;
mod stop_resume;
mod timeline;
mod top;
mod which_session;
