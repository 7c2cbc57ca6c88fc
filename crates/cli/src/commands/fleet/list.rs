//! `overtone fleet list`: machines, their sessions, and who works on which feature.

use std::collections::BTreeMap;

use overtone_fleet::{MachineView, Picture, SessionState};
use overtone_messages::{cli, fleet as words};
use overtone_store::clock;
use serde_json::{Value, json};

use super::desk::Desk;
use super::shown::{cost, is_running, or_dash, progress, project, short, state_cell, text};
use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::{Done, say};
use crate::ui::out;
use crate::ui::quantity::age;
use crate::ui::style::Tone;
use crate::ui::table::{Cell, Table};
use crate::ui::text::Text;

pub(super) fn run(context: &Context, output: &OutputArgs) -> Done {
    let desk = Desk::open(context)?;
    let picture = desk.picture()?;
    if output.json {
        return out::json(&object(&picture));
    }
    out::print(&drawn(context, &picture))?;
    tell_foreign(context, &picture);
    Ok(())
}

/// Who works on a feature: whoever has it, and whoever works on it all the same.
#[derive(Debug, Default, PartialEq)]
struct Work {
    owner: Option<Worker>,
    others: Vec<Worker>,
}

#[derive(Debug, Clone, PartialEq)]
struct Worker {
    machine: String,
    name: String,
    session: Option<String>,
    is_present: bool,
    since: Option<String>,
}

/// By repository and feature.
fn works(picture: &Picture) -> BTreeMap<(String, String), Work> {
    let mut works: BTreeMap<_, Work> = BTreeMap::new();
    for view in &picture.features {
        let owner = Worker {
            machine: view.claim.machine.clone(),
            name: view.claim.name.clone(),
            session: view.claim.session.clone(),
            is_present: view.is_present,
            since: Some(view.claim.at.clone()),
        };
        works.entry((view.repository.clone(), view.feature.clone())).or_default().owner = Some(owner);
    }
    for state in picture.sessions.iter().filter(|state| is_running(state)) {
        let Some(key) = state.repository.clone().zip(state.feature.clone()) else { continue };
        let work = works.entry(key).or_default();
        let is_owner = |owner: &Worker| owner.session.as_deref() == Some(&state.session);
        if !work.owner.as_ref().is_some_and(is_owner) {
            work.others.push(Worker {
                machine: state.machine.clone(),
                name: state.machine_name.clone(),
                session: Some(state.session.clone()),
                is_present: picture.is_present(&state.machine),
                since: None,
            });
        }
    }
    works
}

impl Work {
    fn workers(&self) -> impl Iterator<Item = &Worker> {
        self.owner.iter().chain(&self.others)
    }

    /// More than one is at it.
    fn is_conflict(&self) -> bool {
        self.workers().count() > 1
    }
}

fn object(picture: &Picture) -> Value {
    json!({
        "machines": picture.machines.iter().map(machine_object).collect::<Vec<_>>(),
        "sessions": picture.sessions.iter().map(|state| session_object(picture, state)).collect::<Vec<_>>(),
        "features": works(picture).iter().map(|(key, work)| feature_object(key, work)).collect::<Vec<_>>(),
        "foreign": picture.foreign,
        "laterVersion": picture.later,
    })
}

fn machine_object(view: &MachineView) -> Value {
    let info = &view.info;
    json!({
        "id": info.machine, "name": info.name, "present": view.is_present, "version": info.version,
        "load": info.load, "processors": info.processors, "sessions": info.sessions, "lastSeen": info.at,
    })
}

pub(super) fn session_object(picture: &Picture, state: &SessionState) -> Value {
    let mut object = state.summary.clone();
    if !object.is_object() {
        object = json!({});
    }
    object["id"] = json!(state.session);
    object["machine"] = json!({
        "id": state.machine, "name": state.machine_name, "present": picture.is_present(&state.machine),
    });
    object["repository"] = json!(state.repository);
    object["feature"] = json!(state.feature);
    object["full"] = json!(state.is_full);
    object
}

fn feature_object((repository, feature): &(String, String), work: &Work) -> Value {
    let of = |worker: &Worker| {
        json!({
            "machine": worker.machine, "name": worker.name, "session": worker.session,
            "present": worker.is_present, "since": worker.since,
        })
    };
    json!({
        "repository": repository, "feature": feature, "owner": work.owner.as_ref().map(of),
        "others": work.others.iter().map(of).collect::<Vec<_>>(), "conflict": work.is_conflict(),
    })
}

fn drawn(context: &Context, picture: &Picture) -> Text {
    let lang = context.lang;
    if picture.machines.is_empty() {
        return words::nobody_yet(lang).into();
    }
    let mut parts = vec![machines(context, picture).render(context.palette)];
    if !picture.sessions.is_empty() {
        parts.push(sessions(context, picture).render(context.palette));
    }
    let works = works(picture);
    if !works.is_empty() {
        parts.push(features(context, &works).render(context.palette));
    }
    Text::join(parts, "\n")
}

fn machines(context: &Context, picture: &Picture) -> Table {
    let lang = context.lang;
    let mut table = Table::with_head([
        words::head_machine(lang),
        String::new(),
        words::head_version(lang),
        words::head_load(lang),
        cli::label_sessions(lang),
        words::head_last_seen(lang),
    ]);
    for view in &picture.machines {
        let info = &view.info;
        table.row([
            Cell::new(&info.name).tone(Tone::Strong),
            presence(context, view.is_present),
            info.version.as_str().into(),
            Cell::new(format!("{:.1}/{}", info.load, info.processors)).right(),
            Cell::new(info.sessions.to_string()).right(),
            seen(context, &info.at).into(),
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

/// By the other machine's clock; what is in the future was a moment ago.
pub(super) fn seen(context: &Context, at: &str) -> String {
    match clock::from_iso(at) {
        Some(at) => cli::ago(context.lang, &age(clock::now().since(at))),
        None => "–".to_owned(),
    }
}

fn sessions(context: &Context, picture: &Picture) -> Table {
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
    let mut all: Vec<_> = picture.sessions.iter().collect();
    all.sort_by_key(|state| (&state.machine_name, &state.session));
    for state in all {
        let is_present = picture.is_present(&state.machine);
        table.row([
            short(&state.session).into(),
            Cell::new(&state.machine_name).tone(if is_present { Tone::Plain } else { Tone::Faint }),
            or_dash(project(state)).into(),
            or_dash(text(state, "workflow")).into(),
            Cell::new(progress(state)).right(),
            state_cell(lang, state),
            or_dash(state.feature.as_deref()).into(),
            Cell::new(cost(state)).right(),
        ]);
    }
    table
}

fn features(context: &Context, works: &BTreeMap<(String, String), Work>) -> Table {
    let lang = context.lang;
    let mut table = Table::with_head([
        cli::label_feature(lang),
        words::head_repository(lang),
        words::head_who(lang),
        String::new(),
    ]);
    for ((repository, feature), work) in works {
        let who: Vec<_> = work.workers().map(|worker| who(context, worker)).collect();
        let conflict = if work.is_conflict() { words::conflict(lang) } else { String::new() };
        table.row([
            feature.as_str().into(),
            repository.as_str().into(),
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

pub(super) fn tell_foreign(context: &Context, picture: &Picture) {
    let lang = context.lang;
    if let Some(version) = picture.later {
        say(&words::seen_later(lang, version));
    } else if picture.foreign > 0 {
        say(&words::seen_foreign(lang, picture.foreign));
    }
}
