//! Moves a session from another machine to this one.
//!
//! The claim is transferred before the files are written. If a pull is interrupted, this machine already owns the
//! session and can pull it again.

use std::fs;
use std::path::{Path, PathBuf};

use overtone_core::engine::commands::{Refusal, take_back};
use overtone_session::hooks::{DocumentMode, update_session};
use overtone_store::files::read_small;
use overtone_store::{AdoptError, Home, SessionId, clock};
use serde::Serialize;
use serde_json::Value;

use crate::claims::{self, ClaimOutcome, TakeOver};
use crate::config::Share;
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::machine::Machine;
use crate::message::{Batch, Claim, Handoff, Handover, SessionState};
use crate::names::{handoff_key, session_claim_key, state_key};
use crate::pulled::write_pulled_claim;
use crate::send::{OrderOutcome, request_handover};
use crate::share;
use crate::snapshot::{fetch_timeline, open_state_with_time};
use crate::trust::Kind;

/// Why a session could not be pulled.
#[derive(Debug, thiserror::Error)]
pub enum PullError {
    #[error("the fleet knows no such session")]
    Unknown,
    #[error("the session is on this machine")]
    AlreadyHere,
    /// Its machine is offline, and a take-over was not requested.
    #[error("{name} is offline")]
    Gone { name: String },
    #[error("{name} refuses: {reason}")]
    Refused { name: String, reason: String },
    /// Its machine is online, but does not answer.
    #[error("{name} does not answer")]
    NoAnswer { name: String },
    /// Another machine took it over at the same time.
    #[error("{name} took the session over first")]
    Lost { name: String },
    /// The server has something older than what the machine handed over.
    #[error("the server does not have what {name} has handed over")]
    Changed { name: String },
    /// The session's folder on this machine cannot be replaced.
    #[error(transparent)]
    Occupied(AdoptError),
    #[error(transparent)]
    Fleet(#[from] FleetError),
}

/// What was pulled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullSummary {
    pub from: String,
    pub events: usize,
    pub handoffs: usize,
    /// Whether texts are included.
    pub is_full: bool,
    /// Whether parts of the timeline are missing, because the server has already dropped them.
    pub is_cut: bool,
    pub feature: Option<String>,
    /// The folder to which the previous session of the same id was moved.
    pub backup: Option<PathBuf>,
}

/// The `session.json` of a session that was pulled: its transcript is on the other machine.
#[derive(Serialize)]
struct LocalOrigin<'a> {
    project: &'a Path,
}

/// A request to pull a session.
#[derive(Debug)]
pub struct Pull<'a> {
    pub home: &'a Home,
    pub machine: &'a Machine,
    pub session: &'a SessionId,
    /// The project in which the work continues.
    pub project: &'a Path,
    /// The name of the user on this machine.
    pub user: &'a str,
    /// Also take the session from a machine that is offline.
    pub take_over: bool,
}

