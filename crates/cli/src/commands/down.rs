//! `overtone down`: takes Overtone out of Claude Code. State and files stay.

use overtone_install::{Client, Record, remove_commands, unlink_program, unregister};
use overtone_messages::install as words;
use overtone_store::Home;
use serde_json::json;

use super::up::{client_place, failure, search_path};
use crate::args::DownArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::out;

pub(crate) fn run(context: &Context, args: &DownArgs) -> Done {
    take_out(context, context.home()?)?;
    if args.output.json {
        out::json(&json!({ "registered": false }))
    } else {
        out::print(&words::down_done(context.lang))
    }
}

/// Undoes what `up` did outside of the home folder.
pub(super) fn take_out(context: &Context, home: &Home) -> Done {
    let binary = home.root().join("plugin/bin/overtone");
    if let Some(link) = Record::load(home).link {
        unlink_program(&link, &binary).map_err(|error| Failure::io(context.lang, &link, &error))?;
    }
    remove_commands(&client_place()).map_err(|(path, error)| Failure::io(context.lang, &path, &error))?;
    let client = Client::find(search_path().as_deref());
    unregister(home, &client_place(), client.as_ref(), &binary).map_err(|error| failure(context.lang, &error))
}
