//! An unfinished workflow is taken up again in a new terminal.

use overtone_testkit::{Actor, Gate, Sandbox};
use serde_json::json;

use super::{assert_calm, clients_and_modes, developing, following_steps, verdict, wait_for_completion};
use crate::steps::{begin, of_stages};

#[test]
fn an_unfinished_workflow_continues_in_a_new_terminal() {
    for (client, mode) in clients_and_modes() {
        println!("mode {mode}");
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &[]);
        let gate = Gate::closed();
        let held = verdict("too late", "PASS").behind(&gate);
        let first = developing(&sandbox, &session, |s| s.sub("tester", [held]));
        let first = first.permission_mode(mode).terminal();
        first.type_line("build a lock");
        first.wait_for_requests(Actor::Sub("tester"), 1);
        first.wait_for_requests(Actor::Sub("code-reviewer"), 1);
        first.wait_until("end of the review", |t| {
            t.sandbox().workflow(&session)["stages"]["REVIEW"]["result"] == "pass"
        });
        // As if the window was closed: the client reports no end of the tester.
        first.kill();

        let again = sandbox.script(following_steps).resume(&session).permission_mode(mode).terminal();
        again.type_line("go on with the workflow");
        wait_for_completion(&again, &session);
        let run = again.exit();
        assert_calm(&run.stdout);
        assert_eq!(run.requests(Actor::Sub("tester")).len(), 1, "the tester was started again");
        assert!(run.requests(Actor::Sub("developer")).is_empty(), "what was finished is not done again");
        assert_eq!(of_stages(&sandbox, &session, "result"), ["pass"; 5]);
        assert_eq!(sandbox.workflow(&session)["activeAgents"], json!({}));
    }
}
