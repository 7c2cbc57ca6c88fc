//! What others than the client and Overtone did to a session: forged hook calls, and files that another program changed.
//!
//! Such a call changes nothing, and such a file is not used. The main agent and the user are told once.

use crate::messages::{Lang, integrity as words};
use crate::registry::{Hook, WarningReason, table};

use crate::engine::outcome::{Effect, Outcome, Permission, Record};
use crate::engine::state::WorkflowState;
use crate::engine::trigger::{Facts, Snapshot, Trigger};

table! {
    /// What another program did to a file.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum FileChange {
        Changed("changed"),
        Removed("removed"),
    }

    struct FileChangeRow {
        /// The `change` field of the record.
        pub key: &'static str,
    }

    pub fn from_key(key) -> Option<Self>;
}

/// The file with the state of the workflow.
const WORKFLOW: &str = "workflow.json";

/// Leaves the texts about a `workflow.json` that another program has changed or removed, before the decision: it may deliver
/// them.
pub fn leave_edit_notices(snapshot: &mut Snapshot, change: FileChange, lang: Lang) {
    let Some(workflow) = &mut snapshot.workflow else { return };
    let (notice, text) = match change {
        FileChange::Changed => (words::edited_advice(lang), words::edited(lang)),
        FileChange::Removed => (words::removed_advice(lang), words::removed(lang)),
    };
    workflow.leave_notice(notice);
    workflow.add_user_notice(text);
}

/// Records the change that [`leave_edit_notices`] is about, and has the state of the snapshot stored, if the decision stores
/// no other one.
pub fn record_edit(snapshot: &Snapshot, change: FileChange, outcome: &mut Outcome) {
    let record = Record::warning(WarningReason::StateEdited).with("file", WORKFLOW);
    outcome.effects.insert(0, Effect::Emit(record.with("change", change.key())));
    if outcome.workflow().is_none() {
        outcome.effects.extend(snapshot.workflow.clone().map(Effect::PutWorkflow));
    }
}

/// Has the loop of the snapshot stored, if the decision stores no other one.
pub fn store_loop(snapshot: &Snapshot, outcome: &mut Outcome) {
    if !outcome.effects.iter().any(|effect| matches!(effect, Effect::PutLoop(_))) {
        outcome.effects.extend(snapshot.looping.clone().map(Effect::PutLoop));
    }
}

/// Adds to an outcome that files were changed by another program, and that what it wrote is not used.
pub fn report_edited_files(
    snapshot: &Snapshot,
    files: &[&'static str],
    facts: &Facts,
    outcome: &mut Outcome,
) {
    for file in files {
        let Some(workflow) = outcome.workflow().or(snapshot.workflow.as_ref()) else { return };
        let note = words::file_edited(facts.lang, file);
        // It is said once, as long as the reviewer has not seen it.
        if workflow.review_notes.contains(&note) {
            continue;
        }
        let mut next = workflow.clone();
        next.leave_notice(words::file_edited_advice(facts.lang, file));
        next.add_user_notice(note.clone());
        next.add_review_note(note);
        let record = Record::warning(WarningReason::StateEdited).with("file", *file);
        outcome.effects.insert(0, Effect::Emit(record.with("change", FileChange::Changed.key())));
        outcome.push(Effect::PutWorkflow(next));
    }
}

/// The outcome of a hook call that did not come from the client: nothing but a record and the texts about it. While the user
/// has not seen the text, further calls leave no trace, so that they cannot fill the timeline.
pub fn forged_call(workflow: &WorkflowState, hook: Hook, lang: Lang) -> Outcome {
    let mut outcome = Outcome::default();
    let text = words::forged(lang, hook.name());
    if workflow.user_notices.contains(&text) {
        return outcome;
    }
    let mut next = workflow.clone();
    next.add_user_notice(text);
    if next.is_open() {
        next.leave_notice(words::forged_advice(lang, hook.name()));
    }
    outcome.emit(Record::warning(WarningReason::ForgedHook).with("hook", hook.name()));
    outcome.push(Effect::PutWorkflow(next));
    outcome
}

/// The answer while the state was changed by another program and no copy of ours is left: nothing is delegated, and the user
/// decides.
pub fn untrusted_state(trigger: &Trigger, lang: Lang) -> Outcome {
    let mut outcome = Outcome::default();
    match trigger {
        Trigger::Delegating { .. } | Trigger::ContinuingAgent { .. } | Trigger::AgentDelegating { .. } => {
            outcome.reply.permission = Some(Permission::Deny { reason: words::deny_untrusted(lang) });
            outcome.reply.model_context = Some(words::untrusted_advice(lang));
        }
        Trigger::SessionStarted { .. } | Trigger::Prompted { .. } | Trigger::Stopping { .. } => {
            outcome.reply.system_message = Some(words::untrusted(lang));
        }
        _ => {}
    }
    outcome
}

/// Shows the waiting texts to the user, if the client shows the answer to this event.
pub(crate) fn show_user_notices(snapshot: &Snapshot, trigger: &Trigger, outcome: &mut Outcome) {
    if !is_shown(trigger) {
        return;
    }
    let Some(workflow) = outcome.workflow().or(snapshot.workflow.as_ref()) else { return };
    if workflow.user_notices.is_empty() {
        return;
    }
    let mut next = workflow.clone();
    let mut texts = std::mem::take(&mut next.user_notices);
    texts.extend(outcome.reply.system_message.take());
    outcome.reply.system_message = Some(texts.join("\n"));
    outcome.push(Effect::PutWorkflow(next));
}

/// Whether the client shows a message to the user with its answer to this event. It does so for others too, but not when an
/// agent stops.
const fn is_shown(trigger: &Trigger) -> bool {
    matches!(trigger, Trigger::Prompted { .. } | Trigger::Stopping { .. } | Trigger::AgentReturned { .. })
}
