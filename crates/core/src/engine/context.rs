//! What a sub-agent would otherwise have to search for: the context block that its prompt begins with, and the reports of
//! earlier agents.

use crate::messages::{Lang, context, evidence, guard};
use crate::registry::limits::QUOTED_REPORT_UNITS;
use crate::registry::{SpecsDocs, Stage, StageKey, TestMode};

use crate::engine::agents::identify;
use crate::engine::by_rule::{has_to_say_visible, is_without_trouble};
use crate::engine::evidence::describe_receipt;
use crate::engine::flow::{Step, next_step};
use crate::engine::gate::target_stage;
use crate::engine::printable::printable_lines;
use crate::engine::quote::{cut, fit, units};
use crate::engine::state::{StageResult, StageState, Status, Verdict, WorkflowState};
use crate::engine::text::{file_name, handoff_folder, headline, named_files};
use crate::engine::trigger::{EarlierReport, Facts, Trigger};

/// How much of a commit's name is shown.
const COMMIT_UNITS: usize = 12;

/// What a delegation needs to know besides the workflow, so that the driver looks up nothing else.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ContextNeeds {
    /// The files that have changed since the workflow began.
    pub change: bool,
    /// The stage whose checks may have succeeded already.
    pub checks_of: Option<StageKey>,
}

/// What the context block of the agent that is about to be delegated needs.
pub fn context_needs(workflow: &WorkflowState, trigger: &Trigger) -> ContextNeeds {
    let Trigger::Delegating { subagent_type, description, .. } = *trigger else {
        return ContextNeeds::default();
    };
    let target = identify(subagent_type, description).and_then(|agent| target_stage(workflow, agent));
    let Some(stage) = target.and_then(|key| workflow.stage(key)) else { return ContextNeeds::default() };
    let verifies = stage.key.stage == Stage::Test && stage.mode == Some(TestMode::Verify);
    ContextNeeds {
        change: stage.key.stage.is_reviewer(),
        checks_of: if verifies { Some(stage.key) } else { None },
    }
}

/// The context block for an agent. `stage` is the one it is sent to.
pub fn workflow_context(
    workflow: &WorkflowState,
    stage: Option<StageKey>,
    facts: &Facts,
    max: usize,
) -> String {
    let lang = facts.lang;
    let stage = stage.or(workflow.current_stage);
    let mut lines = vec![context::CONTEXT_HEADER.to_owned()];
    lines.extend(headline(lang, workflow, stage));
    if let Some(key) = stage {
        lines.extend(test_mode(lang, workflow, key));
        lines.extend(next_agents(workflow, key, facts));
    }
    lines.extend(feature_lines(workflow, facts));
    if let Some(key) = stage {
        lines.extend(deliverables(lang, workflow, key));
        lines.extend(changed_files(key, facts));
        lines.extend(green_checks(key, facts));
        if has_to_say_visible(workflow, key.stage.agent()) {
            lines.push(context::say_visible(lang));
        }
    }
    lines.extend(earlier_work(workflow, facts));
    lines.extend(review_notes(workflow, stage, lang));
    let text = fit(lines.join("\n"), &context::truncated(lang), max);
    // It contains names from files. The prompt after it stays as it is.
    printable_lines(&text).into_owned()
}

fn test_mode(lang: Lang, workflow: &WorkflowState, key: StageKey) -> Option<String> {
    if key.stage != Stage::Test {
        return None;
    }
    match workflow.stage(key)?.mode? {
        TestMode::Spec => Some(context::test_mode_spec(lang)),
        TestMode::Verify => Some(context::test_mode_verify(lang)),
    }
}

/// The agents that follow if this stage and those beside it pass. `None` if the report goes to the main agent.
fn next_agents(workflow: &WorkflowState, key: StageKey, facts: &Facts) -> Option<String> {
    let mut after = workflow.clone();
    for passed in workflow.group_keys(key) {
        pass(&mut after, passed);
    }
    let retro = after.stages.iter().find(|stage| stage.key.stage == Stage::Retro).map(|stage| stage.key);
    if let Some(retro) = retro
        && is_without_trouble(&after)
    {
        pass(&mut after, retro);
    }
    let Step::Delegate(next) = next_step(&after, &facts.settings) else { return None };
    let names: Vec<_> = next.iter().map(|key| key.stage.agent().name()).collect();
    Some(context::next_agents(facts.lang, &names.join(&context::list_separator(facts.lang))))
}

fn pass(workflow: &mut WorkflowState, key: StageKey) {
    if let Some(stage) = workflow.stage_mut(key) {
        stage.status = Status::Completed;
        stage.result = Some(StageResult::Verdict(Verdict::Pass));
    }
}

fn feature_lines(workflow: &WorkflowState, facts: &Facts) -> Vec<String> {
    let Some(name) = workflow.feature_name.as_deref().filter(|name| !name.is_empty()) else {
        return Vec::new();
    };
    let mut lines = vec![context::feature(facts.lang, name)];
    if facts.own_feature(workflow).is_some() {
        let path = format!("specs/features/in-progress/{name}/");
        let path = match &facts.project_dir {
            Some(project) => format!("{project}/{path}"),
            None => path,
        };
        lines.push(context::specs_path(facts.lang, &path));
    }
    lines
}

