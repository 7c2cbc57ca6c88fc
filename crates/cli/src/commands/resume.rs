//! `overtone resume`: lets a stopped or aborted workflow go on.

use overtone_engine::commands::resume;
use overtone_messages::cli as words;
use overtone_store::clock;

use super::looping::{Lines, change};
use crate::args::SessionArgs;
use crate::context::Context;
use crate::ui::error::Done;

pub(crate) fn run(context: &Context, args: &SessionArgs) -> Done {
    let lang = context.lang;
    let lines = Lines { done: words::resumed(lang), nothing: words::running_already(lang) };
    change(context, args, &lines, |snapshot| {
        resume(snapshot, &context.settings(), context.initiator(snapshot), clock::now())
    })
}
