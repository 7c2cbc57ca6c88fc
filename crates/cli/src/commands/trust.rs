//! `overtone trust`: the user allows the checks of a project to run. Only the user can: see [`crate::tool_call`].

use std::path::Path;
use std::time::Duration;

use clap::Args;
use overtone_core::evidence::Check;
use overtone_core::messages::checks as words;
use overtone_core::registry::GuardLevel;
use overtone_hook::ansi::{Text, Tone};
use overtone_store::{Trust, clock};
use serde::Serialize;

use crate::args::{OutputArgs, ProjectArgs};
use crate::context::Context;
use crate::project_checks::{ProjectChecks, command_lines, stage_list};
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::table::{Cell, Fields};
use crate::ui::{out, terminal};

const EXAMPLES: &str = "\
Examples:
  overtone trust                shows the checks of this project and asks
  overtone trust --yes          for scripts: allows them without asking
  overtone trust --revoke       they are not run any more

A workflow runs the checks of overtone.toml only after this, so that a repository
cannot run commands on your machine. It is for exactly these definitions in exactly
this folder: after a change you are asked again. A running workflow uses the checks
that overtone.toml had when it started.";

/// Allow workflows to run this project's checks
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TrustArgs {
    /// Do not ask for confirmation
    #[arg(long, conflicts_with = "revoke")]
    yes: bool,
    /// Withdraw the permission
    #[arg(long)]
    revoke: bool,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// The output of `overtone trust --json`.
#[derive(Serialize)]
struct TrustJson<'a> {
    project: &'a Path,
    trusted: bool,
    /// Whether this command has changed it.
    changed: bool,
    checks: Vec<&'a str>,
}

pub(crate) fn run(context: &Context, args: &TrustArgs) -> CommandResult {
    let project = context.project(args.project.dir.as_deref())?;
    if args.revoke {
        return revoke(context, &project, &args.output);
    }
    let checks = ProjectChecks::load(context, project)?;
    checks.warn_about_unknown_keys(context.lang);
    if checks.checks().is_empty() && checks.file.guard.is_none() {
        return Err(CommandError::new(words::nothing_to_trust(context.lang, &checks.path_text()))
            .hint(words::nothing_to_trust_hint(context.lang)));
    }
    let is_trusted = is_trusted_as_it_is(&checks);
    if !is_trusted {
        ask(context, args, &checks)?;
        let now = clock::now();
        Trust::grant(context.home()?, &checks.project, checks.checks(), checks.file.guard, now)
            .map_err(|error| CommandError::store(context.lang, &error))?;
    }
    let (lang, shown) = (context.lang, checks.project.display().to_string());
    if args.output.json {
        return out::json(&to_json(&checks, !is_trusted));
    }
    out::print(&if is_trusted { words::already_trusted(lang, &shown) } else { words::trusted(lang, &shown) })
}

/// Whether the record says exactly what the file says.
fn is_trusted_as_it_is(checks: &ProjectChecks) -> bool {
    match &checks.trust {
        Some(trust) => trust.covers(checks.checks()) && trust.guard == checks.file.guard,
        None => false,
    }
}

/// Shows the checks and asks. Anything but a yes is an error, with nothing changed.
fn ask(context: &Context, args: &TrustArgs, checks: &ProjectChecks) -> CommandResult {
    let lang = context.lang;
    if !args.output.json {
        out::print(&render(context, checks))?;
    }
    if args.yes {
        return Ok(());
    }
    if args.output.json || !terminal::can_ask() {
        return Err(CommandError::new(words::trust_needs_yes(lang)).hint(words::trust_needs_yes_hint(lang)));
    }
    if terminal::confirm(&words::trust_question(lang, &checks.project.display().to_string())) {
        return Ok(());
    }
    out::print(&words::not_trusted(lang))?;
    Err(CommandError::silent(1))
}

fn revoke(context: &Context, project: &Path, output: &OutputArgs) -> CommandResult {
    let (lang, shown) = (context.lang, project.display().to_string());
    let was_trusted =
        Trust::revoke(context.home()?, project).map_err(|error| CommandError::store(context.lang, &error))?;
    if output.json {
        return out::json(&TrustJson { project, trusted: false, changed: was_trusted, checks: Vec::new() });
    }
    out::print(&if was_trusted {
        words::revoked(lang, &shown)
    } else {
        words::nothing_to_revoke(lang, &shown)
    })
}

fn to_json(checks: &ProjectChecks, changed: bool) -> TrustJson<'_> {
    TrustJson {
        project: &checks.project,
        trusted: true,
        changed,
        checks: checks.checks().iter().map(|check| check.name.as_str()).collect(),
    }
}

/// Every command in full, as it would run.
fn render(context: &Context, checks: &ProjectChecks) -> Text {
    let mut fields = Fields::default();
    for check in checks.checks() {
        fields.add_lines(check.name.clone(), lines_of(check));
    }
    if let Some(level) = checks.file.guard {
        fields.add(words::label_guard(context.lang), GuardLevel::name(level));
    }
    fields.render(context.palette)
}

fn lines_of(check: &Check) -> Vec<Cell> {
    let mut lines: Vec<_> =
        command_lines(&check.run).into_iter().map(|line| Cell::new(line).tone(Tone::Strong)).collect();
    lines.push(Cell::new(format!("{} · {}", stage_list(&check.stages), time_limit(check.timeout))));
    lines
}

/// A time limit as it is written in the project's file: `90s`, `10m`, `1h`.
fn time_limit(limit: Duration) -> String {
    match limit.as_secs() {
        seconds if seconds % 3600 == 0 => format!("{}h", seconds / 3600),
        seconds if seconds % 60 == 0 => format!("{}m", seconds / 60),
        seconds => format!("{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_limits_are_shown_as_they_are_written() {
        for (seconds, text) in [(90, "90s"), (600, "10m"), (3600, "1h")] {
            assert_eq!(time_limit(Duration::from_secs(seconds)), text);
        }
    }
}
