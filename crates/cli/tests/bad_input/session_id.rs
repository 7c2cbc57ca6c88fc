//! Session ids that would lead somewhere else, or that are no ids at all.

use std::fs;

use overtone_core::registry::Hook;
use serde_json::{Value, json};

use crate::fixture::{Fixture, assert_clean_log, each_hook};

#[track_caller]
fn assert_no_session(id: &Value) {
    each_hook(|hook| {
        let fixture = Fixture::new();
        let mut event = fixture.event(hook);
        event["session_id"] = id.clone();
        let output = fixture.call(hook).run(event.to_string());
        output.assert_says_nothing();
        assert_clean_log(&output);
        fixture.assert_untouched();
    });
}

/// The events below differ only in the id: with the right one, these hooks do act on the session.
#[test]
fn the_right_id_is_acted_upon() {
    let acting = [
        Hook::OnSessionEnd,
        Hook::PreCompact,
        Hook::PreTask,
        Hook::OnAgentStop,
        Hook::PostUse,
        Hook::PostUseFailure,
        Hook::OnStop,
    ];
    for hook in acting {
        let fixture = Fixture::new();
        fixture.run(hook).answer();
        assert!(fixture.has_changed(), "{}", hook.name());
        fixture.assert_nothing_lost();
    }
}

#[test]
fn ids_that_lead_out_of_the_folder() {
    let ids = ["../../x", "..", ".", "../another-session", "a/../../../x", "a/b", ".hidden", "a\\b", "~"];
    for id in ids {
        assert_no_session(&json!(id));
    }
}

#[test]
fn an_absolute_path() {
    let there = || fs::symlink_metadata("/etc/x").is_ok();
    let before = there();
    assert_no_session(&json!("/etc/x"));
    assert_eq!(there(), before);

    // The same, where the test may look.
    each_hook(|hook| {
        let fixture = Fixture::new();
        let mut event = fixture.event(hook);
        event["session_id"] = json!(fixture.context.root().join("x"));
        fixture.call(hook).run(event.to_string()).assert_says_nothing();
        fixture.assert_untouched();
    });
}

#[test]
fn ids_with_a_nul_or_a_line_break() {
    for id in ["a\0b", "\0", "a\nb", "a b", ""] {
        assert_no_session(&json!(id));
    }
}

#[test]
fn ids_that_are_too_long() {
    for length in [129, 256, 100_000] {
        assert_no_session(&json!("a".repeat(length)));
    }
}

#[test]
fn ids_that_are_no_strings() {
    for id in [json!(42), json!({ "id": "x" }), json!(["x"]), json!(true)] {
        assert_no_session(&id);
    }
}
