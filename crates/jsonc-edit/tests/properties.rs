//! For any object in any formatting, a change keeps the values, comments and order of everything else.

#![allow(clippy::unwrap_used, reason = "a panic is the failure report of a test")]

use std::path::Path;

use jsonc_edit::Document;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const KEYS: [&str; 5] = ["a", "b", "env", "hooks", "é\"\\字"];

/// Inserted between two pieces of JSON. Each comment can be found again by its text.
const TRIVIA: [&str; 8] = ["", " ", "\n", "\n  ", "\t", "/* c { */", " // c [\n", "\r\n"];

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!("// not a comment, [ {")),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![prop::sample::select(&KEYS[..]).prop_map(str::to_owned), ".{0,3}"]
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..5).prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::vec((key(), value()), 0..6)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

fn path() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(key(), 1..4)
}

/// JSON with white space and comments wherever they may be, chosen by `dice`.
struct JsonWriter<'a> {
    dice: &'a [u8],
    thrown: usize,
    out: String,
}

impl JsonWriter<'_> {
    fn throw(&mut self) -> u8 {
        self.thrown += 1;
        self.dice[self.thrown % self.dice.len()]
    }

    fn trivia(&mut self) {
        let chosen = TRIVIA[usize::from(self.throw()) % TRIVIA.len()];
        self.out.push_str(chosen);
    }

    fn piece(&mut self, text: &str) {
        self.trivia();
        self.out.push_str(text);
        self.trivia();
    }

    fn write(&mut self, value: &Value) {
        match value {
            Value::Object(map) => self.list(map.iter().map(|(key, value)| (Some(key), value)), "{", "}"),
            Value::Array(items) => self.list(items.iter().map(|value| (None, value)), "[", "]"),
            flat => self.piece(&flat.to_string()),
        }
    }

    fn list<'v>(
        &mut self,
        entries: impl Iterator<Item = (Option<&'v String>, &'v Value)>,
        open: &str,
        close: &str,
    ) {
        self.piece(open);
        let mut entries = entries.peekable();
        while let Some((key, value)) = entries.next() {
            if let Some(key) = key {
                self.piece(&Value::from(key.as_str()).to_string());
                self.piece(":");
            }
            self.write(value);
            if entries.peek().is_some() || self.throw().is_multiple_of(3) {
                self.piece(",");
            }
        }
        self.piece(close);
    }
}

fn formatted_randomly(value: &Value, dice: &[u8]) -> String {
    let mut writer = JsonWriter { dice, thrown: 0, out: String::new() };
    writer.write(value);
    writer.out
}