impl Pull<'_> {
    pub async fn run(&self, link: &Link) -> std::result::Result<PullSummary, PullError> {
        let key = session_claim_key(self.session.as_str());
        let owner = claims::find_claim(link, &key).await?.ok_or(PullError::Unknown)?.claim;
        // After an interrupted pull the claim is already ours, and the files are still those of the previous owner.
        let (source, handover) = if owner.machine == self.machine.id {
            (owner.taken_from.clone().ok_or(PullError::AlreadyHere)?, None)
        } else {
            let handover = self.acquire(link, &owner).await?;
            (owner.machine.clone(), handover)
        };
        let (state, at) = fetch_state(link, &source, self.session).await?.ok_or(PullError::Unknown)?;
        let batches = fetch_timeline(link, &source, self.session.as_str()).await?;
        if let Some(handover) = handover
            && !is_complete(&handover, at, &batches)
        {
            return Err(PullError::Changed { name: state.machine_name });
        }
        let mut pulled = PullSummary {
            from: state.machine_name.clone(),
            events: batches.iter().map(|batch| batch.lines.len()).sum(),
            handoffs: state.handoffs.len(),
            is_full: state.is_full,
            is_cut: has_gap(&batches),
            feature: state.feature.clone(),
            backup: None,
        };
        let claim = claims::find_claim(link, &key).await?.map(|stored| stored.claim);
        let claim = claim.filter(|claim| claim.machine == self.machine.id);
        pulled.backup = self.install(link, &state, &batches, claim.as_ref()).await?;
        Ok(pulled)
    }

    /// Makes this machine the owner: asks the current owner, or takes over from one that is offline.
    async fn acquire(&self, link: &Link, owner: &Claim) -> std::result::Result<Option<Handover>, PullError> {
        let name = || owner.name.clone();
        let (reply, handover) =
            request_handover(link, &owner.machine, self.session.as_str(), self.user).await?;
        match reply {
            OrderOutcome::Done => Ok(handover),
            OrderOutcome::Refused(reason) => Err(PullError::Refused { name: name(), reason }),
            OrderOutcome::Gone if self.take_over => self.take_over_claim(link).await.map(|()| None),
            OrderOutcome::Gone => Err(PullError::Gone { name: name() }),
            OrderOutcome::Withdrawn | OrderOutcome::Unknown => Err(PullError::NoAnswer { name: name() }),
        }
    }

    async fn take_over_claim(&self, link: &Link) -> std::result::Result<(), PullError> {
        let key = session_claim_key(self.session.as_str());
        match claims::claim(link, &key, Claim::new(self.machine, None), TakeOver::IfOwnerGone, 0).await? {
            ClaimOutcome::Ours { .. } => Ok(()),
            ClaimOutcome::Theirs(other) | ClaimOutcome::Orphaned(other) => {
                Err(PullError::Lost { name: other.name })
            }
        }
    }

    /// Writes the session's files. Returns the folder to which a previous session of the same id was moved.
    async fn install(
        &self,
        link: &Link,
        state: &SessionState,
        batches: &[Batch],
        claim: Option<&Claim>,
    ) -> std::result::Result<Option<PathBuf>, PullError> {
        let mut files = self.state_files(state);
        let lines = batches.iter().flat_map(|batch| &batch.lines).map(|line| single_line(line));
        let lines = self.with_own_texts(lines.collect());
        if !lines.is_empty() {
            files.push(("timeline.jsonl".to_owned(), (lines.join("\n") + "\n").into_bytes()));
        }
        for name in &state.handoffs {
            let text = self.fetch_handoff(link, name).await?;
            files.extend(text.map(|text| (format!("handoffs/{name}"), text.into_bytes())));
        }
        self.add_own_files(&mut files);
        let backup = self.home.adopt(self.session, &files).map_err(PullError::Occupied)?;
        if let Some(claim) = claim {
            // Before the session is active here again.
            let written = write_pulled_claim(&self.home.session(self.session), claim);
            written.map_err(|error| PullError::Occupied(AdoptError::from(error)))?;
        }
        self.mark_returned()?;
        Ok(backup)
    }

    /// Replaces redacted lines by the full ones, as far as this machine has them from an earlier time.
    fn with_own_texts(&self, mut lines: Vec<String>) -> Vec<String> {
        let own = read_small(&self.home.session(self.session).timeline_file());
        let own = own.ok().flatten().unwrap_or_default();
        for (line, own) in lines.iter_mut().zip(own.lines()) {
            if *line != own && *line != share::redact_line(Share::State, own) {
                break;
            }
            own.clone_into(line);
        }
        lines
    }

    /// Adds files that were not shared, but that this machine has from an earlier time: handoffs that the workflow
    /// names, and observations.
    fn add_own_files(&self, files: &mut Vec<(String, Vec<u8>)>) {
        let workflow = files.iter().find(|(name, _)| name == "workflow.json").map(|(_, bytes)| bytes.clone());
        let workflow = String::from_utf8(workflow.unwrap_or_default()).unwrap_or_default();
        let folder = self.home.session(self.session).dir().to_owned();
        let entries = fs::read_dir(folder.join("handoffs")).into_iter().flatten().flatten();
        let found = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let found = found.filter(|name| name.strip_suffix(".md").and_then(SessionId::parse).is_some());
        let named =
            found.map(|name| format!("handoffs/{name}")).filter(|name| workflow.contains(name.as_str()));
        for name in named.chain(["observations.jsonl".to_owned()]) {
            if files.iter().any(|(known, _)| *known == name) {
                continue;
            }
            let text = read_small(&folder.join(&name)).ok().flatten();
            files.extend(text.map(|text| (name, text.into_bytes())));
        }
    }

    async fn fetch_handoff(&self, link: &Link, name: &str) -> Result<Option<String>> {
        let key = handoff_key(self.session.as_str(), name);
        let value = link.handoffs.get(&key).await;
        let value = value.map_err(|error| FleetError::server("fetch a handoff", error))?;
        let opened = value.and_then(|value| link.keyring.open::<Handoff>(Kind::Handoff, &key, &value).ok());
        Ok(opened.map(|opened| opened.body.text))
    }

    /// The state files of the other machine, with this machine's project. `movedTo` is set until
    /// [`mark_returned`](Self::mark_returned) clears it.
    fn state_files(&self, state: &SessionState) -> Vec<(String, Vec<u8>)> {
        let mut files = state.files.clone();
        let origin = LocalOrigin { project: self.project };
        files.insert("session.json".to_owned(), serde_json::to_value(origin).unwrap_or_default());
        if let Some(workflow) = files.get_mut("workflow.json").and_then(Value::as_object_mut) {
            workflow.insert("movedTo".to_owned(), state.machine_name.as_str().into());
        }
        files.into_iter().map(|(name, value)| (name, value.to_string().into_bytes())).collect()
    }

    /// Records the move in the timeline, and lets the loop continue.
    fn mark_returned(&self) -> std::result::Result<(), PullError> {
        let session = self.home.session(self.session);
        let done = update_session(self.home, &session, None, DocumentMode::Update, |snapshot| {
            take_back(snapshot, clock::now())
        });
        match done {
            Ok(_) => Ok(()),
            Err(error) if error.downcast_ref::<Refusal>().is_some() => Ok(()),
            Err(error) => Err(FleetError::server("continue the session", error).into()),
        }
    }
}

