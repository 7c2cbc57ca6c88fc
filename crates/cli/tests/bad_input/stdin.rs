//! Input that is not an event: nothing, pieces, the wrong kind, too deep, too much, or never ending.

use std::thread;

use overtone_core::registry::Hook;
use serde_json::{Value, json};

use crate::fixture::{Fixture, assert_clean_log, each_hook};

/// Whether the log must say that something was wrong.
#[derive(Clone, Copy, PartialEq)]
enum Log {
    Required,
    Free,
}

#[track_caller]
fn assert_refused(hook: Hook, stdin: &[u8], log: Log) {
    let fixture = Fixture::new();
    let output = fixture.call(hook).run(stdin);
    output.assert_says_nothing();
    assert_clean_log(&output);
    if log == Log::Required {
        output.assert_logged("");
    }
    fixture.assert_untouched();
}

#[test]
fn nothing_or_blanks() {
    for stdin in ["", " ", "\n\n\t \r\n"] {
        each_hook(|hook| assert_refused(hook, stdin.as_bytes(), Log::Free));
    }
}

#[test]
fn a_truncated_event() {
    each_hook(|hook| {
        let whole = Fixture::new().event(hook).to_string();
        for length in [1, whole.len() / 2, whole.len() - 1] {
            assert_refused(hook, &whole.as_bytes()[..length], Log::Required);
        }
    });
}

#[test]
fn json_that_is_no_object() {
    for stdin in ["[]", "\"x\"", "42", "true", "[{\"session_id\":\"session-in-the-middle\"}]"] {
        each_hook(|hook| assert_refused(hook, stdin.as_bytes(), Log::Required));
    }
    each_hook(|hook| assert_refused(hook, b"null", Log::Free));
}

/// The event as text with further fields, which are too large or too deep to be built as a value.
fn with_fields(event: &Value, fields: &[String]) -> String {
    let event = event.to_string();
    format!("{},{}}}", event.strip_suffix('}').unwrap(), fields.join(","))
}

const LEVELS: usize = 100_000;

fn nested(open: &str, close: &str) -> String {
    format!("{}1{}", open.repeat(LEVELS), close.repeat(LEVELS))
}

#[test]
fn nothing_but_nesting() {
    for stdin in ["[".repeat(LEVELS), nested("[", "]"), r#"{"a":"#.repeat(LEVELS)] {
        each_hook(|hook| assert_refused(hook, stdin.as_bytes(), Log::Required));
    }
    let object = nested(r#"{"a":"#, "}");
    each_hook(|hook| assert_refused(hook, object.as_bytes(), Log::Free));
}

/// An event whose values are bottomless. A hook may refuse it or never look down; it must not fall.
#[test]
fn an_event_with_nesting_in_it() {
    for deep in [nested("[", "]"), nested(r#"{"a":"#, "}")] {
        each_hook(|hook| {
            let fixture = Fixture::new();
            let names = ["tool_input", "tool_response", "prompt", "last_assistant_message", "unknown"];
            let fields = names.map(|name| format!(r#""{name}":{deep}"#));
            let mut event = fixture.event(hook);
            event.as_object_mut().unwrap().retain(|name, _| !names.contains(&name.as_str()));
            let stdin = with_fields(&event, &fields);
            let output = fixture.call(hook).run(stdin);
            output.answer();
            assert_clean_log(&output);
            fixture.assert_nothing_lost();
        });
    }
}

#[test]
fn fifty_megabytes() {
    let padding = "x".repeat(50_000_000);
    each_hook(|hook| {
        let stdin = with_fields(&Fixture::new().event(hook), &[format!(r#""padding":"{padding}""#)]);
        assert_refused(hook, stdin.as_bytes(), Log::Required);
    });
}

#[test]
fn bytes_that_are_not_utf_8() {
    let inputs: [&[u8]; 3] = [b"\xff\xfe\x00\x01", b"{\"session_id\":\"\xff\xfe\"}", b"{\"\xc3\":1}"];
    for stdin in inputs {
        each_hook(|hook| assert_refused(hook, stdin, Log::Required));
    }
}

/// The event is complete, so the hook must answer as if the input had ended; a default answer after some
/// deadline would differ from the one with a closed input.
#[test]
fn input_that_stays_open_after_the_event() {
    each_hook(|hook| {
        let answer = |open: bool| {
            let fixture = Fixture::new();
            let call = fixture.call(hook);
            let call = if open { call.leave_stdin_open() } else { call };
            let output = call.run(fixture.event(hook).to_string());
            output.answer();
            output.stdout.replace(fixture.context.root().to_str().unwrap(), "ROOT")
        };
        let answered = answer(true);
        assert_eq!(answered, answer(false));
        if matches!(hook, Hook::PreCompact | Hook::PreTask) {
            assert!(answered.contains("工作流：quick"), "{answered}");
        }
    });
}

#[test]
fn input_that_never_comes() {
    let silent = |hook: Hook| {
        let fixture = Fixture::new();
        fixture.call(hook).with_real_limits().leave_stdin_open().run("").assert_says_nothing();
        fixture.assert_untouched();
    };
    // Each has to wait for its own deadline, so they wait together.
    thread::scope(|scope| {
        let waiting = Hook::ALL.map(|hook| (hook, scope.spawn(move || silent(hook))));
        for (hook, thread) in waiting {
            assert!(thread.join().is_ok(), "{}", hook.name());
        }
    });
}

#[test]
fn every_field_is_null() {
    each_hook(|hook| {
        let mut event = Fixture::new().event(hook);
        event.as_object_mut().unwrap().values_mut().for_each(|value| *value = Value::Null);
        assert_refused(hook, event.to_string().as_bytes(), Log::Free);
    });
}

#[test]
fn every_field_but_the_session_is_of_the_wrong_kind() {
    for wrong in [Value::Null, json!(-1.5), json!([]), json!({}), json!(true), json!("")] {
        each_hook(|hook| {
            let fixture = Fixture::new();
            let mut event = fixture.event(hook);
            for (_, value) in
                event.as_object_mut().unwrap().iter_mut().filter(|(name, _)| *name != "session_id")
            {
                *value = wrong.clone();
            }
            let output = fixture.call(hook).run(event.to_string());
            output.answer();
            assert_clean_log(&output);
            fixture.assert_nothing_lost();
        });
    }
}
