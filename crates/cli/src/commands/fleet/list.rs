//! `overtone fleet list`: machines, sessions and features.

use std::collections::{BTreeMap, HashSet};

use overtone_core::engine::text::printable;
use overtone_core::messages::{cli, fleet as words};
use overtone_fleet::{FleetSnapshot, MachineView, SessionState};
use overtone_store::clock;
use serde::Serialize;
use serde_json::{Map, Value};

use super::connection::FleetConnection;
use super::format::{
    cost, is_running, printable_or_dash, progress, project, short, state_cell, summary_text,
};
use super::machines::{UnknownJson, unknown_rows};
use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::{CommandResult, note};
use crate::ui::out;
use crate::ui::quantity::age;
use crate::ui::table::{Cell, Table};
use overtone_hook::ansi::Text;
use overtone_hook::ansi::Tone;

pub(super) fn run(context: &Context, output: &OutputArgs) -> CommandResult {
    let connection = FleetConnection::open(context)?;
    let snapshot = connection.snapshot()?;
    if output.json {
        return out::json(&FleetJson::new(&snapshot, &feature_work(&snapshot)));
    }
    out::print(&render(context, &snapshot))?;
    report_unreadable(context, &snapshot);
    Ok(())
}

/// The sessions that work on a feature: the one that claimed it, and others.
#[derive(Debug, Default, PartialEq)]
struct FeatureWork {
    owner: Option<Worker>,
    others: Vec<Worker>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Worker {
    machine: String,
    name: String,
    session: Option<String>,
    #[serde(rename = "present")]
    is_present: bool,
    since: Option<String>,
}

/// The work on all features, by repository and feature.
fn feature_work(snapshot: &FleetSnapshot) -> BTreeMap<(String, String), FeatureWork> {
    let mut feature_work: BTreeMap<_, FeatureWork> = BTreeMap::new();
    for view in &snapshot.features {
        let owner = Worker {
            machine: view.claim.machine.clone(),
            name: view.claim.name.clone(),
            session: view.claim.session.clone(),
            is_present: view.is_present,
            since: Some(view.claim.at.clone()),
        };
        feature_work.entry((view.repository.clone(), view.feature.clone())).or_default().owner = Some(owner);
    }
    for state in snapshot.sessions.iter().filter(|state| is_running(state)) {
        let Some(key) = state.repository.clone().zip(state.feature.clone()) else { continue };
        let work = feature_work.entry(key).or_default();
        if let Some(owner) = &work.owner
            && owner.session.as_deref() == Some(&state.session)
        {
            continue;
        }
        work.others.push(Worker {
            machine: state.machine.clone(),
            name: state.machine_name.clone(),
            session: Some(state.session.clone()),
            is_present: snapshot.is_present(&state.machine),
            since: None,
        });
    }
    feature_work
}

impl FeatureWork {
    fn workers(&self) -> impl Iterator<Item = &Worker> {
        self.owner.iter().chain(&self.others)
    }

    /// Whether more than one session works on it.
    fn is_conflict(&self) -> bool {
        self.workers().count() > 1
    }
}

/// The output of `overtone fleet list --json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FleetJson<'a> {
    machines: Vec<MachineJson<'a>>,
    sessions: Vec<Value>,
    unknown: Vec<UnknownJson<'a>>,
    features: Vec<FeatureJson<'a>>,
    #[serde(rename = "foreign")]
    unreadable: usize,
    #[serde(rename = "laterVersion")]
    newer_version: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MachineJson<'a> {
    id: &'a str,
    name: &'a str,
    present: bool,
    version: &'a str,
    load: f64,
    processors: usize,
    sessions: usize,
    last_seen: &'a str,
}

/// The machine of a session.
#[derive(Serialize)]
struct OwnerJson<'a> {
    id: &'a str,
    name: &'a str,
    present: bool,
}

#[derive(Serialize)]
struct FeatureJson<'a> {
    repository: &'a str,
    feature: &'a str,
    owner: Option<&'a Worker>,
    others: &'a [Worker],
    conflict: bool,
}

impl<'a> FleetJson<'a> {
    fn new(snapshot: &'a FleetSnapshot, feature_work: &'a BTreeMap<(String, String), FeatureWork>) -> Self {
        let sessions = snapshot.sessions.iter();
        Self {
            machines: snapshot.machines.iter().map(MachineJson::new).collect(),
            sessions: sessions.map(|state| session_object(snapshot, state)).collect(),
            unknown: snapshot.unknown_machines.iter().map(UnknownJson::new).collect(),
            features: feature_work.iter().map(FeatureJson::new).collect(),
            unreadable: snapshot.unreadable,
            newer_version: snapshot.newer_version,
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
            version: &info.version,
            load: info.load,
            processors: info.processors,
            sessions: info.sessions,
            last_seen: &info.at,
        }
    }
}

impl<'a> FeatureJson<'a> {
    fn new(((repository, feature), work): (&'a (String, String), &'a FeatureWork)) -> Self {
        let (owner, others) = (work.owner.as_ref(), &work.others[..]);
        Self { repository, feature, owner, others, conflict: work.is_conflict() }
    }
}

