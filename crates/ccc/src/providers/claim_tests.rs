//! Undoing claims removes everything that `ccc` wrote and keeps everything that the user wrote.

use std::path::Path;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::providers::fragment::leaves;

fn document(text: &str) -> Document {
    Document::parse(Path::new("settings.json"), text).unwrap()
}

fn target(value: &Value) -> Vec<Leaf> {
    leaves(value.as_object().unwrap())
}

#[test]
fn undoing_a_chain_of_switches_restores_the_users_settings() {
    let original = "{\n  \"model\": \"opus\", // mine\n  \"env\": { \"HTTP\": \"1.50\", \"A\": \"user\" },\n  \"n\": 1e3\n}\n";
    let mut settings = document(original);
    let first = target(&json!({ "env": { "A": "a", "B": "b" }, "model": "x", "new": { "deep": true } }));
    let claims = exchange(&mut settings, &[], &first).unwrap();
    assert_eq!(settings.get(&["env"]), Some(json!({ "HTTP": "1.50", "A": "a", "B": "b" })));
    let second = target(&json!({ "env": { "B": "bb", "C": "c" } }));
    let claims = exchange(&mut settings, &claims, &second).unwrap();
    assert_eq!(settings.get(&["env"]), Some(json!({ "HTTP": "1.50", "A": "user", "B": "bb", "C": "c" })));
    assert_eq!(settings.get(&["model"]), Some(json!("opus")));
    exchange(&mut settings, &claims, &[]).unwrap();
    assert_eq!(settings.to_text(), original);
}

#[test]
fn a_created_object_is_removed_with_its_last_key() {
    let mut settings = document("{}\n");
    let claims = exchange(&mut settings, &[], &target(&json!({ "env": { "A": "1", "B": "2" } }))).unwrap();
    let claims = exchange(&mut settings, &claims, &target(&json!({ "env": { "B": "2" } }))).unwrap();
    let claims = exchange(&mut settings, &claims, &target(&json!({ "env": { "C": "2" } }))).unwrap();
    assert!(exchange(&mut settings, &claims, &[]).unwrap().is_empty());
    assert_eq!(settings.to_text(), "{}\n");
    let mut settings = document("{\"env\": {}}");
    let claims = exchange(&mut settings, &[], &target(&json!({ "env": { "A": "1" } }))).unwrap();
    exchange(&mut settings, &claims, &[]).unwrap();
    assert_eq!(settings.get(&[]), Some(json!({ "env": {} })));
}

#[test]
fn values_that_the_user_changed_meanwhile_are_kept() {
    let mut settings = document("{\"env\":{\"A\":\"old\"}}");
    let claims = exchange(&mut settings, &[], &target(&json!({ "env": { "A": "a", "B": "b" } }))).unwrap();
    settings.set(&["env", "A"], "mine").unwrap();
    settings.remove(&["env", "B"]).unwrap();
    exchange(&mut settings, &claims, &[]).unwrap();
    assert_eq!(settings.get(&["env"]), Some(json!({ "A": "mine" })));
}

#[test]
fn only_the_added_items_of_a_list_are_removed() {
    let mine = json!({ "hooks": [{ "type": "command", "command": "mine" }] });
    let (ours, other) = (json!({ "hooks": "ours" }), json!({ "hooks": "other" }));
    let original = json!({ "hooks": { "Stop": [mine] }, "allow": [] });
    let mut settings = document(&original.to_string());
    let first = target(&json!({ "hooks": { "Stop": [ours, mine], "Start": [ours] }, "allow": ["x"] }));
    let claims = exchange(&mut settings, &[], &first).unwrap();
    assert_eq!(settings.get(&["hooks", "Stop"]), Some(json!([mine, ours])));
    let claims = exchange(&mut settings, &claims, &target(&json!({ "hooks": { "Stop": [other] } }))).unwrap();
    assert_eq!(settings.get(&["hooks"]), Some(json!({ "Stop": [mine, other] })));
    exchange(&mut settings, &claims, &[]).unwrap();
    assert_eq!(settings.get(&[]), Some(original));
}

#[test]
fn a_kill_between_the_two_files_loses_nothing() {
    let original = "{\"env\":{\"A\":\"user\"}}";
    let (first, second) =
        (json!({ "env": { "A": "a", "B": "b" } }), json!({ "env": { "A": "aa", "C": "c" } }));
    let mut before = document(original);
    let old = exchange(&mut before, &[], &target(&first)).unwrap();
    let mut after = document(&before.to_text());
    let new = exchange(&mut after, &old, &target(&second)).unwrap();
    for mut settings in [before, after] {
        exchange(&mut settings, &union(&old, &new), &[]).unwrap();
        assert_eq!(settings.to_text(), original);
    }
}

fn settings() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        "[ab]".prop_map(Value::from),
        prop::collection::vec("[xyz]".prop_map(Value::from), 0..3).prop_map(Value::Array),
    ];
    let env = prop::collection::hash_map("[A-D]", "[ab]", 0..4);
    (env, prop::option::of(leaf.clone()), prop::option::of(leaf)).prop_map(|(env, top, deep)| {
        let mut value = json!({ "env": env });
        for (key, leaf) in [("top", top), ("deep", deep.map(|leaf| json!({ "in": leaf })))] {
            if let Some(leaf) = leaf {
                value[key] = leaf;
            }
        }
        value
    })
}

proptest! {
    #[test]
    fn undoing_any_chain_of_switches_restores_the_settings(user in settings(), chain in prop::collection::vec(settings(), 1..5)) {
        let mut settings = document(&user.to_string());
        let mut claims = Vec::new();
        for step in &chain {
            claims = exchange(&mut settings, &claims, &target(step)).unwrap();
        }
        exchange(&mut settings, &claims, &[]).unwrap();
        prop_assert_eq!(settings.get(&[]), Some(user));
    }

    #[test]
    fn repeating_a_switch_changes_nothing(user in settings(), step in settings()) {
        let mut settings = document(&user.to_string());
        let claims = exchange(&mut settings, &[], &target(&step)).unwrap();
        let text = settings.to_text();
        let again = exchange(&mut settings, &claims, &target(&step)).unwrap();
        prop_assert_eq!(settings.to_text(), text);
        prop_assert!(again == claims);
    }
}
