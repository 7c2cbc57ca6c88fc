//! Checks `hooks.json`: its structure, its types, and that it has every binding of the registry.

use std::path::Path;

use overtone_core::registry::{Hook, HookBinding};
use serde_json::{Map, Value};

use super::{Problem, WRITE_AGAIN, problem, read_json};
use crate::plugin::hooks::{COMMAND, PATH, arguments, on_failure};

const DROPPED: &str = "the client silently drops all hooks of a plugin whose hooks.json it cannot read";

pub(super) fn check(dir: &Path) -> Vec<Problem> {
    let file = match read_json(dir, PATH) {
        Ok(file) => file,
        Err(problem) => return vec![problem],
    };
    let Some(events) = file.get("hooks").and_then(Value::as_object) else {
        return vec![problem(PATH, describe_structure(&file), DROPPED)];
    };
    let mut problems = Vec::new();
    for (event, groups) in events {
        check_event(event, groups, &mut problems);
    }
    problems.extend(Hook::BINDINGS.iter().filter_map(|binding| missing(binding, events)));
    problems
}

fn describe_structure(file: &Value) -> &'static str {
    match file {
        Value::Array(_) => "is a flat array, expected the nested form {\"hooks\": {\"<event>\": […]}}",
        _ if file["hooks"].is_array() => {
            "\"hooks\" is a flat array, expected the nested form {\"hooks\": {\"<event>\": […]}}"
        }
        _ => "has no object \"hooks\"",
    }
}

fn check_event(event: &str, groups: &Value, problems: &mut Vec<Problem>) {
    if !Hook::BINDINGS.iter().any(|binding| binding.event == event) {
        let hint = "older clients drop all hooks of a plugin that names an event they do not know";
        problems.push(problem(PATH, format!("unknown event {event}"), hint));
    }
    let Some(groups) = groups.as_array() else {
        problems.push(problem(PATH, format!("{event} is not an array"), DROPPED));
        return;
    };
    for (index, group) in groups.iter().enumerate() {
        check_group(&format!("{event}[{index}]"), group, problems);
    }
}

fn check_group(at: &str, group: &Value, problems: &mut Vec<Problem>) {
    if !matches!(group.get("matcher"), None | Some(Value::String(_))) {
        problems.push(problem(PATH, format!("{at}.matcher is not a string"), DROPPED));
    }
    let Some(entries) = group.get("hooks").and_then(Value::as_array) else {
        problems.push(problem(PATH, format!("{at} has no array \"hooks\""), DROPPED));
        return;
    };
    for (index, entry) in entries.iter().enumerate() {
        check_entry(&format!("{at}.hooks[{index}]"), entry, problems);
    }
}

fn check_entry(at: &str, entry: &Value, problems: &mut Vec<Problem>) {
    let Some(entry) = entry.as_object() else {
        problems.push(problem(PATH, format!("{at} is not an object"), DROPPED));
        return;
    };
    if entry.get("type").and_then(Value::as_str) != Some("command") {
        problems.push(problem(PATH, format!("{at}.type is not \"command\""), DROPPED));
    }
    for (key, expected, has_type) in KEY_TYPES {
        if let Some(value) = entry.get(key)
            && !has_type(value)
        {
            let what = format!("{at}.{key} is {value}, expected {expected}");
            problems.push(problem(PATH, what, DROPPED));
        }
    }
}

type TypeCheck = fn(&Value) -> bool;

const KEY_TYPES: [(&str, &str, TypeCheck); 5] = [
    ("command", "a string", Value::is_string),
    ("args", "an array of strings", is_string_array),
    ("timeout", "a number of seconds", Value::is_number),
    ("if", "a string", Value::is_string),
    ("onFailure", "a string", Value::is_string),
];

fn is_string_array(value: &Value) -> bool {
    matches!(value, Value::Array(items) if items.iter().all(Value::is_string))
}

fn missing(binding: &HookBinding, events: &Map<String, Value>) -> Option<Problem> {
    let groups = events.get(binding.event).and_then(Value::as_array);
    if groups.into_iter().flatten().any(|group| contains(group, binding)) {
        return None;
    }
    let matcher = match binding.matcher {
        "" => String::new(),
        tools => format!(" with matcher {tools}"),
    };
    let what = format!("no binding of {} to {}{matcher}", binding.event, binding.hook.name());
    Some(problem(PATH, what, WRITE_AGAIN))
}

/// Whether a matcher group starts exactly this hook, for the same tools and under the same condition.
fn contains(group: &Value, binding: &HookBinding) -> bool {
    let matcher = group["matcher"].as_str().unwrap_or_default();
    let entries = group["hooks"].as_array();
    matcher == binding.matcher
        && entries.into_iter().flatten().any(|entry| {
            entry["command"] == COMMAND
                && entry["args"] == serde_json::json!(arguments(binding.hook))
                && entry["if"].as_str() == binding.condition
                && entry["onFailure"].as_str() == on_failure(binding.hook)
        })
}
