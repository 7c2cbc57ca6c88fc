//! For any sequence of events, the invariants of the engine hold and the state survives storing and loading.

#![allow(clippy::unwrap_used, reason = "a panic is the failure report of a test")]

#[path = "../../../core/tests/engine/world/actions.rs"]
mod actions;
#[path = "../../../core/tests/engine/world/mod.rs"]
mod world;

use std::path::Path;

use actions::{Action, actions, perform};
use overtone_core::engine::Effect;
use overtone_core::engine::state::{Ending, StageState, Status, StoppedBy, WorkflowState};
use overtone_core::registry::{Agent, EventKind, Workflow};
use overtone_store::{LoopDoc, WorkflowDoc};
use proptest::prelude::*;
use world::{World, verdict};

/// When a stage was started, all stages before it were started too, except those of its own group.
fn assert_nothing_was_skipped(workflow: &WorkflowState) {
    for (at, stage) in workflow.stages.iter().enumerate().filter(|(_, stage)| stage.attempts > 0) {
        let group = workflow.group_keys(stage.key);
        let skipped = workflow.stages[..at].iter().find(|s| s.attempts == 0 && !group.contains(&s.key));
        assert_eq!(skipped.map(|s| s.key), None, "skipped by {}", stage.key);
    }
}

/// While a stage is active, all stages before it are resolved, except those of its own group.
fn assert_stage_order(workflow: &WorkflowState) {
    for (at, stage) in workflow.stages.iter().enumerate().filter(|(_, stage)| stage.status == Status::Active)
    {
        let group = workflow.group_keys(stage.key);
        let open = workflow.stages[..at].iter().find(|s| !s.is_resolved() && !group.contains(&s.key));
        assert_eq!(open.map(|s| s.key), None, "overtaken by {}", stage.key);
    }
}

fn assert_active_stages_have_agents(workflow: &WorkflowState) {
    for stage in workflow.stages.iter().filter(|stage| stage.status == Status::Active) {
        assert!(
            workflow.active_agents.iter().any(|a| a.stage == Some(stage.key)),
            "{} is active without an agent",
            stage.key
        );
    }
}

fn assert_counters_never_decrease(before: &WorkflowState, after: &WorkflowState) {
    assert!(after.fail_count >= before.fail_count);
    assert!(after.reject_count >= before.reject_count);
    assert!(after.retro_count >= before.retro_count);
    for (old, new) in before.stages.iter().zip(&after.stages) {
        assert!(new.attempts >= old.attempts, "{}", new.key);
    }
}

fn assert_completed_workflow_is_resolved(world: &World) {
    let completed = world
        .effects
        .iter()
        .any(|effect| matches!(effect, Effect::Emit(r) if r.kind == EventKind::WorkflowComplete));
    if completed || world.workflow().ending == Some(Ending::Completed) {
        assert!(world.workflow().stages.iter().all(StageState::is_resolved));
    }
}

/// A session that moved to another machine does nothing on this one.
fn assert_moved_session_is_idle(before: &WorkflowState, action: &Action, world: &mut World) {
    if before.moved_to.is_none() || world.workflow().moved_to.is_none() {
        return;
    }
    match action {
        Action::Delegate(_) | Action::Stop(_) | Action::Prompt(_) => {
            assert_eq!(*world.workflow(), *before, "{action:?}");
        }
        _ => {}
    }
    let iterations = world.looping().iterations;
    let reply = world.stop();
    assert!(reply.block.is_none() && reply.model_context.is_none(), "{reply:?}");
    assert_eq!(world.looping().iterations, iterations);
    assert_eq!(world.looping().stopped_by, Some(StoppedBy::Moved));
}

/// Each message was delivered once, or waits to be delivered.
fn assert_messages_are_delivered_once(world: &World) {
    for message in &world.accepted_messages {
        let times = |texts: &[String]| texts.iter().map(|text| text.matches(message).count()).sum::<usize>();
        let times = times(&world.model_texts) + times(&world.workflow().notices);
        assert_eq!(times, 1, "{message}");
    }
}

/// Writes the new state over the old document and checks that it reads back unchanged.
fn assert_survives_storing(document: WorkflowDoc, world: &World) -> WorkflowDoc {
    let next = document.with(world.workflow().clone());
    let text = String::from_utf8(next.to_json().unwrap()).unwrap();
    let read = WorkflowDoc::parse(Path::new("workflow.json"), &text).unwrap();
    assert_eq!(read.state, *world.workflow());
    let looping = LoopDoc::default().with(world.looping().clone());
    let text = String::from_utf8(looping.to_json().unwrap()).unwrap();
    assert_eq!(LoopDoc::parse(Path::new("loop.json"), &text).unwrap().state, *world.looping());
    read
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn invariants_hold_for_any_sequence_of_events(
        workflow in prop::sample::select(Workflow::ALL.to_vec()),
        actions in prop::collection::vec(actions(), 1..60),
    ) {
        let mut world = World::new(workflow);
        let mut document = WorkflowDoc::new(world.workflow().clone());
        for action in &actions {
            let before = world.workflow().clone();
            perform(&mut world, action);
            assert_nothing_was_skipped(world.workflow());
            assert_stage_order(world.workflow());
            assert_active_stages_have_agents(world.workflow());
            assert_counters_never_decrease(&before, world.workflow());
            assert_completed_workflow_is_resolved(&world);
            assert_moved_session_is_idle(&before, action, &mut world);
            assert_messages_are_delivered_once(&world);
            document = assert_survives_storing(document, &world);
        }
    }

    /// Following the suggested next step ends the workflow, even if agents fail now and then.
    #[test]
    fn following_the_next_step_ends_the_workflow(workflow in prop::sample::select(Workflow::ALL.to_vec()), failures in prop::collection::vec(0..8u8, 80)) {
        let mut world = World::new(workflow);
        for failure in failures {
            let step = overtone_core::engine::flow::next_step(world.workflow(), &world.facts.settings);
            let agents = match &step {
                overtone_core::engine::flow::Step::Delegate(keys) => keys.iter().map(|key| key.stage.agent()).collect(),
                overtone_core::engine::flow::Step::Repair(_) => vec![Agent::Debugger, Agent::Developer],
                overtone_core::engine::flow::Step::Rework(_) => vec![Agent::Developer],
                overtone_core::engine::flow::Step::Again(key) => vec![key.stage.agent()],
                _ => break,
            };
            for agent in agents {
                // The limit may be reached in the middle of a group.
                let Ok(call) = world.delegate(agent.name()) else { break };
                let message = verdict(if failure == 0 { "FAIL" } else { "PASS" });
                world.report(agent.name(), &message);
                world.returned(agent.name(), &call, &message);
            }
        }
        world.stop();
        prop_assert!(world.workflow().ending.is_some(), "still open: {:?}", world.workflow());
    }
}
