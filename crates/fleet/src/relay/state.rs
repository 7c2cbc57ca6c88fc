//! Tells what a session has come to: its state, the feature it works on, and its agents' messages where they are shared.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::time::{Duration, Instant};

use async_nats::jetstream::kv::{CreateErrorKind, Operation, UpdateErrorKind};
use bytes::Bytes;
use overtone_engine::Record;
use overtone_registry::EventKind;
use overtone_store::{Session, SessionId, clock, files, timeline};
use overtone_view::{Summary, Supervision, supervised};
use serde_json::{Value, json};

use super::Worker;
use super::track::{Told, Track};
use crate::claims::{self, Insist, Outcome};
use crate::config::Share;
use crate::error::{FleetError, Result};
use crate::link::{Link, MAX_VALUE};
use crate::message::{Claim, Handoff, SessionState};
use crate::names::{feature_claim, handoff_key, session_claim, state_key};
use crate::trust::Kind;
use crate::{repository, share};

/// A session that changes all the time is told of so often.
const SETTLE: Duration = Duration::from_millis(250);

/// Longer messages of agents stay at home.
const MAX_HANDOFF: u64 = 512 * 1024;

impl Worker<'_> {
    /// Says whether it is to be looked at again: it was told of a moment ago.
    pub(super) async fn tell_state(&self, link: &Link, session: &Session, track: &mut Track) -> Result<bool> {
        let state = self.state_of(session);
        let fingerprint = fingerprint(&state);
        if track.state.fingerprint == fingerprint && track.state.revision.is_some() {
            return Ok(false);
        }
        if track.state.at.is_some_and(|at| at.elapsed() < SETTLE) {
            self.look_later(session.id());
            return Ok(false);
        }
        self.tell_handoffs(link, session, &state, track).await?;
        self.claim_feature(link, session, &state, track).await?;
        let key = state_key(&self.machine.id, session.id().as_str());
        let state = SessionState { timeline_bytes: track.place.end, ..state };
        let sealed_at = clock::now().0;
        let sealed = self.keyring.seal(Kind::State, &key, "", &state);
        let revision = put(link, &key, sealed, track.state.revision).await?;
        let fingerprint = if revision.is_some() { fingerprint } else { 0 };
        track.state = Told { fingerprint, revision, at: Some(Instant::now()), sealed_at };
        Ok(revision.is_none())
    }

    fn look_later(&self, id: &SessionId) {
        let (dirty, id) = (self.dirty.clone(), id.clone());
        tokio::spawn(async move {
            tokio::time::sleep(SETTLE).await;
            dirty.mark([id]);
        });
    }

    fn state_of(&self, session: &Session) -> SessionState {
        let summary = Summary::load(session);
        let is_full = self.setup.settings.share == Share::Full;
        let workflow = summary.workflow.as_ref();
        SessionState {
            machine: self.machine.id.clone(),
            machine_name: self.machine().name,
            session: session.id().to_string(),
            files: share::files(self.setup.settings.share, session),
            summary: self.summary(&summary, is_full),
            repository: summary.project().and_then(repository::of),
            feature: workflow.and_then(|workflow| workflow.feature_name.clone()),
            handoffs: if is_full { handoff_names(session) } else { Vec::new() },
            timeline_bytes: 0,
            is_full,
        }
    }

    fn summary(&self, summary: &Summary, is_full: bool) -> Value {
        let supervision = Supervision::load(summary);
        let mut json = supervised(summary, supervision.as_ref(), &self.limits);
        json["machine"] = json!({ "id": self.machine.id, "name": self.machine().name });
        if !is_full {
            json["project"] = json["projectName"].clone();
        }
        json
    }

    /// Before the state that names them.
    async fn tell_handoffs(
        &self,
        link: &Link,
        session: &Session,
        state: &SessionState,
        track: &mut Track,
    ) -> Result<()> {
        for name in &state.handoffs {
            let path = session.dir().join("handoffs").join(name);
            let length = fs::symlink_metadata(&path).map_or(0, |about| about.len());
            if length > MAX_HANDOFF || track.handoffs.get(name) == Some(&length) {
                continue;
            }
            // Something else in its place (a link, a pipe) holds up nothing.
            let Ok(Some(text)) = files::read_small(&path) else { continue };
            let key = handoff_key(session.id().as_str(), name);
            let sealed = self.keyring.seal(Kind::Handoff, &key, "", &Handoff { text });
            // As JSON it has grown.
            if sealed.len() <= MAX_VALUE {
                let put = link.handoffs.put(&key, sealed).await;
                put.map_err(|error| FleetError::server("share an agent's message", error))?;
            }
            track.handoffs.insert(name.clone(), length);
        }
        Ok(())
    }

    /// While a session works on a feature, the feature is its. Whoever was first keeps it; the other one is told.
    async fn claim_feature(
        &self,
        link: &Link,
        session: &Session,
        state: &SessionState,
        track: &mut Track,
    ) -> Result<()> {
        let is_at_work = state.summary["state"] == "running";
        let names = state.repository.as_ref().zip(state.feature.as_ref()).filter(|_| is_at_work);
        let wanted = names.map(|(repository, feature)| feature_claim(repository, feature));
        let ours = Claim::by(&self.machine(), Some(session.id().as_str()));
        if track.feature == wanted {
            return Ok(());
        }
        if let Some(old) = track.feature.take() {
            claims::release(link, &old, &ours).await?;
        }
        if let Some(key) = wanted {
            let outcome = claims::claim(link, &key, ours, Insist::IfGone, 0).await?;
            if let Outcome::Theirs(other) = &outcome
                && other.machine != self.machine.id
            {
                warn_of_other(session, &other.name);
            }
            track.feature = Some(key);
        }
        Ok(())
    }

    /// A session that was deleted here is no longer shown, and nobody's.
    pub(super) async fn withdraw(&self, link: &Link, id: &SessionId, track: Option<Track>) -> Result<()> {
        let Some(track) = track.filter(|track| track.is_ours) else { return Ok(()) };
        let key = state_key(&self.machine.id, id.as_str());
        let gone = link.sessions.delete(&key).await;
        gone.map_err(|error| FleetError::server("withdraw a session", error))?;
        let claim = session_claim(id.as_str());
        claims::release(link, &claim, &Claim::by(&self.machine(), None)).await?;
        self.record.forget_claim(&claim);
        match track.feature {
            Some(key) => claims::release(link, &key, &Claim::by(&self.machine(), Some(id.as_str()))).await,
            None => Ok(()),
        }
    }
}

