//! `overtone stop`: lets the session end; the workflow is kept.

use overtone_engine::commands::stop;
use overtone_messages::cli as words;
use overtone_store::clock;

use super::looping::{Lines, change};
use crate::args::SessionArgs;
use crate::context::Context;
use crate::ui::error::Done;

pub(crate) fn run(context: &Context, args: &SessionArgs) -> Done {
    let lang = context.lang;
    let lines = Lines { done: words::stopped(lang), nothing: words::stopped_already(lang) };
    change(context, args, &lines, |snapshot| stop(snapshot, context.initiator(snapshot), clock::now()))
}
