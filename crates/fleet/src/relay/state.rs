//! Publishes the state of a session, the claim of its feature, and its handoffs if texts are shared.

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::time::{Duration, Instant};

use async_nats::jetstream::kv::{CreateErrorKind, Operation, UpdateErrorKind};
use bytes::Bytes;
use overtone_core::engine::Record;
use overtone_core::registry::WarningReason;
use overtone_session::view::{Summary, Supervision, session_json};
use overtone_store::{Session, SessionId, clock, files, timeline};
use serde_json::Value;

use super::Worker;
use super::progress::{PublishedState, SessionProgress};
use crate::claims::{self, ClaimOutcome, TakeOver};
use crate::config::Share;
use crate::error::{FleetError, Result};
use crate::lines::file_length;
use crate::link::{Link, MAX_VALUE_BYTES};
use crate::message::{Claim, Handoff, MachineRef, SessionState};
use crate::names::{feature_claim_key, handoff_key, session_claim_key, state_key};
use crate::trust::Kind;
use crate::{repository, share};

/// The state of a session is published at most this often.
const PUBLISH_INTERVAL: Duration = Duration::from_millis(250);

/// Larger handoffs are not published.
const MAX_HANDOFF_BYTES: u64 = 512 * 1024;

impl Worker<'_> {
    /// Publishes the state if it has changed. Returns whether it has to be tried again, because another state was
    /// stored meanwhile.
    pub(super) async fn publish_state(
        &self,
        link: &Link,
        session: &Session,
        progress: &mut SessionProgress,
    ) -> Result<bool> {
        let state = self.read_state(session);
        let fingerprint = fingerprint(&state);
        if progress.state.fingerprint == fingerprint && progress.state.revision.is_some() {
            return Ok(false);
        }
        if let Some(at) = progress.state.at
            && at.elapsed() < PUBLISH_INTERVAL
        {
            self.schedule_retry(session.id());
            return Ok(false);
        }
        self.publish_handoffs(link, session, &state, progress).await?;
        self.claim_feature(link, session, &state, progress).await?;
        let key = state_key(&self.machine.id, session.id().as_str());
        let state = SessionState { timeline_bytes: progress.position.end, ..state };
        let sealed_at = clock::now().0;
        let sealed = self.keyring.seal(Kind::State, &key, "", &state);
        let revision = put_state(link, &key, sealed, progress.state.revision).await?;
        let fingerprint = if revision.is_some() { fingerprint } else { 0 };
        progress.state = PublishedState { fingerprint, revision, at: Some(Instant::now()), sealed_at };
        Ok(revision.is_none())
    }

    fn schedule_retry(&self, id: &SessionId) {
        let (dirty, id) = (self.dirty.clone(), id.clone());
        tokio::spawn(async move {
            tokio::time::sleep(PUBLISH_INTERVAL).await;
            dirty.mark([id]);
        });
    }

    fn read_state(&self, session: &Session) -> SessionState {
        let summary = Summary::load(session);
        let is_full = self.setup.settings.share == Share::Full;
        let workflow = summary.workflow.as_ref();
        SessionState {
            machine: self.machine.id.clone(),
            machine_name: self.machine().name,
            session: session.id().to_string(),
            files: share::shared_files(self.setup.settings.share, session),
            summary: self.summary(&summary, is_full),
            repository: summary.project().and_then(repository::repository_name),
            feature: workflow.and_then(|workflow| workflow.feature_name.clone()),
            handoffs: if is_full { handoff_names(session) } else { Vec::new() },
            timeline_bytes: 0,
            is_full,
        }
    }

    fn summary(&self, summary: &Summary, is_full: bool) -> Value {
        let supervision = Supervision::load(summary);
        let mut json = session_json(summary, supervision.as_ref(), &self.limits);
        let machine = MachineRef { id: &self.machine.id, name: &self.machine().name };
        json["machine"] = serde_json::to_value(machine).unwrap_or_default();
        if !is_full {
            json["project"] = json["projectName"].clone();
        }
        json
    }

    /// Publishes new handoffs. They come before the state, which lists them.
    async fn publish_handoffs(
        &self,
        link: &Link,
        session: &Session,
        state: &SessionState,
        progress: &mut SessionProgress,
    ) -> Result<()> {
        for name in &state.handoffs {
            let path = session.dir().join("handoffs").join(name);
            let length = file_length(&path);
            if length > MAX_HANDOFF_BYTES || progress.handoffs.get(name) == Some(&length) {
                continue;
            }
            // Links, pipes and unreadable files are skipped.
            let Ok(Some(text)) = files::read_small(&path) else { continue };
            let key = handoff_key(session.id().as_str(), name);
            let sealed = self.keyring.seal(Kind::Handoff, &key, "", &Handoff { text });
            // Escaping as JSON may have made it too large.
            if sealed.len() <= MAX_VALUE_BYTES {
                let put = link.handoffs.put(&key, sealed).await;
                put.map_err(|error| FleetError::server("publish a handoff", error))?;
            }
            progress.handoffs.insert(name.clone(), length);
        }
        Ok(())
    }

    /// Claims the feature of a running session, and releases it afterwards. If another machine has claimed it first, a
    /// warning is added to the timeline.
    async fn claim_feature(
        &self,
        link: &Link,
        session: &Session,
        state: &SessionState,
        progress: &mut SessionProgress,
    ) -> Result<()> {
        let key = match (&state.repository, &state.feature) {
            (Some(repository), Some(feature)) if state.summary["state"] == "running" => {
                Some(feature_claim_key(repository, feature))
            }
            _ => None,
        };
        if progress.feature == key {
            return Ok(());
        }
        let ours = Claim::new(&self.machine(), Some(session.id().as_str()));
        if let Some(old) = progress.feature.take() {
            claims::release(link, &old, &ours).await?;
        }
        if let Some(key) = key {
            let outcome = claims::claim(link, &key, ours, TakeOver::IfOwnerGone, 0).await?;
            if let ClaimOutcome::Theirs(other) = &outcome
                && other.machine != self.machine.id
            {
                record_feature_conflict(session, &other.name);
            }
            progress.feature = Some(key);
        }
        Ok(())
    }

    /// Removes a deleted session from the server, and releases its claims.
    pub(super) async fn withdraw(
        &self,
        link: &Link,
        id: &SessionId,
        progress: Option<SessionProgress>,
    ) -> Result<()> {
        let Some(progress) = progress else { return Ok(()) };
        if !progress.is_ours {
            return Ok(());
        }
        let key = state_key(&self.machine.id, id.as_str());
        let gone = link.sessions.delete(&key).await;
        gone.map_err(|error| FleetError::server("withdraw a session", error))?;
        let claim = session_claim_key(id.as_str());
        claims::release(link, &claim, &Claim::new(&self.machine(), None)).await?;
        self.ledger.forget_claim(&claim);
        match progress.feature {
            Some(key) => claims::release(link, &key, &Claim::new(&self.machine(), Some(id.as_str()))).await,
            None => Ok(()),
        }
    }
}

