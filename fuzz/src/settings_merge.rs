//! A settings file with comments, edited: what is asked for changes and every other byte stays, and what was put in
//! can be taken out without a trace.

use std::path::Path;

use crate::{dense, is_kept_in};
use jsonc_edit::Document;
use serde_json::{Map, Value};

/// No text of the fuzzer's holds these.
const FIRST: &str = "\u{e000}first\u{e000}";
const SECOND: &str = "\u{e000}second\u{e000}";

pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if text.contains('\u{e000}') {
        return;
    }
    let plain = serde_json::from_str::<Map<String, Value>>(text).ok();
    let Ok(document) = Document::parse(Path::new("settings.json"), text) else {
        return assert!(plain.is_none(), "what is JSON is read");
    };
    assert_eq!(document.to_text(), text);
    let value = whole(text);
    if let Some(plain) = plain {
        assert_eq!(Value::Object(plain), value);
    }
    for path in paths(&value) {
        replacing_changes_one_value(text, &path, &value);
        removing_takes_one_value(text, &path, &value);
    }
    a_new_key_leaves_no_trace(text, &["\u{e000}"]);
    a_new_key_leaves_no_trace(text, &["\u{e000}", "deep"]);
    for path in paths(&value) {
        a_new_item_leaves_no_trace(text, &path, &value);
    }
}

fn parse(text: &str) -> Document {
    Document::parse(Path::new("settings.json"), text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn whole(text: &str) -> Value {
    parse(text).get(&[]).expect("a value")
}

/// The first keys of the file and of the objects in it: enough to meet every layout.
fn paths(value: &Value) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    for (key, inner) in value.as_object().into_iter().flatten().take(4) {
        paths.push(vec![key.clone()]);
        let deeper = inner.as_object().into_iter().flatten().take(2);
        paths.extend(deeper.map(|(below, _)| vec![key.clone(), below.clone()]));
    }
    paths
}

fn keys(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

fn replacing_changes_one_value(text: &str, path: &[String], value: &Value) {
    let mut document = parse(text);
    document.set(&keys(path), FIRST).expect("a key to replace");
    let first = document.to_text();
    let (before, after) = first.split_once(&format!("\"{FIRST}\"")).expect("the new value");
    assert!(text.starts_with(before) && text.ends_with(after), "{text}\n{first}");
    assert!(before.len() + after.len() < text.len());
    document.set(&keys(path), SECOND).expect("a key to replace");
    assert_eq!(document.to_text(), format!("{before}\"{SECOND}\"{after}"));
    let old = at(value, path).clone();
    document.set(&keys(path), old).expect("a key to replace");
    assert_eq!(document.get(&[]).as_ref(), Some(value), "the old value can be put back");
}

fn at<'a>(value: &'a Value, path: &[String]) -> &'a Value {
    path.iter().fold(value, |value, key| &value[key])
}

fn removing_takes_one_value(text: &str, path: &[String], value: &Value) {
    let mut document = parse(text);
    assert!(document.remove(&keys(path)).expect("a key to remove"));
    assert!(is_kept_in(&document.to_text(), text), "nothing is put in");
    let mut expected = value.clone();
    let [outer @ .., key] = path else { return };
    let inner = outer.iter().fold(&mut expected, |value, key| &mut value[key]);
    inner.as_object_mut().expect("an object").shift_remove(key);
    assert_eq!(whole(&document.to_text()).to_string(), expected.to_string(), "{text}");
}

fn a_new_key_leaves_no_trace(text: &str, path: &[&str]) {
    let mut document = parse(text);
    document.set(path, FIRST).expect("a free key");
    let changed = document.to_text();
    assert!(is_kept_in(text, &changed), "nothing is taken away\n{text}\n{changed}");
    assert_eq!(parse(&changed).get(path), Some(Value::from(FIRST)));
    assert!(document.remove_pruning(path).expect("a key to remove"));
    leaves_no_trace(text, &document.to_text());
}

fn a_new_item_leaves_no_trace(text: &str, path: &[String], value: &Value) {
    let Some(items) = at(value, path).as_array() else { return };
    let mut document = parse(text);
    document.array_push(&keys(path), FIRST).expect("a list");
    assert_eq!(document.array_items(&keys(path)).len(), items.len() + 1);
    let removed = document.array_retain(&keys(path), |item| item != FIRST).expect("a list");
    assert_eq!(removed, 1);
    leaves_no_trace(text, &document.to_text());
}

/// White space in brackets that were empty may go; a file of nothing becomes an empty object.
fn leaves_no_trace(old: &str, new: &str) {
    let is_nothing = !dense(new).is_empty() && parse(old).get(&[]) == Some(Value::Object(Map::new()));
    assert!(dense(new) == dense(old) || is_nothing, "{old}\n{new}");
}
