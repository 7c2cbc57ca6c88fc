//! A report that says PASS passes only if what Overtone saw agrees with it.

use overtone_core::engine::state::{Ending, SendBackReason};
use overtone_core::engine::{Effect, FieldValue, Permission, repairing_stage};
use overtone_core::evidence::{
    Activity, AssertionChange, Check, CheckEnd, Evidence, SourceTests, TestCounts, TreeChange,
};
use overtone_core::registry::{EventKind, GuardLevel, Stage, Workflow};

use crate::world::{World, stage, verdict};

fn objecting(world: &mut World, reason: SendBackReason) {
    world.facts.evidence = Evidence::that_objects(reason);
}

/// The workflow with the stages before the agent's own completed.
fn at(agent: &str) -> World {
    let mut world = World::new(Workflow::Quick);
    if agent != "developer" {
        world.pass(&["developer"]);
    }
    world.delegate(agent).unwrap();
    world.started(agent, "a1");
    world
}

const CASES: [(&str, &str, SendBackReason); 7] = [
    ("developer", "DEV", SendBackReason::ChecksFailed),
    ("developer", "DEV", SendBackReason::NothingChanged),
    ("developer", "DEV", SendBackReason::TestsRemoved),
    ("tester", "TEST", SendBackReason::NothingRun),
    ("tester", "TEST", SendBackReason::TestFailed),
    ("tester", "TEST", SendBackReason::Contradiction),
    ("code-reviewer", "REVIEW", SendBackReason::NothingRead),
];

#[test]
fn the_agent_is_asked_first_and_then_its_stage_fails() {
    for (agent, stage, reason) in CASES {
        let mut world = at(agent);
        objecting(&mut world, reason);
        for _ in 0..reason.limit() {
            let asked = world.stopped(agent, "a1", &verdict("PASS"));
            assert!(asked.block.is_some(), "{reason:?}");
            assert_eq!(world.result(stage), None, "{reason:?}");
        }
        let answer = world.stopped(agent, "a1", &verdict("PASS"));
        assert_eq!((answer.block, world.result(stage)), (None, Some("fail")), "{reason:?}");
        assert!(answer.result.contains("與 Overtone 所見不符"), "{}", answer.result);
        let (_, retry) =
            world.records.iter().rfind(|(_, record)| record.kind == EventKind::StageRetry).unwrap();
        assert!(retry.fields.contains(&("reason", reason.key().into())), "{retry:?}");
        let handoff = world.effects.iter().find_map(|effect| match effect {
            Effect::SaveHandoff(handoff) => Some(&handoff.text),
            _ => None,
        });
        assert!(handoff.unwrap().contains("所見不符"), "the repair gets the evidence");
    }
}

#[test]
fn an_agent_that_puts_it_right_passes() {
    for (agent, stage, reason) in CASES {
        let mut world = at(agent);
        objecting(&mut world, reason);
        world.stopped(agent, "a1", &verdict("PASS"));
        world.facts.evidence = Evidence::default();
        world.stopped(agent, "a1", &verdict("PASS"));
        assert_eq!(world.result(stage), Some("pass"), "{reason:?}");
    }
}

#[test]
fn a_report_that_is_handed_back_is_refused() {
    let mut world = at("developer");
    objecting(&mut world, SendBackReason::ChecksFailed);
    let reply = world.hand_back("developer", "a1", &verdict("PASS"));
    assert!(matches!(reply.permission, Some(Permission::Deny { .. })), "{reply:?}");
}

#[test]
fn a_result_of_an_agent_that_has_ended_fails_at_once() {
    let mut world = World::new(Workflow::Quick);
    let call = world.delegate("developer").unwrap();
    objecting(&mut world, SendBackReason::NothingChanged);
    world.returned("developer", &call, &verdict("PASS"));
    assert_eq!(world.result("DEV"), Some("fail"));
}

#[test]
fn an_honest_failure_needs_no_evidence() {
    let mut world = at("developer");
    objecting(&mut world, SendBackReason::NothingChanged);
    let reply = world.stopped("developer", "a1", &verdict("FAIL"));
    assert_eq!((reply.block, world.result("DEV")), (None, Some("fail")));
    assert!(!reply.result.contains("所見不符"));
}

