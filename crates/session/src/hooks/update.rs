//! Changes a session on behalf of a command instead of a hook. The steps are the same: read, decide, apply, under the
//! session's lock.

use std::error::Error;
use std::path::Path;

use overtone_claude::language_of_process;
use overtone_core::engine::commands;
use overtone_core::engine::integrity::{self, FileChange};
use overtone_core::engine::{Outcome, Snapshot};
use overtone_store::specs::{Shelf, Specs};
use overtone_store::{Edit, Home, LoadedLoop, LoadedWorkflow, Session, clock};

use crate::hooks::apply::{self, Documents, EffectContext};

/// What the new state is written over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentMode {
    /// The existing documents are updated, so that fields of other versions survive.
    Update,
    /// The existing documents are replaced. A new workflow starts with new files.
    Replace,
}

/// Changes a session as `decide` says. Nothing is written when `decide` refuses. Returns what went wrong without
/// undoing the change.
pub fn update_session<R: Error + 'static>(
    home: &Home,
    session: &Session,
    project: Option<&Path>,
    mode: DocumentMode,
    decide: impl FnOnce(&Snapshot) -> Result<Outcome, R>,
) -> Result<Vec<String>, Box<dyn Error>> {
    session.create()?;
    let lock = session.lock()?;
    let workflow = session.load_workflow()?;
    let looping = session.load_loop(&workflow)?;
    let mut documents = Documents::new(workflow, looping);
    let mut snapshot = documents.snapshot();
    if mode == DocumentMode::Replace {
        documents = Documents::default();
    }
    let edit = documents.edit.as_ref().map(file_change);
    if let Some(edit) = edit {
        integrity::leave_edit_notices(&mut snapshot, edit, language_of_process(home));
    }
    let mut outcome = decide(&snapshot)?;
    if let Some(edit) = edit {
        integrity::record_edit(&snapshot, edit, &mut outcome);
    }
    let context = command_context(home, session, project);
    apply::apply_effects(&context, &mut documents, &outcome.effects, Some(lock), || Ok(()))
}

/// Makes the state that another program wrote that of the session. Returns what went wrong without undoing the change, or
/// `None` if no such state waits for a decision.
pub fn accept_edit(home: &Home, session: &Session, by: &str) -> Result<Option<Vec<String>>, Box<dyn Error>> {
    let lock = session.lock()?;
    let Some(edited) = session.edited_workflow()? else { return Ok(None) };
    let outcome = commands::accept_edit(&edited.state, by);
    let context = command_context(home, session, None);
    // The loop stays as it is.
    let edited = LoadedWorkflow { document: Some(edited), is_sealed: true, ..LoadedWorkflow::default() };
    let mut documents = Documents::new(edited, LoadedLoop::default());
    let mut warnings =
        apply::apply_effects(&context, &mut documents, &outcome.effects, Some(lock), || Ok(()))?;
    if let Err(error) = session.forget_edit() {
        warnings.push(error.to_string());
    }
    Ok(Some(warnings))
}

fn command_context<'a>(home: &'a Home, session: &'a Session, project: Option<&'a Path>) -> EffectContext<'a> {
    EffectContext {
        home,
        session,
        has_folder: true,
        project,
        env_file: None,
        learning: false,
        now: clock::now(),
        tree: None,
    }
}

pub(crate) fn file_change(edit: &Edit) -> FileChange {
    match edit {
        Edit::Changed(_) => FileChange::Changed,
        Edit::Removed => FileChange::Removed,
    }
}

/// Moves the session's feature from one shelf to another, because a paused session's feature is on the shelf of paused
/// features. Does nothing when the feature is not on `from`.
pub(crate) fn move_feature(session: &Session, from: Shelf, to: Shelf) -> Result<(), String> {
    let Some((specs, feature)) = feature_on_shelf(session, from) else { return Ok(()) };
    match specs.shift(&feature, to) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

fn feature_on_shelf(session: &Session, shelf: Shelf) -> Option<(Specs, String)> {
    let feature = session.workflow().ok()??.state.feature_name?;
    let specs = Specs::new(session.origin().project?);
    if specs.find(&feature).ok()??.shelf == shelf { Some((specs, feature)) } else { None }
}
