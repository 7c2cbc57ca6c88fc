//! Collects the facts that a decision needs, and only those: every look-up costs time on each hook call.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use overtone_claude::wire::HookInput;
use overtone_core::engine::instinct::Learned;
use overtone_core::engine::settings::Settings;
use overtone_core::engine::state::{Millis, WorkflowState};
use overtone_core::engine::suggestion::SinceCompact;
use overtone_core::engine::{
    EarlierReport, Facts, Feature, FeatureHolder, FeatureOrigin, Folders, Snapshot, Trigger,
    earlier_handoffs, is_delegation, is_out_of_order, starts_helper,
};
use overtone_core::registry::{BudgetKind, Hook};
use overtone_store::config::{Config, keys};
use overtone_store::instincts::Memory;
use overtone_store::specs::{Specs, Tasks};
use overtone_store::{OwnFeatures, Session, clock, timeline};

use crate::hooks::foreign_skills;
use overtone_claude::Environment;

/// Where facts are looked up.
pub(crate) struct FactContext<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) config: Config,
    pub(crate) project: Option<&'a Path>,
}

/// Which feature a decision is about.
enum FeatureScope {
    /// The workflow's own feature, else the newest one in progress. A feature that was started on this machine can become
    /// the workflow's own; one that only the repository has is mentioned, but not continued.
    AnyActive,
    /// Only the workflow's own feature. Other folders are not read, because these hooks run often.
    Own,
}

/// The feature that the decision of this hook depends on, if any.
fn feature_scope(hook: Hook, input: &HookInput, snapshot: &Snapshot) -> Option<FeatureScope> {
    match hook {
        Hook::OnStart | Hook::PreCompact => Some(FeatureScope::AnyActive),
        Hook::PreTask | Hook::OnStop | Hook::OnAgentStop | Hook::OnHandback => Some(FeatureScope::Own),
        // These may bring a report too, and then the feature's open tasks matter.
        Hook::PostUse if is_delegation(&input.tool_name()) => Some(FeatureScope::Own),
        Hook::OnSubmit if may_report(input, snapshot) => Some(FeatureScope::Own),
        _ => None,
    }
}

/// Whether a prompt may bring an agent's report, or comes when every stage is done. Other prompts do not need the
/// feature's tasks.
fn may_report(input: &HookInput, snapshot: &Snapshot) -> bool {
    let Some(workflow) = &snapshot.workflow else { return false };
    if !workflow.is_open() {
        return false;
    }
    workflow.is_finished() || (!workflow.active_agents.is_empty() && input.prompt().starts_with('<'))
}

/// Returns the facts, and a warning for each look-up that failed.
///
/// Fails where the decision would be wrong without the fact. When an agent's report cannot be judged, it is better not to
/// process it: it arrives another way as well, while a report that passes in spite of open tasks cannot be undone.
pub(crate) fn gather(
    hook: Hook,
    context: &FactContext,
    session: Option<&Session>,
    input: &HookInput,
    trigger: &Trigger,
    snapshot: &Snapshot,
) -> io::Result<(Facts, Vec<String>)> {
    let config = &context.config;
    let mut warnings = Vec::new();
    let mut facts = Facts {
        now: clock::now(),
        lang: context.environment.lang().unwrap_or_else(|| config.language()),
        settings: config.settings(),
        version: context.environment.version,
        plan_mode: input.is_plan_mode(),
        prompt_id: prompt_id(input),
        has_screen: context.environment.has_screen,
        ..Facts::default()
    };
    if matches!(hook, Hook::PreWrite | Hook::PreCommand | Hook::PostUse | Hook::PostUseFailure) {
        facts.folders = folders(context.environment, input);
    }
    if hook == Hook::AllowOwn && input.tool_name() == "Skill" {
        facts.may_have_foreign_skills = foreign_skills::may_exist(context.environment, input);
    }
    let Some(session) = session else { return Ok((facts, warnings)) };
    facts.session_dir = session.dir().display().to_string();
    // Most denied delegations come too early; the feature's tasks do not change that.
    if let Some(workflow) = &snapshot.workflow
        && is_out_of_order(workflow, trigger)
    {
        return Ok((facts, warnings));
    }
    if let Some(scope) = feature_scope(hook, input, snapshot) {
        match find_feature(&scope, context, snapshot) {
            Ok(feature) => facts.feature = feature,
            Err(error) if matches!(hook, Hook::OnAgentStop | Hook::OnHandback) => return Err(error),
            // The answer is useful without the feature too.
            Err(error) => warnings.push(error.to_string()),
        }
    }
    if hook == Hook::OnStart {
        facts.feature_holder = feature_holder(context, session, snapshot, facts.feature.as_ref());
    }
    if starts_helper(trigger) || has_agent_limit(snapshot) {
        facts.helpers = session.helpers();
    }
    if hook == Hook::PreTask {
        facts.project_dir = project_dir_for_agent(context, input);
    }
    if let (Hook::OnAgentStart, Some(workflow)) = (hook, &snapshot.workflow) {
        facts.earlier_reports = earlier_reports(session, workflow);
    }
    match hook {
        Hook::OnAgentStop | Hook::OnHandback => add_compaction_facts(&mut facts, session, input, snapshot),
        Hook::OnStart if config.get(keys::INSTINCT_ENABLED) => facts.lessons = lessons(context, facts.now),
        _ => {}
    }
    Ok((facts, warnings))
}

