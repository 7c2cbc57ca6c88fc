//! The story: a wish, a forbidden shortcut, a failing test and its repair, a compaction, the end.

use overtone_engine::state::Ending;
use overtone_engine::text::agent_name;
use overtone_messages::demo as words;
use overtone_registry::{Agent, Hook, Workflow};
use serde_json::json;

use super::expected::{Expected, told};
use super::payload::Errand;
use super::sandbox::{Answer, archived};
use super::stop::{Problem, Stop};
use super::teller::{Teller, for_user};
use super::timings::shown;
use crate::ui::error::Done;
use crate::ui::style::Tone;

const FEATURE: &str = "login-page";

/// Words of the last next-step text: nobody is left to be delegated, in any language.
const DONE: &str = "🎉";

pub(super) fn play(teller: &mut Teller) -> Result<(), Stop> {
    begin(teller)?;
    shortcut(teller)?;
    work(teller, Agent::Planner, &["ot:architect"])?;
    work(teller, Agent::Architect, &["ot:tester"])?;
    work(teller, Agent::Tester, &["ot:developer"])?;
    work(teller, Agent::Developer, &["ot:code-reviewer", "ot:tester"])?;
    review_and_test(teller, false, &["❌", "TEST:2", "ot:debugger", "ot:developer"])?;
    give_up(teller)?;
    work(teller, Agent::Debugger, &["ot:developer"])?;
    work(teller, Agent::Developer, &["ot:code-reviewer", "ot:tester"])?;
    review_and_test(teller, true, &["ot:retrospective"])?;
    compact(teller)?;
    work(teller, Agent::Retrospective, &["ot:doc-updater"])?;
    work(teller, Agent::DocUpdater, &[DONE])?;
    end(teller)
}

/// What to remember, and what to do next.
pub(super) fn close(teller: &mut Teller) -> Done {
    let lang = teller.lang();
    if let Some(path) = archived(&teller.sandbox().project()) {
        let text = format!("📦 {}", words::archive(lang, &path));
        teller.screen().line(Tone::Good, &text)?;
    }
    let (count, median) = (teller.timings().count(), shown(teller.timings().median()));
    if let Some((hook, worst)) = teller.timings().worst() {
        let text = format!("⏱️ {}", words::timings(lang, count, &median, &shown(worst), hook.name()));
        teller.screen().line(Tone::Plain, &text)?;
    }
    let next = [
        ("overtone up".to_owned(), words::next_up(lang)),
        ("claude".to_owned(), words::next_claude(lang)),
        (words::next_auto(lang), words::next_wish(lang)),
    ];
    teller.screen().line(Tone::Strong, &format!("\n{}", words::next(lang)))?;
    next.iter().try_for_each(|(typed, why)| teller.screen().line(Tone::Plain, &format!("  {typed}  — {why}")))
}

fn begin(teller: &mut Teller) -> Result<(), Stop> {
    let (lang, workflow) = (teller.lang(), Workflow::Standard.name());
    teller.screen().line(Tone::Strong, &format!("🎵 {}\n", words::title(lang, workflow)))?;
    teller.tell(words::session_starts(lang))?;
    teller.ask(Hook::OnStart, &json!({ "source": "startup" }), Expected::Shown(&["/ot:auto"]))?;
    let wish = words::wish(lang);
    teller.tell(words::person_wishes(lang, &wish))?;
    teller.ask(Hook::OnSubmit, &json!({ "prompt": wish }), Expected::Told(&["/ot:auto"]))?;
    teller.tell(words::opens_skill(lang))?;
    let skill = json!({ "tool_name": "Skill", "tool_input": { "skill": "ot:auto", "args": wish } });
    teller.ask(Hook::AllowOwn, &skill, Expected::Allowed)?;
    start_workflow(teller, &format!("overtone init {workflow} --feature {FEATURE}"))
}

fn start_workflow(teller: &mut Teller, command: &str) -> Result<(), Stop> {
    teller.tell(words::runs_command(teller.lang(), command))?;
    let bash = json!({ "tool_name": "Bash", "tool_input": { "command": command } });
    teller.ask(Hook::AllowOwn, &bash, Expected::Allowed)?;
    let printed = teller.sandbox().command_line(command);
    teller.screen().heed()?;
    let next = printed?.lines().last().unwrap_or_default().to_owned();
    let next = for_user(teller.lang(), &next);
    teller.screen().line(Tone::Plain, &format!("  {next}"))?;
    teller.show_progress()?;
    teller.screen().beat()
}

/// What is not yet due is refused, with the reason.
fn shortcut(teller: &mut Teller) -> Result<(), Stop> {
    teller.tell(words::skips_ahead(teller.lang(), &name(teller, Agent::Tester)))?;
    let errand = errand(teller, Agent::Tester, true);
    teller.ask(Hook::PreTask, &errand.payload(Hook::PreTask), Expected::Denied(&["PLAN", "ARCH"]))?;
    teller.screen().long_beat()
}

/// One agent does its stage and passes.
fn work(teller: &mut Teller, agent: Agent, next: &[&str]) -> Result<(), Stop> {
    let errand = errand(teller, agent, true);
    teller.tell(words::goes_to_work(teller.lang(), &name(teller, agent)))?;
    delegate(teller, &[errand], next)
}

