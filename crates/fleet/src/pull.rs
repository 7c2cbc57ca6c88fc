//! Brings a session from another machine to this one, so that the work goes on here.
//!
//! It is ours first, and then it is put in its place: whoever ends half-way owns it already and can pull again.

use std::fmt;
use std::path::Path;

use overtone_engine::commands::{Refusal, come_back};
use overtone_hooks::{Documented, act};
use overtone_store::{AdoptError, Home, SessionId, clock};
use serde_json::{Map, Value, json};

use crate::claims::{self, Insist, Outcome};
use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::machine::Machine;
use crate::message::{Batch, Claim, Deed, SessionState, read};
use crate::names::{handoff_key, session_claim, state_key};
use crate::picture::timeline;
use crate::send::{Reply, send};

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
}

/// How to pull.
#[derive(Debug)]
pub struct Pull<'a> {
    pub home: &'a Home,
    pub machine: &'a Machine,
    pub session: &'a SessionId,
    /// Where the work goes on.
    pub project: &'a Path,
    pub by: &'a str,
    /// Also from a machine that is gone.
    pub take_over: bool,
}

impl Pull<'_> {
    pub async fn run(&self, link: &Link) -> std::result::Result<Pulled, NotPulled> {
        let key = session_claim(self.session.as_str());
        let standing = claims::look(&link.claims, &key).await?.ok_or(NotPulled::Unknown)?;
        let owner = standing.claim;
        // One that was left half-way is fetched from where it was.
        let source = if owner.machine == self.machine.id {
            owner.taken_from.clone().ok_or(NotPulled::Here)?
        } else {
            self.get_hold_of(link, &owner).await?;
            owner.machine.clone()
        };
        let state = state_of(link, &source, self.session).await?.ok_or(NotPulled::Unknown)?;
        let batches = timeline(link, &source, self.session.as_str()).await?;
        let pulled = Pulled {
            from: state.machine_name.clone(),
            events: batches.iter().map(|batch| batch.lines.len()).sum(),
            handoffs: state.handoffs.len(),
            is_full: state.is_full,
            is_cut: batches.first().is_some_and(|batch| batch.offset > 0),
            feature: state.feature.clone(),
        };
        self.put_in_place(link, &state, &batches).await?;
        Ok(pulled)
    }

    /// From a machine that is there by asking it; from one that is gone by saying so.
    async fn get_hold_of(&self, link: &Link, owner: &Claim) -> std::result::Result<(), NotPulled> {
        let name = || owner.name.clone();
        let deed = Deed::HandOver { to: self.machine.id.clone(), to_name: self.machine.name.clone() };
        match send(link, &owner.machine, self.session.as_str(), deed, self.by).await? {
            Reply::Done => Ok(()),
            Reply::Refused(reason) => Err(NotPulled::Refused { name: name(), reason }),
            Reply::Gone if self.take_over => self.take(link).await,
            Reply::Gone => Err(NotPulled::Gone { name: name() }),
            Reply::Withdrawn | Reply::Unknown => Err(NotPulled::NoAnswer { name: name() }),
        }
    }

    async fn take(&self, link: &Link) -> std::result::Result<(), NotPulled> {
        let key = session_claim(self.session.as_str());
        match claims::claim(link, &key, Claim::by(self.machine, None), Insist::IfGone).await? {
            Outcome::Ours { .. } => Ok(()),
            Outcome::Theirs(other) | Outcome::Orphaned(other) => Err(NotPulled::Lost { name: other.name }),
        }
    }

    async fn put_in_place(
        &self,
        link: &Link,
        state: &SessionState,
        batches: &[Batch],
    ) -> std::result::Result<(), NotPulled> {
        let mut files = self.state_files(state);
        let lines: Vec<&str> = batches.iter().flat_map(|batch| &batch.lines).map(String::as_str).collect();
        if !lines.is_empty() {
            files.push(("timeline.jsonl".to_owned(), (lines.join("\n") + "\n").into_bytes()));
        }
        for name in &state.handoffs {
            let text = link.handoffs.get(handoff_key(self.session.as_str(), name)).await;
            let text = text.map_err(|error| FleetError::server("fetch an agent's message", error))?;
            files.extend(text.map(|text| (format!("handoffs/{name}"), text.to_vec())));
        }
        self.home.adopt(self.session, &files).map_err(NotPulled::Occupied)?;
        self.come_back()
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

async fn state_of(link: &Link, machine: &str, session: &SessionId) -> Result<Option<SessionState>> {
    let value = link.sessions.get(state_key(machine, session.as_str())).await;
    let value = value.map_err(|error| FleetError::server("fetch the session", error))?;
    match value.map(|bytes| read::<SessionState>(&bytes)).transpose() {
        Ok(state) => Ok(state),
        Err(foreign) => Err(FleetError::server("understand the session", format!("{foreign:?}"))),
    }
}
