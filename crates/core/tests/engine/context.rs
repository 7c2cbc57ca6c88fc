//! What the context block of an agent names, so that it need not be searched for.

use crate::world::{World, verdict};
use overtone_core::engine::state::{Millis, StageResult, Status, Verdict};
use overtone_core::engine::{ContextNeeds, Trigger, context_needs};
use overtone_core::evidence::{CheckEnd, Receipt, TestCounts, WorkflowChange};
use overtone_core::messages::Lang;
use overtone_core::registry::{RetroRule, StageKey, Workflow};

fn world(workflow: Workflow) -> World {
    let mut world = World::new(workflow).with_feature(&[]);
    world.facts.lang = Lang::En;
    world
}

#[test]
fn the_next_agents_are_named() {
    let mut world = world(Workflow::Standard);
    assert!(world.context_of("planner").contains("\nNext agent: architect\n"));
    world.report("planner", &verdict("PASS"));
    world.pass(&["architect", "tester"]);
    assert!(world.context_of("developer").contains("\nNext agent: code-reviewer, tester\n"));
    world.report("developer", &verdict("PASS"));
    assert!(world.context_of("code-reviewer").contains("\nNext agent: retrospective\n"));
    world.report("code-reviewer", &verdict("PASS"));
    world.pass(&["tester", "retrospective"]);
    assert!(!world.context_of("doc-updater").contains("Next agent"));
}

#[test]
fn a_retrospective_that_will_be_left_out_is_not_the_next_agent() {
    let mut world = world(Workflow::Quick);
    world.workflow_mut().rules.retro = RetroRule::OnTrouble;
    world.pass(&["developer"]);
    assert!(world.context_of("tester").contains("\nNext agent: doc-updater\n"));
    world.report("tester", &verdict("FAIL"));
    assert!(world.context_of("code-reviewer").contains("\nNext agent: retrospective\n"));
}

#[test]
fn the_agent_that_repairs_is_next_after_the_debugger() {
    let mut world = world(Workflow::Quick);
    world.pass(&["developer", "code-reviewer"]);
    world.run("tester", &verdict("FAIL"));
    assert!(world.context_of("debugger").contains("\nNext agent: developer\n"));
}

#[test]
fn a_reviewer_gets_the_base_and_the_changed_files() {
    let mut world = world(Workflow::Quick);
    world.pass(&["developer"]);
    let files = (1..=12).map(|n| format!("src/{n}`.rs")).collect();
    world.facts.workflow_change = Some(WorkflowChange { base: "0123456789abcdef0123".into(), files });
    let prompt = world.context_of("code-reviewer");
    let line = "Changed since the workflow began (git diff 0123456789ab): src/1'.rs, src/2'.rs, ";
    assert!(prompt.contains(line) && prompt.contains("src/8'.rs, +4\n"), "{prompt}");
    assert!(!world.context_of("tester").contains("git diff"));
}

#[test]
fn a_tester_gets_the_checks_that_have_succeeded() {
    let mut world = world(Workflow::Quick);
    world.pass(&["developer"]);
    let receipt = Receipt {
        check: "test".into(),
        command: "make test".into(),
        stage: None,
        end: CheckEnd::Exited(0),
        started_at: Millis(0),
        duration_ms: 1,
        counts: Some(TestCounts { run: 12, failed: 0, skipped: 1 }),
        tree: "t".into(),
        log: None,
    };
    world.facts.green_checks = vec![receipt];
    let prompt = world.context_of("tester");
    assert!(prompt.contains("do not run them again") && prompt.contains("12 run"), "{prompt}");
    assert!(!world.context_of("code-reviewer").contains("12 run"));
}

#[test]
fn documents_that_a_stage_has_to_write_are_named_as_deliverables() {
    let mut world = world(Workflow::Full);
    for (agent, files) in [
        ("planner", Some("proposal.md, tasks.md")),
        ("architect", Some("design.md, tasks.md")),
        ("designer", Some("ux.md")),
        ("tester", Some("bdd.md")),
        ("developer", None),
    ] {
        let prompt = world.context_of(agent);
        match files {
            Some(files) => assert!(prompt.contains(&format!("write them as files): {files}\n")), "{prompt}"),
            None => assert!(!prompt.contains("Deliverables"), "{prompt}"),
        }
        world.report(agent, &verdict("PASS"));
    }
    let mut alone = World::new(Workflow::Discovery);
    alone.facts.lang = Lang::En;
    assert!(!alone.context_of("product-manager").contains("Deliverables"));
}

/// The driver looks up nothing that no line of the block needs.
#[test]
fn only_reviewers_and_verifying_testers_need_more_facts() {
    let mut world = World::new(Workflow::Standard);
    let key = |text: &str| text.parse::<StageKey>().unwrap();
    let needs = |world: &World, agent: &str| {
        let kind = format!("ot:{agent}");
        let trigger =
            Trigger::Delegating { subagent_type: &kind, description: "", prompt: "", tool_use_id: None };
        context_needs(world.workflow(), &trigger)
    };
    for agent in ["planner", "architect", "tester", "developer", "retrospective", "doc-updater", "debugger"] {
        assert_eq!(needs(&world, agent), ContextNeeds::default(), "{agent}");
    }
    let of_change = ContextNeeds { change: true, checks_of: None };
    assert_eq!(needs(&world, "code-reviewer"), of_change);
    let specification = world.workflow_mut().stage_mut(key("TEST")).unwrap();
    specification.status = Status::Completed;
    specification.result = Some(StageResult::Verdict(Verdict::Pass));
    assert_eq!(needs(&world, "tester").checks_of, Some(key("TEST:2")));
}
