//! How reports are processed, however they arrive. A report without a verdict never passes.

use crate::world::{World, verdict};
use overtone_core::engine::state::Status;
use overtone_core::engine::{Effect, FieldValue, Permission, Reply, Trigger};
use overtone_core::registry::{EventKind, Workflow};

/// `quick` with DEV and REVIEW done, and a tester at work under the id `t1`.
fn testing() -> World {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer", "code-reviewer"]);
    world.delegate("tester").unwrap();
    world.started("tester", "t1");
    world
}

fn refusal(reply: &Reply) -> Option<&str> {
    match &reply.permission {
        Some(Permission::Deny { reason }) => Some(reason),
        _ => None,
    }
}

fn saved(world: &World) -> Vec<(String, bool)> {
    let handoffs = world.effects.iter().filter_map(|effect| match effect {
        Effect::SaveHandoff(handoff) => Some((handoff.file.clone(), handoff.appends)),
        _ => None,
    });
    handoffs.collect()
}

fn fields(world: &World, kind: EventKind, name: &str) -> Vec<FieldValue> {
    let own = world.records.iter().filter(|(_, record)| record.kind == kind);
    own.flat_map(|(_, record)| record.fields.iter().filter(|(field, _)| *field == name))
        .map(|(_, value)| value.clone())
        .collect()
}

#[test]
fn a_handed_back_report_is_not_counted_again_when_the_agent_stops() {
    let mut world = testing();
    assert_eq!(world.hand_back("tester", "t1", &verdict("FAIL")), Reply::default());
    assert_eq!((world.result("TEST"), world.workflow().fail_count), (Some("fail"), 1));
    assert_eq!(saved(&world), [("handoffs/03-TEST-tester.md".to_owned(), false)]);
    let before = world.workflow().clone();
    world.stopped("tester", "t1", "");
    assert_eq!(*world.workflow(), before);
}

#[test]
fn the_delivered_report_brings_the_next_step_exactly_once() {
    let mut world = testing();
    world.hand_back("tester", "t1", &verdict("FAIL"));
    let message = format!(
        "<agent-message from=\"t1\">\n[Subagent hand-back] The report follows:\n  {}\n</agent-message>",
        verdict("FAIL")
    );
    let text = world.prompt(&message).model_context.unwrap();
    assert!(text.contains("失敗（1/3）") && text.contains("ot:debugger"), "{text}");
    assert!(world.prompt(&message).model_context.is_none());
    assert_eq!(world.workflow().fail_count, 1);
}

#[test]
fn a_delivered_report_replaces_a_missed_hand_back() {
    let mut world = testing();
    let message = "<agent-message from=\"t1\">\n  SECURITY WARNING: blocked.\n[Subagent hand-back] The report follows:\n  \
        2 failed\n  <!-- VERDICT: {\"result\":\"FAIL\"} -->\n</agent-message>";
    let text = world.prompt(message).model_context.unwrap();
    assert_eq!(world.result("TEST"), Some("fail"));
    assert!(text.contains("安全警告"), "{text}");
    assert_eq!(fields(&world, EventKind::SystemWarning, "handback"), [FieldValue::from("flagged")]);
}

#[test]
fn text_before_a_hand_back_is_not_the_report() {
    let mut world = testing();
    let stopped = Trigger::AgentStopped {
        agent_type: "ot:tester",
        agent_id: "t1",
        message: &verdict("PASS"),
        hands_back: true,
    };
    assert_eq!(world.fire(&stopped), Reply::default());
    assert_eq!(world.status("TEST"), Status::Active);
    world.hand_back("tester", "t1", &verdict("FAIL"));
    assert_eq!(world.result("TEST"), Some("fail"));
}

#[test]
fn a_report_without_a_verdict_is_sent_back_once_and_then_fails() {
    for is_handed_back in [true, false] {
        let mut world = testing();
        let report = |world: &mut World, text: &str| {
            if is_handed_back {
                world.hand_back("tester", "t1", text)
            } else {
                world.stopped("tester", "t1", text)
            }
        };
        let first = report(&mut world, "All tests pass.");
        let asked = if is_handed_back { refusal(&first) } else { first.block.as_deref() };
        assert!(asked.unwrap().contains("VERDICT: {\"result\":\"BLOCKED\"}"), "{first:?}");
        assert_eq!(world.status("TEST"), Status::Active);
        assert_eq!(saved(&world), [("handoffs/03-TEST-tester.md".to_owned(), false)]);

        let second = report(&mut world, "As I said, they pass.");
        assert!(refusal(&second).is_none() && second.block.is_none());
        assert_eq!((world.result("TEST"), world.workflow().fail_count), (Some("fail"), 1));
        assert_eq!(fields(&world, EventKind::AgentComplete, "reason"), [FieldValue::from("no verdict")]);
        // Its first text stays the handoff; the second is added to it.
        assert_eq!(saved(&world), [("handoffs/03-TEST-tester.md".to_owned(), true)]);
        assert_eq!(world.workflow().handoff_count, 3);
    }
}

