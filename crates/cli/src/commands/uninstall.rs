//! `overtone uninstall`: leaves nothing of Overtone but the sessions, and with `--purge` not even those.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use overtone_install::is_own_plugin;
use overtone_messages::install as words;
use overtone_store::{Home, Ownership};
use serde_json::json;

use super::dashboard;
use super::down::take_out;
use super::up::user_home;
use crate::args::UninstallArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::{out, terminal};

/// How many foreign entries are named.
const NAMED: usize = 3;

pub(crate) fn run(context: &Context, args: &UninstallArgs) -> Done {
    let lang = context.lang;
    let home = context.home()?;
    let root = home.root().display().to_string();
    if args.purge {
        // Before anything is changed.
        check_purge(context, home, args.yes)?;
    }
    take_out(context, home)?;
    // A server that does not end by itself goes when nobody uses it.
    let _ = dashboard::end(home);
    let plugin = home.root().join("plugin");
    if is_own_plugin(&plugin) {
        remove(context, &plugin)?;
    }
    if args.purge {
        purge(context, home)?;
    }
    let told = if args.purge { words::purge_done(lang, &root) } else { words::uninstall_done(lang, &root) };
    if args.output.json {
        out::json(&json!({ "home": root, "purged": args.purge }))
    } else {
        out::print(&told)
    }
}

/// Only a folder that is ours as a whole is deleted.
fn check_purge(context: &Context, home: &Home, is_confirmed: bool) -> Done {
    let lang = context.lang;
    let root = home.root().display().to_string();
    if is_indispensable(home.root()) {
        return Err(
            Failure::new(words::purge_refused(lang, &root)).hint(words::purge_refused_hint(lang, &root))
        );
    }
    let ownership = home.ownership().map_err(|error| Failure::io(lang, home.root(), &error))?;
    match ownership {
        Ownership::Foreign(entries) => {
            let named = entries.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
            let told = if named.is_empty() {
                words::purge_refused(lang, &root)
            } else {
                words::purge_foreign(lang, &root, &named)
            };
            Err(Failure::new(told).hint(words::purge_refused_hint(lang, &root)))
        }
        _ if !is_confirmed => {
            Err(Failure::new(words::purge_needs_yes(lang, &root)).hint(words::purge_needs_yes_hint(lang)))
        }
        Ownership::Missing | Ownership::Marked => Ok(()),
        Ownership::Unmarked
            if terminal::can_ask() && terminal::confirm(&words::purge_unmarked(lang, &root)) =>
        {
            Ok(())
        }
        Ownership::Unmarked => {
            Err(Failure::new(words::purge_refused(lang, &root)).hint(words::purge_unmarked_hint(lang)))
        }
    }
}

/// The user's own folder, or one around it. Links are seen through.
fn is_indispensable(root: &Path) -> bool {
    let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
    let root = real(root.to_owned());
    root.parent().is_none() || real(user_home()).starts_with(&root)
}

/// What was looked at may have changed since: what is foreign now stays.
fn purge(context: &Context, home: &Home) -> Done {
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
        Err(error) => Err(Failure::io(context.lang, home.root(), &error)),
    }
}

fn remove(context: &Context, dir: &Path) -> Done {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::io(context.lang, dir, &error)),
        _ => Ok(()),
    }
}
