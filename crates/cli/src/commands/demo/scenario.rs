//! The steps of the demo: a request, a denied shortcut, a failing test and its fix, a compaction, the end.

use overtone_claude::install::Client;
use overtone_core::engine::text::agent_name;
use overtone_core::messages::demo as words;
use overtone_core::registry::{Agent, Hook, Workflow};
use overtone_hook::ansi::Tone;
use serde_json::json;

use super::error::{DemoError, HookError};
use super::expected::{Expected, model_text};
use super::payload::Delegation;
use super::runner::{DemoRunner, with_user_names};
use super::sandbox::{Answer, archived_folder};
use super::timings::format_millis;
use crate::commands::up::search_path;
use crate::ui::error::CommandResult;

const FEATURE: &str = "login-page";

/// Part of the last next-step text in every language: no stage is left.
const DONE: &str = "🎉";

pub(super) fn play(runner: &mut DemoRunner) -> Result<(), DemoError> {
    begin(runner)?;
    shortcut(runner)?;
    work(runner, Agent::Planner, &["ot:architect"])?;
    work(runner, Agent::Architect, &["ot:tester"])?;
    work(runner, Agent::Tester, &["ot:developer"])?;
    work(runner, Agent::Developer, &["ot:code-reviewer", "ot:tester"])?;
    review_and_test(runner, false, &["❌", "TEST:2", "ot:debugger", "ot:developer"])?;
    stop_early(runner)?;
    work(runner, Agent::Debugger, &["ot:developer"])?;
    work(runner, Agent::Developer, &["ot:code-reviewer", "ot:tester"])?;
    review_and_test(runner, true, &["ot:retrospective"])?;
    compact(runner)?;
    work(runner, Agent::Retrospective, &["ot:doc-updater"])?;
    work(runner, Agent::DocUpdater, &[DONE])?;
    end(runner)
}

/// Prints the results and what to do next.
pub(super) fn print_end(runner: &mut DemoRunner) -> CommandResult {
    let lang = runner.lang();
    if let Some(path) = archived_folder(&runner.sandbox().project()) {
        let text = format!("📦 {}", words::archive(lang, &path));
        runner.screen().line(Tone::Good, &text)?;
    }
    let (count, median) = (runner.timings().count(), format_millis(runner.timings().median()));
    if let Some((hook, slowest)) = runner.timings().slowest() {
        let text =
            format!("⏱️ {}", words::timings(lang, count, &median, &format_millis(slowest), hook.name()));
        runner.screen().line(Tone::Plain, &text)?;
    }
    let start_claude = match Client::find(search_path().as_deref()) {
        Some(_) => words::next_claude(lang),
        None => words::next_claude_missing(lang),
    };
    let next = [
        ("overtone up".to_owned(), words::next_up(lang)),
        ("claude".to_owned(), start_claude),
        (words::next_auto(lang), words::next_request(lang)),
    ];
    runner.screen().line(Tone::Strong, &format!("\n{}", words::next(lang)))?;
    next.iter().try_for_each(|(typed, why)| runner.screen().line(Tone::Plain, &format!("  {typed}  — {why}")))
}

fn begin(runner: &mut DemoRunner) -> Result<(), DemoError> {
    let (lang, workflow) = (runner.lang(), Workflow::Standard.name());
    runner.screen().line(Tone::Strong, &format!("🎵 {}\n", words::title(lang, workflow)))?;
    runner.begin_step(words::session_starts(lang))?;
    runner.send(Hook::OnStart, &json!({ "source": "startup" }), Expected::ForUser(&["/ot:auto"]))?;
    let prompt = words::request(lang);
    runner.begin_step(words::user_types(lang, &prompt))?;
    runner.send(Hook::OnSubmit, &json!({ "prompt": prompt }), Expected::ForModel(&["/ot:auto"]))?;
    runner.begin_step(words::opens_skill(lang))?;
    let skill = json!({ "tool_name": "Skill", "tool_input": { "skill": "ot:auto", "args": prompt } });
    runner.send(Hook::AllowOwn, &skill, Expected::Allowed)?;
    start_workflow(runner, &format!("overtone init {workflow} --feature {FEATURE}"))
}

fn start_workflow(runner: &mut DemoRunner, command: &str) -> Result<(), DemoError> {
    runner.begin_step(words::runs_command(runner.lang(), command))?;
    let bash = json!({ "tool_name": "Bash", "tool_input": { "command": command } });
    runner.send(Hook::AllowOwn, &bash, Expected::Allowed)?;
    let printed = runner.sandbox().run_command_line(command);
    runner.screen().check_interrupt()?;
    let next = printed?.lines().last().unwrap_or_default().to_owned();
    let next = with_user_names(runner.lang(), &next);
    runner.screen().line(Tone::Plain, &format!("  {next}"))?;
    runner.show_progress()?;
    runner.screen().pause()
}

/// A stage that is not due yet is denied, with the reason.
fn shortcut(runner: &mut DemoRunner) -> Result<(), DemoError> {
    runner.begin_step(words::skips_ahead(runner.lang(), &name(runner, Agent::Tester)))?;
    let delegation = delegation(runner, Agent::Tester, true);
    runner.send(Hook::PreTask, &delegation.payload(Hook::PreTask), Expected::Denied(&["PLAN", "ARCH"]))?;
    runner.screen().long_pause()
}

/// One agent does its stage and passes.
fn work(runner: &mut DemoRunner, agent: Agent, next: &[&str]) -> Result<(), DemoError> {
    let delegation = delegation(runner, agent, true);
    runner.begin_step(words::goes_to_work(runner.lang(), &name(runner, agent)))?;
    delegate(runner, &[delegation], next)
}