#[test]
fn a_requested_verdict_counts_and_the_first_report_is_kept() {
    let mut world = testing();
    world.hand_back("tester", "t1", "12 passed, exit code 0");
    world.hand_back("tester", "t1", &verdict("PASS"));
    assert_eq!((world.result("TEST"), world.workflow().fail_count), (Some("pass"), 0));
    let handoff = world.workflow().stage(crate::world::stage("TEST")).unwrap().handoff.clone();
    assert_eq!(handoff.as_deref(), Some("handoffs/03-TEST-tester.md"));
    assert_eq!(fields(&world, EventKind::AgentComplete, "handoff").last(), Some(&FieldValue::Number(3)));
}

#[test]
fn a_report_without_a_verdict_fails_if_its_agent_has_ended() {
    let mut world = World::new(Workflow::Single);
    let call = world.delegate("developer").unwrap();
    let text = world.returned("developer", &call, "done").unwrap();
    assert!(text.contains("沒有結論"), "{text}");
    assert_eq!((world.result("DEV"), world.workflow().fail_count), (Some("fail"), 1));
}

#[test]
fn an_agent_without_a_stage_is_not_asked_for_a_verdict() {
    let mut world = testing();
    world.hand_back("tester", "t1", &verdict("FAIL"));
    world.delegate("debugger").unwrap();
    let reply = world.stopped("debugger", "d1", "the lock is taken twice");
    assert!(reply.block.is_none());
    assert_eq!(fields(&world, EventKind::AgentComplete, "result").last(), Some(&FieldValue::Nothing));
}

#[test]
fn a_continued_agent_makes_a_new_attempt() {
    let mut world = testing();
    world.hand_back("tester", "t1", &verdict("FAIL"));
    let reply = world.fire(&Trigger::ContinuingAgent { agent_id: "t1" });
    assert!(refusal(&reply).is_none());
    assert_eq!(world.status("TEST"), Status::Active);
    // The end of its first run comes late.
    world.stopped("tester", "t1", "");
    assert_eq!(world.status("TEST"), Status::Active);
    world.started("tester", "t1");
    world.hand_back("tester", "t1", &verdict("PASS"));
    assert_eq!((world.status("TEST"), world.result("TEST")), (Status::Completed, Some("pass")));
    assert_eq!(world.workflow().stage(crate::world::stage("TEST")).unwrap().attempts, 2);
    assert_eq!(fields(&world, EventKind::AgentDelegate, "continues"), [FieldValue::from("t1")]);
}

/// The client may reject a message that the hook has allowed.
#[test]
fn an_agent_that_did_not_start_again_can_be_continued_later() {
    let mut world = testing();
    world.hand_back("tester", "t1", &verdict("FAIL"));
    world.fire(&Trigger::ContinuingAgent { agent_id: "t1" });
    assert!(world.stop().model_context.unwrap().contains("TESTER"));
    assert_eq!((world.status("TEST"), world.count(EventKind::AgentError)), (Status::Pending, 1));
    world.fire(&Trigger::ContinuingAgent { agent_id: "t1" });
    assert_eq!(world.status("TEST"), Status::Active);
    world.started("tester", "t1");
    world.hand_back("tester", "t1", &verdict("PASS"));
    assert_eq!(world.result("TEST"), Some("pass"));
    assert_eq!(fields(&world, EventKind::AgentComplete, "slot").last(), Some(&FieldValue::from("tester")));
}

#[test]
fn an_agent_that_passed_is_not_continued_without_a_reason() {
    let mut world = testing();
    world.hand_back("tester", "t1", &verdict("PASS"));
    let reply = world.fire(&Trigger::ContinuingAgent { agent_id: "t1" });
    assert_eq!(refusal(&reply), Some("Overtone：TEST 已經完成"));
    assert!(world.advice().contains("ot:retrospective"));
}

