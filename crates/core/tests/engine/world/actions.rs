//! Random actions in a session.

#![allow(unreachable_pub, reason = "used by the test crates that include it")]

use overtone_core::engine::{StartSource, ToolCaller, Trigger};
use overtone_core::registry::Agent;
use proptest::prelude::*;

use crate::world::{World, verdict};

/// Something that can happen in a session.
#[derive(Debug, Clone)]
pub enum Action {
    Delegate(Agent),
    Start(Agent, u8),
    Report(Agent, u8, &'static str),
    HandBack(Agent, u8, &'static str),
    /// The main agent continues an agent.
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
    /// A user sends a message with a new text.
    Message,
    HandOver(&'static str),
    TakeBack,
}

fn agents() -> impl Strategy<Value = Agent> {
    prop::sample::select(Agent::ALL.to_vec())
}

pub fn actions() -> impl Strategy<Value = Action> {
    let words = prop::sample::select(vec![
        "PASS", "PASS", "PASS", "FAIL", "REJECT", "ISSUES", "BLOCKED", "MAYBE", "API",
    ]);
    prop_oneof![
        6 => agents().prop_map(Action::Delegate),
        2 => (agents(), 0..4u8).prop_map(|(agent, id)| Action::Start(agent, id)),
        6 => (agents(), 0..40u8, words.clone()).prop_map(|(agent, id, word)| Action::Report(agent, id, word)),
        3 => (agents(), 0..6u8, words).prop_map(|(agent, id, word)| Action::HandBack(agent, id, word)),
        1 => (0..6u8).prop_map(Action::Continue),
        1 => Just(Action::UserAnswered),
        2 => (agents(), 0..20u8, any::<bool>()).prop_map(|(agent, id, done)| Action::Returned(agent, id, done)),
        1 => (agents(), 0..20u8).prop_map(|(agent, id)| Action::LaunchFailed(agent, id)),
        1 => prop::sample::select(vec!["go on", "<task-notification>", "/ot:stop", "/ot:status", "[workflow:quick]"]).prop_map(Action::Prompt),
        3 => prop::option::of(any::<bool>()).prop_map(Action::Stop),
        1 => prop::sample::select(vec![StartSource::Startup, StartSource::Resume, StartSource::Compact]).prop_map(Action::Session),
        1 => Just(Action::End),
        1 => Just(Action::Compact),
        1 => Just(Action::Resume),
        2 => Just(Action::Message),
        1 => prop::sample::select(vec!["workshop", "attic"]).prop_map(Action::HandOver),
        3 => Just(Action::TakeBack),
    ]
}

pub fn perform(world: &mut World, action: &Action) {
    let wire = |agent: &Agent| format!("ot:{}", agent.name());
    match action {
        Action::Delegate(agent) => {
            let kind = wire(agent);
            let call = format!("call-{}", world.facts.now.0 / 1000 % 20);
            world.fire(&Trigger::Delegating {
                subagent_type: &kind,
                description: "",
                prompt: "p",
                tool_use_id: Some(&call),
            });
        }
        Action::Start(agent, id) => {
            world.fire(&Trigger::AgentStarted { agent_type: &wire(agent), agent_id: &format!("a{id}") });
        }
        Action::Report(agent, id, said) => {
            world.report_as(agent.name(), &format!("a{id}"), &message(said));
        }
        Action::HandBack(agent, id, said) => {
            world.hand_back(agent.name(), &format!("a{id}"), &message(said));
        }
        Action::Continue(id) => {
            world.fire(&Trigger::ContinuingAgent { agent_id: &format!("a{id}") });
        }
        Action::UserAnswered => drop(world.fire(&Trigger::UserAnswered)),
        Action::Returned(agent, id, finished) => {
            world.fire(&Trigger::AgentReturned {
                tool_use_id: Some(&format!("call-{id}")),
                agent_id: None,
                subagent_type: &wire(agent),
                finished: *finished,
                content: "10 failed",
                handback: "",
            });
        }
        Action::LaunchFailed(agent, id) => {
            let call = format!("call-{id}");
            let trigger = Trigger::ToolFailed {
                tool: "Agent",
                error: "x",
                command: "",
                interrupted: false,
                tool_use_id: Some(&call),
                agent: Some(*agent),
                caller: ToolCaller::Main,
            };
            world.fire(&trigger);
        }
        Action::Prompt(prompt) => drop(world.fire(&Trigger::Prompted { prompt })),
        Action::Stop(background) => {
            let running = background.map(|runs| if runs { vec!["somebody".to_owned()] } else { Vec::new() });
            world.fire(&Trigger::Stopping { background: running.as_deref() });
        }
        Action::Session(source) => drop(world.start(*source)),
        Action::End => drop(world.fire(&Trigger::SessionEnded { reason: "clear" })),
        Action::Compact => drop(world.fire(&Trigger::Compacting { trigger: "auto" })),
        Action::Resume => resume(world),
        Action::Message => send_new_message(world),
        // A refusal is a valid answer, too.
        Action::HandOver(to) => drop(world.hand_over(to)),
        Action::TakeBack => drop(world.take_back()),
    }
}

fn message(said: &str) -> String {
    if said == "API" { "API Error: 500".to_owned() } else { verdict(said) }
}

fn resume(world: &mut World) {
    let resumed = overtone_core::engine::commands::resume(
        &world.snapshot,
        &world.facts.settings,
        "user",
        world.facts.now,
    );
    let _ = world.command(resumed);
}

fn send_new_message(world: &mut World) {
    world.facts.now.0 += 1000;
    let words = format!("word-{}.", world.facts.now.0);
    if world.send_message(&words).is_ok() {
        world.accepted_messages.push(words);
    }
}
