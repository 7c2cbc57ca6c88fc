//! `ccc review`: the verdict as an exit code.

use std::fs;

use serde_json::{Value, json};

use crate::world::World;

#[test]
fn the_exit_code_is_the_verdict() {
    let mut world = World::new();
    world.set("OVERTONE_LANG", "en");
    world.reviewer_says(true, "fine");
    assert_eq!(world.ccc(&["review", "abc123"]).0, 0);
    assert_eq!(world.option("--resume").as_deref(), Some("abc123"));
    world.reviewer_says(false, "write the tests");
    let (code, out, told) = world.ccc(&["review", "abc123"]);
    assert_eq!((code, out.as_str()), (1, ""));
    assert!(told.contains("write the tests"), "{told}");
    world.put("fake/lines.jsonl", "");
    let (code, _, told) = world.ccc(&["review", "abc123"]);
    assert!(code == 2 && told.contains("could not review"), "{told}");
}

#[test]
fn scripts_get_json_and_the_trail_a_line() {
    let world = World::new();
    world.config(&json!({"supervisor": {"checks": ["exit 4"]}}));
    let (code, out, _) = world.ccc(&["review", "abc123", "--json"]);
    let round: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &round["outcome"]), (1, &json!("block")));
    assert_eq!(round["evidence"][0]["exit_code"], 4);
    assert_eq!(world.trail(), [round]);
    assert!(!world.state("supervisor-abc123.json").exists(), "it is no round of the session");
}

#[test]
fn the_project_may_be_elsewhere() {
    let mut world = World::new();
    world.set("OVERTONE_LANG", "en");
    world.reviewer_says(true, "");
    let elsewhere = world.path("overtone");
    assert_eq!(world.ccc(&["review", "abc123", "--project", elsewhere.to_str().unwrap()]).0, 0);
    let folder = fs::read_to_string(world.path("fake/folder")).unwrap();
    assert_eq!(fs::canonicalize(folder.trim()).unwrap(), fs::canonicalize(elsewhere).unwrap());
    let (code, _, told) = world.ccc(&["review", "abc123", "--project", "no/such/folder"]);
    assert!(code == 1 && told.contains("hint:"), "{told}");
    let (code, _, told) = world.ccc(&["review", "a/b"]);
    assert!(code == 1 && told.contains("hint:"), "{told}");
}
