//! Budgets in a terminal: agents in the background are ended too, and the user is asked.

use overtone_testkit::{Actor, Client, Sandbox, tool};
use serde_json::json;

use super::{assert_calm, clients_and_modes, usual_mode, verdict, wait_for_completion};
use crate::budget::{TOKENS, budget, costly, init_for_requests, obedient_main, raise, stubborn_developer};
use crate::delegate;

#[test]
fn an_agent_is_ended_at_the_limit_in_every_mode() {
    for (client, mode) in clients_and_modes() {
        println!("mode {mode}");
        let sandbox = Sandbox::new(&client);
        let session = init_for_requests(&sandbox, "single", 4);
        let terminal = sandbox
            .script(|s| {
                let s = s.main([costly(delegate("ot:developer", "build it"))]);
                stubborn_developer(s.main_with(obedient_main))
            })
            .session(&session)
            .permission_mode(mode)
            .allow(["Agent", "Bash", "Read"])
            .terminal();
        terminal.type_line("build it");
        terminal.wait_until("loop to let go", |t| t.sandbox().loop_state(&session)["stoppedBy"] == "limit");
        terminal.wait_for_screen("預算已用完");
        terminal.wait_until_idle();
        let run = terminal.exit();
        // In the background, the main agent may have said that it waits before the limit was reached.
        let requests = run.requests(Actor::Sub("developer")).len();
        assert!((3..=4).contains(&requests), "{requests}");
        assert_eq!(budget(&sandbox, &session)["reached"]["kind"], "tokens");
        assert_eq!(sandbox.workflow(&session)["failCount"], 0);
        assert_calm(&run.stdout);
    }
}

#[test]
fn the_user_raises_the_budget_and_says_continue() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = init_for_requests(&sandbox, "single", 3);
        let write = tool("Write", json!({"file_path": sandbox.project().join("a.txt"), "content": "x"}));
        let mut runs = 0;
        let terminal = sandbox
            .script(|s| {
                s.main_with(move |request| {
                    let received = request.new_text();
                    let starts = received.contains("build it") || received.contains("finish the lock");
                    if starts { costly(delegate("ot:developer", "build it")) } else { obedient_main(request) }
                })
                .actor_with(Actor::Sub("developer"), move |request| {
                    runs += u32::from(request.is_first());
                    costly(match (runs, request.is_first()) {
                        (1, _) => tool("Bash", json!({"command": "echo one more"})),
                        (_, true) => write.clone(),
                        (_, false) => verdict("it is built", "PASS"),
                    })
                })
            })
            .session(&session)
            .permission_mode(usual_mode(&client))
            .allow(["Agent", "Bash", "Write"])
            .terminal();
        terminal.type_line("build it");
        terminal.wait_until("loop to let go", |t| t.sandbox().loop_state(&session)["stoppedBy"] == "limit");
        terminal.wait_until_idle();
        raise(&sandbox, &session, &[&format!("{}tokens", 100 * TOKENS)]);
        terminal.type_line("finish the lock");
        wait_for_completion(&terminal, &session);
        assert_calm(&terminal.exit().stdout);
    }
}
