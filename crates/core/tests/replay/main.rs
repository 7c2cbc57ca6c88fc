//! For random sessions, the replay of the recorded timeline has no differences, and neither has the replay of its
//! redacted copy.

#![allow(clippy::unwrap_used, reason = "a panic is the failure report of a test")]

#[path = "../engine/world/actions.rs"]
mod actions;
#[path = "../engine/world/mod.rs"]
mod world;

use actions::{Action, actions, perform};
use overtone_core::engine::commands::{self, Start};
use overtone_core::engine::flow::{Step, next_step};
use overtone_core::engine::settings::Settings;
use overtone_core::engine::state::{SendBackReason, WorkflowState};
use overtone_core::engine::suggestion::SinceCompact;
use overtone_core::engine::{Effect, Trigger};
use overtone_core::evidence::{Evidence, WorkflowChange};
use overtone_core::registry::{Agent, DocsRule, RetroRule, StageRules, Workflow};
use overtone_core::replay::{Difference, Replay, mismatches, parse, redact};
use overtone_store::timeline;
use proptest::prelude::*;
use world::{World, verdict};

/// Events beyond the shared actions, so that sessions make progress and have users, features and limits.
#[derive(Debug, Clone)]
enum Event {
    Action(Action),
    /// The agents of the next step carry it out.
    Advised(&'static str),
    Delegated,
    Init(Workflow, bool, bool),
    Graded(u8),
    StopLoop,
    Notified(Agent, bool),
    Limits(u32, u32, u32),
    Tasks(usize),
    Large(bool),
    /// Whether the project's checks succeed from now on.
    Checks(bool),
    /// Whether it is known from now on that no document has changed.
    /// Whether the changed files are known, and a document is one of them.
    KnownChange(Option<bool>),
}

fn events() -> impl Strategy<Value = Event> {
    let said = prop::sample::select(vec![
        "PASS",
        "PASS",
        "INVISIBLE",
        "INVISIBLE",
        "DOCUMENTED",
        "FAIL",
        "REJECT",
        "ISSUES",
        "BLOCKED",
        "NONE",
        "API",
        "",
    ]);
    prop_oneof![
        8 => actions().prop_map(Event::Action),
        8 => said.prop_map(Event::Advised),
        3 => Just(Event::Delegated),
        1 => (prop::sample::select(Workflow::ALL.to_vec()), any::<bool>(), any::<bool>())
            .prop_map(|(workflow, feature, rules)| Event::Init(workflow, feature, rules)),
        1 => any::<Option<bool>>().prop_map(Event::KnownChange),
        1 => any::<u8>().prop_map(Event::Graded),
        1 => Just(Event::StopLoop),
        1 => (prop::sample::select(Agent::ALL.to_vec()), any::<bool>()).prop_map(|(a, d)| Event::Notified(a, d)),
        1 => (1..4u32, 1..4u32, 1..6u32).prop_map(|(f, r, i)| Event::Limits(f, r, i)),
        1 => (0..3usize).prop_map(Event::Tasks),
        1 => any::<bool>().prop_map(Event::Large),
        1 => any::<bool>().prop_map(Event::Checks),
    ]
}

fn advised(world: &World) -> Vec<Agent> {
    match next_step(world.workflow(), &world.facts.settings) {
        Step::Delegate(keys) | Step::Wait(keys) => keys.iter().map(|key| key.stage.agent()).collect(),
        Step::Repair(_) => vec![Agent::Debugger, Agent::Developer],
        Step::Rework(_) => vec![Agent::Developer],
        Step::Again(key) | Step::Blocked(key) => vec![key.stage.agent()],
        Step::Done | Step::Report(_) | Step::AskUser(_) | Step::OverBudget(_) => Vec::new(),
    }
}

fn delegate(world: &mut World, agent: Agent) {
    perform(world, &Action::Delegate(agent));
}

fn report(world: &mut World, agent: Agent, message: &str) {
    before_report(world);
    world.report(agent.name(), message);
}

/// As the driver does: how long ago the last compaction was follows from the session's own counts.
fn before_report(world: &mut World) {
    let completed = world.workflow().completed_stages.unwrap();
    let compacted = world.compacted_at;
    world.facts.since_compact = SinceCompact::counted(completed, compacted);
}

fn init(world: &mut World, workflow: Workflow, with_feature: bool, with_rules: bool) {
    let rules = if with_rules {
        StageRules { retro: RetroRule::OnTrouble, docs: DocsRule::OnChange }
    } else {
        StageRules::default()
    };
    let start = Start {
        rules,
        feature: with_feature.then_some("f"),
        feature_is_new: with_feature,
        force: true,
        by: Some("model"),
        ..Start::new("s", workflow, world.facts.now)
    };
    let outcome = commands::init(&world.snapshot, &start).unwrap();
    world.apply(outcome.effects);
}

fn carry_out(world: &mut World, event: &Event) {
    match event {
        Event::Action(act) => {
            before_report(world);
            perform(world, act);
        }
        Event::Advised(said) => {
            for agent in advised(world) {
                let message = match *said {
                    "API" => "API Error: 500 /home/me".to_owned(),
                    "" => String::new(),
                    "NONE" => "a report".to_owned(),
                    "INVISIBLE" => r#"<!-- VERDICT: {"result":"PASS","visible":false} -->"#.to_owned(),
                    "DOCUMENTED" => {
                        r#"<!-- VERDICT: {"result":"PASS","visible":true,"documented":true} -->"#.to_owned()
                    }
                    said => verdict(said),
                };
                delegate(world, agent);
                report(world, agent, &message);
            }
        }
        Event::Delegated => advised(world).into_iter().for_each(|agent| delegate(world, agent)),
        Event::Init(workflow, with_feature, with_rules) => {
            init(world, *workflow, *with_feature, *with_rules);
        }
        Event::KnownChange(of_document) => {
            let files = |is_document: bool| if is_document { vec!["README".to_owned()] } else { Vec::new() };
            world.facts.workflow_change = of_document
                .map(|is_document| WorkflowChange { base: String::new(), files: files(is_document) });
        }
        Event::Graded(score) => {
            let grade = format!("<!-- GRADE: {{\"score\":{score}}} -->");
            report(world, Agent::Grader, &grade);
        }
        Event::StopLoop => {
            let stopped = commands::stop(&world.snapshot, "somebody", world.facts.now);
            let _ = world.command(stopped);
        }
        Event::Notified(agent, is_done) => notify(world, *agent, *is_done),
        Event::Limits(max_failures, max_rejections, max_iterations) => {
            world.facts.settings = Settings {
                max_failures: *max_failures,
                max_rejections: *max_rejections,
                max_iterations: *max_iterations,
                ..Settings::default()
            };
        }
        Event::Tasks(count) => world.set_tasks(&["a", "b", "c"][..*count]),
        Event::Checks(true) => world.facts.evidence = Evidence::default(),
        Event::Checks(false) => {
            world.facts.evidence = Evidence::that_objects(SendBackReason::ChecksFailed);
        }
        Event::Large(is_large) => world.facts.transcript_bytes = is_large.then_some(6_000_000),
    }
}

/// The client says that a background agent has ended.
fn notify(world: &mut World, agent: Agent, is_done: bool) {
    let active = world.workflow().active_agents.iter().find(|active| active.agent() == Some(agent));
    let Some(call) = active.and_then(|active| active.tool_use_id.clone()) else { return };
    let status = if is_done { "completed" } else { "killed" };
    let prompt = format!(
        "<task-notification><tool-use-id>{call}</tool-use-id><status>{status}</status><result>ok</result>"
    );
    before_report(world);
    world.fire(&Trigger::Prompted { prompt: &prompt });
}

fn recorded(world: &World) -> Vec<String> {
    world.records.iter().map(|(at, record)| timeline::line(record, *at)).collect()
}

fn differences(lines: &[String]) -> (Vec<Difference>, Option<WorkflowState>) {
    let numbered = (1..).zip(lines).filter_map(|(number, line)| parse(number, line.as_bytes()));
    let mut replay = Replay::new(numbered, None);
    let found = replay.by_ref().collect();
    (found, replay.state().workflow.clone())
}

fn session(workflow: Workflow, with_feature: bool, with_rules: bool, events: &[Event]) -> World {
    let mut world = World::empty();
    world.facts.workflow_change = Some(WorkflowChange::default());
    init(&mut world, workflow, with_feature, with_rules);
    for event in events {
        carry_out(&mut world, event);
    }
    world
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_recorded_session_replays_without_a_difference(
        workflow in prop::sample::select(Workflow::ALL.to_vec()),
        with_feature in any::<bool>(),
        with_rules in any::<bool>(),
        events in prop::collection::vec(events(), 1..80),
    ) {
        let world = session(workflow, with_feature, with_rules, &events);
        let lines = recorded(&world);
        let (found, state) = differences(&lines);
        prop_assert!(found.is_empty(), "{:#?}\n{}", found[0], lines.join("\n"));
        prop_assert_eq!(mismatches(&state.unwrap(), world.workflow()), []);
        let copy: Vec<_> = lines.iter().map(|line| redact(line.as_bytes())).collect();
        prop_assert!(!["/home/me", "workshop", "attic"].iter().any(|word| copy.join("\n").contains(word)));
        let (found, state) = differences(&copy);
        prop_assert!(found.is_empty(), "{:#?}\n{}", found[0], copy.join("\n"));
        prop_assert_eq!(mismatches(&state.unwrap(), world.workflow()), []);
    }

    /// Whatever the file has become, the replay ends, and the redacted copy has its differences at the same lines.
    #[test]
    fn a_damaged_timeline_is_replayed_to_its_end(
        workflow in prop::sample::select(Workflow::ALL.to_vec()),
        events in prop::collection::vec(events(), 1..40),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0..6u8), 1..6),
    ) {
        let mut lines = recorded(&session(workflow, false, true, &events));
        for (place, kind) in &damage {
            let at = place.index(lines.len());
            match kind {
                0 => lines[at].truncate(20),
                1 => lines[at] = "foreign".into(),
                2 => lines[at] = r#"{"type":"future:thing"}"#.into(),
                3 => { let line = lines[at].clone(); lines.push(line); }
                4 => lines.reverse(),
                _ => lines[at] = lines[at].replace("pass", "fail").replace("DEV", "TEST"),
            }
        }
        let places = |lines: &[String]| differences(lines).0.iter().map(|d| d.line).collect::<Vec<_>>();
        let copy: Vec<_> = lines.iter().map(|line| redact(line.as_bytes())).collect();
        prop_assert_eq!(places(&lines), places(&copy));
    }
}

#[test]
fn the_world_counts_compactions_as_the_session_does() {
    let mut world = World::new(Workflow::Quick);
    world.pass(&["developer"]);
    perform(&mut world, &Action::Compact);
    assert!(world.effects.iter().any(|effect| matches!(effect, Effect::CountCompaction { .. })));
    assert_eq!(world.compacted_at, Some(1));
}
