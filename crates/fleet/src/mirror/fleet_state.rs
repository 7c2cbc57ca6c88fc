//! The known state of the fleet, in memory: machines, owners of sessions, and features.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Instant;

use crate::link::HEARTBEAT_TTL;
use crate::message::{Claim, MachineInfo, MessageError, SessionState};
use crate::snapshot::MachineView;

/// A feature and the sessions that work on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureWork {
    pub repository: String,
    pub feature: String,
    pub workers: Vec<FeatureWorker>,
}

impl FeatureWork {
    /// Whether more than one machine works on it.
    pub fn is_contested(&self) -> bool {
        self.workers.iter().any(|worker| worker.machine != self.workers[0].machine)
    }
}

/// A session that works on a feature, or a machine that has claimed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureWorker {
    pub machine: String,
    pub name: String,
    pub session: Option<String>,
    pub is_present: bool,
    /// Whether it has claimed the feature. The other workers came later.
    pub has_claim: bool,
}

/// The state of a session that one machine has published.
#[derive(Debug, Clone)]
struct PublishedState {
    revision: u64,
    machine_name: String,
    /// The repository and the feature that it is working on.
    work: Option<(String, String)>,
}

/// Which state of a session the mirror has to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SessionSource {
    /// The one that this machine has published.
    Machine(String),
    /// The current one: the new owner has not published a state yet.
    Unchanged,
    Removed,
}

#[derive(Debug, Default)]
pub(crate) struct FleetState {
    /// When the last heartbeat of each machine was received.
    heartbeats: HashMap<String, Instant>,
    machines: HashMap<String, MachineInfo>,
    owners: HashMap<String, Claim>,
    features: BTreeMap<(String, String), Claim>,
    sessions: HashMap<String, BTreeMap<String, PublishedState>>,
    /// Unreadable entries, by bucket and key.
    unreadable: HashSet<String>,
    newer_version: Option<u32>,
}

impl FleetState {
    pub(super) fn unreadable(&self) -> (usize, Option<u32>) {
        (self.unreadable.len(), self.newer_version)
    }

    pub(super) fn mark_unreadable(&mut self, entry: String, error: &MessageError) {
        self.unreadable.insert(entry);
        if let MessageError::Later(version) = error {
            self.newer_version = self.newer_version.max(Some(*version));
        }
    }

    pub(super) fn mark_readable(&mut self, entry: &str) {
        self.unreadable.remove(entry);
    }

    // Machines.

    pub(super) fn update_machine(&mut self, info: MachineInfo) {
        if let Some(known) = self.machines.get(&info.machine)
            && known.at > info.at
        {
            return;
        }
        self.machines.insert(info.machine.clone(), info);
    }

    pub(super) fn record_heartbeat(&mut self, info: MachineInfo) {
        self.heartbeats.insert(info.machine.clone(), Instant::now());
        self.machines.insert(info.machine.clone(), info);
    }

    pub(super) fn end_heartbeat(&mut self, machine: &str) {
        self.heartbeats.remove(machine);
    }

    pub(super) fn is_present(&self, machine: &str) -> bool {
        match self.heartbeats.get(machine) {
            Some(received) => received.elapsed() < HEARTBEAT_TTL,
            None => false,
        }
    }

    /// All machines with their current number of sessions. The published number is some seconds old.
    pub(super) fn machines(&self) -> Vec<MachineView> {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for session in self.sessions.keys() {
            if let SessionSource::Machine(machine) = self.source_of(session) {
                *counts.entry(machine).or_default() += 1;
            }
        }
        let view = |info: &MachineInfo| {
            let sessions = counts.get(&info.machine).copied().unwrap_or_default();
            let info = MachineInfo { sessions, ..info.clone() };
            MachineView { is_present: self.is_present(&info.machine), info }
        };
        let mut all: Vec<_> = self.machines.values().map(view).collect();
        all.sort_by(|a, b| (&a.info.name, &a.info.machine).cmp(&(&b.info.name, &b.info.machine)));
        all
    }

    // Claims.

    pub(super) fn set_owner(&mut self, session: &str, claim: Option<Claim>) {
        match claim {
            Some(claim) => self.owners.insert(session.to_owned(), claim),
            None => self.owners.remove(session),
        };
    }

    pub(super) fn set_feature_claim(&mut self, feature: (String, String), claim: Option<Claim>) {
        match claim {
            Some(claim) => self.features.insert(feature, claim),
            None => self.features.remove(&feature),
        };
    }

    // Sessions.

    pub(super) fn set_state(&mut self, state: &SessionState, revision: u64) {
        let work = if state.summary["state"] == "running" {
            state.repository.clone().zip(state.feature.clone())
        } else {
            None
        };
        let published = PublishedState { revision, machine_name: state.machine_name.clone(), work };
        self.sessions.entry(state.session.clone()).or_default().insert(state.machine.clone(), published);
    }

    pub(super) fn drop_state(&mut self, machine: &str, session: &str) {
        if let Some(states) = self.sessions.get_mut(session) {
            states.remove(machine);
            if states.is_empty() {
                self.sessions.remove(session);
            }
        }
    }

    pub(crate) fn sessions(&self) -> Vec<String> {
        self.sessions.keys().cloned().collect()
    }

