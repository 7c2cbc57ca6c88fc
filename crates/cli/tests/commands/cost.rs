use serde_json::{Value, json};

use crate::common::with_verdict;
use crate::context::{TestContext, keys, put};

/// A line of a conversation: a message of this many output tokens, after the workflow has started.
fn message(id: &str, model: &str, output: u64) -> String {
    let usage = json!({ "input_tokens": 10, "output_tokens": output, "cache_read_input_tokens": 1000,
                        "cache_creation_input_tokens": 100 });
    let message = json!({ "id": id, "model": model, "usage": usage });
    format!(
        "{}\n",
        json!({ "type": "assistant", "timestamp": "2999-01-01T00:00:00.000Z", "message": message })
    )
}

impl TestContext {
    fn conversation(&self, agent: &str, text: &str) {
        put(&self.path(format!("transcripts/s1/subagents/agent-{agent}.jsonl")), text);
    }

    /// The agent uses this and reports.
    fn agent_uses(&self, agent: &str, id: &str, verdict: &str, text: &str) {
        self.delegate("s1", agent);
        let mut fields = json!({ "agent_id": id, "agent_type": format!("ot:{agent}") });
        self.send_event("on-agent-start", "s1", fields.clone());
        if agent == "developer" {
            self.change_project();
        }
        self.conversation(id, text);
        fields["last_assistant_message"] = json!(with_verdict("done", verdict));
        fields["transcript_path"] = json!(self.path("transcripts/s1.jsonl"));
        self.send_event("on-agent-stop", "s1", fields);
    }

    fn main_agent_stops(&self) -> Value {
        let transcript = self.path("transcripts/s1.jsonl");
        self.send_event("on-stop", "s1", json!({ "transcript_path": transcript })).json()
    }

    fn cost(&self, arguments: &str) -> Value {
        self.json(&format!("cost {arguments} --json"))
    }
}

fn row<'a>(costs: &'a Value, key: &str) -> &'a Value {
    let rows = costs["rows"].as_array().unwrap();
    rows.iter().find(|row| row["key"] == key || (row["key"].is_null() && row["kind"] == key)).unwrap()
}

#[track_caller]
fn assert_usd(value: &Value, expected: f64) {
    assert!((value.as_f64().unwrap() - expected).abs() < 1e-9, "{value} is not {expected}");
}

/// A workflow of one stage that was repaired: opus 5 costs 5, 25, 0.5 and 6.25 dollars per million tokens.
fn repaired() -> TestContext {
    let context = TestContext::for_commands();
    context.start_session("s1");
    context.run("init quick").ok();
    put(&context.path("transcripts/s1.jsonl"), message("m1", "claude-opus-5", 100));
    context.agent_uses("developer", "a1", "PASS", &message("b1", "claude-sonnet-5", 1000));
    context.agent_uses("code-reviewer", "r1", "REJECT", &message("c1", "claude-opus-5", 200));
    context.agent_uses("developer", "a2", "PASS", &message("b2", "claude-sonnet-5", 3000));
    context.main_agent_stops();
    context
}

#[test]
fn nothing_that_was_used_is_an_answer() {
    let context = TestContext::for_commands();
    context.run("cost").ok().has(&["No tokens"]);
    context.run("cost --all").ok();
    assert_eq!(context.cost("")["rows"], json!([]));
    context.run("cost --session nope").fails(&["no such session"]);
    context.run("cost --by colour").refused_by_parser();
    context.run("cost --json --csv").refused_by_parser();
}

#[test]
fn stages_and_attempts_have_their_own_costs() {
    let context = repaired();
    let costs = context.cost("");
    assert_eq!(
        keys(&costs),
        ["session", "by", "rows", "total", "purposes", "completedWorkflows", "leanSavings", "sources"]
    );
    let dev = row(&costs, "DEV");
    assert_eq!(
        (&dev["outputTokens"], &dev["inputTokens"], &dev["messages"]),
        (&json!(4000), &json!(20), &json!(2))
    );
    // Sonnet 5: 2, 10, 0.2 and 2.5 dollars per million tokens.
    let sonnet = |output: f64| (10.0 * 2.0 + output * 10.0 + 1000.0 * 0.2 + 100.0 * 2.5) / 1e6;
    assert_usd(&dev["attempts"][0]["costUsd"], sonnet(1000.0));
    assert_usd(&dev["attempts"][1]["costUsd"], sonnet(3000.0));
    let opus = |output: f64| (10.0 * 5.0 + output * 25.0 + 1000.0 * 0.5 + 100.0 * 6.25) / 1e6;
    assert_usd(&row(&costs, "REVIEW")["costUsd"], opus(200.0));
    assert_usd(&row(&costs, "main")["costUsd"], opus(100.0));
    assert_usd(&costs["total"]["costUsd"], sonnet(1000.0) + sonnet(3000.0) + opus(200.0) + opus(100.0));
    assert_usd(&costs["purposes"]["repairs"]["costUsd"], sonnet(3000.0));
    assert_usd(&costs["purposes"]["coordination"]["costUsd"], opus(100.0));
    let shown = context.run("cost").ok();
    shown.has(&["DEV", "  #1", "  #2", "REVIEW", "main agent", "Total", "Repairs: $"]);
}

