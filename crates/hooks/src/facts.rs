//! Looks up what a decision needs, and nothing more.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use overtone_engine::instinct::Learned;
use overtone_engine::settings::Settings;
use overtone_engine::suggestion::SinceCompact;
use overtone_engine::{Facts, Feature, FeatureHolder, FeatureOrigin, Snapshot, is_delegation};
use overtone_registry::Hook;
use overtone_store::config::Config;
use overtone_store::instincts::Memory;
use overtone_store::specs::{Specs, Tasks};
use overtone_store::{OwnFeatures, Session, clock, timeline};
use overtone_wire::HookInput;

use crate::environment::Environment;
use crate::foreign_skills;

/// The place a hook works in.
pub(crate) struct Place<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) config: Config,
    pub(crate) project: Option<&'a Path>,
}

/// Which feature a decision is about.
enum Wanted {
    /// The workflow's own, else the newest in progress: one that was begun here may become its own, or is what is left
    /// to do; one of the repository is only mentioned.
    AnyActive,
    /// Only the workflow's own. Others are not looked at, however many there are: these hooks run often.
    Own,
}

/// For hooks whose decision depends on a feature.
fn wanted_feature(hook: Hook, input: &HookInput, snapshot: &Snapshot) -> Option<Wanted> {
    match hook {
        Hook::OnStart | Hook::PreCompact => Some(Wanted::AnyActive),
        Hook::PreTask | Hook::OnStop | Hook::OnAgentStop | Hook::OnHandback => Some(Wanted::Own),
        // A report may come with these, too, and then its open tasks count.
        Hook::PostUse if is_delegation(&input.tool_name()) => Some(Wanted::Own),
        Hook::OnSubmit if may_report(input, snapshot) => Some(Wanted::Own),
        _ => None,
    }
}

/// Whether a prompt may bring a report, or finds every stage done. Any other prompt needs no task.
fn may_report(input: &HookInput, snapshot: &Snapshot) -> bool {
    let Some(workflow) = snapshot.workflow.as_ref().filter(|workflow| workflow.is_open()) else {
        return false;
    };
    workflow.is_finished() || (!workflow.active_agents.is_empty() && input.prompt().starts_with('<'))
}

/// The facts, and what could not be looked up. Fails where the decision would be a wrong one without it: a report that
/// is not processed here comes another way, but one that passes with open tasks has passed.
pub(crate) fn gather(
    hook: Hook,
    place: &Place,
    session: Option<&Session>,
    input: &HookInput,
    snapshot: &Snapshot,
) -> io::Result<(Facts, Vec<String>)> {
    let config = &place.config;
    let mut problems = Vec::new();
    let mut facts = Facts {
        now: clock::now(),
        lang: place.environment.lang().unwrap_or_else(|| config.language()),
        settings: config.settings(),
        version: place.environment.version,
        plan_mode: input.is_plan_mode(),
        prompt_id: prompt_id(input),
        shows_compaction: place.environment.has_screen,
        ..Facts::default()
    };
    if hook == Hook::AllowOwn && input.tool_name() == "Skill" {
        facts.may_have_foreign_skills = foreign_skills::may_exist(place.environment, input);
    }
    let Some(session) = session else { return Ok((facts, problems)) };
    facts.session_dir = session.dir().display().to_string();
    if let Some(wanted) = wanted_feature(hook, input, snapshot) {
        match feature(&wanted, place, snapshot) {
            Ok(feature) => facts.feature = feature,
            Err(error) if matches!(hook, Hook::OnAgentStop | Hook::OnHandback) => return Err(error),
            // The rest of the text is still worth having.
            Err(error) => problems.push(error.to_string()),
        }
    }
    if hook == Hook::OnStart {
        facts.feature_holder = feature_holder(place, session, snapshot, facts.feature.as_ref());
    }
    if hook == Hook::PreTask {
        facts.project_dir = project_seen_from_elsewhere(place, input);
    }
    match hook {
        Hook::OnAgentStop | Hook::OnHandback => compaction_facts(&mut facts, session, input, snapshot),
        Hook::OnStart if config.switch("instinct.enabled") => facts.lessons = lessons(place, &facts),
        _ => {}
    }
    Ok((facts, problems))
}

/// A name of the client's own, kept only if it looks like one.
fn prompt_id(input: &HookInput) -> Option<String> {
    let id = input.prompt_id();
    if id.is_empty() || id.len() > 64 { None } else { Some(id.into_owned()) }
}

fn feature(wanted: &Wanted, place: &Place, snapshot: &Snapshot) -> io::Result<Option<Feature>> {
    let Some(project) = place.project else { return Ok(None) };
    let specs = Specs::new(project);
    if let Some(name) = snapshot.workflow.as_ref().and_then(|workflow| workflow.feature_name.as_deref())
        && let Some(feature) = specs.in_progress(name)?
    {
        return Ok(Some(as_fact(feature, FeatureOrigin::Own)));
    }
    if matches!(wanted, Wanted::Own) {
        return Ok(None);
    }
    let recorded = || match &place.environment.home {
        Some(home) => OwnFeatures::of(home, project).names(),
        None => BTreeSet::new(),
    };
    let found = specs.newest(recorded)?;
    Ok(found.map(|(feature, is_own)| {
        as_fact(feature, if is_own { FeatureOrigin::Own } else { FeatureOrigin::Repository })
    }))
}

fn as_fact(feature: overtone_store::specs::Feature, origin: FeatureOrigin) -> Feature {
    let Tasks { checked, total, pending, open_work } = feature.tasks.unwrap_or_default();
    Feature { name: feature.name, origin, checked, total, pending, open_work }
}

/// The project's folder, for agents that work in another one: a relative path would lead them to a copy of the specs.
fn project_seen_from_elsewhere(place: &Place, input: &HookInput) -> Option<String> {
    let project = place.project?;
    let is_isolated = input.input_text("isolation") == "worktree";
    let is_elsewhere = Path::new(&*input.cwd()).ancestors().all(|folder| folder != project)
        || Path::new(&*input.cwd()).join(".git").is_file();
    (is_isolated || is_elsewhere).then(|| project.display().to_string())
}

/// The other session at work on a feature that this one could take for its own. A session that has ended leaves its
/// feature to the next one. Asked only where there is something to take.
fn feature_holder(
    place: &Place,
    session: &Session,
    snapshot: &Snapshot,
    feature: Option<&Feature>,
) -> Option<FeatureHolder> {
    let (feature, home) = (feature?, place.environment.home.as_ref()?);
    let own = snapshot.workflow.as_ref().and_then(|workflow| workflow.feature_name.as_deref());
    if own.is_some_and(|name| !name.is_empty()) {
        return None;
    }
    let holder = home.feature_holder(place.project?, &feature.name, Some(session.id()))?;
    Some(FeatureHolder { session_id: holder.session.to_string(), last_active: holder.last_active })
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

fn lessons(place: &Place, facts: &Facts) -> Vec<Learned> {
    let memory =
        place.environment.home.as_ref().zip(place.project).map(|(home, project)| Memory::of(home, project));
    memory.map(|memory| memory.applicable(facts.now)).unwrap_or_default()
}
