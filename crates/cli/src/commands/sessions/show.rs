//! `overtone sessions show`: the status of any session and its files.

use std::path::Path;

use overtone_core::messages::cli as words;
use overtone_store::clock;
use serde::Serialize;

use super::summary::Summary;
use crate::args::OutputArgs;
use crate::commands::status::{self, SessionStatus, StatusJson};
use crate::context::Context;
use crate::ui::error::CommandResult;
use crate::ui::out;
use crate::ui::quantity::{age, size, timestamp};

/// The output of `overtone sessions show --json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionJson<'a> {
    #[serde(flatten)]
    status: StatusJson<'a>,
    dir: &'a Path,
    current: bool,
    last_activity: String,
    bytes: u64,
}

pub(super) fn run(context: &Context, id: &str, output: &OutputArgs) -> CommandResult {
    let session = context.existing_session(id)?;
    let current = context.own_sessions()?.contains(session.id());
    let summary = Summary::read(&session, current);
    let session_status = SessionStatus::load(context, &session)?;
    if output.json {
        return out::json(&SessionJson {
            status: StatusJson::new(context, &session_status),
            dir: session.dir(),
            current,
            last_activity: clock::to_iso(summary.last_activity),
            bytes: summary.bytes,
        });
    }
    let lang = context.lang;
    let mut fields = status::fields(context, &session_status);
    let ago = words::ago(lang, &age(session_status.now.since(summary.last_activity)));
    fields.add(words::head_activity(lang), format!("{} · {ago}", timestamp(summary.last_activity)));
    fields.add(words::head_size(lang), size(summary.bytes));
    fields.add(words::label_folder(lang), session.dir().display().to_string());
    out::print(&(fields.render(context.palette) + &status::next_line(context, &session_status)))
}
