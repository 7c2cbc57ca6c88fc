//! The dashboard's connection to the fleet: a machine's own server relays its sessions, one for the whole fleet mirrors
//! those of all machines and sends commands to them.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use overtone_core::messages::{Lang, dashboard as words};
use overtone_fleet::{
    FeatureWork, FeatureWorker, MachineView, Mirror, MirrorSetup, OrderCommand, OrderOutcome, Relay,
    RelaySetup, Settings, send_order,
};
use overtone_server::dashboard::{Fleet, OrderError, OrderResult};
use overtone_session::control::ControlCommand;
use overtone_store::Home;
use serde::Serialize;
use serde_json::Value;

use crate::ui::error::note;

/// The sender of commands. The receiving machine adds the name of this one.
const USER: &str = "dashboard";

/// Why no fleet can be shown, one line each; empty if it can.
pub(super) fn config_errors(home: &Home, lang: Lang) -> Vec<String> {
    let (settings, problems) = Settings::load(home);
    match settings {
        Some(_) => Vec::new(),
        None if problems.is_empty() => vec![words::no_fleet(lang)],
        None => problems.iter().map(|problem| problem.message(lang)).collect(),
    }
}

/// The settings, if a fleet is configured. Problems are reported on standard error.
fn settings(home: &Home, lang: Lang) -> Option<Settings> {
    let (settings, problems) = Settings::load(home);
    for problem in problems {
        note(&format!("[overtone/fleet] {}", problem.message(lang)));
    }
    settings
}

/// Relays the sessions of this machine while the server runs.
#[derive(Debug)]
pub(super) struct OwnMachine {
    pub(super) home: Home,
    pub(super) version: &'static str,
    pub(super) lang: Lang,
    relay: Mutex<Option<Relay>>,
}

impl OwnMachine {
    pub(super) const fn new(home: Home, version: &'static str, lang: Lang) -> Self {
        Self { home, version, lang, relay: Mutex::new(None) }
    }

    fn relay(&self) -> MutexGuard<'_, Option<Relay>> {
        self.relay.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fleet for OwnMachine {
    fn shows_all_machines(&self) -> bool {
        false
    }

    fn start(&self) -> io::Result<()> {
        let Some(settings) = settings(&self.home, self.lang) else { return Ok(()) };
        let setup = RelaySetup { home: self.home.clone(), version: self.version, lang: self.lang, settings };
        *self.relay() = Some(Relay::start(setup)?);
        Ok(())
    }

    fn stop(&self) {
        // Taken out of the lock first, since dropping it waits for its threads.
        let relay = self.relay().take();
        drop(relay);
    }

    fn is_relaying(&self) -> bool {
        self.relay().is_some()
    }

    fn health(&self) -> Option<Value> {
        let status = self.relay().as_ref()?.status();
        let health = RelayHealth {
            connected: status.is_connected,
            published: status.published,
            problem: status.problem,
        };
        serde_json::to_value(health).ok()
    }

    fn overview(&self) -> Option<Value> {
        None
    }

    fn send<'a>(&'a self, _session: &'a str, _command: &'a ControlCommand) -> OrderResult<'a> {
        Box::pin(async move { Err(unreachable(self.lang, None)) })
    }
}

/// Mirrors the sessions of all machines while the server runs.
#[derive(Debug)]
pub(super) struct WholeFleet {
    home: Home,
    lang: Lang,
    mirror: Mutex<Option<Arc<Mirror>>>,
}

impl WholeFleet {
    pub(super) const fn new(home: Home, lang: Lang) -> Self {
        Self { home, lang, mirror: Mutex::new(None) }
    }

    fn mirror(&self) -> Option<Arc<Mirror>> {
        self.mirror.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn forward(&self, session: &str, command: &ControlCommand) -> Result<(), OrderError> {
        let lang = self.lang;
        let Some(mirror) = self.mirror() else { return Err(unreachable(lang, None)) };
        let (Some(link), Some((machine, name))) = (mirror.link(), mirror.owner(session)) else {
            return Err(unreachable(lang, None));
        };
        let Some(order) = OrderCommand::from_control(command) else { return Err(unreachable(lang, None)) };
        let unavailable = |message: String| Err(OrderError::Unavailable { message, hint: None });
        match send_order(&link, &machine, session, order, USER).await {
            Ok(OrderOutcome::Done) => Ok(()),
            Ok(OrderOutcome::Refused(reason)) => Err(OrderError::Refused(reason)),
            Ok(OrderOutcome::Gone) => {
                let hint = Some(words::machine_gone_hint(lang));
                Err(OrderError::Unavailable { message: words::machine_gone(lang, &name), hint })
            }
            Ok(OrderOutcome::Withdrawn) => unavailable(words::no_answer(lang, &name)),
            Ok(OrderOutcome::Unknown) => unavailable(words::answer_unknown(lang, &name)),
            Err(error) => Err(unreachable(lang, Some(error.to_string()))),
        }
    }
}

fn unreachable(lang: Lang, hint: Option<String>) -> OrderError {
    OrderError::Unavailable { message: words::fleet_unreachable(lang), hint }
}

impl Fleet for WholeFleet {
    fn shows_all_machines(&self) -> bool {
        true
    }