/// A change of tests in which two assertions are gone.
fn with_assertions(before: u32, after: u32) -> TreeChange {
    let assertions = AssertionChange { before, after, gone: 2 };
    TreeChange { files: vec!["tests/a.py".into()], assertions, ..TreeChange::default() }
}

#[test]
fn tests_that_assert_less_are_asked_about() {
    let mut world = at("developer");
    world.facts.evidence = Evidence { change: Some(with_assertions(3, 1)), ..Evidence::default() };
    let asked = world.stopped("developer", "a1", &verdict("PASS")).block.unwrap();
    assert!(asked.contains("3 → 1"), "{asked}");
    world.stopped("developer", "a1", &verdict("PASS"));
    assert_eq!(world.result("DEV"), Some("fail"));
}

#[test]
fn tests_that_expect_something_else_are_asked_about_at_the_strict_level_and_shown_to_the_reviewer() {
    for guard in GuardLevel::ALL {
        let mut world = at("developer");
        world.workflow_mut().guard = guard;
        world.facts.evidence = Evidence { change: Some(with_assertions(2, 2)), ..Evidence::default() };
        let asked = world.stopped("developer", "a1", &verdict("PASS")).block;
        if guard == GuardLevel::Strict {
            assert!(asked.unwrap().contains("changed_tests"));
            world.stopped("developer", "a1", &verdict("PASS"));
            assert_eq!(world.result("DEV"), Some("fail"));
        } else {
            assert_eq!((asked, world.result("DEV")), (None, Some("pass")));
            assert_eq!(world.workflow().review_notes.len(), 1);
        }
    }
}

#[test]
fn an_explanation_is_believed_and_the_reviewer_gets_it() {
    let removed = TreeChange {
        files: vec!["tests/a.py".into()],
        tests_before: SourceTests { tests: 2, skipped: 0 },
        tests_after: SourceTests { tests: 1, skipped: 0 },
        ..TreeChange::default()
    };
    let hollow = with_assertions(3, 1);
    for (field, change) in [
        ("unchanged", TreeChange::default()),
        ("removed_tests", removed),
        ("removed_tests", hollow),
        ("changed_tests", with_assertions(2, 2)),
    ] {
        let mut world = at("developer");
        world.facts.evidence = Evidence { change: Some(change), ..Evidence::default() };
        let report = format!("<!-- VERDICT: {{\"result\":\"PASS\",\"{field}\":\"it is obsolete\"}} -->");
        let reply = world.stopped("developer", "a1", &report);
        assert_eq!(world.result("DEV"), Some("pass"), "{field}");
        assert!(reply.system_message.unwrap().contains("it is obsolete"));
        world.facts.evidence = Evidence::default();
        let context = world.context_of("code-reviewer");
        assert!(context.contains("it is obsolete"), "{context}");
        assert!(!world.context_of("tester").contains("it is obsolete"));
        world.report("tester", &verdict("PASS"));
        world.report("code-reviewer", &verdict("PASS"));
        assert!(world.workflow().review_notes.is_empty());
    }
}

#[test]
fn fewer_tests_are_mentioned_once_and_then_left_to_the_reviewer() {
    let mut world = at("developer");
    objecting(&mut world, SendBackReason::FewerTests);
    assert!(world.stopped("developer", "a1", &verdict("PASS")).block.is_some());
    let reply = world.stopped("developer", "a1", &verdict("PASS"));
    assert_eq!(world.result("DEV"), Some("pass"));
    assert!(reply.system_message.is_some());
    assert_eq!(world.workflow().review_notes.len(), 1);
}

#[test]
fn a_tester_whose_checks_overtone_ran_need_not_run_them_again() {
    let mut world = at("tester");
    let mut evidence = Evidence::that_objects(SendBackReason::FewerTests);
    evidence.checks[0].previous = None;
    evidence.activity = Some(Activity::default());
    world.facts.evidence = evidence;
    world.stopped("tester", "a1", &verdict("PASS"));
    assert_eq!(world.result("TEST"), Some("pass"));
    let (_, done) =
        world.records.iter().rfind(|(_, record)| record.kind == EventKind::AgentComplete).unwrap();
    assert!(done.fields.iter().any(|(name, _)| *name == "receipts"), "{done:?}");
}

