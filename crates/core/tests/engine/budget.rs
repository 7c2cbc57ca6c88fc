//! Budgets: what happens at 80 %, at the limit, and after the user has raised it.

use overtone_core::economy::{Budget, Cost, Limits, Spending, Tokens, parse_limits};
use overtone_core::engine::commands::{self, Refusal};
use overtone_core::engine::flow::{Step, next_step};
use overtone_core::engine::state::{BudgetState, Millis, Status, StoppedBy};
use overtone_core::engine::{Permission, Reply, ToolCaller, Trigger, WorkflowSpending};
use overtone_core::messages::Lang;
use overtone_core::registry::{Agent, BudgetKind, EventKind, WarningReason, Workflow};

use crate::world::{World, verdict};

/// A workflow with these limits in which the developer is at work.
fn at_work(workflow: &str, stage: &str) -> World {
    let limits = |text: &str| if text.is_empty() { Limits::default() } else { parse_limits(text).unwrap() };
    let mut world = World::new(Workflow::Quick);
    world.facts.lang = Lang::En;
    let budget = Budget { workflow: limits(workflow), stage: limits(stage) };
    world.workflow_mut().budget = BudgetState::new(budget);
    spend(&mut world, 0);
    world.delegate("developer").unwrap();
    world
}

/// Sets what the workflow has used: this many tokens, a thousandth of a dollar for each, all of it for DEV.
fn spend(world: &mut World, tokens: u64) {
    let tokens = Tokens { input: tokens, ..Tokens::default() };
    #[allow(clippy::cast_precision_loss, reason = "small numbers")]
    let usd = tokens.input as f64 / 1e3;
    let spending = Spending { tokens, cost: Cost { usd, unpriced_tokens: 0 } };
    let stages = vec![("DEV".parse().unwrap(), spending)];
    world.facts.spent = Some(WorkflowSpending { total: spending, stages });
}

/// A tool call of the developer, as part of this message.
fn call(world: &mut World, message: &str) -> Reply {
    world.fire(&Trigger::CallingTool {
        caller: ToolCaller::Stage(Agent::Developer),
        agent_id: "a1",
        message: Some(message),
        starts_agent: false,
    })
}

fn call_of_main(world: &mut World, message: &str, starts_agent: bool) -> Reply {
    let caller = ToolCaller::Main;
    world.fire(&Trigger::CallingTool { caller, agent_id: "", message: Some(message), starts_agent })
}

fn is_denied(reply: &Reply) -> bool {
    matches!(reply.permission, Some(Permission::Deny { .. }))
}

fn warnings(world: &World, reason: WarningReason) -> usize {
    let records = world.records.iter().map(|(_, record)| record);
    records.filter(|record| record.fields.contains(&("reason", reason.into()))).count()
}

fn raise(world: &mut World, amounts: Option<&str>) -> Result<(), Refusal> {
    let amounts = amounts.map(|text| Budget { workflow: parse_limits(text).unwrap(), ..Budget::default() });
    let raised = commands::raise_budget(&world.snapshot, amounts.as_ref(), "user", world.facts.now);
    world.command(raised)
}

#[test]
fn a_workflow_without_a_budget_is_not_limited() {
    let mut world = at_work("", "");
    spend(&mut world, u64::MAX / 2);
    assert_eq!(call(&mut world, "m1"), Reply::default());
    assert_eq!(world.workflow().budget, BudgetState::default());
}

#[test]
fn the_user_and_the_main_agent_are_told_once_that_most_is_used() {
    let mut world = at_work("1000tokens", "");
    spend(&mut world, 799);
    call(&mut world, "m1");
    assert_eq!(warnings(&world, WarningReason::BudgetNear), 0);
    for message in ["m2", "m3"] {
        spend(&mut world, 800);
        assert_eq!(call(&mut world, message), Reply::default(), "nothing is denied yet");
    }
    assert_eq!(warnings(&world, WarningReason::BudgetNear), 1);
    world.report("developer", &verdict("PASS"));
    let shown = world.stop();
    assert!(shown.system_message.unwrap().contains("800 of 1.0k tokens"));
    assert!(world.model_texts.join("\n").contains("Most of the budget is used"));
}

