//! Document 3, feature 1a: which tools an agent has.
//!
//! The platform enforces the front matter. The hook `pre-write` stands behind it for the agents that must only
//! read, because the platform's `memory` field would give them writing tools again.

use serde_json::json;

use crate::common::Output;
use crate::plugin_files::Document;
use crate::support::{Answer, Session};

const READ_ONLY: [&str; 5] =
    ["code-reviewer", "debugger", "security-reviewer", "database-reviewer", "retrospective"];
const READ_ONLY_TOOLS: [&str; 4] = ["Write", "Edit", "Task", "NotebookEdit"];
const NO_DELEGATION: [&str; 2] = ["Task", "NotebookEdit"];

/// A sub-agent tries to change a file.
fn attempt(agent: &str, tool: &str) -> Output {
    let session = Session::new();
    let file = session.context.project().join("notes.md");
    let input = match tool {
        "Write" => json!({ "file_path": file, "content": "new" }),
        "NotebookEdit" => json!({ "notebook_path": file, "new_source": "new" }),
        _ => json!({ "file_path": file, "old_string": "old", "new_string": "new" }),
    };
    session.hook(
        "pre-write",
        json!({
            "tool_name": tool,
            "tool_input": input,
            "tool_use_id": "toolu_1",
            "agent_id": "agent-1",
            "agent_type": format!("ot:{agent}"),
        }),
    )
}

#[track_caller]
fn assert_may_write(agent: &str, tools: &[&str]) {
    for tool in tools {
        // No opinion: the platform's own rules go on from there.
        attempt(agent, tool).assert_says_nothing();
    }
}

#[track_caller]
fn assert_disallowed(agent: &str, tools: &[&str]) {
    let document = Document::agent(agent);
    assert_eq!(document.list("disallowedTools").as_deref(), Some(tools), "{agent}");
    assert_eq!(document.list("tools"), None, "{agent} still has the old white list");
}

#[test]
fn s3_1a_1_read_only_agents_cannot_write() {
    for agent in READ_ONLY {
        assert_disallowed(agent, &READ_ONLY_TOOLS);
        for tool in ["Write", "Edit", "MultiEdit", "NotebookEdit"] {
            let output = attempt(agent, tool);
            assert_eq!(output.decision().as_deref(), Some("deny"), "{agent} {tool}");
            let answer = &output.answer()["hookSpecificOutput"];
            assert_eq!(answer["hookEventName"], "PreToolUse");
            assert!(answer["permissionDecisionReason"].as_str().is_some_and(|why| why.contains(agent)));
            assert!(answer["additionalContext"].as_str().is_some_and(|advice| advice.contains(tool)));
        }
    }
}

#[test]
fn s3_1a_2_architect_writes_but_does_not_delegate() {
    assert_disallowed("architect", &NO_DELEGATION);
    assert_may_write("architect", &["Write", "Edit", "MultiEdit"]);
}

#[test]
fn s3_1a_3_planner_writes() {
    assert_disallowed("planner", &NO_DELEGATION);
    assert_may_write("planner", &["Write", "Edit", "MultiEdit"]);
}

#[test]
fn s3_1a_4_qa_writes_but_does_not_edit() {
    assert_disallowed("qa", &["Edit", "Task", "NotebookEdit"]);
    assert_may_write("qa", &["Write"]);
    assert_ne!(attempt("qa", "Edit").decision().as_deref(), Some("allow"));
}

#[test]
fn s3_1a_5_product_manager_and_designer_write() {
    for agent in ["product-manager", "designer"] {
        assert_disallowed(agent, &NO_DELEGATION);
        assert_may_write(agent, &["Write", "Edit"]);
    }
}

#[test]
fn s3_1a_6_grader_keeps_its_white_list() {
    let grader = Document::agent("grader");
    assert_eq!(grader.list("tools").as_deref(), Some(&["Read", "Bash"][..]));
    assert_eq!(grader.list("disallowedTools"), None);
}

#[test]
fn s3_1a_7_makers_have_every_tool() {
    let makers =
        ["developer", "tester", "e2e-runner", "build-error-resolver", "refactor-cleaner", "doc-updater"];
    for agent in makers {
        let document = Document::agent(agent);
        assert_eq!((document.list("tools"), document.list("disallowedTools")), (None, None), "{agent}");
        assert_may_write(agent, &["Write", "Edit", "NotebookEdit"]);
    }
}

#[test]
fn s3_1a_8_the_old_white_lists_are_gone() {
    for agent in READ_ONLY {
        assert_disallowed(agent, &READ_ONLY_TOOLS);
    }
    for agent in ["architect", "planner", "product-manager", "designer"] {
        assert_disallowed(agent, &NO_DELEGATION);
    }
    assert_disallowed("qa", &["Edit", "Task", "NotebookEdit"]);
}
