//! What comes next, in words for the user. Steps that only the main agent can take are named as it is told them.

use overtone_engine::commands;
use overtone_engine::flow::{Step, next_step};
use overtone_engine::state::{LoopState, WorkflowState};
use overtone_engine::text::{key_list, titled};
use overtone_messages::cli as words;
use overtone_view::Condition;

use crate::context::Context;

/// `None` when nothing is left to do.
pub(super) fn next_words(
    context: &Context,
    workflow: &WorkflowState,
    looping: Option<&LoopState>,
) -> Option<String> {
    let (lang, settings) = (context.lang, context.settings());
    match Condition::new(workflow, looping, &settings) {
        Condition::Completed => return None,
        Condition::Stopped => return Some(words::resume_to_go_on(lang)),
        Condition::SessionEnded => return Some(words::next_reopen(lang, &workflow.session_id)),
        Condition::Moved => return Some(commands::next_words(workflow, &settings, lang)),
        _ => {}
    }
    Some(match next_step(workflow, &settings) {
        Step::Done => words::next_finish(lang),
        Step::Wait(keys) => words::next_wait(lang, &key_list(lang, &keys)),
        Step::AskUser(key) => words::next_decide(lang, &titled(lang, key)),
        Step::Report(key) => words::next_judge(lang, &titled(lang, key)),
        Step::Blocked(key) => words::next_answer(lang, &titled(lang, key)),
        Step::Delegate(_) | Step::Repair(_) | Step::Rework(_) | Step::Again(_) => {
            commands::next_words(workflow, &settings, lang)
        }
    })
}
