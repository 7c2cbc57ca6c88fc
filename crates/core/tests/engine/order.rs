//! When a stage may start, and what opens a finished stage again.

use crate::world::{World, stage, verdict};
use overtone_core::engine::flow::{Step, next_step};
use overtone_core::engine::state::Status;
use overtone_core::engine::{Permission, Reply, Trigger};
use overtone_core::registry::Workflow;

#[test]
fn a_running_stage_keeps_the_next_one_from_starting() {
    let mut world = World::new(Workflow::Quick);
    world.delegate("developer").unwrap();
    for agent in ["code-reviewer", "tester", "retrospective", "doc-updater"] {
        let reason = world.delegate(agent).unwrap_err();
        assert!(reason.contains("DEV"), "{reason}");
        assert!(!reason.contains('⛔') && !reason.contains("ot:"), "the user reads it: {reason}");
    }
    assert!(world.advice().contains("等待") || world.advice().contains("尚未完成"));
    world.report("developer", &verdict("PASS"));
    world.delegate("code-reviewer").unwrap();
    assert_eq!(world.delegate("retrospective").unwrap_err(), "Overtone：TEST 必須先完成");
    world.delegate("tester").unwrap();
    let waits = world.delegate("retrospective").unwrap_err();
    assert_eq!(waits, "Overtone：REVIEW、TEST 必須先完成");
    assert!(world.advice().contains("請等待 REVIEW、TEST"));
}

#[test]
fn other_spellings_of_an_agent_are_gated_as_well() {
    let mut world = World::new(Workflow::Standard);
    for spelling in ["ot:Developer", "OT:developer", " ot:developer ", "ot:DEVELOPER"] {
        let reply = world.fire(&Trigger::Delegating {
            subagent_type: spelling,
            description: "",
            prompt: "p",
            tool_use_id: None,
        });
        assert!(matches!(reply.permission, Some(Permission::Deny { .. })), "{spelling}");
    }
}

#[test]
fn a_finished_stage_is_not_done_again_without_a_reason() {
    let mut world = World::new(Workflow::Standard);
    world.pass(&["planner"]);
    assert_eq!(world.delegate("planner").unwrap_err(), "Overtone：PLAN 已經完成");
    assert!(world.advice().contains("ot:architect"), "{}", world.advice());
    assert_eq!(world.workflow().stage(stage("PLAN")).unwrap().attempts, 1);
}

#[test]
fn development_waits_for_running_reviews_and_tests() {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer"]);
    world.delegate("code-reviewer").unwrap();
    world.delegate("tester").unwrap();
    world.report("code-reviewer", &verdict("REJECT"));
    for agent in ["developer", "debugger"] {
        assert_eq!(world.delegate(agent).unwrap_err(), "Overtone：TEST 必須先完成", "{agent}");
    }
}

#[test]
fn one_repair_covers_both_reports_of_a_parallel_group() {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer"]);
    world.delegate("code-reviewer").unwrap();
    world.delegate("tester").unwrap();
    world.report("code-reviewer", &verdict("REJECT"));
    let step = world.report("tester", &verdict("FAIL"));
    assert!(step.contains("REVIEW、TEST") && step.contains("一次修復"), "{step}");
    let keys = vec![stage("REVIEW"), stage("TEST")];
    assert_eq!(next_step(world.workflow(), &world.facts.settings), Step::Repair(keys));
    world.run("debugger", "found");
    let Some(Permission::Allow { patch: Some(patch), .. }) = delegation(&mut world, "developer").permission
    else {
        panic!("refused");
    };
    for part in ["REVIEW：↩ reject · 02-REVIEW-code-reviewer.md", "TEST：↩ fail · 03-TEST-tester.md"]
    {
        assert!(patch.prompt.contains(part), "{part} in {}", patch.prompt);
    }
}

fn delegation(world: &mut World, agent: &str) -> Reply {
    let subagent_type = format!("ot:{agent}");
    world.fire(&Trigger::Delegating {
        subagent_type: &subagent_type,
        description: "",
        prompt: "p",
        tool_use_id: None,
    })
}

#[test]
fn the_developer_waits_for_the_debugger() {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer", "code-reviewer"]);
    world.run("tester", &verdict("FAIL"));
    world.delegate("debugger").unwrap();
    assert_eq!(world.delegate("developer").unwrap_err(), "Overtone：DEBUG 必須先完成");
    world.report("debugger", "found");
    world.delegate("developer").unwrap();
}