/// The parallel stages, at the same time.
fn review_and_test(teller: &mut Teller, passes: bool, next: &[&str]) -> Result<(), Stop> {
    let lang = teller.lang();
    let errands = [errand(teller, Agent::CodeReviewer, true), errand(teller, Agent::Tester, passes)];
    let [reviewer, tester] = [name(teller, Agent::CodeReviewer), name(teller, Agent::Tester)];
    teller.tell(words::go_to_work_together(lang, &reviewer, &tester))?;
    delegate(teller, &errands, next)?;
    if passes { Ok(()) } else { teller.screen().long_beat() }
}

/// The whole life of one or several delegations: each hook for all of them, then what the main agent is told.
fn delegate(teller: &mut Teller, errands: &[Errand], next: &[&str]) -> Result<(), Stop> {
    let mut answers = teller.ask_all(Hook::PreTask, errands, Expected::Briefed(Errand::PROMPT))?;
    answers.extend(teller.ask_all(Hook::OnAgentStart, errands, Expected::Harmless)?);
    teller.show_progress()?;
    teller.screen().beat()?;
    if errands.iter().any(|errand| !errand.passes) {
        let lang = teller.lang();
        let text = format!("  {}", words::tests_fail(lang, &name(teller, Agent::Tester)));
        teller.screen().line(Tone::Warning, &text)?;
    }
    answers.extend(teller.ask_all(Hook::OnAgentStop, errands, Expected::Quiet)?);
    // Of agents that end together, the first to come back may bring the news of both.
    let after = teller.ask_all(Hook::PostUse, errands, Expected::Harmless)?;
    after.iter().try_for_each(|answer| teller.show_answer(answer, Expected::Told(&[])))?;
    answers.extend(after);
    teller.show_times(&answers.iter().collect::<Vec<_>>())?;
    teller.show_progress()?;
    told_together(&answers, next)?;
    teller.screen().beat()
}

/// Together, the main agent's answers must name the next step: which of them does is a matter of timing.
fn told_together(answers: &[Answer], next: &[&str]) -> Result<(), Problem> {
    let after = answers.iter().filter(|answer| answer.hook == Hook::PostUse);
    let text = after.map(|answer| told(&answer.json)).collect::<Vec<_>>().join("\n");
    let output = json!({ "hookEventName": Hook::PostUse.event(), "additionalContext": text });
    Expected::Told(next).check(Hook::PostUse, &json!({ "hookSpecificOutput": output }))
}

/// The loop does not let go of unfinished work.
fn give_up(teller: &mut Teller) -> Result<(), Stop> {
    teller.tell(words::wants_to_stop(teller.lang()))?;
    teller.ask(Hook::OnStop, &stop(), Expected::Told(&["[Overtone", "DEBUGGER"]))?;
    teller.screen().long_beat()
}

/// The state survives what the client forgets.
fn compact(teller: &mut Teller) -> Result<(), Stop> {
    let lang = teller.lang();
    teller.tell(words::compacts(lang))?;
    let payload = json!({ "trigger": "auto", "custom_instructions": "" });
    let recovery = ["standard", "ot:retrospective"];
    teller.ask(Hook::PreCompact, &payload, Expected::Shown(&recovery))?;
    teller.tell(words::comes_back(lang))?;
    teller.ask(Hook::OnStart, &json!({ "source": "compact" }), Expected::Told(&recovery))?;
    teller.screen().long_beat()
}

/// Now it may stop: with the summary, and the feature in the archive.
fn end(teller: &mut Teller) -> Result<(), Stop> {
    let lang = teller.lang();
    teller.tell(words::stops_when_done(lang))?;
    teller.ask(Hook::OnStop, &stop(), Expected::Shown(&["standard", FEATURE]))?;
    completed(teller)?;
    teller.tell(words::session_ends(lang))?;
    teller.ask(Hook::OnSessionEnd, &json!({ "reason": "prompt_input_exit" }), Expected::Quiet)?;
    Ok(())
}

/// What is on disk must agree with what was said.
fn completed(teller: &Teller) -> Result<(), Problem> {
    let wanted = format!("completed 8/8, archived {FEATURE}");
    let state = teller.sandbox().workflow();
    let ending = state.as_ref().and_then(|workflow| workflow.ending).map_or("open", Ending::key);
    let (done, total) = state.map_or((0, 0), |workflow| (workflow.resolved_count(), workflow.stages.len()));
    let folder = archived(&teller.sandbox().project()).unwrap_or_default();
    let archived = if folder.ends_with(FEATURE) { FEATURE } else { "–" };
    let found = format!("{ending} {done}/{total}, archived {archived}");
    if found == wanted { Ok(()) } else { Err(Problem::OtherState { wanted, found }) }
}

fn stop() -> serde_json::Value {
    json!({ "stop_hook_active": false, "background_tasks": [], "session_crons": [] })
}

fn errand(teller: &mut Teller, agent: Agent, passes: bool) -> Errand {
    Errand { agent, number: teller.next_number(), passes }
}

fn name(teller: &Teller, agent: Agent) -> String {
    for_user(teller.lang(), &agent_name(teller.lang(), agent))
}