#[test]
fn an_agent_that_the_user_continues_counts_only_where_its_stage_may_start() {
    let mut world = testing();
    world.hand_back("tester", "t1", &verdict("FAIL"));
    world.started("tester", "t1");
    world.hand_back("tester", "t1", &verdict("PASS"));
    assert_eq!(world.result("TEST"), Some("pass"));

    world.pass(&["retrospective"]);
    world.started("tester", "t1");
    world.hand_back("tester", "t1", &verdict("FAIL"));
    assert_eq!((world.result("TEST"), world.status("DOCS")), (Some("pass"), Status::Pending));
}

#[test]
fn blocked_asks_the_user_and_starts_no_repair() {
    let mut world = testing();
    let reply = {
        world.hand_back("tester", "t1", &verdict("BLOCKED"));
        world.prompt("<agent-message from=\"t1\">\nThe report follows:\n  x\n</agent-message>")
    };
    let text = reply.model_context.unwrap();
    assert!(text.contains("AskUserQuestion") && !text.contains("ot:debugger"), "{text}");
    assert_eq!((world.result("TEST"), world.workflow().fail_count), (Some("blocked"), 0));
    for agent in ["developer", "debugger", "retrospective"] {
        assert!(world.delegate(agent).is_err(), "{agent}");
    }
    let stop = world.stop();
    assert!(stop.model_context.is_none() && stop.block.is_none());
    assert!(stop.system_message.unwrap().contains("✋"));
    // With the user's answer, its own stage runs again.
    world.prompt("the database is at localhost now");
    world.pass(&["tester"]);
    assert_eq!(world.result("TEST"), Some("pass"));
}

#[test]
fn the_user_may_have_a_blocked_stage_repaired() {
    let mut world = testing();
    world.hand_back("tester", "t1", &verdict("BLOCKED"));
    world.fire(&Trigger::UserAnswered);
    world.delegate("developer").unwrap();
    assert_eq!((world.status("DEV"), world.status("TEST")), (Status::Active, Status::Pending));
}

/// Every stage of every workflow can need the user.
#[test]
fn a_blocked_stage_runs_again_only_after_input_of_the_user() {
    for workflow in Workflow::ALL {
        let keys: Vec<_> = World::new(workflow).workflow().stages.iter().map(|stage| stage.key).collect();
        for (at, key) in keys.iter().enumerate() {
            let mut world = World::new(workflow);
            for earlier in &keys[..at] {
                world.pass(&[earlier.stage.agent().name()]);
            }
            let agent = key.stage.agent().name();
            world.run(agent, &verdict("BLOCKED"));
            let counts = (world.workflow().fail_count, world.workflow().reject_count);
            assert_eq!(
                (world.result(&key.to_string()), counts),
                (Some("blocked"), (0, 0)),
                "{workflow:?} {key}"
            );
            for refused in [agent, "developer", "debugger"] {
                let reason = world.delegate(refused).unwrap_err();
                assert!(reason.contains(&key.to_string()), "{workflow:?} {key} {refused}: {reason}");
                assert!(world.advice().contains("AskUserQuestion"), "{}", world.advice());
            }
            let stop = world.stop();
            assert!(stop.model_context.is_none() && stop.block.is_none(), "{workflow:?} {key}");
            assert_eq!(world.status(&key.to_string()), Status::Completed);
            world.fire(&Trigger::UserAnswered);
            world.pass(&[agent]);
            assert_eq!(world.result(&key.to_string()), Some("pass"), "{workflow:?} {key}");
        }
    }
}

#[test]
fn one_answer_counts_for_every_blocked_stage_of_a_group() {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer"]);
    world.delegate("code-reviewer").unwrap();
    world.delegate("tester").unwrap();
    world.report("code-reviewer", &verdict("BLOCKED"));
    assert_eq!(world.delegate("code-reviewer").unwrap_err(), "Overtone：REVIEW 需要你的決定");
    world.report("tester", &verdict("BLOCKED"));
    assert!(world.delegate("tester").is_err());
    world.prompt("both may use the staging server");
    world.pass(&["code-reviewer", "tester"]);
    assert_eq!((world.result("REVIEW"), world.result("TEST")), (Some("pass"), Some("pass")));
}

