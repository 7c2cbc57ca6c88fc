//! `overtone sessions show`: the status of any session, and what it has on disk.

use overtone_messages::cli as words;
use overtone_store::clock;
use serde_json::json;

use super::summary::Summary;
use crate::args::OutputArgs;
use crate::commands::status::{self, View};
use crate::context::Context;
use crate::ui::error::Done;
use crate::ui::out;
use crate::ui::quantity::{age, moment, size};

pub(super) fn run(context: &Context, id: &str, output: &OutputArgs) -> Done {
    let session = context.existing_session(id)?;
    let current = context.own_sessions()?.contains(session.id());
    let summary = Summary::of(&session, current);
    let view = View::load(context, &session)?;
    if output.json {
        let mut object = status::object(context, Some(&view));
        object["dir"] = json!(session.dir());
        object["current"] = json!(current);
        object["lastActivity"] = json!(clock::to_iso(summary.last_activity));
        object["bytes"] = json!(summary.bytes);
        return out::json(&object);
    }
    let lang = context.lang;
    let mut fields = status::fields(context, &view);
    let ago = words::ago(lang, &age(view.now.since(summary.last_activity)));
    fields.add(words::head_activity(lang), format!("{} · {ago}", moment(summary.last_activity)));
    fields.add(words::head_size(lang), size(summary.bytes));
    fields.add(words::label_folder(lang), session.dir().display().to_string());
    out::print(&(fields.render(context.palette) + &status::next_line(context, &view)))
}