#[test]
fn an_agent_is_told_to_finish_and_ended_if_it_goes_on() {
    let mut world = at_work("1000tokens", "");
    spend(&mut world, 1000);
    let first = call(&mut world, "m1");
    assert!(is_denied(&first) && first.end_turn.is_none());
    assert!(first.model_context.unwrap().contains("Budget reached"));
    let beside_it = call(&mut world, "m1");
    assert!(is_denied(&beside_it) && beside_it.end_turn.is_none(), "calls of one message are one step");
    let later = call(&mut world, "m2");
    assert_eq!((later.permission, later.end_turn.is_some()), (None, true));
    assert_eq!(warnings(&world, WarningReason::BudgetReached), 1);
}

#[test]
fn the_report_of_an_agent_that_was_cut_short_is_kept_and_counts_for_nothing() {
    for report in ["half of it is done", "<!-- VERDICT: {\"result\":\"BLOCKED\"} -->", &*verdict("FAIL")] {
        let mut world = at_work("1000tokens", "");
        spend(&mut world, 1000);
        call(&mut world, "m1");
        let reply = world.stopped("developer", "", report);
        assert_eq!((reply.permission, reply.block), (None, None), "{report}: nothing is sent back");
        assert_eq!(world.status("DEV"), Status::Pending, "{report}");
        assert!(world.workflow().stage("DEV".parse().unwrap()).unwrap().handoff.is_some(), "{report}");
        assert_eq!((world.workflow().fail_count, world.workflow().was_blocked), (0, false), "{report}");
    }
}

#[test]
fn a_stage_that_is_complete_when_the_budget_ends_has_passed() {
    let mut world = at_work("1000tokens", "");
    spend(&mut world, 1000);
    world.report("developer", &verdict("PASS"));
    assert_eq!(world.status("DEV"), Status::Completed);
    assert!(matches!(next_step(world.workflow(), &world.facts.settings), Step::OverBudget(_)));
}

#[test]
fn nothing_is_started_at_the_limit_and_the_loop_lets_go() {
    let mut world = at_work("1000tokens", "");
    spend(&mut world, 1000);
    world.report("developer", &verdict("PASS"));
    assert!(world.delegate("code-reviewer").is_err());
    let helper = Trigger::Delegating {
        subagent_type: "general-purpose",
        description: "look around",
        prompt: "look around",
        tool_use_id: None,
    };
    assert!(is_denied(&world.fire(&helper)));
    assert!(is_denied(&world.fire(&Trigger::AgentDelegating { subagent_type: "general-purpose" })));
    assert!(is_denied(&world.fire(&Trigger::StartingNativeWorkflow)));
    let reply = world.stop();
    assert_eq!((reply.model_context, reply.block), (None, None));
    let shown = reply.system_message.unwrap();
    assert!(shown.contains("Done: DEV; open: REVIEW, TEST, RETRO, DOCS"), "{shown}");
    assert!(shown.contains("overtone budget raise"), "{shown}");
    assert_eq!(world.looping().stopped_by, Some(StoppedBy::Limit));
    assert_eq!(world.workflow().ending, None, "nothing is lost");
}

#[test]
fn the_main_agent_may_say_one_more_thing() {
    let mut world = at_work("1000tokens", "");
    spend(&mut world, 1000);
    world.report("developer", &verdict("PASS"));
    assert!(is_denied(&call_of_main(&mut world, "m1", false)));
    let ended = call_of_main(&mut world, "m2", true);
    assert!(ended.end_turn.is_some() && is_denied(&ended), "no other agent is started");
    assert!(ended.system_message.unwrap().contains("Budget reached"), "no Stop would show it");
    assert_eq!(world.looping().stopped_by, Some(StoppedBy::Limit));
    world.prompt("what is in the log?");
    assert_eq!(call_of_main(&mut world, "m3", false), Reply::default(), "the user decides now");
}

#[test]
fn a_finished_workflow_is_complete_whatever_it_cost() {
    let mut world = World::new(Workflow::Single);
    let limits = parse_limits("1000tokens").unwrap();
    world.workflow_mut().budget = BudgetState::new(Budget { workflow: limits, ..Budget::default() });
    world.delegate("developer").unwrap();
    spend(&mut world, 5000);
    world.report("developer", &verdict("PASS"));
    world.stop();
    assert!(world.events.contains(&EventKind::WorkflowComplete));
}

#[test]
fn a_stage_has_a_limit_of_its_own() {
    for limit in ["1000tokens", "1usd", "5min"] {
        let mut world = at_work("60agents", limit);
        spend(&mut world, 999);
        assert_eq!(call(&mut world, "m1"), Reply::default(), "{limit}");
        spend(&mut world, 1000);
        world.facts.now = Millis(world.facts.now.0 + 5 * 60_000);
        assert!(is_denied(&call(&mut world, "m2")), "{limit}");
        let reached = world.workflow().budget.reached.unwrap();
        assert_eq!(reached.stage, "DEV".parse().ok(), "{limit}");
    }
}

