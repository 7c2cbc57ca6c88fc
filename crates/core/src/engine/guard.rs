//! The guard: work of the project that is not done by the agent of a stage, and steps that keep the gate from working.
//!
//! At the level `notice`, a violation is recorded, and the model, the reviewer and the user are informed. At `strict`, the
//! call is denied. Looking around, running tests and the folder `specs/` are free at both levels, and so is everything
//! while the user has stopped or interrupted the loop.

use crate::evidence::commands::{FileChanges, OWN_HOME, file_changes, forces_push, skips_git_hooks};
use crate::messages::guard as words;
use crate::registry::{GuardLevel, Stage, StageKey, Violation, WarningReason};

use crate::engine::by_rule::note_unknown_change;
use crate::engine::gate::refused_by_budget;
use crate::engine::outcome::{Effect, Outcome, Permission, Record, Reply};
use crate::engine::quote::quoted;
use crate::engine::state::{Pause, Status, StoppedBy, WorkflowState};
use crate::engine::text::{key_list, named_files, next_step_text};
use crate::engine::trigger::{Facts, Folders, Snapshot, ToolCaller, Trigger};

/// How many changed files are remembered for the reviewer, and how many are part of a record.
const MAX_REMEMBERED: usize = 100;
const MAX_RECORDED: usize = 20;

/// Something that goes past the gate.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    violation: Violation,
    /// The files that it is about.
    paths: Vec<String>,
}

/// Whether a tool call may go past the gate. The state decides what follows from it, and need not be read otherwise.
pub fn concerns_guard(trigger: &Trigger, folders: &Folders) -> bool {
    match *trigger {
        Trigger::ChangingFile { path, text, caller, .. } => {
            find_in_edit(path, text, caller, folders).is_some()
        }
        Trigger::FileWritten { path, caller, .. } => find_in_edit(path, "", caller, folders).is_some(),
        Trigger::StartingCommand { command, caller } => find_in_command(command, caller, folders).is_some(),
        Trigger::BashRan { command, caller, .. } | Trigger::ToolFailed { command, caller, .. } => {
            !is_stage_worker(caller)
                && (find_in_command(command, caller, folders).is_some()
                    || file_changes(command).may_change_more)
        }
        Trigger::StartingNativeWorkflow => true,
        _ => false,
    }
}

/// An editing tool is about to change a file.
pub(crate) fn changing_file(
    snapshot: &Snapshot,
    path: &str,
    text: &str,
    caller: ToolCaller,
    facts: &Facts,
) -> Outcome {
    let Some(workflow) = guarded_workflow(snapshot) else { return Outcome::default() };
    match find_in_edit(path, text, caller, &facts.folders) {
        Some(finding) => before_call(workflow, &finding, caller, facts),
        None => Outcome::default(),
    }
}

/// A shell command is about to run.
pub(crate) fn starting_command(
    snapshot: &Snapshot,
    command: &str,
    caller: ToolCaller,
    facts: &Facts,
) -> Outcome {
    let Some(workflow) = guarded_workflow(snapshot) else { return Outcome::default() };
    match find_in_command(command, caller, &facts.folders) {
        Some(finding) => before_call(workflow, &finding, caller, facts),
        None => Outcome::default(),
    }
}

/// The client's `Workflow` tool is about to start agents of its own.
pub(crate) fn starting_native_workflow(snapshot: &Snapshot, facts: &Facts) -> Outcome {
    if let Some(refused) = snapshot.workflow.as_ref().and_then(|workflow| refused_by_budget(workflow, facts))
    {
        return refused;
    }
    let Some(workflow) = guarded_workflow(snapshot) else { return Outcome::default() };
    let finding = Finding { violation: Violation::NativeWorkflow, paths: Vec::new() };
    before_call(workflow, &finding, ToolCaller::Main, facts)
}

/// An editing tool has changed a file. Adds what follows to the outcome.
pub(crate) fn file_written(
    snapshot: &Snapshot,
    path: &str,
    caller: ToolCaller,
    facts: &Facts,
    outcome: &mut Outcome,
) {
    let Some(workflow) = guarded_workflow(snapshot) else { return };
    if let Some(Finding { violation: Violation::ChangedOutsideStage, paths }) =
        find_in_edit(path, "", caller, &facts.folders)
    {
        merge(outcome, note_changes(workflow, &name_of(caller), &paths, facts));
    }
}

