use serde_json::{Value, json};

use crate::context::{TestContext, put};

fn limits(context: &TestContext) -> Value {
    let budget = context.json("budget --json");
    let limits = budget["limits"].as_array().unwrap().iter();
    limits.map(|limit| (limit["kind"].as_str().unwrap().to_owned(), limit["limit"].clone())).collect()
}

/// A developer calls a tool in a message that used this many tokens.
fn uses(context: &TestContext, message: &str, tokens: u64) -> Value {
    let usage = json!({ "input_tokens": tokens, "output_tokens": 0 });
    let call = json!([{ "type": "tool_use", "id": format!("toolu_{message}"), "name": "Read", "input": {} }]);
    let message = json!({ "id": message, "model": "claude-opus-5", "usage": usage, "content": call });
    let line = json!({ "type": "assistant", "timestamp": "2999-01-01T00:00:00.000Z", "message": message });
    let conversation = context.path("transcripts/s1/subagents/agent-a1.jsonl");
    let earlier = std::fs::read_to_string(&conversation).unwrap_or_default();
    put(&conversation, format!("{earlier}{line}\n"));
    let call = format!("toolu_{}", line["message"]["id"].as_str().unwrap());
    let fields = json!({
        "agent_id": "a1", "agent_type": "ot:developer", "tool_name": "Read", "tool_use_id": call,
        "tool_input": { "file_path": "a.txt" }, "transcript_path": context.path("transcripts/s1.jsonl"),
    });
    context.send_event("pre-tool", "s1", fields).json()
}

fn is_denied(answer: &Value) -> bool {
    answer["hookSpecificOutput"]["permissionDecision"] == "deny"
}

#[test]
fn the_smallest_limit_holds() {
    let context = TestContext::for_commands();
    let started = context.run("init quick").ok();
    assert!(!started.stdout.contains("Budget"), "{started:?}");
    assert_eq!(limits(&context), json!({ "agents": 60 }), "every workflow has a limit of agents");
    context.run("config set budget.tokens 2000000").ok();
    context.run("config set budget.agents 0").ok();
    put(&context.project().join("overtone.toml"), "[budget]\nusd = 3\ntokens = 5_000_000\n");
    context.run("init quick --force --budget 5usd,90min").ok().has(&["Budget", "3usd,2000000tokens,90min"]);
    assert_eq!(limits(&context), json!({ "usd": 3_000_000, "tokens": 2_000_000, "minutes": 90 }));
    context
        .run("init quick --force --budget plenty")
        .refused_by_parser()
        .stderr_has(&["`plenty` is no amount"]);
    context.run("config set budget.usd -1").fails(&["a number from 0 to", "0 for no limit"]);
    put(&context.project().join("overtone.toml"), "[budget]\nusd = 0\n");
    context.run("init quick --force").succeeds().stderr_has(&["`budget.usd` has to be a number above 0"]);
}

#[test]
fn a_reached_limit_is_shown_and_only_raising_it_helps() {
    let context = TestContext::for_commands();
    context.start_session("s1");
    context.run("init single --budget 1ktokens").ok();
    context.delegate("s1", "developer");
    context.send_event("on-agent-start", "s1", json!({ "agent_id": "a1", "agent_type": "ot:developer" }));
    assert_eq!(uses(&context, "m1", 700), json!({ "result": "" }));
    context.run("budget --check").ok().has(&["700", "1.0k", "70 %"]);
    context.run("status").ok().has(&["Budget", "700 of 1.0k tokens"]);
    let denied = uses(&context, "m2", 300);
    assert!(is_denied(&denied), "{denied}");
    let ended = uses(&context, "m3", 1);
    assert_eq!(
        (&ended["continue"], &ended["stopReason"]),
        (&json!(false), &json!("Overtone: budget reached"))
    );
    let output = context.run("budget --check");
    assert_eq!(output.code, Some(3), "{output:?}");
    assert!(output.stdout.contains("overtone budget raise"), "{output:?}");
    assert_eq!(context.json("budget --json")["reached"]["used"], 1000);
    context.run("resume").fails(&["the budget is reached", "overtone budget raise"]);
    context.run("budget raise 1usd").fails(&["no limit of this kind"]);
    context.run("budget raise lots").refused_by_parser().stderr_has(&["`lots` is no amount"]);
    context.run("budget raise").ok().has(&["Budget raised: 2000tokens,60agents", "continue"]);
    assert_eq!(uses(&context, "m4", 1), json!({ "result": "" }));
    context.run("budget raise").fails(&["no limit is reached", "5usd"]);
    context.run("budget raise 500tokens").ok().has(&["2500tokens"]);
}

/// The client's `Workflow` tool starts agents without a delegation that could be denied.
#[test]
fn agents_of_the_clients_own_workflows_count_and_are_ended() {
    let context = TestContext::for_commands();
    context.start_session("s1");
    context.run("init single --budget 2agents").ok();
    context.delegate("s1", "developer");
    for (id, is_one_too_many) in [("w1", false), ("w2", true)] {
        let started = json!({ "agent_id": id, "agent_type": "workflow-subagent" });
        context.send_event("on-agent-start", "s1", started);
        let fields = json!({
            "agent_id": id, "agent_type": "workflow-subagent", "tool_name": "Read", "tool_use_id": "toolu_1",
            "tool_input": { "file_path": "a.txt" },
        });
        let answer = context.send_event("pre-tool", "s1", fields).json();
        assert_eq!(is_denied(&answer), is_one_too_many, "{id}: {answer}");
    }
    assert_eq!(context.json("budget --json")["reached"]["kind"], "agents");
}

#[test]
fn without_a_workflow_there_is_no_budget() {
    let context = TestContext::for_commands();
    context.run("budget").ok().has(&["No workflow"]);
    context.run("budget --check").ok();
    context.run("budget raise 5usd").fails(&["No workflow"]);
    assert_eq!(context.json("budget --json")["limits"], json!([]));
}
