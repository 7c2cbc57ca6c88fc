//! One module per command, with its arguments and `run`, which executes the command and prints the result.

pub(crate) mod checks;
pub(crate) mod completions;
pub(crate) mod config;
mod control;
pub(crate) mod dashboard;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod down;
pub(crate) mod evidence;
pub(crate) mod fleet;
pub(crate) mod init;
pub(crate) mod instinct;
pub(crate) mod message;
pub(crate) mod remote;
pub(crate) mod replay;
pub(crate) mod resume;
pub(crate) mod sessions;
pub(crate) mod specs;
pub(crate) mod stats;
pub(crate) mod status;
pub(crate) mod stop;
pub(crate) mod timeline;
pub(crate) mod top;
pub(crate) mod trust;
pub(crate) mod uninstall;
pub(crate) mod up;
pub(crate) mod validate;
