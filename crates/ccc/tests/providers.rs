//! Commands of this version keep the fields that another version has written to `ccc.json`, in their order.

#![allow(clippy::unwrap_used, reason = "a panic is the failure report of a test")]

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use jsonc_edit::SettingsFile;
use overtone_ccc::providers::{CccPaths, Config, add_provider, remove_provider, switch_provider};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((".{0,4}", inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

/// Fields of another version. No key of this version starts with this character.
fn future() -> impl Strategy<Value = Map<String, Value>> {
    let field = (".{0,6}".prop_map(|name| format!("\u{e000}{name}")), value());
    prop::collection::vec(field, 0..5).prop_map(|fields| fields.into_iter().collect())
}

/// The fields of another version first, then ours.
fn with_future_fields(future: &Map<String, Value>, own: &Value) -> Value {
    let mut fields = future.clone();
    fields.extend(own.as_object().cloned().unwrap());
    Value::Object(fields)
}

fn foreign_fields(object: &Value) -> String {
    let fields = object.as_object().unwrap().iter().filter(|(name, _)| name.starts_with('\u{e000}'));
    Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect()).to_string()
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fields_of_another_version_are_kept(future in future(), name in "[a-z]{1,6}", token in ".{0,12}") {
        let dir = tempfile::tempdir().unwrap();
        let paths = CccPaths::resolve(&|_| Some(OsString::from(dir.path()))).unwrap();
        let (file, settings) = (paths.config_file(), paths.settings());
        let old = with_future_fields(&future, &json!({ "env": { "ANTHROPIC_MODEL": "m" } }));
        let before = with_future_fields(&future, &json!({ "providers": { "OLD": old }, "supervisor": with_future_fields(&future, &json!({})) }));
        SettingsFile::at(&file).replace_text(None, &before.to_string()).unwrap();
        let own = with_future_fields(&future, &json!({ "model": "opus", "env": with_future_fields(&future, &json!({ "A": "b" })) }));
        SettingsFile::at(&settings).replace_text(None, &own.to_string()).unwrap();

        add_provider(&file, &name, &[("ANTHROPIC_AUTH_TOKEN".to_owned(), token.clone())]).unwrap();
        let config = Config::load(&file).unwrap();
        prop_assert_eq!(config.names().unwrap(), ["OLD", name.as_str()]);
        prop_assert_eq!(config.env(&name).unwrap(), [("ANTHROPIC_AUTH_TOKEN".to_owned(), token)]);
        let fragment = config.fragment(&name, &|_| Some("set".to_owned())).unwrap();
        switch_provider(&paths, &name, &fragment).unwrap();
        let switched = read(&settings);
        prop_assert_eq!((foreign_fields(&switched), foreign_fields(&switched["env"])), (foreign_fields(&own), foreign_fields(&own["env"])));
        remove_provider(&paths, &name).unwrap();

        let after = read(&file);
        for object in [&after, &after["providers"]["OLD"], &after["supervisor"]] {
            prop_assert_eq!(foreign_fields(object), foreign_fields(&before));
        }
        prop_assert_eq!(after["providers"].to_string(), before["providers"].to_string());
        prop_assert_eq!(read(&settings).to_string(), own.to_string());
    }
}
