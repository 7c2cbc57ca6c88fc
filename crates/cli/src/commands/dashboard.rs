//! `overtone dashboard`: honest about what is not there yet.

use overtone_messages::cli as words;

use crate::context::Context;
use crate::ui::error::Done;
use crate::ui::out;

pub(crate) fn run(context: &Context) -> Done {
    out::print(&words::no_dashboard(context.lang))
}