fn parse(text: &str) -> Document {
    Document::parse(Path::new("f"), text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The model of `set` on plain values; `false` if a scalar is on the path.
fn model_set(object: &mut Value, path: &[&str], value: Value) -> bool {
    let Value::Object(map) = object else { return false };
    match path {
        [] => true,
        [key] => {
            map.insert((*key).to_owned(), value);
            true
        }
        [key, inner @ ..] => model_set(map.entry(*key).or_insert_with(|| Map::new().into()), inner, value),
    }
}

fn model_remove(object: &mut Value, path: &[&str]) -> bool {
    match (object, path) {
        (Value::Object(map), [key]) => map.shift_remove(*key).is_some(),
        (Value::Object(map), [key, inner @ ..]) => map.get_mut(*key).is_some_and(|v| model_remove(v, inner)),
        _ => false,
    }
}

/// Whether both are equal, including the order of keys.
fn same(left: &Value, right: &Value) -> bool {
    let (left, right) = (left.to_string(), right.to_string());
    left == right
}

fn comments(text: &str) -> usize {
    let strings_out: Vec<&str> = text.split('"').collect();
    strings_out.iter().map(|part| part.matches("/* c { */").count() + part.matches("// c [").count()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn setting_changes_one_value(before in object(), path in path(), new in value(), dice in prop::collection::vec(any::<u8>(), 1..60)) {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        for text in [serde_json::to_string_pretty(&before).unwrap(), before.to_string(), formatted_randomly(&before, &dice)] {
            let mut document = parse(&text);
            prop_assert!(same(&document.get(&[]).unwrap(), &before));
            let mut expected = before.clone();
            if model_set(&mut expected, &path, new.clone()) {
                document.set(&path, new.clone()).unwrap();
                let after = parse(&document.to_text()).get(&[]).unwrap();
                prop_assert!(after == expected, "{}\n{}", text, document.to_text());
                let was_there = parse(&text).get(&path).is_some();
                prop_assert!(was_there || comments(&document.to_text()) == comments(&text));
            } else {
                prop_assert!(document.set(&path, new.clone()).is_err());
                prop_assert_eq!(document.to_text(), text);
            }
        }
    }

    #[test]
    fn removing_changes_one_value(before in object(), path in path(), dice in prop::collection::vec(any::<u8>(), 1..60)) {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        for text in [serde_json::to_string_pretty(&before).unwrap(), before.to_string(), formatted_randomly(&before, &dice)] {
            let mut document = parse(&text);
            let mut expected = before.clone();
            let there = model_remove(&mut expected, &path);
            prop_assert_eq!(document.remove(&path).unwrap(), there);
            prop_assert!(same(&parse(&document.to_text()).get(&[]).unwrap(), &expected), "{}\n{}", text, document.to_text());
            prop_assert!(there || document.to_text() == text);
        }
    }

    #[test]
    fn removing_a_flat_key_deletes_no_comment(names in prop::collection::vec("[a-z]{1,2}", 1..6), which in any::<usize>(), dice in prop::collection::vec(any::<u8>(), 1..60)) {
        let before = Value::Object(names.iter().map(|name| (name.clone(), json!(1))).collect());
        let text = formatted_randomly(&before, &dice);
        let key = names[which % names.len()].as_str();
        let mut document = parse(&text);
        prop_assert!(document.remove(&[key]).unwrap());
        let inside = text.split(&format!("\"{key}\"")).nth(1).unwrap().split('1').next().unwrap();
        prop_assert_eq!(comments(&document.to_text()) + comments(inside), comments(&text), "{}\n{}", text, document.to_text());
    }

    #[test]
    fn a_new_key_leaves_no_trace_when_it_is_removed(before in object(), new in value()) {
        for text in [serde_json::to_string_pretty(&before).unwrap(), before.to_string()] {
            let mut document = parse(&text);
            document.set(&["new", "key"], new.clone()).unwrap();
            document.remove_pruning(&["new", "key"]).unwrap();
            prop_assert_eq!(document.to_text(), text);
        }
    }

    #[test]
    fn retaining_keeps_exactly_the_chosen_items(items in prop::collection::vec(value(), 0..6), keep in prop::collection::vec(any::<bool>(), 7), new in value(), dice in prop::collection::vec(any::<u8>(), 1..60)) {
        let before = json!({"hooks": {"Stop": items}});
        for text in [serde_json::to_string_pretty(&before).unwrap(), formatted_randomly(&before, &dice)] {
            let mut document = parse(&text);
            let path = ["hooks", "Stop"];
            document.array_push(&path, new.clone()).unwrap();
            let mut expected = items.clone();
            expected.push(new.clone());
            prop_assert_eq!(document.array_items(&path), expected.clone());
            let mut answers = keep.iter();
            document.array_retain(&path, |_| *answers.next().unwrap()).unwrap();
            let mut answers = keep.iter();
            expected.retain(|_| *answers.next().unwrap());
            prop_assert_eq!(parse(&document.to_text()).array_items(&path), expected);
        }
    }

    #[test]
    fn no_text_causes_a_panic(text in "[{}\\[\\]:,\"'/* \\n\\\\u0-9eE.+é字a-]{0,40}", path in path()) {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        if let Ok(mut document) = Document::parse(Path::new("f"), &text) {
            prop_assert_eq!(document.to_text(), text);
            let _ = document.set(&path, 1);
            let _ = document.remove_pruning(&path);
            parse(&document.to_text());
        }
    }
}
