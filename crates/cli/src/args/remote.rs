//! The arguments of `overtone remote`.

use clap::{Args, Subcommand};

use super::OutputArgs;

const EXAMPLES: &str = "\
Examples:
  overtone remote check     what is configured, and what is wrong with it
  overtone remote test      send a message on every channel, and see how each answers

Channels are in config.json under remote: telegram, webhook, ntfy. The dashboard
sends, so it has to run; it reads the configuration when it starts. Ends with 1
when something is wrong.";

/// Notifications on your phone: check them, try them out
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RemoteArgs {
    #[command(subcommand)]
    pub(crate) action: RemoteAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RemoteAction {
    /// Show what is configured, without secrets, and whether it is valid
    Check {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Send a test message on every channel now
    Test {
        #[command(flatten)]
        output: OutputArgs,
    },
}
