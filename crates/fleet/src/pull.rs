//! Brings a session from another machine to this one, so that the work goes on here.
//!
//! It is ours first, and then it is put in its place: whoever ends half-way owns it already and can pull again.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use overtone_engine::commands::{Refusal, come_back};
use overtone_hooks::{Documented, act};
use overtone_store::files::read_small;
use overtone_store::{AdoptError, Home, SessionId, clock};
use serde_json::{Map, Value, json};

use crate::claims::{self, Insist, Outcome};
use crate::config::Share;
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::machine::Machine;
use crate::message::{Batch, Claim, Handed, Handoff, SessionState};
use crate::names::{handoff_key, session_claim, state_key};
use crate::picture::{open_state_of, timeline};
use crate::send::{Reply, ask_for};
use crate::share;
use crate::trust::Kind;

/// Why a session stays where it is.
#[derive(Debug)]
pub enum NotPulled {
    /// The fleet does not know it.
    Unknown,
    /// It is here already.
    Here,
    /// Its machine is gone, and nobody has said that it should be taken over.
    Gone {
        name: String,
    },
    /// Its machine says no.
    Refused {
        name: String,
        reason: String,
    },
    /// Its machine is there but does not answer.
    NoAnswer {
        name: String,
    },
    /// Another machine was faster.
    Lost {
        name: String,
    },
    /// What is on the server is not what its machine has handed over.
    Changed {
        name: String,
    },
    /// This machine has a session of the same number that is at work.
    Occupied(AdoptError),
    Fleet(FleetError),
}

impl fmt::Display for NotPulled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("the fleet knows no such session"),
            Self::Here => f.write_str("the session is on this machine"),
            Self::Gone { name } => write!(f, "{name} is gone"),
            Self::Refused { name, reason } => write!(f, "{name} refuses: {reason}"),
            Self::NoAnswer { name } => write!(f, "{name} does not answer"),
            Self::Lost { name } => write!(f, "{name} was faster"),
            Self::Changed { name } => write!(f, "the server does not have what {name} has handed over"),
            Self::Occupied(error) => error.fmt(f),
            Self::Fleet(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NotPulled {}

impl From<FleetError> for NotPulled {
    fn from(error: FleetError) -> Self {
        Self::Fleet(error)
    }
}

/// What has come here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pulled {
    pub from: String,
    pub events: usize,
    pub handoffs: usize,
    /// Whether its texts came, too.
    pub is_full: bool,
    /// The first part of its timeline is no longer kept anywhere but there.
    pub is_cut: bool,
    pub feature: Option<String>,
    /// Where the session that was here before is kept.
    pub kept: Option<PathBuf>,
}

/// How to pull.
#[derive(Debug)]
pub struct Pull<'a> {
    pub home: &'a Home,
    pub machine: &'a Machine,
    pub session: &'a SessionId,
    /// Where the work goes on.
    pub project: &'a Path,
    /// Who asks, on this machine.
    pub user: &'a str,
    /// Also from a machine that is gone.
    pub take_over: bool,
}

