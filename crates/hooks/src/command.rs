//! The command line's way to the same driver: read, decide, apply, under the session's lock.

use std::error::Error;
use std::path::Path;

use overtone_engine::{Outcome, Snapshot};
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
