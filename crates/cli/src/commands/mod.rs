//! One module per command. Each has `run`, which does it and prints.

pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod dashboard;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod down;
pub(crate) mod fleet;
pub(crate) mod init;
pub(crate) mod instinct;
mod looping;
pub(crate) mod message;
pub(crate) mod remote;
pub(crate) mod replay;
pub(crate) mod resume;
pub(crate) mod sessions;
pub(crate) mod specs;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod statusline;
pub(crate) mod stop;
pub(crate) mod timeline;
pub(crate) mod top;
pub(crate) mod uninstall;
pub(crate) mod up;
pub(crate) mod validate;
