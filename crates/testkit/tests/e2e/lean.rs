//! Agents of the lean plugin: fewer tools with every request, and everything that their jobs need.

use overtone_claude::plugin::write_for;
use overtone_core::registry::Economy;
use overtone_testkit::{Actor, Client, Request, Sandbox, report, text};

use crate::delegate;

/// The first request of an agent whose plugin was written for this economy.
fn first_request(client: &Client, economy: Economy, agent: &'static str) -> Request {
    let sandbox = Sandbox::new(client);
    write_for(&sandbox.plugin(), economy).unwrap();
    let job = delegate(&format!("ot:{agent}"), "do your part");
    let run = sandbox.script(|s| s.main([job, text("done")])).run("go");
    run.requests(Actor::Sub(agent)).first().clone()
}

fn size(request: &Request) -> usize {
    request.body().to_string().len()
}

#[test]
fn a_lean_agent_gets_only_the_tools_of_its_job() {
    for client in Client::all() {
        for (agent, expected) in
            [("developer", vec!["Bash", "Edit", "Read", "Write"]), ("code-reviewer", vec!["Bash", "Read"])]
        {
            let lean = first_request(&client, Economy::Lean, agent);
            let mut tools = lean.tools();
            tools.sort_unstable();
            assert_eq!(tools, expected, "{agent}");
            let standard = first_request(&client, Economy::Standard, agent);
            assert!(standard.tools().contains(&"Skill"), "{:?}", standard.tools());
            assert!(size(&lean) * 3 < size(&standard) * 2, "{} of {}", size(&lean), size(&standard));
        }
    }
}

/// The client adds the tool with which an agent reports to any list of tools.
#[test]
fn a_lean_agent_reports_in_auto_mode() {
    for client in Client::all().iter().filter(|client| client.has_auto_mode()) {
        let sandbox = Sandbox::new(client);
        write_for(&sandbox.plugin(), Economy::Lean).unwrap();
        let job = [delegate("ot:tester", "test it"), text("I wait"), text("finished")];
        let terminal = sandbox
            .script(|s| s.main(job).sub("tester", [report("all of it works")]))
            .permission_mode("auto")
            .terminal();
        terminal.type_line("test it");
        terminal
            .wait_until("report to the main agent", |t| t.times_received(Actor::Main, "all of it works") > 0);
        let run = terminal.exit();
        let tester = run.requests(Actor::Sub("tester"));
        assert!(tester.first().tools().contains(&"SubagentHandback"), "{:?}", tester.first().tools());
    }
}