/// The summary that the other machine has sent, with all its fields, and ours in addition.
pub(super) fn session_object(snapshot: &FleetSnapshot, state: &SessionState) -> Value {
    let mut object = Value::Object(match &state.summary {
        Value::Object(fields) => fields.clone(),
        _ => Map::new(),
    });
    object["id"] = state.session.as_str().into();
    let machine = OwnerJson {
        id: &state.machine,
        name: &state.machine_name,
        present: snapshot.is_present(&state.machine),
    };
    object["machine"] = serde_json::to_value(machine).unwrap_or_default();
    object["repository"] = state.repository.clone().into();
    object["feature"] = state.feature.clone().into();
    object["full"] = state.is_full.into();
    object
}

fn render(context: &Context, snapshot: &FleetSnapshot) -> Text {
    let lang = context.lang;
    if snapshot.machines.is_empty() && snapshot.unknown_machines.is_empty() {
        return words::nobody_yet(lang).into();
    }
    let mut parts = vec![machines(context, snapshot).render(context.palette)];
    if !snapshot.unknown_machines.is_empty() {
        parts.push(unknown_rows(context, &snapshot.unknown_machines));
    }
    if !snapshot.sessions.is_empty() {
        parts.push(sessions(context, snapshot).render(context.palette));
    }
    let feature_work = feature_work(snapshot);
    if !feature_work.is_empty() {
        parts.push(features(context, &feature_work).render(context.palette));
    }
    Text::join(parts, "\n")
}

fn machines(context: &Context, snapshot: &FleetSnapshot) -> Table {
    let lang = context.lang;
    let mut table = Table::with_head([
        words::head_machine(lang),
        String::new(),
        words::head_version(lang),
        words::head_load(lang),
        cli::label_sessions(lang),
        words::head_last_seen(lang),
    ]);
    for view in &snapshot.machines {
        let info = &view.info;
        table.row([
            Cell::new(&info.name).tone(Tone::Strong),
            presence(context, view.is_present),
            info.version.as_str().into(),
            Cell::new(format!("{:.1}/{}", info.load, info.processors)).right(),
            Cell::new(info.sessions.to_string()).right(),
            last_seen(context, &info.at).into(),
        ]);
    }
    table
}

fn presence(context: &Context, is_present: bool) -> Cell {
    if is_present {
        Cell::new(words::present(context.lang)).tone(Tone::Good)
    } else {
        Cell::new(words::gone(context.lang)).tone(Tone::Warning)
    }
}

/// How long ago a time was, by the other machine's clock.
pub(super) fn last_seen(context: &Context, at: &str) -> String {
    match clock::from_iso(at) {
        Some(at) => cli::ago(context.lang, &age(clock::now().since(at))),
        None => "–".to_owned(),
    }
}

fn sessions(context: &Context, snapshot: &FleetSnapshot) -> Table {
    let lang = context.lang;
    let mut table = Table::with_head([
        cli::head_session(lang),
        words::head_machine(lang),
        words::head_project(lang),
        cli::label_workflow(lang),
        cli::label_progress(lang),
        cli::head_state(lang),
        cli::label_feature(lang),
        words::head_cost(lang),
    ]);
    let mut all: Vec<_> = snapshot.sessions.iter().collect();
    all.sort_by_key(|state| (&state.machine_name, &state.session));
    let present: HashSet<_> = snapshot
        .machines
        .iter()
        .filter(|view| view.is_present)
        .map(|view| view.info.machine.as_str())
        .collect();
    for state in all {
        let is_present = present.contains(state.machine.as_str());
        table.row([
            short(&state.session).into(),
            Cell::new(&state.machine_name).tone(if is_present { Tone::Plain } else { Tone::Faint }),
            printable_or_dash(project(state).as_deref()).into(),
            printable_or_dash(summary_text(state, "workflow").as_deref()).into(),
            Cell::new(progress(state)).right(),
            state_cell(lang, state),
            printable_or_dash(state.feature.as_deref()).into(),
            Cell::new(cost(state)).right(),
        ]);
    }
    table
}

fn features(context: &Context, feature_work: &BTreeMap<(String, String), FeatureWork>) -> Table {
    let lang = context.lang;
    let mut table = Table::with_head([
        cli::label_feature(lang),
        words::head_repository(lang),
        words::head_who(lang),
        String::new(),
    ]);
    for ((repository, feature), work) in feature_work {
        let who: Vec<_> = work.workers().map(|worker| who(context, worker)).collect();
        let conflict = if work.is_conflict() { words::conflict(lang) } else { String::new() };
        table.row([
            printable(feature).into(),
            printable(repository).into(),
            who.join(" + ").into(),
            Cell::new(conflict).tone(Tone::Bad),
        ]);
    }
    table
}

fn who(context: &Context, worker: &Worker) -> String {
    let gone = if worker.is_present { String::new() } else { format!(" ({})", words::gone(context.lang)) };
    let session = worker.session.as_deref().map(|id| format!("/{}", short(id))).unwrap_or_default();
    format!("{}{session}{gone}", worker.name)
}

pub(super) fn report_unreadable(context: &Context, snapshot: &FleetSnapshot) {
    let lang = context.lang;
    if let Some(version) = snapshot.newer_version {
        note(&words::seen_later(lang, version));
    } else if snapshot.unreadable > 0 {
        note(&words::seen_foreign(lang, snapshot.unreadable));
    }
}
