//! `loop.json`. Like in `workflow.json`, fields of other versions survive.
//!
//! A loop that is stopped or paused, or that remembers a question to the user, has a seal: otherwise another program could
//! end the loop or answer for the user. A loop that just runs needs none.

use std::path::Path;

use overtone_core::engine::state::{LoopState, Pause, StoppedBy, Turn};
use serde_json::{Map, Value, json};

use crate::seal::SealKey;
use crate::workflow_doc::{count, iso, time};
use crate::{LoadedWorkflow, Session, StoreError, Transaction};

/// The loop with the document it came from.
#[derive(Debug, Clone, Default)]
pub struct LoopDoc {
    document: Map<String, Value>,
    pub state: LoopState,
    seal: Option<String>,
}

/// The loop of a session.
#[derive(Debug, Default)]
pub struct LoadedLoop {
    pub document: Option<LoopDoc>,
    /// Another program has stopped or paused the loop, or noted a question. The document is without that.
    pub is_edited: bool,
}

const NAME: &str = "loop.json";
const SEAL: &str = "seal";

impl Session {
    /// The loop as far as Overtone wrote it. Like the workflow, it is accepted without a seal if an earlier version wrote it:
    /// then the workflow has none either.
    pub fn load_loop(&self, workflow: &LoadedWorkflow) -> Result<LoadedLoop, StoreError> {
        let Some(mut document) = self.looping()? else { return Ok(LoadedLoop::default()) };
        let is_edited = match (document.sealed_part(), workflow.key) {
            (Some(part), Some(key)) if workflow.is_sealed => {
                let seal = document.seal.as_deref().unwrap_or_default();
                !key.verify(&self.seal_label(NAME), part.as_bytes(), seal.as_bytes())
            }
            _ => false,
        };
        if is_edited {
            let LoopState { iterations, consecutive_errors, started_at, .. } = document.state;
            let running = LoopState { iterations, consecutive_errors, started_at, ..LoopState::default() };
            document = document.with(running);
        }
        Ok(LoadedLoop { document: Some(document), is_edited })
    }
}

impl Transaction {
    /// Prepares the loop, sealed with the key, or with that of the home if none is given.
    pub fn put_loop(
        &mut self,
        session: &Session,
        document: &LoopDoc,
        key: Option<SealKey>,
    ) -> Result<(), StoreError> {
        let path = session.loop_file();
        let Some(part) = document.sealed_part() else { return self.put(path, &document.to_json()?) };
        let key = match key {
            Some(key) => Some(key),
            None => session.seal_key().map_err(|error| StoreError::io(&path, error))?,
        };
        let mut document = document.clone();
        document.seal = key.map(|key| key.sign(&session.seal_label(NAME), part.as_bytes()));
        self.put(path, &document.to_json()?)
    }
}