#[test]
fn a_late_failure_runs_the_quality_group_again() {
    let mut world = World::new(Workflow::Full);
    world.pass(&[
        "planner",
        "architect",
        "designer",
        "tester",
        "developer",
        "code-reviewer",
        "tester",
        "e2e-runner",
    ]);
    world.run("qa", &verdict("FAIL"));
    world.pass(&["developer"]);
    for key in ["REVIEW", "TEST:2", "QA", "E2E"] {
        assert_eq!(world.status(key), Status::Pending, "{key}");
    }
    assert_eq!(world.status("TEST"), Status::Completed, "the specification stays");
}

#[test]
fn issues_reopen_development_up_to_the_limit() {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer", "code-reviewer", "tester"]);
    for round in 1..=3 {
        let text = world.run("retrospective", &verdict("ISSUES")).unwrap();
        assert!(text.contains("ot:doc-updater"), "{text}");
        if round == 3 {
            assert!(text.contains("🛑 已達回顧上限"), "{text}");
            break;
        }
        assert!(text.contains("💡"), "{text}");
        world.pass(&["developer"]);
        assert_eq!((world.status("REVIEW"), world.status("RETRO")), (Status::Pending, Status::Pending));
        world.pass(&["code-reviewer", "tester"]);
    }
    assert_eq!(world.delegate("developer").unwrap_err(), "Overtone：DEV 已經完成");
    world.pass(&["doc-updater"]);
}

#[test]
fn the_user_can_ask_for_another_change() {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer", "code-reviewer", "tester"]);
    assert!(world.delegate("developer").is_err());
    world.stop();
    world.prompt("also support --json");
    world.pass(&["developer"]);
    assert_eq!((world.status("REVIEW"), world.status("TEST")), (Status::Pending, Status::Pending));
    assert!(world.delegate("developer").is_err(), "once for each request");
}

/// After these agents, earlier verdicts are about other code.
#[test]
fn agents_that_change_code_reopen_later_stages() {
    for agent in ["build-error-resolver", "refactor-cleaner"] {
        let mut world = World::new(Workflow::Quick);
        world.pass(&["developer", "code-reviewer", "tester"]);
        let text = world.run(agent, &verdict("PASS")).unwrap();
        assert!(text.contains("ot:code-reviewer") && text.contains("ot:tester"), "{agent}: {text}");
        assert!(world.delegate("retrospective").is_err(), "{agent}");
        world.delegate("tester").unwrap();
        assert_eq!(world.delegate(agent).unwrap_err(), "Overtone：TEST 必須先完成", "{agent}");
    }
}

#[test]
fn a_developer_continued_by_the_user_reopens_later_stages() {
    let mut world = World::new(Workflow::Quick);
    world.delegate("developer").unwrap();
    world.started("developer", "d1");
    world.hand_back("developer", "d1", &verdict("PASS"));
    world.pass(&["code-reviewer", "tester"]);
    world.started("developer", "d1");
    assert_eq!((world.status("DEV"), world.status("REVIEW")), (Status::Active, Status::Pending));
    world.hand_back("developer", "d1", &verdict("PASS"));
    assert!(world.delegate("retrospective").is_err());
    world.pass(&["code-reviewer", "tester", "retrospective"]);
}

#[test]
fn in_plan_mode_no_stage_starts_and_the_loop_does_not_continue() {
    let mut world = World::new(Workflow::Quick);
    world.facts.plan_mode = true;
    assert!(world.delegate("developer").is_err());
    assert_eq!(world.prompt("build a shop").model_context, None);
    assert_eq!(world.stop(), Reply::default());
}

#[test]
fn an_agent_that_has_reported_is_not_running_whatever_the_client_lists() {
    let mut world = World::new(Workflow::Quick);
    world.delegate("developer").unwrap();
    world.started("developer", "d1");
    world.hand_back("developer", "d1", &verdict("PASS"));
    let listed = ["d1".to_owned()];
    let reply = world.fire(&Trigger::Stopping { background: Some(&listed) });
    assert!(reply.model_context.unwrap().contains("CODE-REVIEWER"));
    let other = ["someone".to_owned()];
    assert_eq!(world.fire(&Trigger::Stopping { background: Some(&other) }), Reply::default());
}
