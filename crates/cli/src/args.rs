//! The command line as types. Help is in English and teaches by examples; every other text is in the person's
//! language.

mod demo;
mod fleet;
mod help;
mod names;
mod remote;
mod replay;
mod since;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

pub(crate) use demo::DemoArgs;
pub(crate) use fleet::{FleetAction, FleetArgs, JoinArgs, OfSessionArgs, PullArgs, RelayArgs};
use names::{Names, categories};
pub(crate) use remote::{RemoteAction, RemoteArgs};
pub(crate) use replay::ReplayArgs;
pub(crate) use since::Since;

/// Makes Claude Code work like a disciplined development team.
///
/// Workflows of stages, each delegated to a specialised sub-agent; hooks that keep the order, record every event
/// and keep the session going until everything is done.
#[derive(Debug, Parser)]
#[command(name = "overtone", version, after_help = help::OVERTONE, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Up(UpArgs),
    Demo(DemoArgs),
    Down(DownArgs),
    Uninstall(UninstallArgs),
    Doctor(DoctorArgs),
    Init(InitArgs),
    /// Show where the workflow stands and what comes next
    #[command(after_help = help::STATUS)]
    Status(SessionArgs),
    /// Stop the loop of the running workflow; nothing is deleted
    #[command(after_help = help::STOP)]
    Stop(SessionArgs),
    /// Continue a stopped or aborted workflow
    #[command(after_help = help::RESUME)]
    Resume(SessionArgs),
    Message(MessageArgs),
    Timeline(TimelineArgs),
    Replay(ReplayArgs),
    Stats(StatsArgs),
    Sessions(SessionsArgs),
    Specs(SpecsArgs),
    Instinct(InstinctArgs),
    Config(ConfigArgs),
    Validate(ValidateArgs),
    /// Print the status line for Claude Code, from its JSON on stdin
    #[command(after_help = help::STATUSLINE)]
    Statusline,
    /// Print the rows of Claude Code's list of agents, from its JSON on stdin
    #[command(after_help = help::SUBAGENT_STATUSLINE)]
    SubagentStatusline,
    Top(TopArgs),
    /// Show every session live in the browser, and steer them
    Dashboard(DashboardArgs),
    Remote(RemoteArgs),
    Fleet(FleetArgs),
    Relay(RelayArgs),
    Completions(CompletionsArgs),
}

/// The whole command line, with the second face of the program in it, for help and completion.
pub(crate) fn whole() -> clap::Command {
    Cli::command().subcommand(crate::ccc::command())
}

