//! Plan mode: nothing is started, and nobody is sent on.

use overtone_testkit::{Actor, Client, Sandbox, text};

use super::{LOOP, NEXT_STEP, assert_calm};
use crate::delegate;
use crate::steps::{begin, of_stages};

#[test]
fn plan_mode_starts_no_stage_and_pushes_nobody() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &[]);
        let terminal = sandbox
            .script(|s| s.main([delegate("ot:developer", "build it"), text("here is the plan")]))
            .session(&session)
            .permission_mode("plan")
            .terminal();
        terminal.type_line("build a lock");
        terminal.wait_for_screen("here is the plan");
        terminal.wait_until_idle();
        let run = terminal.exit();
        assert_calm(&run.stdout);
        let main = run.requests(Actor::Main);
        assert_eq!((main.len(), main.times_told(LOOP)), (2, 0));
        let refusal = main.nth(1).new_text();
        assert!(refusal.contains("規劃模式") && !refusal.contains(NEXT_STEP), "{refusal}");
        assert!(run.requests(Actor::Sub("developer")).is_empty());
        assert_eq!(of_stages(&sandbox, &session, "status"), ["pending"; 5]);
        assert_eq!(sandbox.event_count(&session, "loop:advance"), 0);
    }
}
