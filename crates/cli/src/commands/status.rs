//! `overtone status`: where the workflow stands. A skill embeds it, so "no workflow" is an answer, not a failure.

mod next;
mod object;
mod text;
mod view;

use overtone_messages::cli as words;

use crate::args::SessionArgs;
use crate::context::Context;
use crate::ui::error::Done;
use crate::ui::out;
pub(super) use object::object;
pub(super) use text::{add_state, fields, next_line, progress};
pub(super) use view::View;

pub(crate) fn run(context: &Context, args: &SessionArgs) -> Done {
    let chosen = context.session_to_read(args.id.as_deref())?;
    let view = chosen.as_ref().map(|chosen| View::load(context, &chosen.session)).transpose()?;
    if args.output.json {
        return out::json(&object(context, view.as_ref()));
    }
    if let Some(chosen) = &chosen {
        chosen.announce(context);
    }
    match view.filter(|view| view.workflow.is_some()) {
        Some(view) => {
            let fields = fields(context, &view).render(context.palette);
            out::print(&(fields + &next_line(context, &view)))
        }
        None => out::print(&format!(
            "{}\n{}",
            words::no_workflow(context.lang),
            words::how_to_start(context.lang)
        )),
    }
}
