//! `overtone sessions show`: the status of any session and its files.

use overtone_core::messages::cli as words;
use overtone_store::clock;
use serde_json::json;

use super::summary::Summary;
use crate::args::OutputArgs;
use crate::commands::status::{self, SessionStatus};
use crate::context::Context;
use crate::ui::error::CommandResult;
use crate::ui::out;
use crate::ui::quantity::{age, size, timestamp};

pub(super) fn run(context: &Context, id: &str, output: &OutputArgs) -> CommandResult {
    let session = context.existing_session(id)?;
    let current = context.own_sessions()?.contains(session.id());
    let summary = Summary::read(&session, current);
    let session_status = SessionStatus::load(context, &session)?;
    if output.json {
        let mut object = status::to_json(context, Some(&session_status));
        object["dir"] = json!(session.dir());
        object["current"] = json!(current);
        object["lastActivity"] = json!(clock::to_iso(summary.last_activity));
        object["bytes"] = json!(summary.bytes);
        return out::json(&object);
    }
    let lang = context.lang;
    let mut fields = status::fields(context, &session_status);
    let ago = words::ago(lang, &age(session_status.now.since(summary.last_activity)));
    fields.add(words::head_activity(lang), format!("{} · {ago}", timestamp(summary.last_activity)));
    fields.add(words::head_size(lang), size(summary.bytes));
    fields.add(words::label_folder(lang), session.dir().display().to_string());
    out::print(&(fields.render(context.palette) + &status::next_line(context, &session_status)))
}
