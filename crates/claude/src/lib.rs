//! Everything about the Claude Code client: the JSON of its hooks, the installation, and the plugin that it loads.

mod environment;
pub mod install;
pub mod plugin;
pub mod process;
pub mod stdin;
pub mod wire;

pub use environment::{Environment, language_of_process};