/// Replaces line breaks, so that each received line stays one line.
fn single_line(line: &str) -> String {
    line.replace(['\n', '\r'], " ")
}

/// Whether lines are missing, at the beginning (because they expired) or anywhere else.
fn has_gap(batches: &[Batch]) -> bool {
    let mut end = 0;
    for batch in batches {
        if batch.offset > end {
            return true;
        }
        end = batch.end;
    }
    false
}

/// Whether the state and the timeline are at least as recent as the hand-over.
fn is_complete(handover: &Handover, state_at: i64, batches: &[Batch]) -> bool {
    let position = match batches.last() {
        Some(last) => (last.generation, last.end),
        None => (0, 0),
    };
    state_at >= handover.at && position >= (handover.generation, handover.end)
}

/// The state that a machine published, and when it was signed.
async fn fetch_state(link: &Link, machine: &str, session: &SessionId) -> Result<Option<(SessionState, i64)>> {
    let key = state_key(machine, session.as_str());
    let value = link.sessions.get(&key).await;
    let value = value.map_err(|error| FleetError::server("fetch the session", error))?;
    let Some(bytes) = value else { return Ok(None) };
    match open_state_with_time(&link.keyring, &key, &bytes) {
        Ok(state) => Ok(Some(state)),
        Err(error) => Err(FleetError::server("read the session", format!("{error:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(offset: u64, end: u64) -> Batch {
        Batch { generation: 0, offset, end, lines: Vec::new() }
    }

    #[test]
    fn a_gap_anywhere_is_detected() {
        assert!(!has_gap(&[]) && !has_gap(&[batch(0, 5), batch(5, 9)]));
        assert!(has_gap(&[batch(3, 5)]) && has_gap(&[batch(0, 5), batch(7, 9)]));
    }

    #[test]
    fn a_state_older_than_the_handover_is_incomplete() {
        let handover = Handover { at: 7, generation: 0, end: 9 };
        assert!(is_complete(&handover, 7, &[batch(0, 9)]) && is_complete(&handover, 8, &[batch(0, 12)]));
        assert!(!is_complete(&handover, 6, &[batch(0, 9)]) && !is_complete(&handover, 7, &[batch(0, 5)]));
        assert!(!is_complete(&handover, 7, &[]));
    }
}
