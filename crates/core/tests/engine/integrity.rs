//! Calls and changes that come from neither the client nor Overtone.

use overtone_core::engine::integrity::{self, FileChange};
use overtone_core::engine::state::WorkflowState;
use overtone_core::engine::{FieldValue, Outcome, Permission, Record, Trigger, decide};
use overtone_core::messages::{Lang, integrity as words};
use overtone_core::registry::{Hook, WarningReason, Workflow};

use crate::world::{World, verdict};

const TASKS: [&str; 3] = ["open the door", "close the door", "lock the door"];

/// A workflow with three open tasks.
fn with_tasks() -> World {
    let mut world = World::new(Workflow::Quick).with_feature(&TASKS);
    world.facts.lang = Lang::En;
    world
}

fn reason(record: &Record) -> Option<WarningReason> {
    let (_, value) = record.fields.iter().find(|(name, _)| *name == "reason")?;
    match value {
        FieldValue::Text(name) => WarningReason::from_name(name),
        _ => None,
    }
}

fn warnings(world: &World, expected: WarningReason) -> Vec<Record> {
    let records = world.records.iter().map(|(_, record)| record.clone());
    records.filter(|record| reason(record) == Some(expected)).collect()
}

fn number(record: &Record, name: &str) -> i64 {
    match record.fields.iter().find(|(field, _)| *field == name) {
        Some((_, FieldValue::Number(number))) => *number,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn tasks_that_nobody_works_on_are_not_ticked_unnoticed() {
    let mut world = with_tasks();
    world.run("developer", &verdict("FAIL"));
    world.set_tasks(&TASKS[2..]);
    world.run("debugger", "found it");
    let ticked = warnings(&world, WarningReason::TasksTicked);
    assert_eq!(ticked.iter().map(|record| number(record, "count")).collect::<Vec<_>>(), [2]);
    assert!(world.advice().contains(&words::ticked_advice(Lang::En, 2)), "{}", world.advice());
    assert_eq!(world.workflow().review_notes, [words::ticked_remark(Lang::En, 2)]);
    // It is said once.
    let told = world.model_texts.len();
    world.run("developer", &verdict("PASS"));
    assert_eq!(warnings(&world, WarningReason::TasksTicked).len(), 1);
    assert!(world.model_texts[told..].iter().all(|text| !text.contains("ticked while")));
    assert!(world.context_of("code-reviewer").contains("check that every ticked task is done"));
}

#[test]
fn the_user_sees_it_with_the_next_answer_that_the_client_shows() {
    let mut world = with_tasks();
    world.run("developer", &verdict("FAIL"));
    world.set_tasks(&TASKS[1..]);
    let stop = world.stop();
    let shown = stop.system_message.unwrap();
    assert_eq!(shown, words::ticked(Lang::En, 1));
    assert!(world.stop().system_message.is_none_or(|text| !text.contains("ticked")));
}

#[test]
fn tasks_are_ticked_by_the_agents_that_do_them() {
    let mut world = with_tasks();
    let call = world.delegate("developer").unwrap();
    world.set_tasks(&TASKS[1..]);
    world.report("developer", &verdict("FAIL"));
    world.returned("developer", &call, "");
    world.delegate("debugger").unwrap();
    // An agent that never reports may have ticked tasks too.
    world.set_tasks(&[]);
    world.stop();
    world.run("developer", &verdict("PASS"));
    world.run("code-reviewer", &verdict("PASS"));
    assert_eq!(warnings(&world, WarningReason::TasksTicked), []);
    assert_eq!(world.workflow().user_notices, [""; 0]);
}

#[test]
fn fewer_ticks_and_other_features_are_nobodys_business() {
    let mut world = with_tasks();
    world.run("developer", &verdict("FAIL"));
    world.set_tasks(&TASKS[2..]);
    world.facts.feature.as_mut().unwrap().name = "another".to_owned();
    world.stop();
    world.set_tasks(&TASKS);
    world.stop();
    assert_eq!(warnings(&world, WarningReason::TasksTicked), []);
}

fn forged(workflow: &WorkflowState) -> Outcome {
    integrity::forged_call(workflow, Hook::OnAgentStop, Lang::En)
}

#[test]
fn a_forged_call_changes_nothing_and_is_told_once() {
    let mut world = World::new(Workflow::Quick);
    world.facts.lang = Lang::En;
    world.delegate("developer").unwrap();
    let before = world.workflow().clone();
    let outcome = forged(&before);
    assert_eq!(outcome.reply, Outcome::default().reply);
    world.apply(outcome.effects);
    assert_eq!(warnings(&world, WarningReason::ForgedHook).len(), 1);
    let after = WorkflowState { notices: Vec::new(), user_notices: Vec::new(), ..world.workflow().clone() };
    assert_eq!(after, before);
    assert!(forged(world.workflow()).effects.is_empty(), "until the user has seen it");

    let reply = world.prompt("how far is it?");
    assert_eq!(reply.system_message, Some(words::forged(Lang::En, "on-agent-stop")));
    assert!(reply.model_context.unwrap().contains(&words::forged_advice(Lang::En, "on-agent-stop")));
    let reply = world.prompt("and now?");
    assert!(reply.system_message.is_none() && !reply.model_context.unwrap().contains("hook"));
    assert!(!forged(world.workflow()).effects.is_empty(), "another one is news again");
}

#[test]
fn what_waits_for_the_user_is_shown_before_the_rest() {
    let mut world = World::new(Workflow::Single);
    world.facts.lang = Lang::En;
    world.pass(&["developer"]);
    let effects = forged(world.workflow()).effects;
    world.apply(effects);
    let shown = world.stop().system_message.unwrap();
    let lines: Vec<_> = shown.lines().collect();
    assert_eq!(lines[0], words::forged(Lang::En, "on-agent-stop"));
    assert!(lines[1].contains("complete"), "{shown}");
    assert!(world.workflow().user_notices.is_empty() && !world.workflow().is_open());
}

#[test]
fn an_edit_is_told_with_the_decision_and_the_state_is_stored() {
    for (change, text) in
        [(FileChange::Changed, words::edited(Lang::En)), (FileChange::Removed, words::removed(Lang::En))]
    {
        let mut world = World::new(Workflow::Quick);
        world.facts.lang = Lang::En;
        integrity::leave_edit_notices(&mut world.snapshot, change, Lang::En);
        // A refused delegation stores nothing by itself.
        let trigger = Trigger::Delegating {
            subagent_type: "ot:tester",
            description: "",
            prompt: "",
            tool_use_id: Some("c"),
        };
        let mut outcome = decide(&world.snapshot, &trigger, &world.facts);
        assert!(outcome.effects.is_empty());
        integrity::record_edit(&world.snapshot, change, &mut outcome);
        assert_eq!(outcome.workflow(), world.snapshot.workflow.as_ref());
        world.apply(outcome.effects);
        assert_eq!(warnings(&world, WarningReason::StateEdited).len(), 1);
        let reply = world.prompt("go on");
        assert_eq!(reply.system_message.as_deref(), Some(text.as_str()));
        assert!(reply.model_context.unwrap().contains("Overtone's last state was restored"));
        assert!(world.workflow().notices.is_empty() && world.workflow().user_notices.is_empty());
    }
}

#[test]
fn evidence_that_was_changed_is_reported_to_everybody_once() {
    let mut world = World::new(Workflow::Quick);
    world.facts.lang = Lang::En;
    world.delegate("developer").unwrap();
    let mut outcome = Outcome::default();
    integrity::report_edited_files(&world.snapshot, &[], &world.facts, &mut outcome);
    assert!(outcome.effects.is_empty());
    integrity::report_edited_files(&world.snapshot, &["receipts.jsonl"], &world.facts, &mut outcome);
    world.apply(outcome.effects);
    assert_eq!(warnings(&world, WarningReason::StateEdited).len(), 1);
    let text = words::file_edited(Lang::En, "receipts.jsonl");
    assert_eq!(world.workflow().review_notes, std::slice::from_ref(&text));
    assert_eq!(world.prompt("go on").system_message, Some(text));
}

#[test]
fn nothing_is_delegated_while_the_state_is_not_ours() {
    let untrusted = |trigger: &Trigger| integrity::untrusted_state(trigger, Lang::En);
    let delegation =
        Trigger::Delegating { subagent_type: "ot:tester", description: "", prompt: "", tool_use_id: None };
    let denied = untrusted(&delegation);
    assert!(matches!(denied.reply.permission, Some(Permission::Deny { .. })));
    assert!(denied.reply.model_context.unwrap().contains("overtone resume --accept-edit"));
    let shown = untrusted(&Trigger::Stopping { background: None }).reply.system_message.unwrap();
    assert!(shown.contains("overtone resume --accept-edit") && !shown.contains('⛔'), "{shown}");
    let silent = untrusted(&Trigger::AgentStarted { agent_type: "ot:tester", agent_id: "a" });
    assert_eq!(silent.reply, Outcome::default().reply);
}
