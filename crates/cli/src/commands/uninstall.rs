//! `overtone uninstall`: leaves nothing of Overtone but the sessions, and with `--purge` not even those.

use std::fs;
use std::io;
use std::path::Path;

use overtone_messages::install as words;
use serde_json::json;

use super::dashboard;
use super::down::take_out;
use crate::args::UninstallArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::out;

pub(crate) fn run(context: &Context, args: &UninstallArgs) -> Done {
    let lang = context.lang;
    let home = context.home()?;
    let root = home.root().display().to_string();
    if args.purge && !args.yes {
        return Err(Failure::new(words::purge_needs_yes(lang, &root)).hint(words::purge_needs_yes_hint(lang)));
    }
    take_out(context, home)?;
    // A server that does not end by itself goes when nobody uses it.
    let _ = dashboard::end(home);
    remove(context, &home.root().join("plugin"))?;
    if args.purge {
        remove(context, home.root())?;
    }
    let told = if args.purge { words::purge_done(lang, &root) } else { words::uninstall_done(lang, &root) };
    if args.output.json {
        out::json(&json!({ "home": root, "purged": args.purge }))
    } else {
        out::print(&told)
    }
}

fn remove(context: &Context, dir: &Path) -> Done {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::io(context.lang, dir, &error)),
        _ => Ok(()),
    }
}