/// Adds a warning to the timeline that another machine works on the same feature. The work continues.
fn record_feature_conflict(session: &Session, name: &str) {
    let record = Record::warning(WarningReason::FeatureTaken).with("by", name);
    let Ok(_lock) = session.lock() else { return };
    if let Err(error) = timeline::append(&session.timeline_file(), &[&record], clock::now()) {
        eprintln!("[overtone/fleet] {error}");
    }
}

/// A hash of the state, without the fields that change with every line of the timeline.
fn fingerprint(state: &SessionState) -> u64 {
    let mut stable = state.clone();
    if let Some(fields) = stable.summary.as_object_mut() {
        fields.shift_remove("lastActivity");
        fields.shift_remove("bytes");
    }
    let mut hasher = DefaultHasher::new();
    // Types with string keys and finite numbers cannot fail to serialize.
    serde_json::to_vec(&stable).unwrap_or_default().hash(&mut hasher);
    hasher.finish()
}

/// Replaces the stored state, and returns its new revision. `None` if another state was stored meanwhile.
async fn put_state(link: &Link, key: &str, bytes: Bytes, known: Option<u64>) -> Result<Option<u64>> {
    let failed = |error: &dyn std::fmt::Display| FleetError::server("put a session's state", error);
    let revision = match known {
        Some(revision) => Some(revision),
        None => match link.sessions.entry(key).await.map_err(|error| failed(&error))? {
            Some(entry) if entry.operation == Operation::Put => Some(entry.revision),
            _ => None,
        },
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
    let is_text = |name: &String| Path::new(name).extension() == Some(OsStr::new("md"));
    let mut names: Vec<_> = names.filter(|name| !name.starts_with('.') && is_text(name)).collect();
    names.sort_unstable();
    names
}