/// A shell command has ended. Adds what follows to the outcome.
pub(crate) fn command_ran(
    snapshot: &Snapshot,
    command: &str,
    caller: ToolCaller,
    facts: &Facts,
    outcome: &mut Outcome,
) {
    let Some(workflow) = guarded_workflow(snapshot) else { return };
    if is_stage_worker(caller) {
        return;
    }
    let changes = file_changes(command);
    let paths = project_paths(&changes, &facts.folders);
    if !paths.is_empty() {
        merge(outcome, note_changes(workflow, &name_of(caller), &paths, facts));
    } else if changes.may_change_more && !workflow.outside.may_be_more {
        let mut next = workflow.clone();
        next.outside.may_be_more = true;
        outcome.push(Effect::PutWorkflow(next));
    }
}

/// Decides on an event with what was found when the work tree was compared before it: the decision starts from the
/// workflow in which the changes are noted.
pub(crate) fn with_comparison(
    snapshot: &Snapshot,
    facts: &Facts,
    decide: impl FnOnce(&Snapshot) -> Outcome,
) -> Outcome {
    if let Some(reopened) = judge_now(snapshot) {
        let current = Snapshot { workflow: reopened.workflow().cloned(), looping: snapshot.looping.clone() };
        let decided = with_comparison(&current, facts, decide);
        let effects = reopened.effects.into_iter().chain(decided.effects).collect();
        return Outcome { effects, reply: decided.reply };
    }
    let (Some(paths), Some(workflow)) = (&facts.changed_since_stage, &snapshot.workflow) else {
        return decide(snapshot);
    };
    // The tree is compared before the session is locked, so another call may have found the same changes first.
    if !workflow.awaits_comparison() {
        return decide(snapshot);
    }
    let mut noted = match guarded_workflow(snapshot) {
        Some(workflow) => note_changes(workflow, MAIN, paths, facts),
        None => Outcome::default(),
    };
    let mut compared = noted.workflow().unwrap_or(workflow).clone();
    compared.outside.may_be_more = false;
    noted.effects.retain(|effect| !matches!(effect, Effect::PutWorkflow(_)));
    noted.push(Effect::PutWorkflow(compared.clone()));
    let decided = decide(&Snapshot { workflow: Some(compared), looping: snapshot.looping.clone() });
    let Reply { model_context, system_message, .. } = noted.reply;
    let mut outcome = Outcome { effects: noted.effects, reply: decided.reply };
    outcome.effects.extend(decided.effects);
    merge(
        &mut outcome,
        Outcome { reply: Reply { system_message, model_context, ..Reply::default() }, effects: Vec::new() },
    );
    outcome
}

/// Opens the stages again that had to wait for a running one. `None` if there is nothing to do.
fn judge_now(snapshot: &Snapshot) -> Option<Outcome> {
    let mut next = snapshot.workflow.clone()?;
    if !next.outside.judge_again
        || !next.is_open()
        || next.stages.iter().any(|stage| stage.status == Status::Active)
    {
        return None;
    }
    let reopened = judge_again(&mut next);
    let mut outcome = Outcome::default();
    if !reopened.is_empty() {
        outcome.emit(with_reopened(record(Violation::ChangedOutsideStage, MAIN), &reopened));
    }
    outcome.push(Effect::PutWorkflow(next));
    Some(outcome)
}