/// Install the plugin and this program, register them with Claude Code, and say what to type next
#[derive(Debug, Args)]
#[command(after_help = help::UP)]
pub(crate) struct UpArgs {
    /// The language of every text: zh-TW, zh-CN or en; by default that of the locale
    #[arg(long, value_name = "LANG")]
    pub(crate) lang: Option<String>,
    /// Only place the files; leave Claude Code and its settings alone
    #[arg(long)]
    pub(crate) files_only: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Take Overtone out of Claude Code; its state and files are kept
#[derive(Debug, Args)]
#[command(after_help = help::DOWN)]
pub(crate) struct DownArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Take Overtone out of Claude Code and remove its files; your settings are as they were
#[derive(Debug, Args)]
#[command(after_help = help::UNINSTALL)]
pub(crate) struct UninstallArgs {
    /// Delete sessions, lessons and configuration, too
    #[arg(long)]
    pub(crate) purge: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Find out why Overtone does not work, with a fix for each finding
#[derive(Debug, Args)]
#[command(after_help = help::DOCTOR)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Start a workflow in a session
#[derive(Debug, Args)]
#[command(after_help = help::INIT)]
pub(crate) struct InitArgs {
    /// What kind of job it is
    #[arg(value_name = "WORKFLOW", value_parser = Names::workflows())]
    pub(crate) workflow: String,
    /// The feature to work on, in kebab-case; made with its documents if it does not exist
    #[arg(long, value_name = "NAME")]
    pub(crate) feature: Option<String>,
    /// Replace a workflow that is running, or set broken state files aside
    #[arg(long)]
    pub(crate) force: bool,
    /// Start although another session, here or on another machine of the fleet, works on the feature, or although the
    /// feature came with the repository
    #[arg(long)]
    pub(crate) anyway: bool,
    /// The session, by its whole id, since it may be new; by default the one this runs in, else the one that started last
    /// if it works in this folder
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    /// The session, by its id or the first characters of it (4 or more); by default the one this runs in, else the last
    /// one of this folder
    #[arg(long = "session", value_name = "ID")]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Print JSON for programs
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ProjectArgs {
    /// The project's folder; by default the session's project, else the current folder
    #[arg(long = "project", value_name = "DIR", value_hint = ValueHint::DirPath, global = true)]
    pub(crate) dir: Option<PathBuf>,
}

/// Send a message to the main agent of a session; it arrives with the agent's next step
#[derive(Debug, Args)]
#[command(after_help = help::MESSAGE)]
pub(crate) struct MessageArgs {
    /// The message, in one word or many
    #[arg(value_name = "TEXT", required = true)]
    pub(crate) text: Vec<String>,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

/// Show what happened in a session, oldest first (times are UTC)
#[derive(Debug, Args)]
#[command(after_help = help::TIMELINE)]
pub(crate) struct TimelineArgs {
    /// The session, as with --session
    #[arg(value_name = "SESSION", conflicts_with = "id")]
    pub(crate) named: Option<String>,
    /// Keep printing new events as they happen
    #[arg(long, short)]
    pub(crate) follow: bool,
    /// Only events of this type; may be repeated
    #[arg(long = "type", value_name = "TYPE", value_parser = Names::events(), hide_possible_values = true)]
    pub(crate) types: Vec<String>,
    /// Only events of this category; may be repeated
    #[arg(long = "category", value_name = "CATEGORY", value_parser = PossibleValuesParser::new(categories()))]
    pub(crate) categories: Vec<String>,
    /// Only events since then: 10m, 2h, 3d, 2026-02-23 or 2026-02-23T14:00:00Z
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<Since>,
    /// At most this many of the newest events, 0 for all [default: 50, with --since all]
    #[arg(long, short = 'n', value_name = "N")]
    pub(crate) limit: Option<usize>,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

/// Show every session live in the terminal, and stop or resume them
#[derive(Debug, Args)]
#[command(after_help = help::TOP)]
pub(crate) struct TopArgs {
    /// Print one frame as plain text and end
    #[arg(long)]
    pub(crate) once: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Show how often stages pass at once, and how long they take
#[derive(Debug, Args)]
#[command(after_help = help::STATS)]
pub(crate) struct StatsArgs {
    /// All sessions together
    #[arg(long, conflicts_with = "id")]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
}

/// List, show and remove sessions
#[derive(Debug, Args)]
#[command(after_help = help::SESSIONS)]
pub(crate) struct SessionsArgs {
    #[command(subcommand)]
    pub(crate) action: Option<SessionsAction>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsAction {
    /// List all sessions, the last active first
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Show one session
    Show {
        /// Its id, or the first characters of it (4 or more)
        #[arg(value_name = "ID")]
        id: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Remove sessions with all their records
    Rm {
        /// Their ids, or the first characters of each (4 or more)
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Remove old sessions, never the current one or one with an open workflow
    Gc {
        /// Keep sessions for this many days [default: retention.days of the configuration]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
        days: Option<u32>,
        /// Only show what would be removed
        #[arg(long)]
        dry_run: bool,
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Make features and move them between in-progress, paused, backlog and archive
#[derive(Debug, Args)]
#[command(after_help = help::SPECS)]
pub(crate) struct SpecsArgs {
    #[command(subcommand)]
    pub(crate) action: SpecsAction,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SpecsAction {
    /// Make a feature with its documents
    New {
        /// In kebab-case, like user-login
        #[arg(value_name = "NAME")]
        name: String,
        /// The workflow whose stages and documents it starts with
        #[arg(long, value_name = "WORKFLOW", value_parser = Names::workflows(), hide_possible_values = true)]
        workflow: Option<String>,
        /// Only note it down for later
        #[arg(long)]
        backlog: bool,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// List all features
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Show one feature and its open tasks
    Show(FeatureArgs),
    /// Put a feature aside
    Pause(FeatureArgs),
    /// Take a paused or noted feature up again
    Resume(FeatureArgs),
    /// Put a feature back into the backlog
    Backlog(FeatureArgs),
    /// Move a finished feature into the archive, under today's date
    Archive(ArchiveArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    #[command(flatten)]
    pub(crate) feature: FeatureArgs,
    /// Archive it although a session works on it
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FeatureArgs {
    #[arg(value_name = "NAME")]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// See, judge and remove what was learned in a project
#[derive(Debug, Args)]
#[command(after_help = help::INSTINCT)]
pub(crate) struct InstinctArgs {
    #[command(subcommand)]
    pub(crate) action: InstinctAction,
    #[command(flatten)]
    pub(crate) project: ProjectArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum InstinctAction {
    /// List the lessons, the surest first
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Say that a lesson is right
    Confirm(LessonArgs),
    /// Say that a lesson is wrong
    Contradict(LessonArgs),
    /// Forget a lesson
    Rm(LessonArgs),
    /// Forget everything that was learned in the project
    Clear {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Remove the lessons that have faded
    Decay {
        #[command(flatten)]
        output: OutputArgs,
    },
}

#[derive(Debug, Args)]
pub(crate) struct LessonArgs {
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Show and change the configuration
#[derive(Debug, Args)]
#[command(after_help = help::CONFIG)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) action: ConfigAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// List every key with its value
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Print the value of one key
    Get {
        #[arg(value_name = "KEY", value_parser = Names::config_keys())]
        key: String,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Change the value of one key
    Set {
        #[arg(value_name = "KEY", value_parser = Names::config_keys())]
        key: String,
        #[arg(value_name = "VALUE", allow_negative_numbers = true)]
        value: String,
        #[command(flatten)]
        output: OutputArgs,
    },
}

/// Check a plugin folder: what the client would silently ignore is named
#[derive(Debug, Args)]
#[command(after_help = help::VALIDATE)]
pub(crate) struct ValidateArgs {
    /// The folder; by default `CLAUDE_PLUGIN_ROOT`, else the installed one, else ./plugins/overtone
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) plugin: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = help::COMPLETIONS)]
pub(crate) struct CompletionsArgs {
    pub(crate) shell: Shell,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        whole().debug_assert();
    }

    /// Every command and every option says what it is for.
    #[test]
    fn nothing_is_without_help() {
        fn check(command: &clap::Command) {
            assert!(command.get_about().is_some(), "{} has no description", command.get_name());
            for argument in command.get_arguments().filter(|a| !a.is_positional()) {
                assert!(argument.get_help().is_some(), "{} {}", command.get_name(), argument.get_id());
            }
            command.get_subcommands().for_each(check);
        }
        check(&whole());
    }

    /// The lines of the test that runs every command against hostile files.
    const HOSTILE: &str = include_str!("../tests/hostile/commands.txt");

    /// `sessions list`, `ccc audit`: every command that does something itself.
    fn commands(of: &clap::Command, path: &str, found: &mut Vec<String>) {
        for command in of.get_subcommands().filter(|command| command.get_name() != "help") {
            let path = format!("{path} {}", command.get_name()).trim_start().to_owned();
            if command.has_subcommands() {
                commands(command, &path, found);
            } else {
                found.push(path);
            }
        }
    }

    #[test]
    fn every_command_is_run_against_hostile_files() {
        let mut all = Vec::new();
        commands(&whole(), "", &mut all);
        assert!(all.len() > 60, "{all:?}");
        let lines: Vec<_> = HOSTILE.lines().map(|line| line.trim_start_matches('$')).collect();
        let is_run = |command: &String| {
            lines.iter().any(|line| {
                line.strip_prefix(command.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            })
        };
        let missing: Vec<_> = all.iter().filter(|command| !is_run(command)).collect();
        assert!(missing.is_empty(), "add them to tests/hostile/commands.txt: {missing:?}");
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  overtone dashboard --open           start it if needed, and open the browser with the right to steer
  overtone dashboard --stop           end it
  overtone dashboard --fleet --open   the sessions of all machines of the fleet, beside this machine's own
  overtone dashboard --host 0.0.0.0   for other machines, too; then reading needs the token as well")]
#[allow(clippy::struct_excessive_bools, reason = "flags that exclude each other are the parser's business")]
pub(crate) struct DashboardArgs {
    /// The port, if not the configured one
    #[arg(long)]
    pub(crate) port: Option<u16>,
    /// Open the browser with a link that lets it in, once
    #[arg(long)]
    pub(crate) open: bool,
    /// Run here until Ctrl-C, not in the background
    #[arg(long, conflicts_with = "stop")]
    pub(crate) foreground: bool,
    /// End the dashboard that runs
    #[arg(long, conflicts_with_all = ["open", "port"])]
    pub(crate) stop: bool,
    /// Print the token that programs need, and nothing else
    #[arg(long, conflicts_with_all = ["open", "stop", "foreground"])]
    pub(crate) token: bool,
    /// Show every machine of the fleet: a dashboard of its own, which runs beside this machine's
    #[arg(long)]
    pub(crate) fleet: bool,
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) host: std::net::IpAddr,
    /// A name under which other machines ask for it
    #[arg(long = "host-name", value_name = "NAME")]
    pub(crate) host_names: Vec<String>,
    /// As the hooks start it: quiet, and gone when nobody needs it
    #[arg(long, hide = true)]
    pub(crate) serve: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