#[test]
fn reports_are_recorded_with_the_counts_of_their_checks() {
    let mut world = at("developer");
    let mut evidence = Evidence::that_objects(SendBackReason::ChecksFailed);
    evidence.checks[0].receipt.check.push_str("test");
    evidence.checks[0].receipt.counts = Some(TestCounts { run: 3, failed: 1, skipped: 2 });
    world.facts.evidence = evidence.clone();
    assert!(world.stopped("developer", "a1", &verdict("PASS")).block.is_some());
    let receipt = &mut evidence.checks[0].receipt;
    (receipt.end, receipt.counts) = (CheckEnd::Exited(0), None);
    world.facts.evidence = evidence;
    world.stopped("developer", "a1", &verdict("PASS"));
    let recorded = |kind: EventKind| {
        let (_, record) = world.records.iter().rfind(|(_, record)| record.kind == kind).unwrap();
        record.fields.iter().find(|(name, _)| *name == "checks").unwrap().1.clone()
    };
    let check = |result: &str| vec![("check", "test".into()), ("result", result.into())];
    let counts = [("run", 3_u32.into()), ("failed", 1_u32.into()), ("skipped", 2_u32.into())];
    let failed = [check("fail"), counts.to_vec()].concat();
    assert_eq!(recorded(EventKind::SystemWarning), FieldValue::Objects(vec![failed]));
    assert_eq!(recorded(EventKind::AgentComplete), FieldValue::Objects(vec![check("pass")]));
}

/// A tester before development writes the specification, which is judged by nobody's runs.
#[test]
fn a_specification_runs_nothing() {
    let mut world = World::new(Workflow::Tdd);
    world.delegate("tester").unwrap();
    objecting(&mut world, SendBackReason::NothingRun);
    world.report("tester", &verdict("PASS"));
    assert_eq!(world.result("TEST"), Some("pass"));
}

/// A result of a check that stands for the whole project.
fn red_at_end(world: &mut World) {
    let mut evidence = Evidence::that_objects(SendBackReason::ChecksFailed);
    evidence.checks[0].receipt.check.push_str("test");
    evidence.checks[0].last_lines.push_str("assertion failed: 2 + 2");
    world.facts.evidence = evidence;
}

#[test]
fn a_workflow_whose_checks_are_red_at_the_end_goes_back_to_development() {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer", "code-reviewer", "tester", "retrospective", "doc-updater"]);
    red_at_end(&mut world);
    let reply = world.stop();
    let text = reply.model_context.unwrap();
    assert!(text.contains("test") && text.contains("DEVELOPER"), "{text}");
    assert!(!text.contains("2 + 2"), "the output is in the handoff: {text}");
    assert_eq!((world.workflow().ending, world.result("DEV")), (None, Some("fail")));
    assert_eq!(world.workflow().fail_count, 1);
    let handoff = world.effects.iter().find_map(|effect| match effect {
        Effect::SaveHandoff(handoff) => Some(handoff.clone()),
        _ => None,
    });
    let handoff = handoff.unwrap();
    assert!(handoff.text.contains("2 + 2"), "{}", handoff.text);
    let (_, retry) = world.records.iter().rfind(|(_, record)| record.kind == EventKind::StageRetry).unwrap();
    assert!(retry.fields.contains(&("reason", "checks-failed".into())), "{retry:?}");
    assert!(retry.fields.iter().any(|(name, _)| *name == "receipts"), "{retry:?}");
    let context = world.context_of("developer");
    assert!(context.contains(handoff.file.rsplit('/').next().unwrap()), "{context}");
    world.facts.evidence = Evidence::default();
    world.report("developer", &verdict("PASS"));
    world.pass(&["code-reviewer", "tester", "retrospective", "doc-updater"]);
    world.stop();
    assert_eq!(world.workflow().ending, Some(Ending::Completed));
}

