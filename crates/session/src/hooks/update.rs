//! Changes a session on behalf of a command instead of a hook. The steps are the same: read, decide, apply, under the
//! session's lock.

use std::error::Error;
use std::path::Path;

use overtone_core::engine::{Outcome, Snapshot};
use overtone_store::specs::{Shelf, Specs};
use overtone_store::{Home, Session, clock};

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
    let mut documents = Documents { workflow: session.workflow()?, looping: session.looping()? };
    let snapshot = documents.snapshot();
    let outcome = decide(&snapshot)?;
    if mode == DocumentMode::Replace {
        documents = Documents::default();
    }
    let context = EffectContext {
        home,
        session,
        has_folder: true,
        project,
        env_file: None,
        learning: false,
        now: clock::now(),
    };
    apply::apply_effects(&context, documents, &outcome.effects, Some(lock), || Ok(()))
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
