//! Who repairs a failure: the developer at once when the place is known, else the debugger first.

use crate::world::{World, verdict};
use overtone_core::engine::flow::{Step, next_step};
use overtone_core::messages::Lang;
use overtone_core::registry::Workflow;

fn at_place() -> String {
    format!("expected 3, got 4 at src/lock.rs:42\n{}", verdict("FAIL"))
}

/// A `quick` workflow whose review has passed and whose test has reported.
fn tested(report: &str) -> (World, String) {
    let mut world = World::new(Workflow::Quick);
    world.facts.lang = Lang::En;
    world.pass(&["developer", "code-reviewer"]);
    let told = world.run("tester", report).unwrap();
    (world, told)
}

fn step(world: &World) -> Step {
    next_step(world.workflow(), &world.facts.settings)
}

#[test]
fn a_first_failure_with_a_place_goes_to_the_developer() {
    let (mut world, told) = tested(&at_place());
    assert!(told.contains("delegate DEVELOPER (ot:developer) to repair what the report points at"), "{told}");
    assert!(matches!(step(&world), Step::Rework(_)));
    let loop_text = world.stop().model_context.unwrap();
    assert!(
        loop_text.contains("Next: DEVELOPER repairs what the report points at, then TEST again."),
        "{loop_text}"
    );
    world.pass(&["developer", "code-reviewer"]);
    // The second time, its cause is not as clear as it seemed.
    let told = world.run("tester", &at_place()).unwrap();
    assert!(told.contains("delegate DEBUGGER"), "{told}");
    assert!(matches!(step(&world), Step::Repair(_)));
}

#[test]
fn a_failure_without_a_place_goes_to_the_debugger() {
    let (world, told) = tested(&verdict("FAIL"));
    assert!(told.contains("delegate DEBUGGER"), "{told}");
    assert!(matches!(step(&world), Step::Repair(_)));
}

#[test]
fn a_rejection_and_a_failure_with_a_place_are_repaired_together() {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer"]);
    world.run("code-reviewer", &verdict("REJECT"));
    world.run("tester", &at_place());
    assert!(matches!(step(&world), Step::Rework(keys) if keys.len() == 2));
}

#[test]
fn the_debugger_may_still_be_asked() {
    let (mut world, _) = tested(&at_place());
    world.delegate("debugger").unwrap();
}
