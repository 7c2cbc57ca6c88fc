use serde_json::json;

use crate::world::{World, keys};

/// A project where one command has failed once.
fn taught() -> (World, String) {
    let world = World::new();
    world.run("init quick").ok();
    world.hook(
        "post-use-failure",
        &json!({ "session_id": "s1", "cwd": world.project(), "tool_name": "Bash",
                 "tool_input": { "command": "npm test" }, "error": "Exit code 1\nTypeError: x" }),
    );
    let lessons = world.json("instinct list --json");
    let id = lessons["lessons"][0]["id"].as_str().expect("a lesson").to_owned();
    (world, id)
}

#[test]
fn nothing_learned_is_an_answer() {
    let world = World::new();
    world.run("instinct list").ok().has(&["Nothing was learned"]);
    world.run("instinct decay").ok().has(&["No lesson has faded"]);
    assert_eq!(world.json("instinct list --json"), json!({ "lessons": [] }));
    assert_eq!(world.json("instinct decay --json"), json!({ "removed": [] }));
    assert!(!world.state().exists(), "asking makes nothing");
}

#[test]
fn a_lesson_is_confirmed_contradicted_and_forgotten() {
    let (world, id) = taught();
    world.run("instinct list").ok().has(&[&id, "30%", "npm test"]);
    world.run(&format!("instinct confirm {id}")).ok().has(&["35%"]);
    world.run(&format!("instinct contradict {id}")).ok().has(&["25%"]);
    world.run(&format!("instinct contradict {id}")).ok().has(&["forgotten"]);
    world.run("instinct list").ok().has(&["Nothing was learned"]);
}

#[test]
fn the_object_has_its_shape() {
    let (world, id) = taught();
    let lesson = world.json(&format!("instinct confirm {id} --json"));
    assert_eq!(
        keys(&lesson),
        ["id", "type", "trigger", "lesson", "confidence", "applicable", "count", "lastSeen"]
    );
    assert_eq!((&lesson["confidence"], &lesson["applicable"]), (&json!(0.35), &json!(false)));
}

#[test]
fn unknown_lessons_are_refused_and_projects_do_not_mix() {
    let (world, id) = taught();
    world.run("instinct confirm nope").fails(&["no such lesson: nope", "instinct list"]);
    world.run(&format!("instinct confirm {id}x")).fails(&[&format!("did you mean {id}?")]);
    world.run("instinct confirm ../../x").fails(&["no such lesson"]);
    world.run("instinct confirm").refused_by_parser();
    let other = world.project().join("other");
    std::fs::create_dir(&other).unwrap();
    world.run(&format!("instinct list --project {}", other.display())).ok().has(&["Nothing was learned"]);
}
