//! What the user types while the model works is for the model, and no interruption.

use overtone_testkit::{Actor, Client, Gate, Sandbox, text};
use serde_json::Value;

use super::{following_steps, usual_mode, verdict, wait_for_completion};
use crate::delegate;
use crate::steps::{begin, of_stages};

/// The client hands such a message to hooks at once, in the middle of the turn, or after it; Esc is neither.
#[test]
fn a_message_to_a_working_model_does_not_pause_the_loop() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &[]);
        let gate = Gate::closed();
        let terminal = sandbox
            .script(|s| {
                let s = s.main([delegate("ot:developer", "build it"), text("noted").behind(&gate)]);
                following_steps(s.sub("developer", [verdict("it is built", "PASS").behind(&gate)]))
            })
            .session(&session)
            .permission_mode(usual_mode(&client))
            .terminal();
        terminal.type_line("build a lock");
        terminal.wait_for_requests(Actor::Sub("developer"), 1);
        terminal.type_line("make it blue");
        terminal.wait_for_screen("make it blue");
        assert_eq!(sandbox.loop_state(&session)["paused"], Value::Null);
        gate.open();
        wait_for_completion(&terminal, &session);
        let run = terminal.exit();
        let main = run.requests(Actor::Main);
        assert!(main.new_text().contains("make it blue"));
        assert_eq!(main.times_received("已暫停"), 0, "no pause was announced");
        assert_eq!(sandbox.event_count(&session, "agent:error"), 0);
        assert_eq!(of_stages(&sandbox, &session, "attempts"), [1; 5]);
    }
}
