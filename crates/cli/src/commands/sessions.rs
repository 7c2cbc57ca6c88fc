//! `overtone sessions`: what is kept, and how it goes away.

mod gc;
mod list;
mod retention;
mod rm;
mod show;
mod summary;

use crate::args::{SessionsAction, SessionsArgs};
use crate::context::Context;
use crate::ui::error::Done;

pub(crate) fn run(context: &Context, args: &SessionsArgs) -> Done {
    let Some(action) = &args.action else { return list::run(context, &args.output) };
    match action {
        SessionsAction::List { output } => list::run(context, output),
        SessionsAction::Show { id, output } => show::run(context, id, output),
        SessionsAction::Rm { ids, yes, output } => rm::run(context, ids, *yes, output),
        SessionsAction::Gc { days, dry_run, output } => gc::run(context, *days, *dry_run, output),
    }
}
