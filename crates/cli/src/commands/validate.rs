//! `overtone validate`: what keeps a plugin folder from working.

use std::env;
use std::path::{Path, PathBuf};

use overtone_messages::cli as words;
use overtone_plugin::Problem;
use serde_json::{Value, json};

use crate::args::ValidateArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::out;

pub(crate) fn run(context: &Context, args: &ValidateArgs) -> Done {
    let dir = args.plugin.clone().unwrap_or_else(|| default_dir(context));
    let path = dir.display().to_string();
    if !dir.is_dir() {
        return Err(
            Failure::new(words::no_plugin(context.lang, &path)).hint(words::no_plugin_hint(context.lang))
        );
    }
    let problems = overtone_plugin::validate(&dir);
    if args.output.json {
        out::json(&object(&dir, &problems))?;
    } else if problems.is_empty() {
        out::print(&words::plugin_is_good(context.lang, &path))?;
    } else {
        out::print(&text(&problems))?;
    }
    verdict(context, &path, &problems)
}

/// Fails when there is any problem.
pub(super) fn verdict(context: &Context, path: &str, problems: &[Problem]) -> Done {
    match problems.len() {
        0 => Ok(()),
        count => Err(Failure::new(words::plugin_is_bad(context.lang, count, path))
            .hint(words::plugin_is_bad_hint(context.lang))),
    }
}

fn default_dir(context: &Context) -> PathBuf {
    let root = env::var_os("CLAUDE_PLUGIN_ROOT").filter(|root| !root.is_empty()).map(PathBuf::from);
    let installed = || context.home().ok().map(|home| home.root().join("plugin")).filter(|dir| dir.is_dir());
    root.or_else(installed).unwrap_or_else(|| PathBuf::from("plugins/overtone"))
}

pub(super) fn text(problems: &[Problem]) -> String {
    let lines = problems.iter().map(|p| format!("{}: {}\n  hint: {}", p.path, p.what, p.hint));
    lines.collect::<Vec<_>>().join("\n")
}

pub(super) fn object(dir: &Path, problems: &[Problem]) -> Value {
    let list: Vec<_> = problems
        .iter()
        .map(|problem| json!({ "path": problem.path, "what": problem.what, "hint": problem.hint }))
        .collect();
    json!({ "plugin": dir, "valid": problems.is_empty(), "problems": list })
}