impl Pull<'_> {
    pub async fn run(&self, link: &Link) -> std::result::Result<Pulled, NotPulled> {
        let key = session_claim(self.session.as_str());
        let standing = claims::look(link, &key).await?.ok_or(NotPulled::Unknown)?;
        let owner = standing.claim;
        // One that was left half-way is fetched from where it was.
        let (source, handed) = if owner.machine == self.machine.id {
            (owner.taken_from.clone().ok_or(NotPulled::Here)?, None)
        } else {
            let handed = self.get_hold_of(link, &owner).await?;
            (owner.machine.clone(), handed)
        };
        let (state, at) = state_of(link, &source, self.session).await?.ok_or(NotPulled::Unknown)?;
        let batches = timeline(link, &source, self.session.as_str()).await?;
        if handed.is_some_and(|handed| !is_all_of(&handed, at, &batches)) {
            return Err(NotPulled::Changed { name: state.machine_name });
        }
        let mut pulled = Pulled {
            from: state.machine_name.clone(),
            events: batches.iter().map(|batch| batch.lines.len()).sum(),
            handoffs: state.handoffs.len(),
            is_full: state.is_full,
            is_cut: has_gap(&batches),
            feature: state.feature.clone(),
            kept: None,
        };
        pulled.kept = self.put_in_place(link, &state, &batches).await?;
        Ok(pulled)
    }

    /// From a machine that is there by asking it; from one that is gone by saying so.
    async fn get_hold_of(
        &self,
        link: &Link,
        owner: &Claim,
    ) -> std::result::Result<Option<Handed>, NotPulled> {
        let name = || owner.name.clone();
        let (reply, handed) = ask_for(link, &owner.machine, self.session.as_str(), self.user).await?;
        match reply {
            Reply::Done => Ok(handed),
            Reply::Refused(reason) => Err(NotPulled::Refused { name: name(), reason }),
            Reply::Gone if self.take_over => self.take(link).await.map(|()| None),
            Reply::Gone => Err(NotPulled::Gone { name: name() }),
            Reply::Withdrawn | Reply::Unknown => Err(NotPulled::NoAnswer { name: name() }),
        }
    }

    async fn take(&self, link: &Link) -> std::result::Result<(), NotPulled> {
        let key = session_claim(self.session.as_str());
        match claims::claim(link, &key, Claim::by(self.machine, None), Insist::IfGone, 0).await? {
            Outcome::Ours { .. } => Ok(()),
            Outcome::Theirs(other) | Outcome::Orphaned(other) => Err(NotPulled::Lost { name: other.name }),
        }
    }

    /// Returns where the session that was here before is kept.
    async fn put_in_place(
        &self,
        link: &Link,
        state: &SessionState,
        batches: &[Batch],
    ) -> std::result::Result<Option<PathBuf>, NotPulled> {
        let mut files = self.state_files(state);
        let lines = batches.iter().flat_map(|batch| &batch.lines).map(|line| one_line(line));
        let lines = self.with_own_texts(lines.collect());
        if !lines.is_empty() {
            files.push(("timeline.jsonl".to_owned(), (lines.join("\n") + "\n").into_bytes()));
        }
        for name in &state.handoffs {
            let text = self.handoff(link, name).await?;
            files.extend(text.map(|text| (format!("handoffs/{name}"), text.into_bytes())));
        }
        self.add_own_files(&mut files);
        let kept = self.home.adopt(self.session, &files).map_err(NotPulled::Occupied)?;
        self.come_back()?;
        Ok(kept)
    }

    /// Texts that were not shared but are known here, from the time when the session was here.
    fn with_own_texts(&self, mut lines: Vec<String>) -> Vec<String> {
        let own = read_small(&self.home.session(self.session).timeline_file());
        let own = own.ok().flatten().unwrap_or_default();
        for (line, own) in lines.iter_mut().zip(own.lines()) {
            if *line != own && *line != share::line(Share::State, own) {
                break;
            }
            own.clone_into(line);
        }
        lines
    }

    /// What was not shared but is here, from the time when the session was here: agents' messages that the workflow
    /// names, and what was observed.
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

    async fn handoff(&self, link: &Link, name: &str) -> Result<Option<String>> {
        let key = handoff_key(self.session.as_str(), name);
        let value = link.handoffs.get(&key).await;
        let value = value.map_err(|error| FleetError::server("fetch an agent's message", error))?;
        let opened = value.and_then(|value| link.keyring.open::<Handoff>(Kind::Handoff, &key, &value).ok());
        Ok(opened.map(|opened| opened.body.text))
    }

    /// As they are there, but at home here, and with the name of where they come from.
    fn state_files(&self, state: &SessionState) -> Vec<(String, Vec<u8>)> {
        let mut files = state.files.clone();
        let origin: Map<String, Value> = [("project".to_owned(), json!(self.project))].into_iter().collect();
        files.insert("session.json".to_owned(), Value::Object(origin));
        if let Some(workflow) = files.get_mut("workflow.json").and_then(Value::as_object_mut) {
            workflow.insert("movedTo".to_owned(), json!(state.machine_name));
        }
        files.into_iter().map(|(name, value)| (name, value.to_string().into_bytes())).collect()
    }

    /// Into the timeline, with where it comes from; and the loop goes on.
    fn come_back(&self) -> std::result::Result<(), NotPulled> {
        let session = self.home.session(self.session);
        let done = act(self.home, &session, None, Documented::Continued, |snapshot| {
            come_back(snapshot, clock::now())
        });
        match done {
            Ok(_) => Ok(()),
            Err(error) if error.downcast_ref::<Refusal>().is_some() => Ok(()),
            Err(error) => Err(FleetError::server("let the session go on", error).into()),
        }
    }
}

/// Each line stays one, whatever somebody has put into it.
fn one_line(line: &str) -> String {
    line.replace(['\n', '\r'], " ")
}

/// Whether lines are missing: at the beginning because they have expired, or anywhere else.
fn has_gap(batches: &[Batch]) -> bool {
    let mut end = 0;
    batches.iter().any(|batch| {
        let is_gap = batch.offset > end;
        end = batch.end;
        is_gap
    })
}

/// Whether the state and the timeline are as far as their machine says.
fn is_all_of(handed: &Handed, state_at: i64, batches: &[Batch]) -> bool {
    let place = batches.last().map_or((0, 0), |last| (last.generation, last.end));
    state_at >= handed.at && place >= (handed.generation, handed.end)
}

/// The state that a machine has signed, and when.
async fn state_of(link: &Link, machine: &str, session: &SessionId) -> Result<Option<(SessionState, i64)>> {
    let key = state_key(machine, session.as_str());
    let value = link.sessions.get(&key).await;
    let value = value.map_err(|error| FleetError::server("fetch the session", error))?;
    match value.map(|bytes| open_state_of(&link.keyring, &key, &bytes)).transpose() {
        Ok(state) => Ok(state),
        Err(foreign) => Err(FleetError::server("understand the session", format!("{foreign:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(offset: u64, end: u64) -> Batch {
        Batch { generation: 0, offset, end, lines: Vec::new() }
    }

    #[test]
    fn a_gap_anywhere_is_seen() {
        assert!(!has_gap(&[]) && !has_gap(&[batch(0, 5), batch(5, 9)]));
        assert!(has_gap(&[batch(3, 5)]) && has_gap(&[batch(0, 5), batch(7, 9)]));
    }

    #[test]
    fn something_older_than_what_was_handed_over_is_not_taken() {
        let handed = Handed { at: 7, generation: 0, end: 9 };
        assert!(is_all_of(&handed, 7, &[batch(0, 9)]) && is_all_of(&handed, 8, &[batch(0, 12)]));
        assert!(!is_all_of(&handed, 6, &[batch(0, 9)]) && !is_all_of(&handed, 7, &[batch(0, 5)]));
        assert!(!is_all_of(&handed, 7, &[]));
    }
}