    /// The machines and sessions of all states that are not among the given ones.
    pub(super) fn states_missing_from(&self, on_server: &HashSet<(String, String)>) -> Vec<(String, String)> {
        let all = self.sessions.iter().flat_map(|(session, states)| {
            states.keys().map(move |machine| (machine.clone(), session.clone()))
        });
        all.filter(|state| !on_server.contains(state)).collect()
    }

    pub(crate) fn source_of(&self, session: &str) -> SessionSource {
        let Some(states) = self.sessions.get(session) else { return SessionSource::Removed };
        match self.owners.get(session) {
            Some(claim) if states.contains_key(&claim.machine) => {
                SessionSource::Machine(claim.machine.clone())
            }
            Some(_) => SessionSource::Unchanged,
            None => {
                let last = states.iter().max_by_key(|(_, state)| state.revision);
                match last {
                    Some((machine, _)) => SessionSource::Machine(machine.clone()),
                    None => SessionSource::Removed,
                }
            }
        }
    }

    /// The id and the name of the machine that owns a session.
    pub(crate) fn owner(&self, session: &str) -> Option<(String, String)> {
        if let Some(claim) = self.owners.get(session) {
            return Some((claim.machine.clone(), claim.name.clone()));
        }
        let SessionSource::Machine(machine) = self.source_of(session) else { return None };
        let name = self.sessions.get(session)?.get(&machine)?.machine_name.clone();
        Some((machine, name))
    }

    // Features.

    /// All features that are claimed or worked on, with their workers. The claiming one is first.
    pub(crate) fn features(&self) -> Vec<FeatureWork> {
        let mut all: BTreeMap<&(String, String), Vec<FeatureWorker>> = BTreeMap::new();
        for (feature, claim) in &self.features {
            all.entry(feature).or_default().push(self.worker(
                &claim.machine,
                &claim.name,
                claim.session.as_deref(),
                true,
            ));
        }
        for (session, states) in &self.sessions {
            let SessionSource::Machine(machine) = self.source_of(session) else { continue };
            let Some(PublishedState { work: Some(feature), machine_name, .. }) = states.get(&machine) else {
                continue;
            };
            let workers = all.entry(feature).or_default();
            let is_named = |worker: &FeatureWorker| worker.session.as_ref() == Some(session);
            if !workers.iter().any(is_named) {
                workers.push(self.worker(&machine, machine_name, Some(session), false));
            }
        }
        let work = |(feature, mut workers): (&(String, String), Vec<FeatureWorker>)| {
            workers
                .sort_by(|a, b| (b.has_claim, &a.name, &a.session).cmp(&(a.has_claim, &b.name, &b.session)));
            FeatureWork { repository: feature.0.clone(), feature: feature.1.clone(), workers }
        };
        all.into_iter().map(work).collect()
    }

    fn worker(&self, machine: &str, name: &str, session: Option<&str>, has_claim: bool) -> FeatureWorker {
        FeatureWorker {
            machine: machine.to_owned(),
            name: name.to_owned(),
            session: session.map(str::to_owned),
            is_present: self.is_present(machine),
            has_claim,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn state(machine: &str, session: &str) -> SessionState {
        SessionState {
            machine: machine.to_owned(),
            machine_name: machine.to_uppercase(),
            session: session.to_owned(),
            files: Map::new(),
            summary: json!({ "state": "running" }),
            repository: Some("r".to_owned()),
            feature: Some("f".to_owned()),
            handoffs: Vec::new(),
            timeline_bytes: 0,
            is_full: false,
        }
    }

    fn claim(machine: &str, session: Option<&str>) -> Claim {
        let (machine, session) = (machine.to_owned(), session.map(str::to_owned));
        Claim {
            name: machine.to_uppercase(),
            machine,
            session,
            taken_from: None,
            at: String::new(),
            epoch: 1,
        }
    }

    #[test]
    fn a_session_is_shown_as_its_owner_published_it() {
        let mut known = FleetState::default();
        assert_eq!(known.source_of("s"), SessionSource::Removed);
        known.set_state(&state("a", "s"), 1);
        assert_eq!(known.source_of("s"), SessionSource::Machine("a".to_owned()));
        known.set_owner("s", Some(claim("b", None)));
        assert_eq!(known.source_of("s"), SessionSource::Unchanged);
        assert_eq!(known.owner("s"), Some(("b".to_owned(), "B".to_owned())));
        known.set_state(&state("b", "s"), 2);
        assert_eq!(known.source_of("s"), SessionSource::Machine("b".to_owned()));
        known.drop_state("b", "s");
        known.drop_state("a", "s");
        assert_eq!(known.source_of("s"), SessionSource::Removed);
    }

    #[test]
    fn two_machines_on_the_same_feature_contest_it() {
        let mut known = FleetState::default();
        known.set_feature_claim(("r".to_owned(), "f".to_owned()), Some(claim("a", Some("s"))));
        known.set_state(&state("a", "s"), 1);
        let features = known.features();
        assert_eq!((features.len(), features[0].workers.len(), features[0].is_contested()), (1, 1, false));
        known.set_state(&state("b", "t"), 2);
        let features = known.features();
        assert!(features[0].is_contested() && features[0].workers[0].has_claim, "{features:?}");
    }
}
