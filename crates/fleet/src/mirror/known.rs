//! What is known of the fleet without looking at files: machines, whose sessions are, and who works on what.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Instant;

use crate::link::PULSE_LASTS;
use crate::message::{Claim, Foreign, MachineInfo, SessionState};
use crate::picture::MachineView;

/// Something that is worked on, somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeatureWork {
    pub repository: String,
    pub feature: String,
    pub workers: Vec<FeatureWorker>,
}

impl FeatureWork {
    /// More than one machine is at it.
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
    /// The feature is its; the others have come later.
    pub has_claim: bool,
}

/// What the server has of a session, from one machine.
#[derive(Debug, Clone)]
struct Told {
    revision: u64,
    machine_name: String,
    /// The feature that it is at work on.
    work: Option<(String, String)>,
}

/// What is to be shown of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shown {
    /// What this machine says of it.
    Of(String),
    /// What was shown before: its new owner has not said anything yet.
    AsItWas,
    Nothing,
}

#[derive(Debug, Default)]
pub(super) struct Known {
    /// Who has spoken of late, and when that was here.
    pulses: HashMap<String, Instant>,
    machines: HashMap<String, MachineInfo>,
    owners: HashMap<String, Claim>,
    features: BTreeMap<(String, String), Claim>,
    sessions: HashMap<String, BTreeMap<String, Told>>,
    /// Entries that could not be understood, by bucket and key.
    foreign: HashSet<String>,
    later: Option<u32>,
}

impl Known {
    pub(super) fn foreign(&self) -> (usize, Option<u32>) {
        (self.foreign.len(), self.later)
    }

    pub(super) fn note_foreign(&mut self, place: String, foreign: &Foreign) {
        self.foreign.insert(place);
        if let Foreign::Later(version) = foreign {
            self.later = self.later.max(Some(*version));
        }
    }

    pub(super) fn is_understood(&mut self, place: &str) {
        self.foreign.remove(place);
    }

    // Machines.

    pub(super) fn note_machine(&mut self, info: MachineInfo) {
        let is_newer = self.machines.get(&info.machine).is_none_or(|known| known.at <= info.at);
        if is_newer {
            self.machines.insert(info.machine.clone(), info);
        }
    }

    pub(super) fn note_pulse(&mut self, info: MachineInfo) {
        self.pulses.insert(info.machine.clone(), Instant::now());
        self.machines.insert(info.machine.clone(), info);
    }

    pub(super) fn end_pulse(&mut self, machine: &str) {
        self.pulses.remove(machine);
    }

    pub(super) fn is_present(&self, machine: &str) -> bool {
        self.pulses.get(machine).is_some_and(|heard| heard.elapsed() < PULSE_LASTS)
    }

    /// With the sessions that are theirs now: what a machine says of itself is some seconds old.
    pub(super) fn machines(&self) -> Vec<MachineView> {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for session in self.sessions.keys() {
            if let Shown::Of(machine) = self.shown(session) {
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

    pub(super) fn set_claim(&mut self, feature: (String, String), claim: Option<Claim>) {
        match claim {
            Some(claim) => self.features.insert(feature, claim),
            None => self.features.remove(&feature),
        };
    }

    // Sessions.

    pub(super) fn set_state(&mut self, state: &SessionState, revision: u64) {
        let is_running = state.summary["state"] == "running";
        let work = state.repository.clone().zip(state.feature.clone()).filter(|_| is_running);
        let told = Told { revision, machine_name: state.machine_name.clone(), work };
        self.sessions.entry(state.session.clone()).or_default().insert(state.machine.clone(), told);
    }

    pub(super) fn drop_state(&mut self, machine: &str, session: &str) {
        if let Some(told) = self.sessions.get_mut(session) {
            told.remove(machine);
            if told.is_empty() {
                self.sessions.remove(session);
            }
        }
    }

    pub(super) fn sessions(&self) -> Vec<String> {
        self.sessions.keys().cloned().collect()
    }

    /// Machines and sessions whose states are no longer among these.
    pub(super) fn states_without(&self, there: &HashSet<(String, String)>) -> Vec<(String, String)> {
        let all = self
            .sessions
            .iter()
            .flat_map(|(session, told)| told.keys().map(move |machine| (machine.clone(), session.clone())));
        all.filter(|state| !there.contains(state)).collect()
    }

    pub(super) fn shown(&self, session: &str) -> Shown {
        let Some(told) = self.sessions.get(session) else { return Shown::Nothing };
        match self.owners.get(session) {
            Some(claim) if told.contains_key(&claim.machine) => Shown::Of(claim.machine.clone()),
            Some(_) => Shown::AsItWas,
            None => {
                let last = told.iter().max_by_key(|(_, told)| told.revision);
                last.map_or(Shown::Nothing, |(machine, _)| Shown::Of(machine.clone()))
            }
        }
    }

    pub(super) fn owner(&self, session: &str) -> Option<(String, String)> {
        if let Some(claim) = self.owners.get(session) {
            return Some((claim.machine.clone(), claim.name.clone()));
        }
        let Shown::Of(machine) = self.shown(session) else { return None };
        let name = self.sessions.get(session)?.get(&machine)?.machine_name.clone();
        Some((machine, name))
    }

    // Features.

    pub(super) fn features(&self) -> Vec<FeatureWork> {
        let mut all: BTreeMap<&(String, String), Vec<FeatureWorker>> = BTreeMap::new();
        for (feature, claim) in &self.features {
            all.entry(feature).or_default().push(self.worker(
                &claim.machine,
                &claim.name,
                claim.session.as_deref(),
                true,
            ));
        }
        for (session, told) in &self.sessions {
            let Shown::Of(machine) = self.shown(session) else { continue };
            let Some(Told { work: Some(feature), machine_name, .. }) = told.get(&machine) else { continue };
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
    fn a_session_is_shown_as_its_owner_says() {
        let mut known = Known::default();
        assert_eq!(known.shown("s"), Shown::Nothing);
        known.set_state(&state("a", "s"), 1);
        assert_eq!(known.shown("s"), Shown::Of("a".to_owned()));
        known.set_owner("s", Some(claim("b", None)));
        assert_eq!(known.shown("s"), Shown::AsItWas);
        assert_eq!(known.owner("s"), Some(("b".to_owned(), "B".to_owned())));
        known.set_state(&state("b", "s"), 2);
        assert_eq!(known.shown("s"), Shown::Of("b".to_owned()));
        known.drop_state("b", "s");
        known.drop_state("a", "s");
        assert_eq!(known.shown("s"), Shown::Nothing);
    }

    #[test]
    fn two_machines_at_the_same_feature_are_seen() {
        let mut known = Known::default();
        known.set_claim(("r".to_owned(), "f".to_owned()), Some(claim("a", Some("s"))));
        known.set_state(&state("a", "s"), 1);
        let features = known.features();
        assert_eq!((features.len(), features[0].workers.len(), features[0].is_contested()), (1, 1, false));
        known.set_state(&state("b", "t"), 2);
        let features = known.features();
        assert!(features[0].is_contested() && features[0].workers[0].has_claim, "{features:?}");
    }
}
