//! `overtone checks run`: runs checks now and shows their output as it comes.

use std::path::Path;

use clap::Args;
use overtone_core::engine::describe_receipt;
use overtone_core::engine::text::{duration, printable_lines};
use overtone_core::evidence::{Check, Receipt};
use overtone_core::messages::{checks as words, cli};
use overtone_hook::ansi::Tone;
use overtone_session::evidence::checks::{CheckContext, NeededCheck, run_check};
use overtone_session::view::ReceiptJson;
use overtone_store::{Session, clock};
use serde::Serialize;

use super::session_of_checks;
use crate::args::{OutputArgs, ProjectArgs};
use crate::context::Context;
use crate::project_checks::{ProjectChecks, TrustState};
use crate::ui::error::{CommandError, CommandResult, note};
use crate::ui::nearest::nearest;
use crate::ui::out;

const EXAMPLES: &str = "\
Examples:
  overtone checks run
  overtone checks run lint --json

The receipts are kept in the session of this folder, if there is one, so a stage
that needs the check on the same files does not run it again. Exits with 1 if a
check fails. Inside Claude Code, only trusted checks run.";

/// Run the project's checks now
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RunArgs {
    /// The check to run [default: all]
    #[arg(value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// The output of `overtone checks run --json`.
#[derive(Serialize)]
struct RunJson {
    passed: bool,
    receipts: Vec<ReceiptJson>,
}

pub(super) fn run(context: &Context, args: &RunArgs) -> CommandResult {
    let checks = ProjectChecks::load(context, context.project(args.project.dir.as_deref())?)?;
    let chosen = choose(context, &checks, args.name.as_deref())?;
    if context.environment.is_tool_call && checks.trust_state() != TrustState::Trusted {
        return Err(CommandError::new(words::not_trusted_here(context.lang))
            .hint(words::not_trusted_here_hint(context.lang)));
    }
    let session = session_of_checks(context, None)?;
    let mut receipts = Vec::new();
    for check in chosen {
        let runner = Runner { context, project: &checks.project, session: session.as_ref() };
        receipts.push(runner.run(check, !args.output.json)?);
    }
    let passed = receipts.iter().all(|receipt| receipt.failure().is_none());
    if args.output.json {
        out::json(&RunJson { passed, receipts: receipts.iter().map(ReceiptJson::from).collect() })?;
    }
    if passed { Ok(()) } else { Err(CommandError::silent(1)) }
}

fn choose<'a>(
    context: &Context,
    checks: &'a ProjectChecks,
    name: Option<&str>,
) -> CommandResult<Vec<&'a Check>> {
    let lang = context.lang;
    let all = checks.checks();
    if all.is_empty() {
        return Err(CommandError::new(words::no_checks(lang, &checks.path_text()))
            .hint(words::nothing_to_trust_hint(lang)));
    }
    let Some(name) = name else { return Ok(all.iter().collect()) };
    if let Some(check) = all.iter().find(|check| check.name == name) {
        return Ok(vec![check]);
    }
    let names: Vec<_> = all.iter().map(|check| check.name.as_str()).collect();
    let hint = match nearest(name, names.iter().copied()) {
        Some(near) => cli::did_you_mean(lang, near),
        None => cli::one_of(lang, &names.join(", ")),
    };
    Err(CommandError::new(words::no_such_check(lang, name)).hint(hint))
}

/// Runs checks for the user.
struct Runner<'a> {
    context: &'a Context,
    project: &'a Path,
    session: Option<&'a Session>,
}

impl Runner<'_> {
    fn run(&self, check: &Check, is_shown: bool) -> CommandResult<Receipt> {
        let lang = self.context.lang;
        if is_shown {
            note(&words::running(lang, &check.name, &check.run));
        }
        let needed = NeededCheck { check, stage: None };
        let mut printer = LinePrinter { is_shown, rest: Vec::new() };
        let on_output = move |bytes: &[u8]| printer.print(bytes);
        let receipt = if let Some(session) = self.session {
            let context = CheckContext { session, project: self.project };
            let ran = context.run(needed, on_output);
            ran.map_err(|error| CommandError::store(lang, &error))?.0
        } else {
            let started_at = clock::now();
            run_check(check, self.project, on_output).receipt(needed, started_at, String::new())
        };
        if is_shown {
            let tone = if receipt.failure().is_none() { Tone::Good } else { Tone::Bad };
            let spent = duration(receipt.duration_ms);
            let line = words::ran(lang, &describe_receipt(&receipt, lang), &spent);
            out::print(&self.context.palette.paint(tone, &line))?;
        }
        Ok(receipt)
    }
}

/// Prints output line by line. An incomplete line waits for its end, so that a character is not cut.
struct LinePrinter {
    is_shown: bool,
    rest: Vec<u8>,
}

impl LinePrinter {
    fn print(&mut self, bytes: &[u8]) {
        if !self.is_shown {
            return;
        }
        self.rest.extend_from_slice(bytes);
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else { return };
        let lines: Vec<u8> = self.rest.drain(..=end).collect();
        show(&lines);
    }
}

fn show(lines: &[u8]) {
    // The check goes on if nobody reads its output.
    let _ = out::print(&*printable_lines(&String::from_utf8_lossy(lines)));
}

impl Drop for LinePrinter {
    fn drop(&mut self) {
        if !self.rest.is_empty() {
            show(&self.rest);
        }
    }
}
