//! Many starts and switches at once: none fails, and no reader ever sees half a file.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::Value;

use crate::world::{Output, World, put, read};

const SWITCHES: usize = 50;

#[test]
fn fifty_switches_at_once_never_show_a_torn_file() {
    let world = World::new();
    put(&world.settings(), "{\"mine\": 1.50, \"env\": {\"KEEP\": \"x\"}}");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| watch(&world, &done));
        let start = |number: usize| world.command(&["use", ["alpha", "beta"][number % 2]]).spawn().unwrap();
        let children: Vec<_> = (0..SWITCHES).map(start).collect();
        let ended: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
        done.store(true, Ordering::Relaxed);
        for output in &ended {
            Output::of(output).ok();
        }
        assert!(reader.join().unwrap() > 0);
    });
    let current = world.run("current").ok().stdout;
    let address = world.settings_value()["env"]["ANTHROPIC_BASE_URL"].clone();
    assert_eq!(address, format!("https://{}.example", current.trim()));
    world.run("use --off").ok();
    assert_eq!(read(&world.settings()), "{\"mine\": 1.50, \"env\": {\"KEEP\": \"x\"}}");
}

#[test]
fn fifty_starts_at_once_each_get_their_own_provider() {
    let world = World::new();
    put(&world.settings(), "{\"mine\": 1.50, \"env\": {\"KEEP\": \"x\"}}");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| watch(&world, &done));
        let start = |number: usize| world.command(&[["alpha", "beta"][number % 2]]).spawn().unwrap();
        let children: Vec<_> = (0..SWITCHES).map(start).collect();
        let ended: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
        // Before anything is judged: the reader would go on for ever.
        done.store(true, Ordering::Relaxed);
        for output in &ended {
            Output::of(output).ok();
        }
        assert!(reader.join().unwrap() > 0);
    });
    assert_eq!(
        world.settings_value()["env"],
        serde_json::json!({ "KEEP": "x" }),
        "no start leaves a route behind"
    );
    for provider in ["alpha", "beta"] {
        world.run(&format!("use {provider}")).ok();
        world.run(&format!("remove {provider}")).ok();
    }
    assert_eq!(read(&world.settings()), "{\"mine\": 1.50, \"env\": {\"KEEP\": \"x\"}}");
}

/// Every look finds a whole file, on one provider and not on two.
fn watch(world: &World, done: &AtomicBool) -> usize {
    let mut looks = 0;
    while !done.load(Ordering::Relaxed) {
        let text = read(&world.settings());
        let settings: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
        assert_eq!(settings["env"]["KEEP"], "x");
        assert!(!(text.contains("alpha-1") && text.contains("beta.example")), "{text}");
        looks += 1;
    }
    looks
}
