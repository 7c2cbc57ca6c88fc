//! `ccc.json`, as people write it: whatever is in it is read or refused, an edit keeps everything else, and a switch
//! to any of its providers can be undone.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

use crate::{is_kept_in, scratch};
use jsonc_edit::Document;
use overtone_ccc::providers::{
    CccPaths, Config, add_provider, preview_switch, remove_provider, switch_provider,
};
use serde_json::Value;

const NEW: &str = "\u{e000}";
const SETTINGS: &str = r#"{
  "model": "opus",
  "env": { "HTTP_PROXY": "http://127.0.0.1:1", "ANTHROPIC_MODEL": "own" },
  "permissions": { "allow": ["Bash(ls)"] }
}
"#;

pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(config) = Config::parse(Path::new("ccc.json"), text) else { return };
    let names = asking_does_no_harm(&config);
    if text.contains(NEW) {
        return;
    }
    let folder = scratch();
    let paths = paths(folder.path());
    adding_keeps_the_rest(&paths.config_file(), text, names.as_deref());
    switching_can_be_undone(&paths, text, names.unwrap_or_default());
}

fn paths(folder: &Path) -> CccPaths {
    let variable = |_: &str| Some(OsString::from(folder));
    CccPaths::resolve(&variable).expect("a folder")
}

fn asking_does_no_harm(config: &Config) -> Option<Vec<String>> {
    let _ = (config.faults(), config.claude_args(), config.supervisor(), config.is_supervised());
    let names = config.names().ok()?;
    if let Ok(chosen) = config.chosen() {
        assert!(names.contains(&chosen));
    }
    for name in &names {
        assert!(config.check(name, None).is_ok() && config.line_of(name).is_some());
        if let Ok(fragment) = config.fragment(name, &|variable| Some(variable.to_lowercase())) {
            let mut env = fragment.get("env").and_then(Value::as_object).into_iter().flatten();
            assert!(env.all(|(_, value)| value.is_string()), "the client takes texts only");
        }
    }
    Some(names)
}

fn adding_keeps_the_rest(file: &Path, text: &str, names: Option<&[String]>) {
    fs::write(file, text).expect("a file to edit");
    let before = Document::parse(file, text).expect("it was read");
    let Ok(()) = add_provider(file, NEW, &[("A".to_owned(), "b".to_owned())]) else {
        return assert_eq!(read(file), text, "what fails changes nothing");
    };
    let edited = read(file);
    assert!(is_kept_in(text, &edited), "nothing is taken away");
    let after = Config::load(file).expect("it still parses");
    let expected: Vec<_> = names.unwrap_or_default().iter().cloned().chain([NEW.to_owned()]).collect();
    assert_eq!(after.names().expect("names"), expected, "the new one comes last");
    let after = Document::parse(file, &edited).expect("it still parses");
    for (key, value) in before.get(&[]).iter().filter_map(Value::as_object).flatten() {
        assert!(key == "providers" || after.get(&[key]).as_ref() == Some(value), "{key}");
    }
}

fn switching_can_be_undone(paths: &CccPaths, text: &str, names: Vec<String>) {
    fs::write(paths.config_file(), text).expect("a file to edit");
    fs::write(paths.settings(), SETTINGS).expect("settings");
    let mut last = None;
    for name in names.into_iter().take(3) {
        let config = Config::load(&paths.config_file()).expect("it was read");
        let Ok(fragment) = config.fragment(&name, &|variable| Some(variable.to_lowercase())) else {
            continue;
        };
        let (settings, current) = (read(&paths.settings()), config.current());
        let shown = preview_switch(paths, &fragment);
        if let Ok(done) = switch_provider(paths, &name, &fragment) {
            assert_eq!(done.changes, shown.expect("a preview of what can be done"));
            assert_eq!(switched(paths), Some(name.clone()));
            last = Some(name);
        } else {
            assert_eq!(read(&paths.settings()), settings, "all or nothing");
            let now = Config::load(&paths.config_file()).expect("it was read").current();
            assert_eq!(now.ok().flatten(), current.ok().flatten());
        }
    }
    if let Some(name) = last {
        remove_provider(paths, &name).expect("it is there");
        assert_eq!(value(&read(&paths.settings())), value(SETTINGS), "the user's own is back");
        let config = Config::load(&paths.config_file()).expect("it still parses");
        assert!(!config.names().expect("names").contains(&name));
    }
}

fn switched(paths: &CccPaths) -> Option<String> {
    Config::load(&paths.config_file()).ok()?.current().ok().flatten()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a file that is there")
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).expect("plain JSON")
}