#[test]
fn nothing_counts_twice_and_nothing_new_changes_nothing() {
    let context = repaired();
    let before = context.cost("")["total"].clone();
    context.main_agent_stops();
    context.main_agent_stops();
    assert_eq!(context.cost("")["total"], before);
    // The last block of a message that was counted, and a new message.
    let text = message("b2", "claude-sonnet-5", 3000) + &message("b2", "claude-sonnet-5", 3010);
    context.conversation("a2", &text);
    put(
        &context.path("transcripts/s1.jsonl"),
        message("m1", "claude-opus-5", 100) + &message("m2", "claude-opus-5", 40),
    );
    context.main_agent_stops();
    let after = context.cost("")["total"]["outputTokens"].as_u64().unwrap();
    assert_eq!(after, before["outputTokens"].as_u64().unwrap() + 10 + 40);
}

#[test]
fn costs_are_grouped_and_exported() {
    let context = repaired();
    assert_eq!(row(&context.cost("--by model"), "claude-sonnet-5")["outputTokens"], 4000);
    assert_eq!(row(&context.cost("--by agent"), "code-reviewer")["outputTokens"], 200);
    assert_eq!(row(&context.cost("--by workflow"), "quick")["outputTokens"], 4300);
    assert_eq!(row(&context.cost("--by day"), "2999-01-01")["outputTokens"], 4300);
    let project = context.project().display().to_string();
    assert_eq!(row(&context.cost("--all --by project"), &project)["outputTokens"], 4300);
    assert_eq!(context.cost("--since 3000-01-01")["rows"], json!([]));
    let csv = context.run("cost --by model --csv").ok().stdout;
    let head = "model,kind,messages,input_tokens,output_tokens,cache_read_tokens,cache_write_tokens,cost_usd,unpriced_tokens";
    let lines: Vec<_> = csv.lines().collect();
    assert_eq!((lines[0], lines.len()), (head, 3));
    assert!(lines[1].starts_with("claude-sonnet-5,model,2,20,4000,2000,200,0.0"), "{csv}");
}

#[test]
fn a_model_without_a_price_shows_its_tokens_until_the_user_sets_one() {
    let context = TestContext::for_commands();
    context.start_session("s1");
    context.run("init single").ok();
    context.agent_uses("developer", "a1", "PASS", &message("b1", "glm-4.6", 1_000_000));
    let costs = context.cost("");
    assert_eq!(
        (&costs["total"]["costUsd"], &costs["total"]["unpricedTokens"]),
        (&json!(null), &json!(1_001_110))
    );
    context.run("cost").ok().has(&["1.0M", "–", "overtone cost --prices"]);
    let price = json!({ "input": 0, "output": 2, "cacheRead": 0, "cacheWrite": 0 });
    let prices = json!({ "date": "2026-12-01", "models": { "glm": price, "bad": { "input": "x" } } });
    put(&context.state().join("config.json"), json!({ "prices": prices, "language": "en" }).to_string());
    assert_usd(&context.cost("")["total"]["costUsd"], 2.0);
    let shown = context.run("cost --prices").succeeds();
    shown.has(&["glm", "2026-12-01", "opus-5", "config.json"]).stderr_has(&["bad"]);
    assert_eq!(context.run("cost --prices --json").succeeds().json()["own"][0]["output"], 2.0);
}

#[test]
fn the_summary_of_a_completed_workflow_has_its_cost() {
    let context = TestContext::for_commands();
    context.start_session("s1");
    context.run("init single").ok();
    put(&context.path("transcripts/s1.jsonl"), message("m1", "claude-opus-5", 100_000));
    context.agent_uses("developer", "a1", "PASS", &message("b1", "claude-opus-5", 300_000));
    let shown = context.main_agent_stops();
    let summary = shown["systemMessage"].as_str().unwrap();
    assert!(summary.contains("💰 $10.00: 20 tokens in, 400.0k out, 2.2k cached."), "{summary}");
    let costs = context.cost("");
    assert_eq!(costs["completedWorkflows"]["count"], 1);
    context.run("cost").ok().has(&["Per completed workflow: $10.00 (1 completed)"]);
    let stats = context.json("stats --json");
    assert_usd(&stats["stages"][0]["costUsdEach"], costs["rows"][0]["costUsd"].as_f64().unwrap());
}

#[test]
fn a_session_without_a_workflow_has_no_ledger() {
    let context = TestContext::for_commands();
    context.start_session("s1");
    put(&context.path("transcripts/s1.jsonl"), message("m1", "claude-opus-5", 100));
    context.main_agent_stops();
    assert!(!context.session_dir("s1").join("usage.jsonl").exists());
    // Its conversation is still there.
    let costs = context.cost("");
    assert_eq!(
        (&costs["total"]["outputTokens"], &costs["sources"]["fromConversations"]),
        (&json!(100), &json!(1))
    );
}

#[test]
fn what_only_the_client_has_shown_is_named() {
    let context = TestContext::for_commands();
    context.start_session("s1");
    put(&context.session_dir("s1").join("context.json"), r#"{"costUsd":1.25}"#);
    context.run("cost").ok().has(&["Of 1 more session only the client's total is known: $1.25."]);
}
