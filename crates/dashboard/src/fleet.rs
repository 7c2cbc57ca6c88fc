//! The fleet, as far as this server has to do with it. One that is a machine's own tells the fleet of its sessions, if a
//! fleet is configured; one that shows the whole fleet keeps the mirror and sends orders to the machines.

use std::io;
use std::sync::{Arc, OnceLock, Weak};

use axum::http::StatusCode;
use overtone_engine::state::Millis;
use overtone_fleet::{Deed, Mirror, MirrorSetup, Relay, Reply, Settings, Setup, send};
use overtone_messages::{Lang, dashboard as words};
use overtone_store::{Home, clock};
use serde_json::{Value, json};

use crate::app::App;
use crate::error::{Answer, ApiError};

/// An open session that nothing happened in for so long needs nobody.
const DAY: i64 = 24 * 60 * 60 * 1000;

/// Neither of them is kept alive by whoever asks: they end with the server.
#[derive(Debug, Default)]
pub(crate) struct Fleet {
    relay: OnceLock<Weak<Relay>>,
    mirror: Option<Shown>,
}

#[derive(Debug)]
struct Shown {
    mirror: Weak<Mirror>,
}

/// Who gives the orders; whoever receives them adds this machine's name.
const USER: &str = "dashboard";

/// The home from which a server shows the whole fleet.
pub fn fleet_home(home: &Home) -> Home {
    Mirror::home(home)
}

/// Why no fleet can be shown, line by line; nothing when it can.
pub fn fleet_problems(home: &Home, lang: Lang) -> Vec<String> {
    let (settings, problems) = Settings::load(home);
    match settings {
        Some(_) => Vec::new(),
        None if problems.is_empty() => vec![words::no_fleet(lang)],
        None => problems.iter().map(|problem| problem.text(lang)).collect(),
    }
}

/// Keeps the mirror of the fleet that is configured in a home.
pub(crate) fn open_mirror(home: &Home, lang: Lang) -> io::Result<(Arc<Mirror>, Fleet)> {
    let settings = settings(home, lang);
    let settings = settings.ok_or_else(|| io::Error::other(fleet_problems(home, lang).join("; ")))?;
    let mirror = Arc::new(Mirror::start(MirrorSetup { home: home.clone(), settings })?);
    let shown = Shown { mirror: Arc::downgrade(&mirror) };
    Ok((mirror, Fleet { relay: OnceLock::new(), mirror: Some(shown) }))
}

/// The settings, if there are any. What is wrong with them is said once.
fn settings(home: &Home, lang: Lang) -> Option<Settings> {
    let (settings, problems) = Settings::load(home);
    for problem in problems {
        eprintln!("[overtone/fleet] {}", problem.text(lang));
    }
    settings
}

/// Begins to tell the fleet, if one is configured. It ends when the result is dropped.
pub(crate) fn start_relay(app: &App) -> Option<Arc<Relay>> {
    let settings = settings(&app.home, app.lang)?;
    let setup = Setup { home: app.home.clone(), version: app.version, lang: app.lang, settings };
    match Relay::start(setup) {
        Ok(relay) => {
            let relay = Arc::new(relay);
            // It is started once.
            let _ = app.fleet.relay.set(Arc::downgrade(&relay));
            Some(relay)
        }
        Err(error) => {
            eprintln!("[overtone/fleet] cannot start: {error}");
            None
        }
    }
}

impl Fleet {
    /// Whether the sessions here are copies of those of all machines.
    pub(crate) const fn is_shown(&self) -> bool {
        self.mirror.is_some()
    }

    fn relay(&self) -> Option<Arc<Relay>> {
        self.relay.get()?.upgrade()
    }

    fn mirror(&self) -> Option<Arc<Mirror>> {
        self.mirror.as_ref()?.mirror.upgrade()
    }

    /// How it goes, for whoever asks after the server's health; nothing without a fleet.
    pub(crate) fn health(&self) -> Option<Value> {
        if let Some(mirror) = self.mirror() {
            return Some(of_mirror(&mirror));
        }
        let status = self.relay()?.status();
        Some(json!({ "connected": status.is_connected, "told": status.told, "problem": status.problem }))
    }

    /// Machines, and who works on what; nothing where only one machine is shown.
    pub(crate) fn to_json(&self) -> Option<Value> {
        let mirror = self.mirror()?;
        let mut json = of_mirror(&mirror);
        json["machines"] = mirror.machines().iter().map(of_machine).collect();
        json["features"] = mirror.features().iter().map(of_feature).collect();
        Some(json)
    }
}

fn of_mirror(mirror: &Mirror) -> Value {
    let status = mirror.status();
    json!({
        "connected": status.is_connected, "heard": status.events, "foreign": status.foreign,
        "laterVersion": status.later, "problem": status.problem,
    })
}

fn of_machine(view: &overtone_fleet::MachineView) -> Value {
    let info = &view.info;
    json!({
        "id": info.machine, "name": info.name, "present": view.is_present, "lastSeen": info.at,
        "version": info.version, "load": info.load, "processors": info.processors, "sessions": info.sessions,
    })
}

fn of_feature(work: &overtone_fleet::FeatureWork) -> Value {
    let worker = |worker: &overtone_fleet::FeatureWorker| {
        json!({
            "machine": worker.machine, "name": worker.name, "session": worker.session,
            "present": worker.is_present, "hasClaim": worker.has_claim,
        })
    };
    json!({
        "repository": work.repository, "feature": work.feature, "contested": work.is_contested(),
        "workers": work.workers.iter().map(worker).collect::<Vec<_>>(),
    })
}

impl App {
    /// Whether the fleet may want to hear of a session or send an order to it.
    pub(crate) fn is_needed_by_fleet(&self) -> bool {
        let is_recent = |at: Millis| clock::now().0 - at.0 < DAY;
        self.fleet.relay().is_some()
            && self
                .index()
                .entries()
                .any(|entry| entry.summary.state.is_open() && is_recent(entry.summary.last_activity))
    }
}

/// Has something done by the machine that the session belongs to.
pub(crate) async fn order(app: &App, session: &str, deed: Deed) -> Answer<()> {
    let lang = app.lang;
    let unavailable = |words: String| ApiError::new(StatusCode::SERVICE_UNAVAILABLE, words);
    let reached = app.fleet.mirror().and_then(|mirror| Some((mirror.link()?, mirror.owner(session)?)));
    let (link, (machine, name)) = reached.ok_or_else(|| unavailable(words::fleet_unreachable(lang)))?;
    match send(&link, &machine, session, deed, USER).await {
        Ok(Reply::Done) => Ok(()),
        Ok(Reply::Refused(reason)) => Err(ApiError::new(StatusCode::CONFLICT, reason)),
        Ok(Reply::Gone) => {
            Err(unavailable(words::machine_gone(lang, &name)).hint(words::machine_gone_hint(lang)))
        }
        Ok(Reply::Withdrawn) => Err(unavailable(words::no_answer(lang, &name))),
        Ok(Reply::Unknown) => Err(unavailable(words::answer_unknown(lang, &name))),
        Err(error) => Err(unavailable(words::fleet_unreachable(lang)).hint(error.to_string())),
    }
}
