//! `tasks.md`, as people write it: reading changes nothing, a tick changes one mark and one count.

use std::fs;
use std::path::Path;

use crate::{difference, put_tasks, scratch};
use overtone_core::registry::StageKey;
use overtone_store::specs::{Specs, Tasks, parse_tasks};

/// One of them for each input, since every tick costs several files.
const KEYS: [&str; 4] = ["DEV", "TEST", "TEST:2", "REVIEW"];

pub fn check(data: &[u8]) {
    let project = scratch();
    let path = put_tasks(project.path(), data);
    let specs = Specs::new(project.path());
    let tasks = counted(&specs);
    if let Ok(text) = std::str::from_utf8(data) {
        assert_eq!(parse_tasks(text), tasks);
        line_ends_do_not_count(text, &tasks);
    }
    let key = KEYS[data.len() % KEYS.len()];
    tick(&specs, key.parse().expect("a key"), &path);
}

fn counted(specs: &Specs) -> Tasks {
    let feature = specs.find("f").expect("a readable folder").expect("the feature");
    let tasks = feature.tasks.expect("a document");
    assert_eq!(tasks.checked + tasks.pending.len(), tasks.total);
    assert!(tasks.pending.iter().all(|text| !text.trim().is_empty() && !text.contains('\n')));
    tasks
}

fn line_ends_do_not_count(text: &str, tasks: &Tasks) {
    if !text.contains('\r') {
        assert_eq!(parse_tasks(&text.replace('\n', "\r\n")), *tasks);
    }
}

fn tick(specs: &Specs, key: StageKey, path: &Path) {
    let (before, old) = (counted(specs), fs::read(path).expect("the document"));
    let has_changed = specs.tick_stage("f", key).expect("a tick");
    let (after, new) = (counted(specs), fs::read(path).expect("the document"));
    if !has_changed {
        return assert!(old == new && before == after);
    }
    let (mark, ticked) = difference(&old, &new);
    assert_eq!((ticked, mark.contains(&b'\n')), (&b"x"[..], false));
    assert_eq!(String::from_utf8_lossy(mark).chars().count(), 1, "one character gives way");
    assert_eq!((after.checked, after.total), (before.checked + 1, before.total));
    assert!(!specs.tick_stage("f", key).expect("a tick"), "once is enough");
}
