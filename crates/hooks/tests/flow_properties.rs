//! Whatever happens in whatever order, the promises of the engine hold and the state can be stored.

#![allow(clippy::unwrap_used, reason = "a panic is the failure report of a test")]

#[path = "../../engine/tests/world/acts.rs"]
mod acts;
#[path = "../../engine/tests/world/mod.rs"]
mod world;

use std::path::Path;

use acts::{Act, acts, perform};
use overtone_engine::Effect;
use overtone_engine::state::{Ending, StageState, Status, StoppedBy, WorkflowState};
use overtone_registry::{Agent, EventKind, Workflow};
use overtone_store::{LoopDoc, WorkflowDoc};
use proptest::prelude::*;
use world::{World, verdict};

/// Whoever was started had everything before it started, its own group aside.
fn nothing_was_skipped(workflow: &WorkflowState) {
    for (at, stage) in workflow.stages.iter().enumerate().filter(|(_, stage)| stage.attempts > 0) {
        let group = workflow.group_keys(stage.key);
        let skipped = workflow.stages[..at].iter().find(|s| s.attempts == 0 && !group.contains(&s.key));
        assert_eq!(skipped.map(|s| s.key), None, "skipped by {}", stage.key);
    }
}

/// A stage is at work only when everything before it is done with a good verdict, its own group aside.
fn nothing_overtakes(workflow: &WorkflowState) {
    for (at, stage) in workflow.stages.iter().enumerate().filter(|(_, stage)| stage.status == Status::Active)
    {
        let group = workflow.group_keys(stage.key);
        let open = workflow.stages[..at].iter().find(|s| !s.is_resolved() && !group.contains(&s.key));
        assert_eq!(open.map(|s| s.key), None, "overtaken by {}", stage.key);
    }
}

fn active_stages_have_agents(workflow: &WorkflowState) {
    for stage in workflow.stages.iter().filter(|stage| stage.status == Status::Active) {
        assert!(
            workflow.active_agents.iter().any(|a| a.stage == Some(stage.key)),
            "{} is active by itself",
            stage.key
        );
    }
}

fn counters_never_fall(before: &WorkflowState, after: &WorkflowState) {
    assert!(after.fail_count >= before.fail_count);
    assert!(after.reject_count >= before.reject_count);
    assert!(after.retro_count >= before.retro_count);
    for (old, new) in before.stages.iter().zip(&after.stages) {
        assert!(new.attempts >= old.attempts, "{}", new.key);
    }
}

fn complete_means_complete(world: &World) {
    let completed = world
        .effects
        .iter()
        .any(|effect| matches!(effect, Effect::Emit(r) if r.kind == EventKind::WorkflowComplete));
    if completed || world.workflow().ending == Some(Ending::Completed) {
        assert!(world.workflow().stages.iter().all(StageState::is_resolved));
    }
}

/// A session that another machine has taken over does nothing here.
fn rests_when_moved(before: &WorkflowState, act: &Act, world: &mut World) {
    if before.moved_to.is_none() || world.workflow().moved_to.is_none() {
        return;
    }
    match act {
        Act::Delegate(_) | Act::Stop(_) | Act::Prompt(_) => assert_eq!(*world.workflow(), *before, "{act:?}"),
        _ => {}
    }
    let iterations = world.looping().iterations;
    let reply = world.stop();
    assert!(reply.block.is_none() && reply.model_context.is_none(), "{reply:?}");
    assert_eq!(world.looping().iterations, iterations);
    assert_eq!(world.looping().stopped_by, Some(StoppedBy::Moved));
}

/// Each message was heard once, or waits to be.
fn messages_are_heard_once(world: &World) {
    for words in &world.said {
        let times = |texts: &[String]| texts.iter().map(|text| text.matches(words).count()).sum::<usize>();
        let times = times(&world.heard) + times(&world.workflow().notices);
        assert_eq!(times, 1, "{words}");
    }
}

/// The new state written over the old document reads back as the new state.
fn survives_the_disk(document: WorkflowDoc, world: &World) -> WorkflowDoc {
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
    fn any_sequence_keeps_the_promises(
        workflow in prop::sample::select(Workflow::ALL.to_vec()),
        acts in prop::collection::vec(acts(), 1..60),
    ) {
        let mut world = World::new(workflow);
        let mut document = WorkflowDoc::new(world.workflow().clone());
        for act in &acts {
            let before = world.workflow().clone();
            perform(&mut world, act);
            nothing_was_skipped(world.workflow());
            nothing_overtakes(world.workflow());
            active_stages_have_agents(world.workflow());
            counters_never_fall(&before, world.workflow());
            complete_means_complete(&world);
            rests_when_moved(&before, act, &mut world);
            messages_are_heard_once(&world);
            document = survives_the_disk(document, &world);
        }
    }

    /// Following the next step with agents that fail now and then always comes to an end.
    #[test]
    fn following_the_advice_ends(workflow in prop::sample::select(Workflow::ALL.to_vec()), failures in prop::collection::vec(0..8u8, 80)) {
        let mut world = World::new(workflow);
        for failure in failures {
            let step = overtone_engine::flow::next_step(world.workflow(), &world.facts.settings);
            let agents = match &step {
                overtone_engine::flow::Step::Delegate(keys) => keys.iter().map(|key| key.stage.agent()).collect(),
                overtone_engine::flow::Step::Repair(_) => vec![Agent::Debugger, Agent::Developer],
                overtone_engine::flow::Step::Rework(_) => vec![Agent::Developer],
                overtone_engine::flow::Step::Again(key) => vec![key.stage.agent()],
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