fn has_agent_limit(snapshot: &Snapshot) -> bool {
    match &snapshot.workflow {
        Some(workflow) => workflow.budget.limits.workflow.get(BudgetKind::Agents).is_some(),
        None => false,
    }
}

/// The folders that a tool call may change files in.
pub(crate) fn folders(environment: &Environment, input: &HookInput) -> Folders {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    Folders {
        project: environment.project(input).as_deref().map(text).unwrap_or_default(),
        current: input.cwd().into_owned(),
        own: environment.own_folders().iter().map(|path| text(path)).collect(),
        user_home: environment.user_home.as_deref().map(text).unwrap_or_default(),
    }
}

/// The client's id of the prompt. It is stored, so an unusually long one is ignored.
fn prompt_id(input: &HookInput) -> Option<String> {
    let id = input.prompt_id();
    if id.is_empty() || id.len() > 64 { None } else { Some(id.into_owned()) }
}

fn find_feature(
    scope: &FeatureScope,
    context: &FactContext,
    snapshot: &Snapshot,
) -> io::Result<Option<Feature>> {
    let Some(project) = context.project else { return Ok(None) };
    let specs = Specs::new(project);
    if let Some(name) = own_feature_name(snapshot)
        && let Some(feature) = specs.in_progress(name)?
    {
        return Ok(Some(as_fact(feature, FeatureOrigin::Own)));
    }
    if matches!(scope, FeatureScope::Own) {
        return Ok(None);
    }
    let recorded = || match &context.environment.home {
        Some(home) => OwnFeatures::for_project(home, project).names(),
        None => BTreeSet::new(),
    };
    let Some((feature, is_own)) = specs.newest(recorded)? else { return Ok(None) };
    let origin = if is_own { FeatureOrigin::Own } else { FeatureOrigin::Repository };
    Ok(Some(as_fact(feature, origin)))
}

fn own_feature_name(snapshot: &Snapshot) -> Option<&str> {
    snapshot.workflow.as_ref()?.feature_name.as_deref()
}

fn as_fact(feature: overtone_store::specs::Feature, origin: FeatureOrigin) -> Feature {
    let Tasks { checked, total, pending, open_work, checked_work } = feature.tasks.unwrap_or_default();
    Feature { name: feature.name, origin, checked, total, pending, open_work, ticked_work: checked_work }
}

/// The project's folder, for an agent that works in another one: with a relative path it would find a copy of the specs.
fn project_dir_for_agent(context: &FactContext, input: &HookInput) -> Option<String> {
    let project = context.project?;
    let is_isolated = input.input_text("isolation") == "worktree";
    let is_elsewhere = Path::new(&*input.cwd()).ancestors().all(|folder| folder != project)
        || Path::new(&*input.cwd()).join(".git").is_file();
    if is_isolated || is_elsewhere { Some(project.display().to_string()) } else { None }
}

/// The other session that works on the feature. It is looked up only if the workflow has no feature yet, since only then
/// could it take over this one. A session that has ended no longer holds its feature.
fn feature_holder(
    context: &FactContext,
    session: &Session,
    snapshot: &Snapshot,
    feature: Option<&Feature>,
) -> Option<FeatureHolder> {
    let (feature, home) = (feature?, context.environment.home.as_ref()?);
    if !matches!(own_feature_name(snapshot), None | Some("")) {
        return None;
    }
    let holder = home.feature_holder(context.project?, &feature.name, Some(session.id()))?;
    Some(FeatureHolder { session_id: holder.session.to_string(), last_active: holder.last_active })
}

/// Adds the sizes of the transcript and the context. The last compaction is looked up only if one of them is large.
fn add_compaction_facts(facts: &mut Facts, session: &Session, input: &HookInput, snapshot: &Snapshot) {
    let path = input.transcript_path();
    if !path.is_empty()
        && let Ok(metadata) = fs::metadata(Path::new(&*path))
        && metadata.is_file()
    {
        facts.transcript_bytes = Some(metadata.len());
    }
    facts.context_percent = input.context_percent().or_else(|| session.usage().context_percent);
    let has_large_transcript =
        matches!(facts.transcript_bytes, Some(bytes) if bytes > facts.settings.compact_threshold_bytes);
    let has_large_context =
        matches!(facts.context_percent, Some(percent) if percent >= facts.settings.compact_threshold_percent);
    if has_large_transcript || has_large_context {
        facts.since_compact = since_compact(session, snapshot, &facts.settings);
    }
}

/// From the session's own counter, or from the timeline if the workflow was started by a version without it.
fn since_compact(session: &Session, snapshot: &Snapshot, settings: &Settings) -> SinceCompact {
    match snapshot.workflow.as_ref().and_then(|workflow| workflow.completed_stages) {
        Some(now) => SinceCompact::counted(now, session.compactions().completed_stages),
        None => timeline::since_compact(&session.timeline_file(), settings.compact_cooldown_stages),
    }
}

/// The reports of earlier agents. Those that cannot be read are left out, because the agent can still read the files.
fn earlier_reports(session: &Session, workflow: &WorkflowState) -> Vec<EarlierReport> {
    let read = |file: &str| {
        let text = session.handoff(file).ok().flatten()?;
        Some(EarlierReport { file: file.to_owned(), text })
    };
    earlier_handoffs(workflow).into_iter().filter_map(read).collect()
}

fn lessons(context: &FactContext, now: Millis) -> Vec<Learned> {
    match (&context.environment.home, context.project) {
        (Some(home), Some(project)) => Memory::for_project(home, project).applicable(now),
        _ => Vec::new(),
    }
}