/// Into the timeline: two machines work on the same thing. The work itself is not stopped.
fn warn_of_other(session: &Session, name: &str) {
    let record = Record::new(EventKind::SystemWarning).with("reason", "feature-taken").with("by", name);
    let Ok(_lock) = session.lock() else { return };
    if let Err(error) = timeline::append(&session.timeline_file(), &[&record], clock::now()) {
        eprintln!("[overtone/fleet] {error}");
    }
}

/// Without what changes with every line.
fn fingerprint(state: &SessionState) -> u64 {
    let mut still = state.clone();
    if let Some(fields) = still.summary.as_object_mut() {
        fields.shift_remove("lastActivity");
        fields.shift_remove("bytes");
    }
    let mut hasher = DefaultHasher::new();
    // Our own types have texts for keys and no endless numbers, so this cannot fail.
    serde_json::to_vec(&still).unwrap_or_default().hash(&mut hasher);
    hasher.finish()
}

/// Puts a state in place of the one that is known; `None` if another one is there, which is then to be looked at.
async fn put(link: &Link, key: &str, bytes: Bytes, known: Option<u64>) -> Result<Option<u64>> {
    let failed = |error: &dyn std::fmt::Display| FleetError::server("put a session's state", error);
    let revision = if known.is_some() {
        known
    } else {
        let entry = link.sessions.entry(key).await.map_err(|error| failed(&error))?;
        entry.filter(|entry| entry.operation == Operation::Put).map(|entry| entry.revision)
    };
    match revision {
        Some(revision) => match link.sessions.update(key, bytes, revision).await {
            Ok(revision) => Ok(Some(revision)),
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => Ok(None),
            Err(error) => Err(failed(&error)),
        },
        None => match link.sessions.create(key, bytes).await {
            Ok(revision) => Ok(Some(revision)),
            Err(error) if error.kind() == CreateErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(failed(&error)),
        },
    }
}

fn handoff_names(session: &Session) -> Vec<String> {
    let entries = fs::read_dir(session.dir().join("handoffs")).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let is_text = |name: &String| Path::new(name).extension().is_some_and(|end| end == "md");
    let mut names: Vec<_> = names.filter(|name| !name.starts_with('.') && is_text(name)).collect();
    names.sort_unstable();
    names
}
