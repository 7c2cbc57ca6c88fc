//! The command line's way to the same driver: read, decide, apply, under the session's lock.

use std::error::Error;
use std::path::Path;

use overtone_engine::{Outcome, Snapshot};
use overtone_store::specs::{Shelf, Specs};
use overtone_store::{Home, Session, clock};

use crate::apply::{self, Documents, Scene};

/// Whether the state documents are continued or begun anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Documented {
    /// Unknown fields are kept.
    Continued,
    /// A new workflow starts with a new file.
    Anew,
}

/// Lets `decide` change a session. Nothing is written when it refuses.
pub fn act<R: Error + 'static>(
    home: &Home,
    session: &Session,
    project: Option<&Path>,
    documented: Documented,
    decide: impl FnOnce(&Snapshot) -> Result<Outcome, R>,
) -> Result<Vec<String>, Box<dyn Error>> {
    session.create()?;
    let lock = session.lock()?;
    let mut documents = Documents { workflow: session.workflow()?, looping: session.looping()? };
    let snapshot = Snapshot {
        workflow: documents.workflow.as_ref().map(|doc| doc.state.clone()),
        looping: documents.looping.as_ref().map(|doc| doc.state.clone()),
    };
    let outcome = decide(&snapshot)?;
    if documented == Documented::Anew {
        documents = Documents::default();
    }
    let scene = Scene {
        home,
        session,
        has_folder: true,
        project,
        env_file: None,
        learning: false,
        now: clock::now(),
    };
    apply::around(&scene, documents, &outcome.effects, Some(lock), || Ok(()))
}

/// Moves a session's feature along with it: a paused session's waits on its own shelf, and comes back with it. One that
/// is elsewhere stays there.
pub fn shift_feature(session: &Session, from: Shelf, to: Shelf) -> Result<(), String> {
    let Some((specs, feature)) = feature_on(session, from) else { return Ok(()) };
    specs.shift(&feature, to).map(|_| ()).map_err(|error| error.to_string())
}

fn feature_on(session: &Session, shelf: Shelf) -> Option<(Specs, String)> {
    let feature = session.workflow().ok()??.state.feature_name?;
    let specs = Specs::new(session.origin().project?);
    let is_there = specs.find(&feature).ok()??.shelf == shelf;
    is_there.then_some((specs, feature))
}
