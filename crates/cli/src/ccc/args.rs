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
  ccc kimi                           start Claude Code on kimi; other sessions stay where they are
  ccc kimi --continue                …with arguments for Claude Code
  ccc --dry-run kimi                 show what would change
  ccc run --isolated glm -- -p hi    for this start only; nothing else changes
  ccc validate --all                 ask every provider whether it would answer
  ccc mcp list                       Claude Code's own commands are passed on
  ccc -- doctor                      …and so is everything after --

A project can name its provider in .ccc.json: {\"provider\": \"kimi\"}";

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show the providers
    List(OutputArgs),
    /// Show the provider that would be used here
    Current(OutputArgs),
    /// Put a provider into the shared settings, for every session; running ones follow
    #[command(after_help = USE)]
    Use(UseArgs),
    /// Add a provider
    Add(AddArgs),
    /// Remove a provider; your own settings come back
    Remove(NameArgs),
    /// Show the environment of a provider, secrets masked
    Env(EnvArgs),
    /// Ask providers whether they would answer
    #[command(after_help = VALIDATE)]
    Validate(ValidateArgs),
    /// Edit ccc.json; only a sound file is saved
    #[command(after_help = EDIT)]
    Edit(EditArgs),
    /// Take an existing set-up over into ccc.json
    #[command(after_help = MIGRATE)]
    Migrate(MigrateArgs),
    /// Find out why ccc does not work, with a hint for each finding
    #[command(after_help = DOCTOR)]
    Doctor(CareArgs),
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

const USE: &str = "\
Examples:
  ccc use kimi          every claude that reads these settings is on kimi, started by ccc or not
  ccc use --off         take it out again; your own settings come back

A start with ccc needs none of this: `ccc kimi` gives the provider to the session it starts.";

#[derive(Debug, Args)]
pub(super) struct UseArgs {
    #[arg(required_unless_present = "off")]
    pub(super) provider: Option<String>,
    /// Take the provider out of the shared settings again
    #[arg(long, conflicts_with = "provider")]
    pub(super) off: bool,
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

const VALIDATE: &str = "\
Examples:
  ccc validate                the current provider
  ccc validate kimi glm       these
  ccc validate --all --json   every one, for a program

Asks for the list of models; where there is none, or where everyone may see it,
for one token of an answer. Exits with 0 if all of them can be used.";

const EDIT: &str = "\
Examples:
  ccc edit                       with $VISUAL, else $EDITOR, else vi
  ccc edit kimi                  at the lines of kimi
  EDITOR='code --wait' ccc edit";

const MIGRATE: &str = "\
Examples:
  ccc migrate --dry-run                   show what settings.json holds
  ccc migrate --name kimi                 make it the provider kimi
  ccc migrate --from ~/old/profiles.json  take over another launcher's file

What is in ccc.json already is never overwritten.";

const DOCTOR: &str = "\
Examples:
  ccc doctor
  ccc doctor --fix    correct what needs no decision: modes, leftover files

Exits with 1 if something is broken. For Claude Code's own: ccc -- doctor";

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
    /// The current one if none is named
    #[arg(value_name = "PROVIDER")]
    pub(super) providers: Vec<String>,
    /// Every provider
    #[arg(long, conflicts_with = "providers")]
    pub(super) all: bool,
    /// How long to wait for each of them
    #[arg(long, value_name = "SECONDS", default_value = "8", value_parser = seconds)]
    pub(super) timeout: Duration,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

/// A number of seconds that a person could have meant.
fn seconds(text: &str) -> Result<Duration, &'static str> {
    let number = text.parse::<f64>().ok().filter(|number| (0.1..=600.0).contains(number));
    number.map(Duration::from_secs_f64).ok_or("a number from 0.1 to 600 is needed")
}

#[derive(Debug, Args)]
pub(super) struct EditArgs {
    /// Where the editor is to begin
    pub(super) provider: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct MigrateArgs {
    /// The file of another launcher, or an older ccc.json
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(super) from: Option<PathBuf>,
    /// The name of the new provider; by default from its address
    #[arg(long, conflicts_with = "from")]
    pub(super) name: Option<String>,
    /// Show what would be done, and do nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(super) struct CareArgs {
    /// Correct what needs no decision
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