#[test]
fn a_blocked_review_beside_a_failed_test_asks_before_it_repairs() {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer"]);
    world.delegate("code-reviewer").unwrap();
    world.delegate("tester").unwrap();
    world.report("tester", &verdict("FAIL"));
    let step = world.report("code-reviewer", &verdict("BLOCKED"));
    assert!(step.contains("AskUserQuestion") && !step.contains("ot:debugger"), "{step}");
    assert!(world.delegate("debugger").is_err());
    world.prompt("the reviewer may read the vault");
    let step = world.run("code-reviewer", &verdict("PASS")).unwrap();
    assert!(step.contains("ot:debugger") && step.contains("TEST"), "{step}");
}

#[test]
fn commands_messages_and_resuming_count_as_user_input() {
    let blocked = || {
        let mut world = testing();
        world.hand_back("tester", "t1", &verdict("BLOCKED"));
        world
    };
    let mut typed = blocked();
    for looking in ["/ot:status", "/ot:stop", "/ot:specs"] {
        typed.prompt(looking);
        assert!(typed.delegate("tester").is_err(), "{looking}");
    }
    typed.prompt("/ot:auto the database is up");
    typed.delegate("tester").unwrap();

    let mut messaged = blocked();
    messaged.send_message("the database is up").unwrap();
    messaged.delegate("tester").unwrap();

    let mut resumed = blocked();
    resumed.stop_by_user();
    resumed.resume().unwrap();
    resumed.delegate("tester").unwrap();
}

#[test]
fn open_tasks_of_a_passed_developer_are_mentioned() {
    let mut world = World::new(Workflow::Single).with_feature(&["write the migration"]);
    world.delegate("developer").unwrap();
    assert!(world.stopped("developer", "d1", &verdict("PASS")).block.is_some(), "it is asked first");
    let text = world.report_as("developer", "d1", &verdict("PASS"));
    assert!(!text.contains('🎉') && text.contains("write the migration"), "{text}");
    assert!(text.contains("ot:developer"), "{text}");
}

#[test]
fn open_tasks_are_noticed_however_the_developer_reports() {
    let mut world = World::new(Workflow::Single).with_feature(&["write the migration"]);
    let call = world.delegate("developer").unwrap();
    let text = world.returned("developer", &call, &verdict("PASS")).unwrap();
    assert!(!text.contains('🎉') && text.contains("write the migration"), "{text}");
}

#[test]
fn tasks_that_another_round_does_not_finish_are_left_to_the_user() {
    let mut world = World::new(Workflow::Quick).with_feature(&["deploy it"]);
    let round = ["developer", "code-reviewer", "tester", "retrospective", "doc-updater"];
    let work = |world: &mut World| {
        for agent in round {
            world.delegate(agent).unwrap();
            world.report(agent, &verdict("PASS"));
            world.report(agent, &verdict("PASS"));
        }
    };
    work(&mut world);
    assert!(world.stop().model_context.unwrap().contains("DEVELOPER"));
    work(&mut world);
    let stop = world.stop();
    assert!(stop.model_context.is_none() && stop.block.is_none(), "{stop:?}");
    assert!(stop.system_message.unwrap().contains("deploy it"));
    assert!(world.delegate("developer").is_err());
    assert!(world.advice().contains("AskUserQuestion"), "{}", world.advice());
    // The user says what to do, or puts the task away.
    world.prompt("deploy it to staging");
    world.delegate("developer").unwrap();
    world.report("developer", &verdict("PASS"));
    world.set_tasks(&[]);
    world.report("developer", &verdict("PASS"));
    world.pass(&round[1..]);
    assert!(world.stop().system_message.unwrap().contains('🎉'));
}

#[test]
fn a_developer_is_asked_once_about_open_tasks() {
    let mut world = World::new(Workflow::Quick).with_feature(&["write the migration"]);
    world.delegate("developer").unwrap();
    let first = world.stopped("developer", "d1", &verdict("PASS"));
    assert!(first.block.unwrap().contains("write the migration"));
    assert_eq!(world.status("DEV"), Status::Active);
    let second = world.stopped("developer", "d1", &verdict("PASS"));
    assert!(second.block.is_none());
    assert_eq!(world.result("DEV"), Some("pass"));
    assert!(second.result.contains("未勾選"), "{}", second.result);
}

#[test]
fn open_tasks_at_the_end_are_delegated_to_the_developer() {
    let mut world = World::new(Workflow::Single).with_feature(&["write the migration"]);
    world.pass(&["developer"]);
    let orders = world.stop().model_context.unwrap();
    assert!(orders.contains("write the migration") && orders.contains("DEVELOPER"), "{orders}");
    world.delegate("developer").unwrap();
}
