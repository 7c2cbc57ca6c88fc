//! `overtone status`: the state of the workflow. A skill embeds the output, so "no workflow" is not an error.

mod json;
mod session_status;
mod text;

use overtone_core::engine::commands;
use overtone_core::engine::state::{LoopState, WorkflowState};
use overtone_core::messages::cli as words;

use crate::args::SessionArgs;
use crate::context::Context;
use crate::ui::error::{CommandResult, note};
use crate::ui::out;
pub(super) use json::StatusJson;
pub(super) use session_status::SessionStatus;
pub(super) use text::{add_state, fields, next_line, progress};

pub(crate) const EXAMPLES: &str = "\
Examples:
  overtone status
  overtone status --session 3c4d
  overtone status --json | jq .workflow.currentStage

In a terminal it shows the last session of this folder, even after it has
ended; if there is none, the last session of all. A line on stderr says which
one it is. Exits with 0 if there is no workflow, with 1 if a file is broken.";

pub(crate) fn run(context: &Context, args: &SessionArgs) -> CommandResult {
    let selected = context.session_to_read(args.id.as_deref())?;
    let status =
        selected.as_ref().map(|selected| SessionStatus::load(context, &selected.session)).transpose()?;
    if args.output.json {
        let json = status.as_ref().map(|status| StatusJson::new(context, status));
        return out::json(&json.unwrap_or_default());
    }
    if let Some(selected) = &selected {
        selected.announce(context);
    }
    match status {
        Some(status) if status.workflow.is_some() => {
            if status.was_edited {
                note(&words::state_was_edited(context.lang));
            }
            let fields = fields(context, &status).render(context.palette);
            out::print(&(fields + &next_line(context, &status)))
        }
        _ => out::print(&format!(
            "{}\n{}",
            words::no_workflow(context.lang),
            words::how_to_start(context.lang)
        )),
    }
}

/// The next step, in words for the user; `None` when nothing is left to do.
fn next_step(context: &Context, workflow: &WorkflowState, looping: Option<&LoopState>) -> Option<String> {
    commands::describe_next_step(workflow, looping, &context.settings(), context.lang)
}
