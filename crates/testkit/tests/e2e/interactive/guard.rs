//! The strict level in a terminal: what is denied, and what the user reads about it.

use overtone_testkit::{Sandbox, text, tool};
use serde_json::json;

use super::{assert_calm, clients_and_modes};
use crate::guard::violations;
use crate::steps::begin;

#[test]
fn the_main_agents_own_work_is_denied_in_every_mode() {
    for (client, mode) in clients_and_modes() {
        println!("mode {mode}");
        let sandbox = Sandbox::new(&client);
        let session = begin(&sandbox, "quick", &[]);
        let mut workflow = sandbox.workflow(&session);
        workflow["guard"] = json!("strict");
        sandbox.put_state(&session, "workflow.json", &workflow);
        let write = json!({"file_path": sandbox.project().join("lock.py"), "content": "x = 1\n"});
        let command = json!({"command": "echo 'x = 1' > lock.py", "description": "write it"});
        let terminal = sandbox
            .script(|s| s.main([tool("Write", write), tool("Bash", command), text("I will delegate")]))
            .session(&session)
            .permission_mode(mode)
            .terminal();
        terminal.type_line("build a lock");
        terminal.wait_for_screen("I will delegate");
        let run = terminal.exit();
        assert!(!sandbox.project().join("lock.py").exists());
        assert_eq!(violations(&sandbox, &session).len(), 2);
        assert!(run.stdout.contains("工作流進行中"), "the user reads why\n{}", run.stdout);
        assert_calm(&run.stdout);
    }
}