#[test]
fn a_stage_is_not_attempted_more_often_than_allowed() {
    let mut world = at_work("", "1agents");
    world.report("developer", &verdict("PASS"));
    world.delegate("code-reviewer").unwrap();
    world.report("code-reviewer", &verdict("REJECT"));
    world.delegate("tester").unwrap();
    world.report("tester", &verdict("PASS"));
    assert!(world.delegate("developer").is_err());
    let reached = world.workflow().budget.reached.unwrap();
    assert_eq!((reached.kind, reached.ends_work), (BudgetKind::Agents, false));
}

#[test]
fn agents_of_every_kind_count_and_those_at_work_may_complete() {
    let mut world = at_work("3agents", "");
    world.facts.helpers = 1;
    world.report("developer", &verdict("PASS"));
    assert!(world.delegate("code-reviewer").is_ok(), "the third one");
    assert!(world.delegate("tester").is_err());
    assert_eq!(call(&mut world, "m1"), Reply::default(), "the reviewer is not ended");
    world.report("code-reviewer", &verdict("PASS"));
    assert_eq!(world.status("REVIEW"), Status::Completed);
    world.stop();
    assert_eq!(world.looping().stopped_by, Some(StoppedBy::Limit));
}

#[test]
fn agents_that_start_without_a_question_are_ended() {
    let mut world = at_work("3agents", "");
    let started = Trigger::AgentStarted { agent_type: "workflow-subagent", agent_id: "w" };
    world.facts.helpers = 2;
    world.fire(&started);
    assert_eq!(world.workflow().budget.reached, None);
    world.facts.helpers = 3;
    world.fire(&started);
    let caller = ToolCaller::Other("workflow-subagent");
    let tool = Trigger::CallingTool { caller, agent_id: "w", message: Some("m1"), starts_agent: false };
    assert!(is_denied(&world.fire(&tool)));
}

#[test]
fn time_in_which_the_user_is_awaited_is_not_time_at_work() {
    let minutes = |n: i64| n * 60_000;
    let mut world = at_work("10min", "");
    world.facts.now = Millis(minutes(4));
    world.report("developer", "<!-- VERDICT: {\"result\":\"BLOCKED\"} -->");
    world.stop();
    world.facts.now = Millis(minutes(90));
    world.prompt("here is the key, continue");
    world.delegate("developer").unwrap();
    assert_eq!(call(&mut world, "m1"), Reply::default());
    world.facts.now = Millis(minutes(97));
    assert!(is_denied(&call(&mut world, "m2")));
}

#[test]
fn only_a_raise_lets_the_workflow_continue() {
    let mut world = at_work("1000tokens,60agents", "");
    assert_eq!(raise(&mut world, None), Err(Refusal::NothingToDo), "no limit is reached");
    assert_eq!(raise(&mut world, Some("1usd")), Err(Refusal::NotLimited));
    spend(&mut world, 1000);
    call(&mut world, "m1");
    world.report("developer", "half of it is done");
    world.stop();
    let settings = world.facts.settings.clone();
    let resumed = commands::resume(&world.snapshot, &settings, "user", world.facts.now);
    assert_eq!(resumed.unwrap_err(), Refusal::OverBudget);
    raise(&mut world, None).unwrap();
    let limits = &world.workflow().budget.limits.workflow;
    assert_eq!(limits.to_string(), "2000tokens,60agents", "once more what the limit was");
    assert!(!world.looping().stopped);
    world.prompt("continue");
    assert!(world.delegate("developer").is_ok());
    assert_eq!(call(&mut world, "m2"), Reply::default());
    spend(&mut world, 2000);
    assert!(is_denied(&call(&mut world, "m3")), "the new limit holds too");
}

#[test]
fn the_user_is_told_once_that_dollars_do_not_tell_the_whole_cost() {
    let mut world = at_work("5usd", "");
    let cost = Cost { usd: 0.0, unpriced_tokens: 1000 };
    let total = Spending { tokens: Tokens { input: 1000, ..Tokens::default() }, cost };
    world.facts.spent = Some(WorkflowSpending { total, stages: Vec::new() });
    call(&mut world, "m1");
    call(&mut world, "m2");
    assert_eq!(warnings(&world, WarningReason::BudgetUnpriced), 1);
}
