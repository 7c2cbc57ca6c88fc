//! `overtone validate`: checks a plugin folder.

use std::env;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use overtone_claude::plugin::Problem;
use overtone_core::messages::cli as words;
use serde::Serialize;

use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::out;

const EXAMPLES: &str = "\
Examples:
  overtone validate
  overtone validate --plugin plugins/overtone";

/// Check a plugin folder for errors that Claude Code would silently ignore
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ValidateArgs {
    /// The folder [default: `CLAUDE_PLUGIN_ROOT`, else the installed one, else ./plugins/overtone]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    plugin: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(context: &Context, args: &ValidateArgs) -> CommandResult {
    let dir = args.plugin.clone().unwrap_or_else(|| default_dir(context));
    let path = dir.display().to_string();
    if !dir.is_dir() {
        return Err(CommandError::new(words::no_plugin(context.lang, &path))
            .hint(words::no_plugin_hint(context.lang)));
    }
    let problems = overtone_claude::plugin::validate(&dir);
    if args.output.json {
        out::json(&PluginJson::new(&dir, &problems))?;
    } else if problems.is_empty() {
        out::print(&words::plugin_is_good(context.lang, &path))?;
    } else {
        out::print(&render_problems(&problems))?;
    }
    check_result(context, &path, &problems)
}

/// Fails when there is any problem.
pub(super) fn check_result(context: &Context, path: &str, problems: &[Problem]) -> CommandResult {
    match problems.len() {
        0 => Ok(()),
        count => Err(CommandError::new(words::plugin_is_bad(context.lang, count, path))
            .hint(words::plugin_is_bad_hint(context.lang))),
    }
}

fn default_dir(context: &Context) -> PathBuf {
    let root = env::var_os("CLAUDE_PLUGIN_ROOT").filter(|root| !root.is_empty()).map(PathBuf::from);
    let installed = || context.home().ok().map(|home| home.root().join("plugin")).filter(|dir| dir.is_dir());
    root.or_else(installed).unwrap_or_else(|| PathBuf::from("plugins/overtone"))
}

pub(super) fn render_problems(problems: &[Problem]) -> String {
    let lines = problems.iter().map(|p| format!("{}: {}\n  hint: {}", p.path, p.what, p.hint));
    lines.collect::<Vec<_>>().join("\n")
}

/// The output of `overtone validate --json`.
#[derive(Serialize)]
pub(super) struct PluginJson<'a> {
    plugin: &'a Path,
    valid: bool,
    problems: Vec<ProblemJson<'a>>,
}

#[derive(Serialize)]
struct ProblemJson<'a> {
    path: &'a str,
    what: &'a str,
    hint: &'a str,
}

impl<'a> PluginJson<'a> {
    pub(super) fn new(plugin: &'a Path, problems: &'a [Problem]) -> Self {
        let problem = |problem: &'a Problem| ProblemJson {
            path: &problem.path,
            what: &problem.what,
            hint: &problem.hint,
        };
        Self { plugin, valid: problems.is_empty(), problems: problems.iter().map(problem).collect() }
    }
}
