//! Looks up what a decision needs, and nothing more.

use std::fs;
use std::io;
use std::path::Path;

use overtone_engine::settings::Settings;
use overtone_engine::state::{Ending, StoppedBy, WorkflowState};
use overtone_engine::suggestion::SinceCompact;
use overtone_engine::{Facts, Feature, Snapshot};
use overtone_registry::Hook;
use overtone_store::config::Config;
use overtone_store::instincts::Memory;
use overtone_store::specs::{Specs, Tasks};
use overtone_store::{Session, clock, timeline};
use overtone_wire::HookInput;

use crate::environment::Environment;

/// The place a hook works in.
pub(crate) struct Place<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) config: Config,
    pub(crate) project: Option<&'a Path>,
}

/// Which feature a decision is about.
enum Wanted {
    /// The workflow's own, else the newest in progress: that one may become its own, or is what is left to do.
    AnyActive,
    /// Only the workflow's own. Others are not looked at, however many there are: these hooks run often.
    Own,
}

/// For hooks whose decision depends on a feature.
const fn wanted_feature(hook: Hook) -> Option<Wanted> {
    match hook {
        Hook::OnStart | Hook::PreCompact => Some(Wanted::AnyActive),
        Hook::PreTask | Hook::OnStop => Some(Wanted::Own),
        _ => None,
    }
}

/// The facts, and what could not be looked up.
pub(crate) fn gather(
    hook: Hook,
    place: &Place,
    session: Option<&Session>,
    input: &HookInput,
    snapshot: &Snapshot,
) -> (Facts, Vec<String>) {
    let config = &place.config;
    let mut problems = Vec::new();
    let mut facts = Facts {
        now: clock::now(),
        lang: place.environment.lang().unwrap_or_else(|| config.language()),
        settings: config.settings(),
        version: place.environment.version,
        ..Facts::default()
    };
    let Some(session) = session else { return (facts, problems) };
    facts.session_dir = session.dir().display().to_string();
    if let Some(wanted) = wanted_feature(hook) {
        match feature(&wanted, place.project, snapshot) {
            Ok(feature) => facts.feature = feature,
            // The rest of the text is still worth having.
            Err(error) => problems.push(error.to_string()),
        }
    }
    facts.feature_is_taken =
        hook == Hook::OnStart && is_taken(place, session, snapshot, facts.feature.as_ref());
    match hook {
        Hook::OnAgentStop => compaction_facts(&mut facts, session, input, snapshot),
        Hook::OnStart if config.switch("instinct.enabled") => facts.lessons = lessons(place, &facts),
        _ => {}
    }
    (facts, problems)
}

fn feature(wanted: &Wanted, project: Option<&Path>, snapshot: &Snapshot) -> io::Result<Option<Feature>> {
    let Some(project) = project else { return Ok(None) };
    let own = snapshot.workflow.as_ref().and_then(|workflow| workflow.feature_name.as_deref());
    let specs = Specs::new(project);
    let found = match (wanted, own) {
        (Wanted::AnyActive, _) => specs.active(own)?,
        (Wanted::Own, Some(name)) => specs.in_progress(name)?,
        (Wanted::Own, None) => None,
    };
    let Some(feature) = found else { return Ok(None) };
    let Tasks { checked, total, pending } = feature.tasks.unwrap_or_default();
    Ok(Some(Feature { name: feature.name, checked, total, pending }))
}

/// Whether a feature that the workflow could take for its own belongs to another session at work in this project.
/// A session that has ended leaves its feature to the next one. Asked only where there is something to take.
fn is_taken(place: &Place, session: &Session, snapshot: &Snapshot, feature: Option<&Feature>) -> bool {
    let named =
        |workflow: &WorkflowState| workflow.feature_name.as_deref().is_some_and(|name| !name.is_empty());
    let (Some(feature), Some(home)) = (feature, &place.environment.home) else { return false };
    if snapshot.workflow.as_ref().is_none_or(named) {
        return false;
    }
    let others = home.sessions().unwrap_or_default().into_iter().filter(|other| other.id() != session.id());
    others.into_iter().any(|other| works_on(&other, place.project, &feature.name))
}

fn works_on(session: &Session, project: Option<&Path>, feature: &str) -> bool {
    let Ok(Some(document)) = session.workflow() else { return false };
    let workflow = document.state;
    let at_work = || {
        let looping = session.looping().ok().flatten().map(|document| document.state);
        looping.and_then(|looping| looping.stopped_by) != Some(StoppedBy::SessionEnd)
    };
    workflow.feature_name.as_deref() == Some(feature)
        && workflow.ending != Some(Ending::Completed)
        && session.origin().project.as_deref() == project
        && at_work()
}

/// How long ago the last compaction was is looked up only when there is reason to ask.
fn compaction_facts(facts: &mut Facts, session: &Session, input: &HookInput, snapshot: &Snapshot) {
    let path = input.transcript_path();
    let transcript = fs::metadata(Path::new(&*path)).ok().filter(|about| !path.is_empty() && about.is_file());
    facts.transcript_bytes = transcript.map(|about| about.len());
    facts.context_percent = input.context_percent().or_else(|| session.usage().context_percent);
    let large = facts.transcript_bytes.is_some_and(|bytes| bytes > facts.settings.compact_threshold_bytes)
        || facts.context_percent.is_some_and(|percent| percent >= facts.settings.compact_threshold_percent);
    if large {
        facts.since_compact = since_compact(session, snapshot, &facts.settings);
    }
}

/// From the session's own count, or from the timeline where the state does not count.
fn since_compact(session: &Session, snapshot: &Snapshot, settings: &Settings) -> SinceCompact {
    match snapshot.workflow.as_ref().and_then(|workflow| workflow.completed_stages) {
        Some(now) => SinceCompact::counted(now, session.compactions().completed_stages),
        None => timeline::since_compact(&session.timeline_file(), settings.compact_cooldown_stages),
    }
}

fn lessons(place: &Place, facts: &Facts) -> Vec<String> {
    let memory =
        place.environment.home.as_ref().zip(place.project).map(|(home, project)| Memory::of(home, project));
    memory.map(|memory| memory.applicable(facts.now)).unwrap_or_default()
}