#[test]
fn the_limit_of_failures_ends_it() {
    let mut world = World::new(Workflow::Single);
    world.facts.settings.max_failures = 2;
    world.pass(&["developer"]);
    red_at_end(&mut world);
    world.stop();
    world.facts.evidence = Evidence::default();
    world.pass(&["developer"]);
    red_at_end(&mut world);
    let reply = world.stop();
    assert!(reply.system_message.unwrap().contains('2'));
    assert_eq!(world.workflow().ending, Some(Ending::Aborted));
}

#[test]
fn without_development_the_stage_that_needs_the_check_fails() {
    let mut world = World::new(Workflow::BuildFix);
    world.pass(&["build-error-resolver"]);
    world.facts.evidence = Evidence::that_fails_stages(&[stage("BUILD-FIX")]);
    let text = world.stop().model_context.unwrap();
    assert!(text.contains("BUILD-ERROR-RESOLVER"), "{text}");
    assert_eq!(world.result("BUILD-FIX"), Some("fail"));
}

#[test]
fn open_stages_and_a_stopped_loop_are_not_judged_by_the_end() {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer"]);
    red_at_end(&mut world);
    world.stop();
    assert_eq!(world.result("DEV"), Some("pass"));
    let mut world = World::new(Workflow::Single);
    world.pass(&["developer"]);
    world.stop_by_user();
    red_at_end(&mut world);
    world.stop();
    assert_eq!(world.result("DEV"), Some("pass"));
}

#[test]
fn the_summary_lists_the_receipts() {
    let mut world = World::new(Workflow::Single);
    world.pass(&["developer"]);
    red_at_end(&mut world);
    world.facts.evidence.checks[0].receipt.end = CheckEnd::Exited(0);
    let summary = world.stop().system_message.unwrap();
    assert!(summary.contains("🧾 `test`") || summary.contains("🧾 test"), "{summary}");
    let (_, done) =
        world.records.iter().rfind(|(_, record)| record.kind == EventKind::WorkflowComplete).unwrap();
    assert!(done.fields.iter().any(|(name, _)| *name == "receipts"), "{done:?}");
}

#[test]
fn checks_that_are_not_trusted_are_mentioned_once() {
    let mut world = World::new(Workflow::Quick);
    world.facts.evidence.untrusted = vec!["test".to_owned()];
    world.delegate("developer").unwrap();
    let shown = world.stopped("developer", "", &verdict("PASS")).system_message.unwrap();
    assert!(shown.contains("overtone trust"), "{shown}");
    assert_eq!(world.result("DEV"), Some("pass"));
    world.pass(&["code-reviewer"]);
    world.delegate("tester").unwrap();
    assert_eq!(world.stopped("tester", "", &verdict("PASS")).system_message, None);
    world.pass(&["retrospective", "doc-updater"]);
    assert!(!world.stop().system_message.unwrap().contains("overtone trust"));
    let mut world = World::new(Workflow::Single);
    world.pass(&["developer"]);
    world.facts.evidence.untrusted = vec!["test".to_owned()];
    assert!(world.stop().system_message.unwrap().contains("overtone trust"), "not seen before");
}

#[test]
fn the_check_belongs_to_the_last_development_or_to_the_stage_that_needs_it() {
    let check = |stages: &[Stage]| Check {
        name: "test".to_owned(),
        run: "make".to_owned(),
        stages: stages.to_vec(),
        timeout: Check::DEFAULT_TIMEOUT,
    };
    let repairs = |workflow, stages: &[Stage]| {
        let state = World::new(workflow).workflow().clone();
        repairing_stage(&state, &check(stages)).map(|key| key.to_string())
    };
    assert_eq!(repairs(Workflow::Standard, &[Stage::Test]).as_deref(), Some("DEV"));
    assert_eq!(repairs(Workflow::E2eOnly, &[Stage::Dev, Stage::E2e]).as_deref(), Some("E2E"));
    assert_eq!(repairs(Workflow::ReviewOnly, &[Stage::Dev, Stage::Test]), None);
}
