//! The output of `overtone init`: the workflow, its stages, the feature, the next step.

use std::path::PathBuf;

use overtone_claude::plugin::workflow_guide;
use overtone_core::engine::flow::next_step;
use overtone_core::engine::state::WorkflowState;
use overtone_core::engine::text::{step_for_user, step_text};
use overtone_core::messages::{budget, checks, cli as words, shelf_label, stage_name, workflow_purpose};
use overtone_core::registry::{DocsRule, GuardLevel, RetroRule, Stage, StageKey, Workflow};
use overtone_hook::ansi::{Text, Tone};
use overtone_store::config::Config;
use overtone_store::{Session, clock};
use serde::Serialize;

use super::checks::{ChecksState, StartingChecks};
use super::feature::AttachedFeature;
use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::CommandResult;
use crate::ui::out;
use crate::ui::table::{ARROW, Cell, Fields};

/// A workflow that has just started.
pub(super) struct StartedWorkflow {
    pub(super) session: Session,
    pub(super) workflow: Workflow,
    pub(super) attached: AttachedFeature,
    pub(super) set_aside: Vec<PathBuf>,
    pub(super) checks: StartingChecks,
}

/// Prints what was started. Inside the client, the main agent acts on it: it also gets the stages with their agents and
/// what to do when one fails, unless `is_brief`. A user in a terminal only reads it.
pub(super) fn print(
    context: &Context,
    output: &OutputArgs,
    started: &StartedWorkflow,
    is_brief: bool,
) -> CommandResult {
    let state = WorkflowState::new(started.session.id().as_str(), started.workflow, None, clock::now());
    let step = next_step(&state, &context.settings());
    let is_in_client = !Context::sessions_of_environment().is_empty();
    let next = if is_in_client { step_text(context.lang, &step) } else { step_for_user(context.lang, &step) };
    if output.json {
        return out::json(&to_json(started, &next));
    }
    let guide = if is_in_client && !is_brief { Some(workflow_guide(started.workflow)) } else { None };
    out::print(&render(context, started, guide.as_deref(), &next))
}

/// The output of `overtone init --json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StartedJson<'a> {
    session: &'a str,
    workflow: &'static str,
    stages: Vec<String>,
    feature: Option<&'a str>,
    feature_created: bool,
    set_aside: &'a [PathBuf],
    checks: Vec<&'a str>,
    checks_trusted: bool,
    /// Why the project's file cannot be used.
    checks_error: Option<&'a str>,
    guard: &'static str,
    retro: &'static str,
    docs: &'static str,
    /// The limits, as `--budget` takes them.
    budget: String,
    stage_budget: String,
    next: &'a str,
}

fn to_json<'a>(started: &'a StartedWorkflow, next: &'a str) -> StartedJson<'a> {
    StartedJson {
        session: started.session.id().as_str(),
        workflow: started.workflow.name(),
        stages: started.workflow.stage_keys().map(|key| key.to_string()).collect(),
        feature: started.attached.name(),
        feature_created: started.attached.is_new(),
        set_aside: &started.set_aside,
        checks: started.checks.names(),
        checks_trusted: matches!(started.checks.state, ChecksState::Trusted),
        checks_error: match &started.checks.state {
            ChecksState::Unusable(reason) => Some(reason),
            _ => None,
        },
        guard: started.checks.guard.name(),
        retro: started.checks.rules.retro.name(),
        docs: started.checks.rules.docs.name(),
        budget: started.checks.budget.workflow.to_string(),
        stage_budget: started.checks.budget.stage.to_string(),
        next,
    }
}

