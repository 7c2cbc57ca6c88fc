//! The tokens that the API reports are counted by stage, once, from the client's own conversations.

use overtone_testkit::{Actor, Client, Sandbox, Usage, text, tool};
use serde_json::{Value, json};

use crate::checks::init;
use crate::delegate;
use crate::steps::verdict;

/// What `overtone cost` says about a session, from what the hooks have recorded.
pub(crate) fn cost(sandbox: &Sandbox, session: &str) -> Value {
    let costs: Value = serde_json::from_str(&sandbox.overtone(session, &["cost", "--json"])).unwrap();
    assert_eq!(costs["sources"]["fromConversations"], 0, "the hooks have recorded nothing: {costs}");
    costs
}

/// The figures of a row: of a stage, or `main`.
pub(crate) fn counts(costs: &Value, key: &str) -> [u64; 5] {
    let rows = costs["rows"].as_array().unwrap();
    let row = rows.iter().find(|row| row["key"] == key || (row["key"].is_null() && row["kind"] == key));
    let row = row.unwrap_or_else(|| panic!("no {key} in {costs}"));
    ["messages", "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"]
        .map(|name| row[name].as_u64().unwrap())
}

const fn tokens(input: u64, output: u64) -> Usage {
    Usage { input, output, cache_read: 2000, cache_write: 300 }
}

#[test]
fn each_stage_has_the_tokens_that_the_api_reported() {
    for client in Client::all() {
        let sandbox = Sandbox::new(&client);
        let session = init(&sandbox, "single");
        let write = tool("Write", json!({"file_path": sandbox.project().join("a.txt"), "content": "x"}));
        let run = sandbox
            .script(|s| {
                s.main([delegate("ot:developer", "build it").tokens(tokens(1000, 11))])
                    .main([text("built").tokens(tokens(1100, 13))])
                    .sub("developer", [write.tokens(tokens(500, 17))])
                    .sub("developer", [verdict("built it", "PASS").tokens(tokens(600, 19))])
            })
            .session(&session)
            .allow(["Agent", "Write"])
            .permission_mode("acceptEdits")
            .run("build it");
        assert_eq!(run.requests(Actor::Sub("developer")).len(), 2);
        let costs = cost(&sandbox, &session);
        assert_eq!(counts(&costs, "DEV"), [2, 1100, 36, 4000, 600], "{costs}");
        assert_eq!(counts(&costs, "main"), [2, 2100, 24, 4000, 600], "{costs}");
        assert_eq!(costs["total"]["outputTokens"], 60, "{costs}");
        assert!(costs["total"]["costUsd"].as_f64().unwrap() > 0.0, "{costs}");
        assert_eq!(cost(&sandbox, &session), costs);
    }
}