/// The parallel stages, at the same time.
fn review_and_test(runner: &mut DemoRunner, passes: bool, next: &[&str]) -> Result<(), DemoError> {
    let lang = runner.lang();
    let delegations =
        [delegation(runner, Agent::CodeReviewer, true), delegation(runner, Agent::Tester, passes)];
    let [reviewer, tester] = [name(runner, Agent::CodeReviewer), name(runner, Agent::Tester)];
    runner.begin_step(words::go_to_work_together(lang, &reviewer, &tester))?;
    delegate(runner, &delegations, next)?;
    if passes { Ok(()) } else { runner.screen().long_pause() }
}

/// Runs one or several delegations: each hook for all of them, then checks what the main agent receives.
fn delegate(runner: &mut DemoRunner, delegations: &[Delegation], next: &[&str]) -> Result<(), DemoError> {
    let mut answers = runner.send_all(Hook::PreTask, delegations, Expected::Briefed(Delegation::PROMPT))?;
    answers.extend(runner.send_all(Hook::OnAgentStart, delegations, Expected::Harmless)?);
    runner.show_progress()?;
    runner.screen().pause()?;
    if delegations.iter().any(|delegation| !delegation.passes) {
        let lang = runner.lang();
        let text = format!("  {}", words::tests_fail(lang, &name(runner, Agent::Tester)));
        runner.screen().line(Tone::Warning, &text)?;
    }
    for delegation in delegations {
        runner.sandbox().do_work(*delegation)?;
    }
    answers.extend(runner.send_all(Hook::OnAgentStop, delegations, Expected::Quiet)?);
    // If agents end together, the first answer may report both.
    let after = runner.send_all(Hook::PostUse, delegations, Expected::Harmless)?;
    after.iter().try_for_each(|answer| runner.show_answer(answer, Expected::ForModel(&[])))?;
    answers.extend(after);
    runner.show_times(&answers.iter().collect::<Vec<_>>())?;
    runner.show_progress()?;
    check_next_step(&answers, next)?;
    runner.screen().pause()
}

/// The answers together must name the next step; which of them does depends on timing.
fn check_next_step(answers: &[Answer], next: &[&str]) -> Result<(), HookError> {
    let after = answers.iter().filter(|answer| answer.hook == Hook::PostUse);
    let text = after.map(|answer| model_text(&answer.json)).collect::<Vec<_>>().join("\n");
    let output = json!({ "hookEventName": Hook::PostUse.event(), "additionalContext": text });
    Expected::ForModel(next).check(Hook::PostUse, &json!({ "hookSpecificOutput": output }))
}

/// The loop continues while work is unfinished.
fn stop_early(runner: &mut DemoRunner) -> Result<(), DemoError> {
    runner.begin_step(words::wants_to_stop(runner.lang()))?;
    runner.send(Hook::OnStop, &stop_payload(), Expected::ForModel(&["[Overtone", "DEBUGGER"]))?;
    runner.screen().long_pause()
}

/// The state survives a compaction of the client's context.
fn compact(runner: &mut DemoRunner) -> Result<(), DemoError> {
    let lang = runner.lang();
    runner.begin_step(words::compacts(lang))?;
    let payload = json!({ "trigger": "auto", "custom_instructions": "" });
    let recovery = ["standard", "ot:retrospective"];
    runner.send(Hook::PreCompact, &payload, Expected::ForUser(&recovery))?;
    runner.begin_step(words::comes_back(lang))?;
    runner.send(Hook::OnStart, &json!({ "source": "compact" }), Expected::ForModel(&recovery))?;
    runner.screen().long_pause()
}

/// The session may stop now, with a summary and the feature in the archive.
fn end(runner: &mut DemoRunner) -> Result<(), DemoError> {
    let lang = runner.lang();
    runner.begin_step(words::stops_when_done(lang))?;
    runner.send(Hook::OnStop, &stop_payload(), Expected::ForUser(&["standard", FEATURE]))?;
    check_completed(runner)?;
    runner.begin_step(words::session_ends(lang))?;
    runner.send(Hook::OnSessionEnd, &json!({ "reason": "prompt_input_exit" }), Expected::Quiet)?;
    Ok(())
}

/// The state on disk must agree with the answers.
fn check_completed(runner: &DemoRunner) -> Result<(), HookError> {
    let expected = format!("completed 8/8, archived {FEATURE}");
    let (ending, done, total) = match runner.sandbox().workflow() {
        Some(workflow) => (workflow.ending, workflow.resolved_count(), workflow.stages.len()),
        None => (None, 0, 0),
    };
    let ending = match ending {
        Some(ending) => ending.key(),
        None => "open",
    };
    let folder = archived_folder(&runner.sandbox().project()).unwrap_or_default();
    let archived = if folder.ends_with(FEATURE) { FEATURE } else { "–" };
    let found = format!("{ending} {done}/{total}, archived {archived}");
    if found == expected { Ok(()) } else { Err(HookError::OtherState { expected, found }) }
}

fn stop_payload() -> serde_json::Value {
    json!({ "stop_hook_active": false, "background_tasks": [], "session_crons": [] })
}

fn delegation(runner: &mut DemoRunner, agent: Agent, passes: bool) -> Delegation {
    Delegation { agent, number: runner.next_number(), passes }
}

fn name(runner: &DemoRunner, agent: Agent) -> String {
    with_user_names(runner.lang(), &agent_name(runner.lang(), agent))
}