fn render(context: &Context, started: &StartedWorkflow, guide: Option<&str>, next: &str) -> Text {
    let lang = context.lang;
    let mut fields = Fields::default();
    let title =
        words::workflow_with_purpose(lang, started.workflow.name(), workflow_purpose(lang, started.workflow));
    fields.add(words::label_started(lang), Cell::new(title).tone(Tone::Strong));
    if guide.is_none() {
        fields.add_chain(words::label_stages(lang), stages_line(context, started.workflow));
    }
    if let Some(line) = feature_line(context, &started.attached) {
        fields.add(words::label_feature(lang), line);
    }
    if let Some(line) = checks_line(context, &started.checks) {
        fields.add(checks::label_checks(lang), line);
    }
    if started.checks.guard != GuardLevel::default() {
        fields.add(checks::label_guard(lang), started.checks.guard.name());
    }
    if let Some(line) = rules_line(started) {
        fields.add(checks::label_rules(lang), line);
    }
    if let Some(line) = budget_line(context, started) {
        fields.add(budget::label(lang), line);
    }
    for path in &started.set_aside {
        fields.add(words::label_set_aside(lang), path.display().to_string());
    }
    let guide = guide.map(|guide| format!("\n{guide}\n\n")).unwrap_or_default();
    fields.render(context.palette) + &format!("{guide}→ {next}\n")
}

/// `💻 開發 → 🔍 審查 + 🧪 測試 → …`: a plus joins what runs in parallel.
fn stages_line(context: &Context, workflow: Workflow) -> String {
    let group = |key: StageKey| workflow.group_of(key).map(|(_, keys)| keys);
    let mut line = String::new();
    let mut before: Option<StageKey> = None;
    for key in workflow.stage_keys() {
        line.push_str(match before {
            None => "",
            Some(other) if group(other).is_some_and(|keys| keys.contains(&key)) => " + ",
            Some(_) => ARROW,
        });
        line.push_str(&stage_name(context.lang, key.stage));
        before = Some(key);
    }
    line
}

/// The limits, unless they are the ones that every workflow has.
fn budget_line(context: &Context, started: &StartedWorkflow) -> Option<String> {
    let limits = &started.checks.budget;
    if *limits == Config::default().budget() {
        return None;
    }
    let stage = &limits.stage;
    let workflow = limits.workflow.to_string();
    if stage.is_empty() {
        return Some(workflow);
    }
    Some(format!("{workflow} · {}", budget::per_stage(context.lang, &stage.to_string())))
}

fn checks_line(context: &Context, starting: &StartingChecks) -> Option<Cell> {
    let (lang, names) = (context.lang, starting.names().join(", "));
    match &starting.state {
        ChecksState::Trusted => Some(Cell::new(names)),
        ChecksState::Untrusted => Some(Cell::new(checks::untrusted_names(lang, &names)).tone(Tone::Warning)),
        ChecksState::Unusable(reason) => Some(Cell::new(checks::unusable(lang, reason)).tone(Tone::Warning)),
        ChecksState::Detectable => Some(Cell::new(checks::none_yet(lang))),
        ChecksState::Nothing => None,
    }
}

/// `RETRO on-trouble, DOCS on-change`: the stages of the workflow that are not always carried out.
fn rules_line(started: &StartedWorkflow) -> Option<String> {
    let rules = started.checks.rules;
    let mut list = Vec::new();
    for stage in started.workflow.stages() {
        match stage {
            Stage::Retro if rules.retro != RetroRule::Always => list.push((stage.key(), rules.retro.name())),
            Stage::Docs if rules.docs != DocsRule::Always => list.push((stage.key(), rules.docs.name())),
            _ => {}
        }
    }
    if list.is_empty() {
        return None;
    }
    let texts: Vec<_> = list.iter().map(|(stage, rule)| format!("{stage} {rule}")).collect();
    Some(texts.join(", "))
}

fn feature_line(context: &Context, attached: &AttachedFeature) -> Option<String> {
    let lang = context.lang;
    match attached {
        AttachedFeature::Nothing => None,
        AttachedFeature::Ignored(name) => Some(words::feature_ignored(lang, name)),
        AttachedFeature::Created(feature) => {
            Some(words::feature_created(lang, &feature.name, &feature.dir.display().to_string()))
        }
        AttachedFeature::Resumed(feature, from) => {
            Some(words::feature_taken_up(lang, &feature.name, shelf_label(lang, from.folder())))
        }
        AttachedFeature::Joined(feature) => {
            let tasks = feature.tasks.clone().unwrap_or_default();
            Some(words::feature_joined(lang, &feature.name, tasks.checked, tasks.total))
        }
    }
}
