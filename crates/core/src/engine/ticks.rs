//! Notices tasks that are ticked while no agent of a stage is at work. The file belongs to the user, so nothing is unticked.

use crate::messages::integrity as words;
use crate::registry::WarningReason;

use crate::engine::outcome::Record;
use crate::engine::state::WorkflowState;
use crate::engine::trigger::Facts;

/// Compares the ticked tasks with those of the last time that an agent ended or was delegated. If there are more, the main
/// agent, the reviewer and the user are told, and the record of it is returned. Does nothing while an agent is at work.
pub(crate) fn notice_ticks(workflow: &mut WorkflowState, facts: &Facts) -> Option<Record> {
    if !workflow.active_agents.is_empty() {
        return None;
    }
    let now = ticked_tasks(workflow, facts)?;
    let known = workflow.tasks_ticked.replace(now)?;
    let count = now.checked_sub(known).filter(|count| *count > 0)?;
    let lang = facts.lang;
    workflow.leave_notice(words::ticked_advice(lang, count));
    workflow.add_user_notice(words::ticked(lang, count));
    workflow.add_review_note(words::ticked_remark(lang, count));
    Some(Record::warning(WarningReason::TasksTicked).with("count", count))
}

/// Remembers the ticked tasks when an agent has ended: they are its work.
pub(crate) fn remember_ticks(workflow: &mut WorkflowState, facts: &Facts) {
    workflow.tasks_ticked = ticked_tasks(workflow, facts);
}

/// How many tasks of the workflow's feature are ticked, without those that stand for stages.
fn ticked_tasks(workflow: &WorkflowState, facts: &Facts) -> Option<u32> {
    let feature = facts.own_feature(workflow)?;
    u32::try_from(feature.ticked_work).ok()
}
