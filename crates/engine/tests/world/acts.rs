//! What can happen in a session, at random.

#![allow(unreachable_pub, reason = "used by the test crates that include it")]

use overtone_engine::{StartSource, Trigger};
use overtone_registry::Agent;
use proptest::prelude::*;

use crate::world::{World, verdict};

/// Something that can happen in a session.
#[derive(Debug, Clone)]
pub enum Act {
    Delegate(Agent),
    Start(Agent, u8),
    Report(Agent, u8, &'static str),
    HandBack(Agent, u8, &'static str),
    /// The main agent goes on with an agent.
    Continue(u8),
    UserAnswered,
    Returned(Agent, u8, bool),
    LaunchFailed(Agent, u8),
    Prompt(&'static str),
    Stop(Option<bool>),
    Session(StartSource),
    End,
    Compact,
    Resume,
    /// Somebody says something that nobody has said before.
    Message,
    StepAside(&'static str),
    ComeBack,
}

fn agents() -> impl Strategy<Value = Agent> {
    prop::sample::select(Agent::ALL.to_vec())
}

pub fn acts() -> impl Strategy<Value = Act> {
    let words = prop::sample::select(vec![
        "PASS", "PASS", "PASS", "FAIL", "REJECT", "ISSUES", "BLOCKED", "MAYBE", "API",
    ]);
    prop_oneof![
        6 => agents().prop_map(Act::Delegate),
        2 => (agents(), 0..4u8).prop_map(|(agent, id)| Act::Start(agent, id)),
        6 => (agents(), 0..40u8, words.clone()).prop_map(|(agent, id, word)| Act::Report(agent, id, word)),
        3 => (agents(), 0..6u8, words).prop_map(|(agent, id, word)| Act::HandBack(agent, id, word)),
        1 => (0..6u8).prop_map(Act::Continue),
        1 => Just(Act::UserAnswered),
        2 => (agents(), 0..20u8, any::<bool>()).prop_map(|(agent, id, done)| Act::Returned(agent, id, done)),
        1 => (agents(), 0..20u8).prop_map(|(agent, id)| Act::LaunchFailed(agent, id)),
        1 => prop::sample::select(vec!["go on", "<task-notification>", "/ot:stop", "/ot:status", "[workflow:quick]"]).prop_map(Act::Prompt),
        3 => prop::option::of(any::<bool>()).prop_map(Act::Stop),
        1 => prop::sample::select(vec![StartSource::Startup, StartSource::Resume, StartSource::Compact]).prop_map(Act::Session),
        1 => Just(Act::End),
        1 => Just(Act::Compact),
        1 => Just(Act::Resume),
        2 => Just(Act::Message),
        1 => prop::sample::select(vec!["workshop", "attic"]).prop_map(Act::StepAside),
        3 => Just(Act::ComeBack),
    ]
}

pub fn perform(world: &mut World, act: &Act) {
    let wire = |agent: &Agent| format!("ot:{}", agent.name());
    match act {
        Act::Delegate(agent) => {
            let kind = wire(agent);
            let call = format!("call-{}", world.facts.now.0 / 1000 % 20);
            world.fire(&Trigger::Delegating {
                subagent_type: &kind,
                description: "",
                prompt: "p",
                tool_use_id: Some(&call),
            });
        }
        Act::Start(agent, id) => {
            world.fire(&Trigger::AgentStarted { agent_type: &wire(agent), agent_id: &format!("a{id}") });
        }
        Act::Report(agent, id, said) => {
            world.report_as(agent.name(), &format!("a{id}"), &message(said));
        }
        Act::HandBack(agent, id, said) => {
            world.hand_back(agent.name(), &format!("a{id}"), &message(said));
        }
        Act::Continue(id) => {
            world.fire(&Trigger::ContinuingAgent { agent_id: &format!("a{id}") });
        }
        Act::UserAnswered => drop(world.fire(&Trigger::UserAnswered)),
        Act::Returned(agent, id, finished) => {
            world.fire(&Trigger::AgentReturned {
                tool_use_id: Some(&format!("call-{id}")),
                agent_id: None,
                subagent_type: &wire(agent),
                finished: *finished,
                content: "10 failed",
                handback: "",
            });
        }
        Act::LaunchFailed(agent, id) => {
            let call = format!("call-{id}");
            let trigger = Trigger::ToolFailed {
                tool: "Agent",
                error: "x",
                command: "",
                interrupted: false,
                tool_use_id: Some(&call),
                agent: Some(*agent),
                is_main_agent: true,
            };
            world.fire(&trigger);
        }
        Act::Prompt(prompt) => drop(world.fire(&Trigger::Prompted { prompt })),
        Act::Stop(background) => {
            let running = background.map(|runs| if runs { vec!["somebody".to_owned()] } else { Vec::new() });
            world.fire(&Trigger::Stopping { background: running.as_deref() });
        }
        Act::Session(source) => drop(world.start(*source)),
        Act::End => drop(world.fire(&Trigger::SessionEnded { reason: "clear" })),
        Act::Compact => drop(world.fire(&Trigger::Compacting { trigger: "auto" })),
        Act::Resume => resume(world),
        Act::Message => say_something_new(world),
        // A refusal is as good an answer as any.
        Act::StepAside(to) => drop(world.step_aside(to)),
        Act::ComeBack => drop(world.come_back()),
    }
}

fn message(said: &str) -> String {
    if said == "API" { "API Error: 500".to_owned() } else { verdict(said) }
}

fn resume(world: &mut World) {
    let resumed =
        overtone_engine::commands::resume(&world.snapshot, &world.facts.settings, "user", world.facts.now);
    let _ = world.command(resumed);
}

fn say_something_new(world: &mut World) {
    world.facts.now.0 += 1000;
    let words = format!("word-{}.", world.facts.now.0);
    if world.say(&words).is_ok() {
        world.said.push(words);
    }
}
