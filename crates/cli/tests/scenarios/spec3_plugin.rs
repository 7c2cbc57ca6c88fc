//! Document 3, features 1g and 1h: `hooks.json` and the registry's new event.

use std::collections::BTreeSet;

use overtone_core::registry::{EventKind, Hook};
use serde_json::Value;

use crate::plugin_files::{assert_bound, commands, hooks_json};

#[test]
fn s3_1g_1_session_end_is_bound() {
    assert_bound("SessionEnd", "on-session-end");
}

#[test]
fn s3_1g_2_post_tool_use_failure_is_bound() {
    assert_bound("PostToolUseFailure", "post-use-failure");
}

/// The document expects one flat array. Settled: the client accepts only the nested form, an object of events
/// with an array each; anything else makes it drop every hook without a word.
#[test]
fn s3_1g_3_hooks_json_is_valid_and_complete() {
    let hooks = hooks_json();
    let events = hooks["hooks"].as_object().expect("no object of events");
    assert!(events.values().all(|groups| groups.as_array().is_some_and(|groups| !groups.is_empty())));
    for binding in Hook::BINDINGS {
        let (name, bound) = (binding.hook.name(), commands(binding.event));
        let is_bound = |command: &Value| command["args"][0] == "hook" && command["args"][1] == name;
        assert!(bound.iter().any(is_bound), "{} {name}", binding.event);
        assert!(bound.iter().all(|command| command["type"] == "command"));
    }
}

#[test]
fn s3_1h_1_tool_failure_is_defined() {
    let event = EventKind::from_name("tool:failure").unwrap();
    assert_eq!((event.name(), event.label(), event.category()), ("tool:failure", "工具失敗", "tool"));
}

/// The document says 23. Settled: 24, for it did not know `session:compact-suggestion` of document 2 yet.
#[test]
fn s3_1h_2_there_are_24_events() {
    let names: BTreeSet<_> = EventKind::ALL.iter().map(|event| event.name()).collect();
    assert_eq!(names.len(), 24);
    let known_to_the_document = names.iter().filter(|name| **name != "session:compact-suggestion");
    assert_eq!(known_to_the_document.count(), 23);
}

#[test]
fn s3_1h_3_tool_is_a_category_of_its_own() {
    assert_eq!(EventKind::ToolFailure.category(), "tool");
    let members = EventKind::ALL.iter().filter(|event| event.category() == "tool").count();
    assert_eq!(members, 1);
}
