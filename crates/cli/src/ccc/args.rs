//! The commands of `ccc` that have a parser.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

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
  ccc kimi                           start Claude Code on kimi; other sessions are not affected
  ccc kimi --continue                …with arguments for Claude Code
  ccc --dry-run kimi                 show what would change
  ccc run --isolated glm -- -p hi    for this start only; nothing else changes
  ccc validate --all                 check that every provider responds
  ccc mcp list                       Claude Code's own commands are passed on
  ccc -- doctor                      …and so is everything after --

A project can name its provider in .ccc.json: {\"provider\": \"kimi\"}";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show the providers
    List(OutputArgs),
    /// Show the provider that would be used here
    Current(OutputArgs),
    /// Write a provider to the shared settings, for every session including running ones
    #[command(after_help = USE)]
    Use(UseArgs),
    /// Add a provider
    Add(AddArgs),
    /// Remove a provider and restore your own settings
    Remove(NameArgs),
    /// Show the environment of a provider, secrets masked
    Env(EnvArgs),
    /// Check that providers respond
    #[command(after_help = VALIDATE)]
    Validate(ValidateArgs),
    /// Edit ccc.json; only a valid file is saved
    #[command(after_help = EDIT)]
    Edit(EditArgs),
    /// Migrate existing settings to ccc.json
    #[command(after_help = MIGRATE)]
    Migrate(MigrateArgs),
    /// Diagnose problems and suggest fixes
    #[command(after_help = DOCTOR)]
    Doctor(DoctorArgs),
    /// Print the JSON schema of ccc.json
    #[command(after_help = SCHEMA)]
    Schema(SchemaArgs),
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS)]
    Completions(CompletionsArgs),
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
    /// The folder the session was started in [default: the current folder]
    #[arg(long, value_name = "FOLDER")]
    pub(super) project: Option<PathBuf>,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(super) struct AuditArgs {
    /// The session [default: all sessions]
    pub(super) session: Option<String>,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(super) struct SuperviseArgs {
    pub(super) switch: Switch,
    /// The session [default: the current one]
    #[arg(long)]
    pub(super) session: Option<String>,
    /// The command runs in a turn of that session, and that turn is not reviewed
    #[arg(long, hide = true)]
    pub(super) inside: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Switch {
    On,
    Off,
    /// Only show the current setting
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

const USE: &str = "\
Examples:
  ccc use kimi          put every session that reads these settings on kimi, with or without ccc
  ccc use --off         remove it again and restore your own settings

Not needed for `ccc kimi`, which sets the provider only for the session it starts.";

#[derive(Debug, Args)]
pub(super) struct UseArgs {
    #[arg(required_unless_present = "off")]
    pub(super) provider: Option<String>,
    /// Remove the provider from the shared settings
    #[arg(long, conflicts_with = "provider")]
    pub(super) off: bool,
    /// Show what would change, and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

#[derive(Debug, Args)]
pub(super) struct EnvArgs {
    /// The provider [default: the current one]
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
    /// Read the token from this variable at every start
    #[arg(long, value_name = "VARIABLE")]
    pub(super) token_env: Option<String>,
    /// The token is an API key (`ANTHROPIC_API_KEY`, not `ANTHROPIC_AUTH_TOKEN`)
    #[arg(long)]
    pub(super) api_key: bool,
    /// Another variable to set; may be repeated
    #[arg(long = "env", value_name = "NAME=VALUE")]
    pub(super) variables: Vec<String>,
}

const VALIDATE: &str = "\
Examples:
  ccc validate                the current provider
  ccc validate kimi glm       these
  ccc validate --all --json   every one, for a program

Requests the list of models; if there is none, or if it is public, requests a
one-token answer. Exits with 0 if all of them can be used.";

const EDIT: &str = "\
Examples:
  ccc edit                       with $VISUAL, else $EDITOR, else vi
  ccc edit kimi                  at the lines of kimi
  EDITOR='code --wait' ccc edit";

const MIGRATE: &str = "\
Examples:
  ccc migrate --dry-run                   show what settings.json contains
  ccc migrate --name kimi                 make it the provider kimi
  ccc migrate --from ~/old/profiles.json  use another launcher's file

Existing entries in ccc.json are never overwritten.";

const DOCTOR: &str = "\
Examples:
  ccc doctor
  ccc doctor --fix    fix what needs no decision: file modes, leftover files

Exits with 1 if it finds a problem. For Claude Code's own doctor: ccc -- doctor";

const SCHEMA: &str = "\
Examples:
  ccc schema > ~/.claude/ccc.schema.json     then in ccc.json: \"$schema\": \"./ccc.schema.json\"
  ccc schema --project                       for a project's .ccc.json";

const COMPLETIONS: &str = "\
Examples:
  ccc completions bash > ~/.local/share/bash-completion/completions/ccc
  ccc completions zsh  > ~/.zfunc/_ccc
  ccc completions fish > ~/.config/fish/completions/ccc.fish";

#[derive(Debug, Args)]
pub(super) struct ValidateArgs {
    /// The providers [default: the current one]
    #[arg(value_name = "PROVIDER")]
    pub(super) providers: Vec<String>,
    /// Every provider
    #[arg(long, conflicts_with = "providers")]
    pub(super) all: bool,
    /// How long to wait for each provider
    #[arg(long, value_name = "SECONDS", default_value = "8", value_parser = seconds)]
    pub(super) timeout: Duration,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

/// Parses a plausible number of seconds.
fn seconds(text: &str) -> Result<Duration, &'static str> {
    let number = text.parse::<f64>().ok().filter(|number| (0.1..=600.0).contains(number));
    number.map(Duration::from_secs_f64).ok_or("a number from 0.1 to 600 is needed")
}

#[derive(Debug, Args)]
pub(super) struct EditArgs {
    /// The provider to start editing at
    pub(super) provider: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct MigrateArgs {
    /// The file of another launcher, or an older ccc.json
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) from: Option<PathBuf>,
    /// The name of the new provider [default: from its address]
    #[arg(long, conflicts_with = "from")]
    pub(super) name: Option<String>,
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(super) struct DoctorArgs {
    /// Fix what needs no decision
    #[arg(long)]
    pub(super) fix: bool,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(super) struct SchemaArgs {
    /// The schema of a project's .ccc.json
    #[arg(long)]
    pub(super) project: bool,
}

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    pub(super) shell: Shell,
}

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Use a private settings file for this start; change no shared settings
    #[arg(long)]
    pub(super) isolated: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    pub(super) provider: String,
    /// Arguments for Claude Code
    #[arg(last = true, value_name = "CLAUDE ARGUMENTS")]
    pub(super) arguments: Vec<OsString>,
}