/// Records that somebody other than the agent of a stage changed these files, tells the model and the user when it is the
/// first time since the last review, and opens the stages again that have judged other code.
pub fn note_changes(workflow: &WorkflowState, by: &str, paths: &[String], facts: &Facts) -> Outcome {
    let mut outcome = Outcome::default();
    let is_new = |path: &&String| !workflow.outside.files.contains(path);
    let new: Vec<String> = paths.iter().filter(is_new).cloned().collect();
    let mut next = workflow.clone();
    let room = MAX_REMEMBERED.saturating_sub(next.outside.files.len());
    next.outside.files.extend(new.iter().take(room).cloned());
    next.outside.may_be_more |= !paths.is_empty();
    if !paths.is_empty() {
        note_unknown_change(&mut next);
    }
    let reopened = if paths.iter().any(|path| is_code(path)) { judge_again(&mut next) } else { Vec::new() };
    if new.is_empty() && reopened.is_empty() {
        if next != *workflow {
            outcome.push(Effect::PutWorkflow(next));
        }
        return outcome;
    }
    let recorded: Vec<String> = paths.iter().take(MAX_RECORDED).cloned().collect();
    let record = record(Violation::ChangedOutsideStage, by).with("paths", recorded);
    outcome.emit(with_reopened(record, &reopened));
    if workflow.outside.files.is_empty() || !reopened.is_empty() {
        let (lang, files) = (facts.lang, named_files(paths));
        let mut text = words::changed_advice(lang, &files);
        if !reopened.is_empty() {
            text.push('\n');
            text.push_str(&words::reopened(lang, &key_list(lang, &reopened)));
        }
        outcome.reply.model_context = Some(format!("{text}\n{}", next_step_text(&next, facts)));
        outcome.reply.system_message = Some(words::changed_notice(lang, &shown_name(by, facts), &files));
    }
    outcome.push(Effect::PutWorkflow(next));
    outcome
}

/// The answer to a call that goes past the gate: denied at `strict`. At `notice` it is recorded, except for changed files,
/// which are recorded when the call has ended.
fn before_call(workflow: &WorkflowState, finding: &Finding, caller: ToolCaller, facts: &Facts) -> Outcome {
    let by = name_of(caller);
    let mut record = record(finding.violation, &by);
    if !finding.paths.is_empty() {
        record = record.with("paths", finding.paths.clone());
    }
    let mut outcome = Outcome::default();
    if workflow.guard == GuardLevel::Strict {
        outcome.emit(record.with("answer", "denied"));
        outcome.reply = Reply {
            permission: Some(Permission::Deny { reason: refusal(finding, caller, facts) }),
            model_context: Some(advice(workflow, finding, caller, facts)),
            ..Reply::default()
        };
        return outcome;
    }
    if finding.violation == Violation::ChangedOutsideStage {
        return outcome;
    }
    let text = words::violation(facts.lang, &shown_name(&by, facts), &describe(finding, facts));
    let mut next = workflow.clone();
    next.add_review_note(text.clone());
    outcome.emit(record);
    outcome.reply.model_context = Some(advice(workflow, finding, caller, facts));
    outcome.reply.system_message = Some(words::notice(facts.lang, &text));
    outcome.push(Effect::PutWorkflow(next));
    outcome
}

/// The reason of a denied call, which the user reads, too.
fn refusal(finding: &Finding, caller: ToolCaller, facts: &Facts) -> String {
    let lang = facts.lang;
    match (finding.violation, caller) {
        (Violation::ChangedOutsideStage, ToolCaller::Stage(agent)) => {
            words::deny_read_only_command(lang, agent.name())
        }
        (Violation::ChangedOutsideStage, _) => words::deny_change(lang),
        _ => words::deny_violation(lang, &describe(finding, facts)),
    }
}

/// What the model is told about it.
fn advice(workflow: &WorkflowState, finding: &Finding, caller: ToolCaller, facts: &Facts) -> String {
    let lang = facts.lang;
    match (finding.violation, caller) {
        (Violation::ChangedOutsideStage, ToolCaller::Stage(_)) => words::read_only_advice(lang),
        (Violation::ChangedOutsideStage | Violation::NativeWorkflow, _) => {
            words::delegate_advice(lang, &next_step_text(workflow, facts))
        }
        _ => words::ask_user_advice(lang),
    }
}

fn describe(finding: &Finding, facts: &Facts) -> String {
    let lang = facts.lang;
    match finding.violation {
        Violation::ChangedOutsideStage => words::changes_files(lang, &named_files(&finding.paths)),
        Violation::NativeWorkflow => words::native_workflow(lang),
        Violation::GitHooksSkipped => words::git_hooks_skipped(lang),
        Violation::ForcedPush => words::forced_push(lang),
        Violation::HooksDisabled => words::hooks_disabled(lang),
        Violation::OwnFilesChanged => words::own_files(lang),
    }
}