    fn start(&self) -> io::Result<()> {
        let Some(settings) = settings(&self.home, self.lang) else {
            return Err(io::Error::other(config_errors(&self.home, self.lang).join("; ")));
        };
        let mirror = Mirror::start(MirrorSetup { home: self.home.clone(), settings })?;
        *self.mirror.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(mirror));
        Ok(())
    }

    fn stop(&self) {
        let mirror = self.mirror.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(mirror);
    }

    fn is_relaying(&self) -> bool {
        false
    }

    fn health(&self) -> Option<Value> {
        serde_json::to_value(MirrorHealth::new(self.mirror()?.as_ref())).ok()
    }

    fn overview(&self) -> Option<Value> {
        let mirror = self.mirror()?;
        let (machines, features) = (mirror.machines(), mirror.features());
        let overview = FleetOverview {
            health: MirrorHealth::new(&mirror),
            machines: machines.iter().map(MachineJson::new).collect(),
            features: features.iter().map(FeatureJson::new).collect(),
        };
        serde_json::to_value(overview).ok()
    }

    fn send<'a>(&'a self, session: &'a str, command: &'a ControlCommand) -> OrderResult<'a> {
        Box::pin(self.forward(session, command))
    }
}

/// The state of a relay in the status of the server.
#[derive(Serialize)]
struct RelayHealth {
    connected: bool,
    #[serde(rename = "told")]
    published: u64,
    problem: Option<String>,
}

/// The state of a mirror in the status of the server.
#[derive(Serialize)]
struct MirrorHealth {
    connected: bool,
    #[serde(rename = "heard")]
    events: u64,
    #[serde(rename = "foreign")]
    unreadable: usize,
    #[serde(rename = "laterVersion")]
    newer_version: Option<u32>,
    problem: Option<String>,
}

/// All machines and features, for the page.
#[derive(Serialize)]
struct FleetOverview<'a> {
    #[serde(flatten)]
    health: MirrorHealth,
    machines: Vec<MachineJson<'a>>,
    features: Vec<FeatureJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MachineJson<'a> {
    id: &'a str,
    name: &'a str,
    present: bool,
    last_seen: &'a str,
    version: &'a str,
    load: f64,
    processors: usize,
    sessions: usize,
}

#[derive(Serialize)]
struct FeatureJson<'a> {
    repository: &'a str,
    feature: &'a str,
    contested: bool,
    workers: Vec<WorkerJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WorkerJson<'a> {
    machine: &'a str,
    name: &'a str,
    session: Option<&'a str>,
    present: bool,
    has_claim: bool,
}

impl MirrorHealth {
    fn new(mirror: &Mirror) -> Self {
        let status = mirror.status();
        Self {
            connected: status.is_connected,
            events: status.events,
            unreadable: status.unreadable,
            newer_version: status.newer_version,
            problem: status.problem,
        }
    }
}

impl<'a> MachineJson<'a> {
    fn new(view: &'a MachineView) -> Self {
        let info = &view.info;
        Self {
            id: &info.machine,
            name: &info.name,
            present: view.is_present,
            last_seen: &info.at,
            version: &info.version,
            load: info.load,
            processors: info.processors,
            sessions: info.sessions,
        }
    }
}

impl<'a> FeatureJson<'a> {
    fn new(work: &'a FeatureWork) -> Self {
        Self {
            repository: &work.repository,
            feature: &work.feature,
            contested: work.is_contested(),
            workers: work.workers.iter().map(WorkerJson::new).collect(),
        }
    }
}

impl<'a> WorkerJson<'a> {
    fn new(worker: &'a FeatureWorker) -> Self {
        Self {
            machine: &worker.machine,
            name: &worker.name,
            session: worker.session.as_deref(),
            present: worker.is_present,
            has_claim: worker.has_claim,
        }
    }
}
