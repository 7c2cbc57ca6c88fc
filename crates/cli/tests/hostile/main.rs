//! What files, folders and other programs say never controls the user's terminal: every command of the real binary runs
//! in a home full of hostile values, and every byte that it writes is looked at.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a test may panic, and it prepares its files without the store it is testing"
)]

#[allow(dead_code, reason = "shared with the tests of the commands")]
#[path = "../commands/pty.rs"]
mod pty;
mod world;

use std::process::Output;

use serde_json::{Value, json};
use world::{EVIL, World};

const COMMANDS: &str = include_str!("commands.txt");

/// The first character that a terminal would obey or a reader would not see. Written anew, so that it does not share a
/// mistake with what is tested; emoji of ours have joiners and selectors.
fn offending(text: &str) -> Option<String> {
    let is_symbol = |c: Option<&char>| c.is_some_and(|c| *c >= '\u{2190}');
    let chars: Vec<char> = text.chars().collect();
    let found = chars.iter().enumerate().find(|(at, c)| match **c {
        '\n' => false,
        '\u{fe0f}' | '\u{200d}' => !(*at > 0 && is_symbol(chars.get(at - 1))),
        '\u{ad}'
        | '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fe00}'..='\u{fe0e}'
        | '\u{feff}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        other => other.is_control(),
    })?;
    let begin = found.0.saturating_sub(60);
    Some(format!("{:?} after {:?}", found.1, chars[begin..found.0].iter().collect::<String>()))
}

fn complaints(line: &str, output: &Output) -> Vec<String> {
    let streams = [("stdout", &output.stdout), ("stderr", &output.stderr)];
    let judge = |(name, bytes): (&str, &Vec<u8>)| match std::str::from_utf8(bytes) {
        Err(_) => Some(format!("{line}: {name} is no text")),
        Ok(text) => offending(text).map(|found| format!("{line}: {name} has {found}")),
    };
    streams.into_iter().filter_map(judge).collect()
}

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(|word| word.replace("{evil}", EVIL)).collect()
}

#[test]
fn no_command_lets_foreign_text_control_the_terminal() {
    let world = World::new();
    let mut found = Vec::new();
    for line in COMMANDS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let output = match line.strip_prefix('$') {
            Some(name) => world.feed(&[name], &world.event("s1")),
            None => world.command(&words(line)).output().unwrap(),
        };
        let silent = output.stdout.is_empty() && output.stderr.is_empty();
        // Nothing is proved by a command that says nothing; these have nothing to say.
        if silent && !matches!(line, "fleet tail" | "timeline --type {evil}") {
            found.push(format!("{line}: is silent"));
        }
        // These scripts are the program's own, and are no text for people.
        if !line.contains("completions") {
            found.extend(complaints(line, &output));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// On a terminal there are colours: ours, and no others.
#[test]
fn only_our_own_colours_reach_a_terminal() {
    let world = World::new();
    for line in ["status", "timeline", "sessions list", "specs list", "instinct list", "replay"] {
        let mut command = world.command(&words(line));
        command.env_remove("NO_COLOR");
        let mut pty = pty::Pty::start(&command, 400, 50);
        pty.ends();
        assert!(pty::eventually(|| pty.raw().ends_with('\n')), "{line}");
        let raw = pty.raw();
        assert!(raw.contains("\u{1b}["), "no colours in {line}: {raw:?}");
        assert!(!raw.contains("\u{1b}[31mil"), "the colour of a path in {line}: {raw:?}");
        let mut rest = raw.replace("\r\n", "\n");
        for colour in ["0m", "1m", "2m", "31m", "32m", "33m"] {
            rest = rest.replace(&format!("\u{1b}[{colour}"), "");
        }
        assert_eq!(offending(&rest), None, "{line}");
    }
}

#[test]
fn json_keeps_the_values() {
    let world = World::new();
    let output = world.command(&["sessions", "show", "mv01", "--json"]).output().unwrap();
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["workflow"]["movedTo"], json!(EVIL));
    assert!(complaints("sessions show", &output).is_empty());
}

#[test]
fn no_hook_lets_foreign_text_reach_the_user_or_the_model_hidden() {
    let world = World::new();
    let tool = json!({ "subagent_type": "ot:developer", "description": EVIL, "prompt": "go" });
    let extra = [
        ("on-start", json!({ "source": "startup" })),
        ("pre-compact", json!({ "trigger": "manual" })),
        ("on-submit", json!({ "prompt": "hello" })),
        ("pre-task", json!({ "tool_name": "Agent", "tool_use_id": "t1", "tool_input": tool })),
        ("post-use-failure", json!({ "tool_name": "Write", "error": EVIL, "tool_input": {} })),
        ("on-stop", json!({ "background_tasks": [] })),
    ];
    for (session, (hook, fields)) in
        ["s1", "mv01", "new1"].iter().flat_map(|id| extra.iter().map(move |extra| (id, extra)))
    {
        let mut event = world.event(session);
        event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let output = world.feed(&["hook", hook], &event);
        let mut answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        // The prompt of a delegation is the main agent's own.
        if let Some(specific) = answer["hookSpecificOutput"].as_object_mut() {
            specific.remove("updatedInput");
        }
        for text in texts(&answer) {
            assert_eq!(offending(&text), None, "{hook} in {session}: {text:?}");
        }
        assert_eq!(offending(std::str::from_utf8(&output.stderr).unwrap()), None, "{hook} in {session}");
    }
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(list) => list.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}
