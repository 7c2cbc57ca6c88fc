//! Esc and the keys that end agents: Overtone does not restart what the user has ended.

use overtone_testkit::{Actor, Client, Gate, Key, Request, Sandbox, Terminal, Turn, text};
use serde_json::json;

use super::{
    LOOP, NEXT_STEP, clients_and_modes, follow_step, following_steps, stop_agents, verdict,
    wait_for_completion,
};
use crate::delegate;
use crate::steps::begin;

const QUESTIONS: [(&str, &str); 2] = [("what is 2+2?", "it is four"), ("and 3+3?", "it is six")];

/// A main agent that answers questions, and does what Overtone asks for.
fn attentive(request: &Request) -> Turn {
    let received = request.new_text();
    let asked = QUESTIONS.iter().find(|(question, _)| received.contains(question));
    asked.map_or_else(|| follow_step(request), |(_, answer)| text(*answer))
}

/// Asks two questions and expects an answer to each, and nothing else.
fn assert_left_alone(terminal: &Terminal<'_>) {
    let before = terminal.request_count(Actor::Main);
    for (question, answer) in QUESTIONS {
        terminal.type_line(question);
        terminal.wait_for_screen(answer);
        terminal.wait_until_idle();
    }
    assert_eq!(terminal.request_count(Actor::Main), before + 2);
    let requests = terminal.requests();
    let since = requests.iter().filter(|request| request.actor() == Actor::Main).skip(before);
    let received: String = since.map(Request::new_text).collect();
    assert!(!received.contains(LOOP) && !received.contains(NEXT_STEP), "{received}");
}

/// In the foreground, Esc ends the agent without calling any hook.
#[test]
fn an_agent_that_was_interrupted_is_released() {
    for (client, mode) in clients_and_modes().iter().filter(|(client, _)| !client.has_auto_mode()) {
        println!("mode {mode}");
        let sandbox = Sandbox::new(client);
        let session = begin(&sandbox, "quick", &[]);
        let gate = Gate::closed();
        let terminal = sandbox
            .script(|s| {
                let s = s.main([delegate("ot:developer", "build it")]);
                following_steps(s.sub("developer", [verdict("too late", "PASS").behind(&gate)]))
                    .main_with(attentive)
            })
            .session(&session)
            .permission_mode(mode)
            .terminal();
        terminal.type_line("build a lock");
        terminal.wait_for_requests(Actor::Sub("developer"), 1);
        terminal.press(Key::Escape);
        terminal.wait_for_screen("Interrupted");
        assert_left_alone(&terminal);
        let workflow = sandbox.workflow(&session);
        assert_eq!(workflow["activeAgents"], json!({}));
        assert_ne!(workflow["stages"]["DEV"]["status"], "active");
        terminal.exit();
    }
}

/// Esc in the main agent's turn leaves agents in the background alone, and their work counts.
#[test]
fn an_interrupted_turn_does_not_end_background_agents() {
    for (client, mode) in clients_and_modes().iter().filter(|(client, _)| client.has_auto_mode()) {
        println!("mode {mode}");
        let sandbox = Sandbox::new(client);
        let session = begin(&sandbox, "quick", &[]);
        let (never, gate) = (Gate::closed(), Gate::closed());
        let terminal = sandbox
            .script(|s| {
                let s = s.main([delegate("ot:developer", "build it"), text("never said").behind(&never)]);
                let developer = [verdict("it is built", "PASS").behind(&gate)];
                following_steps(s.sub("developer", developer)).main_with(attentive)
            })
            .session(&session)
            .permission_mode(mode)
            .terminal();
        terminal.type_line("build a lock");
        terminal.wait_for_requests(Actor::Sub("developer"), 1);
        terminal.wait_for_requests(Actor::Main, 2);
        terminal.press(Key::Escape);
        terminal.wait_for_screen("Interrupted");
        assert_left_alone(&terminal);
        gate.open();
        wait_for_completion(&terminal, &session);
        terminal.exit();
        assert_eq!(sandbox.event_count(&session, "agent:error"), 0);
    }
}

#[test]
fn agents_that_the_user_ended_are_released() {
    for client in Client::all().iter().filter(|client| client.has_auto_mode()) {
        let sandbox = Sandbox::new(client);
        let session = begin(&sandbox, "quick", &[]);
        let gate = Gate::closed();
        let terminal = sandbox
            .script(|s| {
                let s = s.main([delegate("ot:developer", "build it"), text("I wait"), text("as you like")]);
                following_steps(s.sub("developer", [verdict("too late", "PASS").behind(&gate)]))
                    .main_with(attentive)
            })
            .session(&session)
            .permission_mode("auto")
            .terminal();
        terminal.type_line("build a lock");
        terminal.wait_for_requests(Actor::Sub("developer"), 1);
        terminal.wait_for_requests(Actor::Main, 2);
        terminal.wait_until_idle();
        stop_agents(&terminal);
        terminal.wait_for_screen("as you like");
        terminal.wait_until_idle();
        assert_eq!(terminal.request_count(Actor::Main), 3, "nothing restarts what the user has ended");
        assert_left_alone(&terminal);
        let workflow = sandbox.workflow(&session);
        assert_eq!(workflow["activeAgents"], json!({}));
        assert_ne!(workflow["stages"]["DEV"]["status"], "active");
        terminal.exit();
    }
}
