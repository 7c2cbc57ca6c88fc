//! The command line: the list of commands and what several of them share. Each command declares its own arguments.
//!
//! Help is in English and shows examples; every other text is in the user's language.

mod fleet;
mod help;
mod names;

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueHint};

use crate::commands::budget::BudgetArgs;
use crate::commands::checks::ChecksArgs;
use crate::commands::completions::CompletionsArgs;
use crate::commands::config::ConfigArgs;
use crate::commands::cost::CostArgs;
use crate::commands::dashboard::DashboardArgs;
use crate::commands::demo::DemoArgs;
use crate::commands::doctor::DoctorArgs;
use crate::commands::down::DownArgs;
use crate::commands::evidence::EvidenceArgs;
use crate::commands::init::InitArgs;
use crate::commands::instinct::InstinctArgs;
use crate::commands::message::MessageArgs;
use crate::commands::remote::RemoteArgs;
use crate::commands::replay::ReplayArgs;
use crate::commands::resume::ResumeArgs;
use crate::commands::sessions::SessionsArgs;
use crate::commands::specs::SpecsArgs;
use crate::commands::stats::StatsArgs;
use crate::commands::timeline::TimelineArgs;
use crate::commands::top::TopArgs;
use crate::commands::trust::TrustArgs;
use crate::commands::uninstall::UninstallArgs;
use crate::commands::up::UpArgs;
use crate::commands::validate::ValidateArgs;
use crate::commands::{status, stop};
pub(crate) use fleet::{
    AcceptArgs, FleetAction, FleetArgs, FleetSessionArgs, JoinArgs, PullArgs, RelayArgs, RemoveArgs,
    ServerConfigArgs,
};
pub(crate) use names::{Names, categories};

/// Makes Claude Code work like a disciplined development team.
///
/// Each workflow is a series of stages, each delegated to a specialised sub-agent. Hooks enforce the order, record every
/// event and keep the session going until everything is done.
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
    #[command(after_help = status::EXAMPLES)]
    Status(SessionArgs),
    /// Stop the loop of the running workflow; nothing is deleted
    #[command(after_help = stop::EXAMPLES)]
    Stop(SessionArgs),
    Resume(ResumeArgs),
    Message(MessageArgs),
    Checks(ChecksArgs),
    Trust(TrustArgs),
    Evidence(EvidenceArgs),
    Timeline(TimelineArgs),
    Replay(ReplayArgs),
    Stats(StatsArgs),
    Cost(CostArgs),
    Budget(BudgetArgs),
    Sessions(SessionsArgs),
    Specs(SpecsArgs),
    Instinct(InstinctArgs),
    Config(ConfigArgs),
    Validate(ValidateArgs),
    /// Print the status line for Claude Code, from its JSON on stdin
    #[command(after_help = help::STATUSLINE)]
    Statusline,
    /// Print the rows of Claude Code's agent list, from its JSON on stdin
    #[command(after_help = help::SUBAGENT_STATUSLINE)]
    SubagentStatusline,
    Top(TopArgs),
    /// Show and control every session live in the browser
    Dashboard(DashboardArgs),
    Remote(RemoteArgs),
    Fleet(FleetArgs),
    Relay(RelayArgs),
    Completions(CompletionsArgs),
}

/// The parser of the whole command line, `overtone ccc` included.
pub(crate) fn parser() -> clap::Command {
    Cli::command().subcommand(crate::ccc::command())
}

#[derive(Debug, Args)]
pub(crate) struct SessionArgs {
    /// The session's id or its first characters (4 or more) [default: the current session, else the last one of this
    /// folder]
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
    /// The project folder [default: the session's project, else the current folder]
    #[arg(long = "project", value_name = "DIR", value_hint = ValueHint::DirPath, global = true)]
    pub(crate) dir: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        parser().debug_assert();
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
        check(&parser());
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
        commands(&parser(), "", &mut all);
        assert!(all.len() > 60, "{all:?}");
        let lines: Vec<_> = HOSTILE.lines().map(|line| line.trim_start_matches('$')).collect();
        let is_run = |command: &String| {
            lines.iter().any(|line| match line.strip_prefix(command.as_str()) {
                Some(rest) => rest.is_empty() || rest.starts_with(' '),
                None => false,
            })
        };
        let missing: Vec<_> = all.iter().filter(|command| !is_run(command)).collect();
        assert!(missing.is_empty(), "add them to tests/hostile/commands.txt: {missing:?}");
    }
}
