//! `overtone uninstall`: removes Overtone but keeps the sessions, unless `--purge` is given.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use overtone_claude::install::is_own_plugin;
use overtone_core::messages::install as words;
use overtone_store::{Home, Ownership};
use serde::Serialize;

use super::dashboard;
use super::down::remove_from_client;
use super::up::user_home;
use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::{out, terminal};

const EXAMPLES: &str = "\
Examples:
  overtone uninstall                  sessions and configuration stay in ~/.overtone
  overtone uninstall --purge --yes    everything is deleted

--purge deletes only a folder that Overtone created and that contains nothing else.";

/// Remove Overtone and its files, and restore your Claude Code settings
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UninstallArgs {
    /// Also delete sessions, lessons and configuration
    #[arg(long)]
    purge: bool,
    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// The output of `overtone uninstall --json`.
#[derive(Serialize)]
struct UninstallJson<'a> {
    home: &'a str,
    purged: bool,
}

/// How many foreign entries are listed.
const MAX_LISTED: usize = 3;

pub(crate) fn run(context: &Context, args: &UninstallArgs) -> CommandResult {
    let lang = context.lang;
    let home = context.home()?;
    let root = home.root().display().to_string();
    if args.purge {
        // Checked before anything is changed.
        check_purge(context, home, args.yes)?;
    }
    remove_from_client(context, home)?;
    // A server that cannot be stopped ends when it is idle.
    let _ = dashboard::stop_server(home);
    let plugin = home.root().join("plugin");
    if is_own_plugin(&plugin) {
        remove(context, &plugin)?;
    }
    if args.purge {
        purge(context, home)?;
    }
    let message =
        if args.purge { words::purge_done(lang, &root) } else { words::uninstall_done(lang, &root) };
    if args.output.json {
        out::json(&UninstallJson { home: &root, purged: args.purge })
    } else {
        out::print(&message)
    }
}

/// Returns an error unless everything in the folder is ours and the user has confirmed.
fn check_purge(context: &Context, home: &Home, is_confirmed: bool) -> CommandResult {
    let lang = context.lang;
    let root = home.root().display().to_string();
    if contains_user_home(home.root()) {
        return Err(
            CommandError::new(words::purge_refused(lang, &root)).hint(words::purge_refused_hint(lang, &root))
        );
    }
    let ownership = home.ownership().map_err(|error| CommandError::io(lang, home.root(), &error))?;
    match ownership {
        Ownership::Foreign(entries) => {
            let listed = entries.iter().take(MAX_LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
            let message = if listed.is_empty() {
                words::purge_refused(lang, &root)
            } else {
                words::purge_foreign(lang, &root, &listed)
            };
            Err(CommandError::new(message).hint(words::purge_refused_hint(lang, &root)))
        }
        _ if !is_confirmed => {
            Err(CommandError::new(words::purge_needs_yes(lang, &root))
                .hint(words::purge_needs_yes_hint(lang)))
        }
        Ownership::Missing | Ownership::Marked => Ok(()),
        Ownership::Unmarked
            if terminal::can_ask() && terminal::confirm(&words::purge_unmarked(lang, &root)) =>
        {
            Ok(())
        }
        Ownership::Unmarked => {
            Err(CommandError::new(words::purge_refused(lang, &root)).hint(words::purge_unmarked_hint(lang)))
        }
    }
}

/// Whether the folder is the user's home or contains it. Links are resolved.
fn contains_user_home(root: &Path) -> bool {
    let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
    let root = real(root.to_owned());
    root.parent().is_none() || real(user_home()).starts_with(&root)
}

/// Checks again, since the folder may have changed: foreign files stay.
fn purge(context: &Context, home: &Home) -> CommandResult {
    match home.ownership() {
        Ok(Ownership::Marked | Ownership::Unmarked) => {
            let root = home.root().canonicalize().unwrap_or_else(|_| home.root().to_owned());
            remove(context, &root)
        }
        // Its last files went with the plugin.
        Ok(Ownership::Foreign(entries)) if entries.is_empty() => {
            let _ = fs::remove_dir(home.root());
            Ok(())
        }
        Ok(Ownership::Foreign(_) | Ownership::Missing) => Ok(()),
        Err(error) => Err(CommandError::io(context.lang, home.root(), &error)),
    }
}

fn remove(context: &Context, dir: &Path) -> CommandResult {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(CommandError::io(context.lang, dir, &error))
        }
        _ => Ok(()),
    }
}
