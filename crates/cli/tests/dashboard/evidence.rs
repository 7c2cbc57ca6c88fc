//! The evidence in a session's details: receipts of real checks, and reports that were sent back.

use serde_json::{Value, json};

use crate::api::check;
use crate::common::with_verdict;
use crate::context::{Server, TestContext};

/// Succeeds when the project has the file `good`.
const CHECK: &str = "#!/bin/sh
test -e good || { echo 'good is missing'; exit 3; }
echo 'running 24 tests'
echo 'test result: ok. 24 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s'
";

/// A workflow in a project with a trusted check.
fn with_check() -> TestContext {
    let context = TestContext::for_dashboard();
    context.write("check.sh", CHECK);
    let toml = "[checks.test]\nrun = \"sh ../check.sh\"\n";
    context.write("project/overtone.toml", toml);
    context.run("trust --yes").succeeds();
    context.start_workflow("one", "quick");
    context
}

/// An agent that reports several times: it is sent back until its report is accepted.
struct Agent<'a> {
    context: &'a TestContext,
    fields: Value,
}

impl<'a> Agent<'a> {
    fn start(context: &'a TestContext, name: &str) -> Self {
        context.delegate("one", name);
        let fields = json!({ "agent_id": context.next_agent_id(name), "agent_type": format!("ot:{name}") });
        context.send_event("on-agent-start", "one", fields.clone());
        Self { context, fields }
    }

    fn pass(&self) {
        let mut fields = self.fields.clone();
        fields["last_assistant_message"] = json!(with_verdict("done", "PASS"));
        self.context.send_event("on-agent-stop", "one", fields);
    }
}

fn details(server: &Server) -> Value {
    check(server, "/api/sessions/one", "/api/sessions/{id}")["evidence"].take()
}

#[test]
fn a_session_shows_the_receipts_of_its_checks_and_why_reports_were_sent_back() {
    let context = with_check();
    let server = context.serve();
    let before = details(&server);
    assert_eq!((&before["receipts"], &before["stages"][0]["checks"]), (&json!([]), &json!([])));

    let developer = Agent::start(&context, "developer");
    context.change_project();
    developer.pass();
    let red = details(&server);
    let dev = &red["stages"][0];
    assert_eq!((&dev["stage"], &dev["result"]), (&json!("DEV"), &Value::Null));
    assert_eq!(dev["sentBack"], json!([{ "reason": "checks-failed", "count": 1 }]));
    assert_eq!(dev["checks"], json!([{ "check": "test", "passed": false, "tests": null }]));
    let receipt = &red["receipts"][0];
    assert_eq!((&receipt["passed"], &receipt["exitCode"]), (&json!(false), &json!(3)));
    assert_eq!((&receipt["output"], &receipt["stale"]), (&json!("good is missing"), &json!(false)));

    context.write("project/good", "");
    developer.pass();
    let green = details(&server);
    let tests = json!({ "run": 24, "failed": 0, "skipped": 1 });
    let dev = &green["stages"][0];
    assert_eq!((&dev["result"], &dev["changedFiles"]), (&json!("pass"), &json!(2)));
    assert_eq!(dev["checks"], json!([{ "check": "test", "passed": true, "tests": tests }]));
    let [first, second] = &green["receipts"].as_array().unwrap()[..] else { panic!("{green}") };
    assert_eq!((&first["stale"], &second["stale"]), (&json!(true), &json!(false)));
    assert_eq!(
        (&first["output"], &second["tests"]),
        (&Value::Null, &tests),
        "the log is that of the last run"
    );
    assert_eq!((&second["stage"], &second["command"]), (&json!("DEV"), &json!("sh ../check.sh")));

    // The same files need no other run: the later stage has the result without a receipt of its own.
    Agent::start(&context, "tester").pass();
    let evidence = details(&server);
    let of_test =
        evidence["stages"].as_array().unwrap().iter().find(|stage| stage["stage"] == "TEST").unwrap();
    assert_eq!(of_test["checks"][0]["tests"], tests);
    assert_eq!(evidence["receipts"].as_array().unwrap().len(), 2);

    // The details say the same as the command.
    let printed: Value = serde_json::from_str(&context.run("evidence --json").succeeds().stdout).unwrap();
    for (shown, printed) in [("stages", &printed["stages"]), ("receipts", &printed["receipts"])] {
        for (shown, printed) in evidence[shown].as_array().unwrap().iter().zip(printed.as_array().unwrap()) {
            for (name, value) in printed.as_object().unwrap() {
                assert_eq!(&shown[name], value, "{name}");
            }
        }
    }
}

#[test]
fn a_session_without_a_workflow_has_no_evidence() {
    let context = TestContext::for_dashboard();
    context.start_session("one");
    assert_eq!(details(&context.serve()), Value::Null);
}