impl LoopDoc {
    pub fn parse(path: &Path, text: &str) -> Result<Self, StoreError> {
        let mut document: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| StoreError::broken(path, error.to_string()))?;
        let seal = match document.shift_remove(SEAL) {
            Some(Value::String(seal)) => Some(seal),
            _ => None,
        };
        let text = |name: &str| document.get(name).and_then(Value::as_str);
        let flag = |name: &str| document.get(name).and_then(Value::as_bool).unwrap_or(false);
        let state = LoopState {
            iterations: count(&document, "iterations"),
            stopped: flag("stopped"),
            stopped_by: text("stoppedBy").and_then(StoppedBy::from_key),
            consecutive_errors: count(&document, "consecutiveErrors"),
            fingerprint: text("fingerprint").map(str::to_owned),
            announced: flag("announced"),
            paused: text("paused").and_then(Pause::from_key),
            turn: text("turn").and_then(Turn::from_key),
            asked: text("asked").map(str::to_owned),
            prompt_id: text("promptId").map(str::to_owned),
            started_at: time(&document, "startedAt"),
        };
        Ok(Self { document, state, seal })
    }

    /// What the seal is about. `None` if the loop just runs.
    fn sealed_part(&self) -> Option<String> {
        let LoopState { stopped, stopped_by, paused, asked, .. } = &self.state;
        if !*stopped && paused.is_none() && asked.is_none() {
            return None;
        }
        let stopped_by = stopped_by.map(StoppedBy::key).unwrap_or_default();
        let paused = paused.map(Pause::key).unwrap_or_default();
        Some(format!("{stopped} {stopped_by} {paused} {}", asked.as_deref().unwrap_or_default()))
    }

    #[must_use]
    pub fn with(mut self, next: LoopState) -> Self {
        let old = &self.state;
        let document = &mut self.document;
        // A value that reads as none may be one that only another version knows, so it is not overwritten.
        let mut put = |name: &str, differs: bool, value: Value| {
            if differs || !document.contains_key(name) {
                document.insert(name.to_owned(), value);
            }
        };
        put("iterations", old.iterations != next.iterations, json!(next.iterations));
        put("stopped", old.stopped != next.stopped, json!(next.stopped));
        let errors = next.consecutive_errors;
        put("consecutiveErrors", old.consecutive_errors != errors, json!(errors));
        put("stoppedBy", old.stopped_by != next.stopped_by, json!(next.stopped_by.map(StoppedBy::key)));
        put("fingerprint", old.fingerprint != next.fingerprint, json!(next.fingerprint));
        put("announced", old.announced != next.announced, json!(next.announced));
        if old.paused != next.paused {
            put("paused", true, json!(next.paused.map(Pause::key)));
        }
        if old.turn != next.turn {
            put("turn", true, json!(next.turn.map(Turn::key)));
        }
        if old.asked != next.asked {
            put("asked", true, json!(next.asked));
        }
        if old.prompt_id != next.prompt_id {
            put("promptId", true, json!(next.prompt_id));
        }
        if old.started_at != next.started_at {
            put("startedAt", true, iso(next.started_at));
        }
        self.state = next;
        self
    }

    pub fn to_json(&self) -> Result<Vec<u8>, StoreError> {
        let sealed;
        let document = match &self.seal {
            Some(seal) => {
                let mut document = self.document.clone();
                document.insert(SEAL.to_owned(), json!(seal));
                sealed = document;
                &sealed
            }
            None => &self.document,
        };
        let mut bytes = serde_json::to_vec_pretty(document)
            .map_err(|error| StoreError::broken(Path::new("loop.json"), error.to_string()))?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use overtone_core::engine::state::{Millis, WorkflowState};
    use overtone_core::registry::Workflow;

    use super::*;
    use crate::files::{self, PRIVATE};
    use crate::{Home, SessionId, WorkflowDoc};

    struct Fixture {
        _folder: tempfile::TempDir,
        session: Session,
    }

    impl Fixture {
        /// A session whose workflow is sealed, or one that an earlier version wrote.
        fn new(is_sealed: bool) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let session = Home::at(folder.path().to_owned()).session(&SessionId::parse("s").unwrap());
            session.create().unwrap();
            let workflow = WorkflowDoc::new(WorkflowState::new("s", Workflow::Quick, None, Millis(1)));
            if is_sealed {
                let mut transaction = Transaction::default();
                transaction.put_workflow(&session, &workflow, None).unwrap();
                drop(transaction.commit().unwrap());
            } else {
                files::write_atomic(&session.workflow_file(), &workflow.to_json().unwrap(), PRIVATE).unwrap();
            }
            Self { _folder: folder, session }
        }

        fn put(&self, state: LoopState) {
            let mut transaction = Transaction::default();
            transaction.put_loop(&self.session, &LoopDoc::default().with(state), None).unwrap();
            drop(transaction.commit().unwrap());
        }

        fn edit(&self, from: &str, to: &str) {
            let text = files::read_small(&self.session.loop_file()).unwrap().unwrap();
            assert!(text.contains(from), "{text}");
            files::write_atomic(&self.session.loop_file(), text.replace(from, to).as_bytes(), PRIVATE)
                .unwrap();
        }

        /// The loop that counts, and whether it was edited.
        fn loaded(&self) -> (LoopState, bool) {
            let workflow = self.session.load_workflow().unwrap();
            let LoadedLoop { document, is_edited } = self.session.load_loop(&workflow).unwrap();
            (document.unwrap().state, is_edited)
        }
    }

    fn stopped() -> LoopState {
        let mut state = LoopState { iterations: 7, ..LoopState::default() };
        state.stop(StoppedBy::User);
        state
    }

    #[test]
    fn a_loop_is_stopped_by_overtone_alone() {
        let running = LoopState { iterations: 7, ..LoopState::default() };
        for edit in [
            ("\"stopped\": false", "\"stopped\": true"),
            ("\"iterations\"", "\"paused\": \"interrupted\",\n  \"iterations\""),
            ("\"iterations\"", "\"asked\": \"stop\",\n  \"iterations\""),
            ("\"iterations\"", "\"stopped\": true,\n  \"seal\": \"0\",\n  \"iterations\""),
        ] {
            let fixture = Fixture::new(true);
            fixture.put(running.clone());
            assert_eq!(fixture.loaded(), (running.clone(), false));
            fixture.edit(edit.0, edit.1);
            let (state, _) = fixture.loaded();
            assert!(!state.stopped && state.paused.is_none() && state.asked.is_none(), "{edit:?}");
            assert_eq!(state.iterations, 7);
        }
        let fixture = Fixture::new(true);
        fixture.put(stopped());
        assert_eq!(fixture.loaded(), (stopped(), false));
        fixture.edit("\"user\"", "\"session-end\"");
        assert!(fixture.loaded().1, "who stopped it is part of it");
    }

    #[test]
    fn a_question_is_for_one_command() {
        let fixture = Fixture::new(true);
        fixture.put(LoopState { asked: Some("stop".to_owned()), ..LoopState::default() });
        assert_eq!(fixture.loaded().0.asked.as_deref(), Some("stop"));
        fixture.edit("\"asked\": \"stop\"", "\"asked\": \"trust --yes\"");
        assert_eq!(fixture.loaded().0.asked, None);
    }

    #[test]
    fn a_loop_of_an_earlier_version_is_accepted() {
        let fixture = Fixture::new(false);
        files::write_atomic(&fixture.session.loop_file(), br#"{"stopped":true,"stoppedBy":"user"}"#, PRIVATE)
            .unwrap();
        let (state, is_edited) = fixture.loaded();
        assert!(state.stopped && !is_edited);
    }

    #[test]
    fn stopping_keeps_everything_else() {
        let doc = LoopDoc::parse(Path::new("l"), r#"{"iterations":7,"stopped":false,"custom":"x"}"#).unwrap();
        let mut next = doc.state.clone();
        next.stop(StoppedBy::SessionEnd);
        let written: Value = serde_json::from_slice(&doc.with(next).to_json().unwrap()).unwrap();
        assert_eq!(written["iterations"], 7);
        assert_eq!(written["stopped"], true);
        assert_eq!(written["custom"], "x");
    }
}