fn record(violation: Violation, by: &str) -> Record {
    Record::warning(WarningReason::GateBypassed).with("violation", violation.name()).with("by", by)
}

/// The name of the main agent in a record.
const MAIN: &str = "main";

/// The name of the caller in a record.
fn name_of(caller: ToolCaller) -> String {
    match caller {
        ToolCaller::Main => MAIN.to_owned(),
        ToolCaller::Stage(agent) => agent.name().to_owned(),
        ToolCaller::Other(agent_type) => quoted(agent_type),
    }
}

fn shown_name(by: &str, facts: &Facts) -> String {
    if by == MAIN { words::main_agent(facts.lang) } else { by.to_owned() }
}

/// Adds the outcome of a note to that of the event, which has changed no workflow.
fn merge(outcome: &mut Outcome, noted: Outcome) {
    outcome.effects.extend(noted.effects);
    for (own, other) in [
        (&mut outcome.reply.model_context, noted.reply.model_context),
        (&mut outcome.reply.system_message, noted.reply.system_message),
    ] {
        *own = match (own.take(), other) {
            (Some(text), Some(more)) => Some(format!("{text}\n{more}")),
            (text, more) => text.or(more),
        };
    }
}

/// The open workflow, unless the user has taken over by stopping or interrupting the loop. A pause that the model can cause
/// by doing nothing does not count.
fn guarded_workflow(snapshot: &Snapshot) -> Option<&WorkflowState> {
    let workflow = snapshot.workflow.as_ref()?;
    if !workflow.is_open() || workflow.moved_to.is_some() {
        return None;
    }
    match &snapshot.looping {
        Some(looping)
            if looping.stopped_by == Some(StoppedBy::User) || looping.paused == Some(Pause::Interrupted) =>
        {
            None
        }
        _ => Some(workflow),
    }
}

/// Whether the caller is the agent of a stage that may change files.
fn is_stage_worker(caller: ToolCaller) -> bool {
    match caller {
        ToolCaller::Stage(agent) => agent.may_change_files(),
        ToolCaller::Main | ToolCaller::Other(_) => false,
    }
}

fn find_in_edit(path: &str, text: &str, caller: ToolCaller, folders: &Folders) -> Option<Finding> {
    let full = absolute(path, folders)?;
    if is_own(&full, folders) {
        return Some(Finding { violation: Violation::OwnFilesChanged, paths: vec![path.to_owned()] });
    }
    if is_client_settings(&full) && disables_hooks(text) {
        return Some(Finding { violation: Violation::HooksDisabled, paths: vec![path.to_owned()] });
    }
    if is_stage_worker(caller) {
        return None;
    }
    let inside = in_project(&full, folders)?;
    Some(Finding { violation: Violation::ChangedOutsideStage, paths: vec![inside] })
}

fn find_in_command(command: &str, caller: ToolCaller, folders: &Folders) -> Option<Finding> {
    let only = |violation| Some(Finding { violation, paths: Vec::new() });
    if skips_git_hooks(command) {
        return only(Violation::GitHooksSkipped);
    }
    if forces_push(command) {
        return only(Violation::ForcedPush);
    }
    let changes = file_changes(command);
    let paths: Vec<String> = changes.paths.iter().filter_map(|path| absolute(path, folders)).collect();
    if paths.iter().any(|path| is_own(path, folders) || contains_own(path, folders)) {
        return only(Violation::OwnFilesChanged);
    }
    let may_change_settings = changes.may_change_more || paths.iter().any(|path| is_client_settings(path));
    if (may_change_settings && disables_hooks(command)) || disables_plugin(command) {
        return only(Violation::HooksDisabled);
    }
    if is_stage_worker(caller) {
        return None;
    }
    let paths = project_paths(&changes, folders);
    if paths.is_empty() {
        return None;
    }
    Some(Finding { violation: Violation::ChangedOutsideStage, paths })
}

/// The changed files of the project, relative to it.
fn project_paths(changes: &FileChanges, folders: &Folders) -> Vec<String> {
    let inside = |path: &String| in_project(&absolute(path, folders)?, folders);
    changes.paths.iter().filter_map(inside).collect()
}

