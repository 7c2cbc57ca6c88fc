//! The commands of `ccc` that have a parser.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Starts Claude Code on any provider.
#[derive(Debug, Parser)]
#[command(
    name = "ccc",
    version,
    override_usage = "ccc [--dry-run] [PROVIDER] [CLAUDE ARGUMENTS]...\n       ccc <COMMAND>",
    after_help = HELP,
    max_term_width = 110
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

const HELP: &str = "\
Examples:
  ccc                                start Claude Code on the current provider
  ccc kimi                           switch to kimi, then start Claude Code
  ccc kimi --continue                …with arguments for Claude Code
  ccc --dry-run kimi                 show what would change
  ccc run --isolated glm -- -p hi    for this start only; nothing else changes
  ccc mcp list                       Claude Code's own commands are passed on
  ccc -- doctor                      …and so is everything after --

A project can name its provider in .ccc.json: {\"provider\": \"kimi\"}";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show the providers
    List(OutputArgs),
    /// Show the provider that would be used here
    Current(OutputArgs),
    /// Switch to a provider without starting Claude Code
    Use(UseArgs),
    /// Add a provider
    Add(AddArgs),
    /// Remove a provider; your own settings come back
    Remove(NameArgs),
    /// Show the environment of a provider, secrets masked
    Env(EnvArgs),
    /// Start Claude Code on a provider
    Run(RunArgs),
    /// Review a session now; the exit code is the verdict (0 done, 1 not done, 2 could not review)
    Review(ReviewArgs),
    /// Show what the supervisor found, round by round
    Audit(AuditArgs),
    /// Switch the supervisor on or off for one session
    Supervise(SuperviseArgs),
}

#[derive(Debug, Args)]
pub(super) struct ReviewArgs {
    /// The session, as `claude --resume` takes it
    pub(super) session: String,
    /// Where the session was started, if not here
    #[arg(long, value_name = "FOLDER")]
    pub(super) project: Option<PathBuf>,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(super) struct AuditArgs {
    /// All sessions if not named
    pub(super) session: Option<String>,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(super) struct SuperviseArgs {
    pub(super) switch: Switch,
    /// The session; inside of one, that one
    #[arg(long)]
    pub(super) session: Option<String>,
    /// Said in a turn of that session, which is not reviewed itself
    #[arg(long, hide = true)]
    pub(super) inside: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Switch {
    On,
    Off,
    /// Only say how it stands
    Status,
}

#[derive(Debug, Args)]
pub(super) struct OutputArgs {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct NameArgs {
    pub(super) provider: String,
}

#[derive(Debug, Args)]
pub(super) struct UseArgs {
    pub(super) provider: String,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

#[derive(Debug, Args)]
pub(super) struct EnvArgs {
    /// The current one if not named
    pub(super) provider: Option<String>,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(super) struct AddArgs {
    pub(super) provider: String,
    /// Where requests go (`ANTHROPIC_BASE_URL`)
    #[arg(long, value_name = "ADDRESS")]
    pub(super) base_url: Option<String>,
    /// The model (`ANTHROPIC_MODEL`)
    #[arg(long)]
    pub(super) model: Option<String>,
    /// Read the token from stdin
    #[arg(long, conflicts_with = "token_env")]
    pub(super) token_stdin: bool,
    /// Take the token from this variable at every start
    #[arg(long, value_name = "VARIABLE")]
    pub(super) token_env: Option<String>,
    /// The token is an API key (`ANTHROPIC_API_KEY`, not `ANTHROPIC_AUTH_TOKEN`)
    #[arg(long)]
    pub(super) api_key: bool,
    /// Another variable
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub(super) variables: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Change no settings: everything is in a private file for this start
    #[arg(long)]
    pub(super) isolated: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    pub(super) provider: String,
    /// For Claude Code
    #[arg(last = true, value_name = "CLAUDE ARGUMENTS")]
    pub(super) arguments: Vec<OsString>,
}