/// The documents that the stage is there to write. The client tells sub-agents to write no reports, so they are named as what
/// was asked for.
fn deliverables(lang: Lang, workflow: &WorkflowState, key: StageKey) -> Option<String> {
    if key.stage == Stage::Docs {
        return Some(context::deliverable_docs(lang));
    }
    let keeps_documents =
        matches!(workflow.template(), Some(template) if template.specs_docs() != SpecsDocs::None);
    if !keeps_documents || workflow.feature_name.is_none() {
        return None;
    }
    let mode = workflow.stage(key)?.mode;
    let files = match (key.stage, mode) {
        (Stage::Pm, _) => "brief.md",
        (Stage::Plan, _) => "proposal.md, tasks.md",
        (Stage::Arch, _) => "design.md, tasks.md",
        (Stage::Design, _) => "ux.md",
        (Stage::Test, Some(TestMode::Spec)) => "bdd.md",
        (Stage::Qa, _) => "qa-handoff.md",
        _ => return None,
    };
    Some(context::deliverables(lang, files))
}

/// What a reviewer compares with, and the files that differ.
fn changed_files(key: StageKey, facts: &Facts) -> Option<String> {
    let change = facts.workflow_change.as_ref()?;
    if !key.stage.is_reviewer() || change.files.is_empty() {
        return None;
    }
    let base = cut(&change.base, COMMIT_UNITS);
    Some(context::changed_files(facts.lang, base, &named_files(&change.files)))
}

/// The checks that need not be run again, because they have succeeded on the tree as it is.
fn green_checks(key: StageKey, facts: &Facts) -> Option<String> {
    if key.stage != Stage::Test || facts.green_checks.is_empty() {
        return None;
    }
    let checks = facts.green_checks.iter().map(|receipt| describe_receipt(receipt, facts.lang));
    Some(context::green_checks(facts.lang, &checks.collect::<Vec<_>>().join("; ")))
}

/// What was done before: finished stages, and reopened stages with the report of their last attempt.
fn earlier_work(workflow: &WorkflowState, facts: &Facts) -> Vec<String> {
    let was_run = |stage: &&StageState| stage.status == Status::Completed || stage.handoff.is_some();
    let stages = workflow.stages.iter().filter(was_run).map(|stage| earlier_stage(stage, facts.lang));
    let others = workflow.other_handoffs.iter().map(|file| format!("- {}", file_name(file)));
    let mut lines: Vec<_> = stages.chain(others).collect();
    if !lines.is_empty() {
        lines.insert(
            0,
            match workflow.handoff_count {
                0 => context::earlier_stages(facts.lang),
                _ => context::earlier_stages_in(facts.lang, &handoff_folder(facts)),
            },
        );
    }
    lines
}

fn earlier_stage(stage: &StageState, lang: Lang) -> String {
    // A reopened stage has no result, but the repair needs the report of its last attempt.
    let result = match (&stage.result, &stage.last_result) {
        (Some(result), _) => result.as_str().to_owned(),
        (None, Some(last)) => format!("↩ {}", last.as_str()),
        (None, None) => "↩".to_owned(),
    };
    let line = context::earlier_stage(lang, &stage.key.to_string(), &result);
    match &stage.handoff {
        Some(handoff) => format!("{line} · {}", file_name(handoff)),
        None => line,
    }
}

/// What a reviewer has to look at besides the change.
fn review_notes(workflow: &WorkflowState, stage: Option<StageKey>, lang: Lang) -> Option<String> {
    if !stage?.stage.is_reviewer() {
        return None;
    }
    let mut notes = workflow.review_notes.clone();
    if !workflow.outside.files.is_empty() {
        notes.push(guard::review_note(lang, &named_files(&workflow.outside.files)));
    }
    if notes.is_empty() {
        return None;
    }
    let notes: Vec<_> = notes.iter().map(|note| format!("- {note}")).collect();
    Some(evidence::review_notes(lang, &notes.join("\n")))
}

/// The tag around the client's own texts. A report that contains it is not quoted, because it could end the quotation.
const CLIENT_TAG: &str = "system-reminder";

/// The handoffs that the context block names, oldest first.
pub fn earlier_handoffs(workflow: &WorkflowState) -> Vec<&str> {
    let of_stages = workflow.stages.iter().filter_map(|stage| stage.handoff.as_deref());
    let others = workflow.other_handoffs.iter().map(String::as_str);
    let mut files: Vec<_> = of_stages.chain(others).map(file_name).collect();
    // Their names begin with their numbers.
    files.sort_unstable();
    files
}

/// The earlier reports for an agent that starts, so that it need not read their files first. The newest are quoted whole, as
/// far as there is room. The others remain in their files, which the context block names.
pub(crate) fn quoted_reports(facts: &Facts) -> Option<String> {
    let mut room = QUOTED_REPORT_UNITS;
    let mut quoted: Vec<_> = facts
        .earlier_reports
        .iter()
        .rev()
        .filter_map(|report| {
            let text = quoted_report(report)?;
            room = room.checked_sub(units(&text))?;
            Some(text)
        })
        .collect();
    if quoted.is_empty() {
        return None;
    }
    quoted.reverse();
    Some(format!("{}\n\n{}", context::earlier_reports(facts.lang), quoted.join("\n\n")))
}

/// The report below the name of its file, without its markers: the context block has the results. Its lines are indented, so
/// that none of them looks like a line of ours.
fn quoted_report(report: &EarlierReport) -> Option<String> {
    if report.text.contains(CLIENT_TAG) {
        return None;
    }
    let is_marker = |line: &str| line.starts_with("<!--") && line.trim_end().ends_with("-->");
    let lines: Vec<_> = report.text.lines().filter(|line| !is_marker(line)).collect();
    let text = lines.join("\n");
    let text = printable_lines(text.trim()).replace('\n', "\n  ");
    Some(format!("### {}\n  {text}", report.file))
}