/// The path relative to the project, for a file of the project that is not part of the specs. Hidden results of git are not
/// part of the work either.
fn in_project(path: &str, folders: &Folders) -> Option<String> {
    let inside = strip_folder(path, &folders.project)?;
    let first = inside.split('/').next().unwrap_or_default();
    if matches!(first, "specs" | ".git") { None } else { Some(inside.to_owned()) }
}

fn is_own(path: &str, folders: &Folders) -> bool {
    folders.own.iter().any(|own| strip_folder(path, own).is_some())
}

/// Whether a folder that is deleted or moved contains Overtone's files.
fn contains_own(path: &str, folders: &Folders) -> bool {
    folders.own.iter().any(|own| own.len() > path.len() && strip_folder(own, path).is_some())
        && strip_folder(&folders.project, path).is_none()
}

/// `.claude/settings.json` and `.claude/settings.local.json`, of the user or of a project.
fn is_client_settings(path: &str) -> bool {
    path.ends_with("/.claude/settings.json") || path.ends_with("/.claude/settings.local.json")
}

/// Whether a text has settings that switch off hooks or plugins.
fn disables_hooks(text: &str) -> bool {
    text.contains("disableAllHooks") || text.contains("enabledPlugins")
}

fn disables_plugin(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    words.windows(3).any(|window| {
        window[0].ends_with("claude")
            && matches!(window[1], "plugin" | "plugins")
            && matches!(window[2], "disable" | "uninstall" | "remove" | "rm")
    })
}

/// The absolute path without `.` and `..`. `None` if it is not known where the path is.
fn absolute(path: &str, folders: &Folders) -> Option<String> {
    let joined = if let Some(rest) = path.strip_prefix(OWN_HOME) {
        format!("{}{rest}", folders.own.first()?)
    } else if let Some(rest) = path.strip_prefix('~') {
        if folders.user_home.is_empty() || !(rest.is_empty() || rest.starts_with('/')) {
            return None;
        }
        format!("{}{rest}", folders.user_home)
    } else if path.starts_with('/') {
        path.to_owned()
    } else if folders.current.is_empty() {
        return None;
    } else {
        format!("{}/{path}", folders.current)
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(format!("/{}", parts.join("/")))
}

/// The rest of a path below a folder. Empty for the folder itself.
fn strip_folder<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    let folder = folder.trim_end_matches('/');
    if folder.is_empty() {
        return None;
    }
    match path.strip_prefix(folder)? {
        "" => Some(""),
        rest => rest.strip_prefix('/'),
    }
}

/// Whether a file can make an earlier verdict wrong. Documents cannot.
fn is_code(path: &str) -> bool {
    let extension = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    !matches!(extension.as_str(), "md" | "txt" | "rst" | "adoc") && !path.starts_with("docs/")
}

fn with_reopened(record: Record, reopened: &[StageKey]) -> Record {
    if reopened.is_empty() {
        return record;
    }
    record.with("reopened", reopened.iter().map(ToString::to_string).collect::<Vec<_>>())
}

/// Opens the stages after DEV again that have judged the code as it was. At `strict` a change by a script, which no call shows
/// before it happens, opens DEV as well: its agent takes the change over or reverts it. While a stage is running, this has to
/// wait: the stages before it stay as they are.
fn judge_again(workflow: &mut WorkflowState) -> Vec<StageKey> {
    let mut reopened = Vec::new();
    workflow.outside.judge_again = workflow.stages.iter().any(|stage| stage.status == Status::Active);
    if workflow.outside.judge_again {
        return reopened;
    }
    let opens_development = workflow.guard == GuardLevel::Strict;
    let from_development = workflow.stages.iter_mut().skip_while(|stage| stage.key.stage != Stage::Dev);
    for stage in from_development.filter(|stage| stage.is_resolved()) {
        let is_opened =
            if stage.key.stage == Stage::Dev { opens_development } else { stage.key.stage.is_judge() };
        if is_opened {
            stage.reopen();
            reopened.push(stage.key);
        }
    }
    if !reopened.is_empty() {
        workflow.update_current_stage();
    }
    reopened
}
