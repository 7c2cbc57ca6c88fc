//! Many starts and switches at once: none fails, and no reader ever sees half a file.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::Value;

use crate::context::{TestContext, ccc_output, put, read};

const SWITCHES: usize = 50;

#[test]
fn fifty_switches_at_once_never_show_a_torn_file() {
    let context = TestContext::with_providers();
    put(&context.settings(), "{\"mine\": 1.50, \"env\": {\"KEEP\": \"x\"}}");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| watch(&context, &done));
        let start =
            |number: usize| context.ccc_command(&["use", ["alpha", "beta"][number % 2]]).spawn().unwrap();
        let children: Vec<_> = (0..SWITCHES).map(start).collect();
        let ended: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
        done.store(true, Ordering::Relaxed);
        for output in &ended {
            ccc_output(output).succeeds();
        }
        assert!(reader.join().unwrap() > 0);
    });
    let current = context.run_ccc("current").succeeds().stdout;
    let address = context.settings_value()["env"]["ANTHROPIC_BASE_URL"].clone();
    assert_eq!(address, format!("https://{}.example", current.trim()));
    context.run_ccc("use --off").succeeds();
    assert_eq!(read(&context.settings()), "{\"mine\": 1.50, \"env\": {\"KEEP\": \"x\"}}");
}

#[test]
fn fifty_starts_at_once_each_get_their_own_provider() {
    let context = TestContext::with_providers();
    put(&context.settings(), "{\"mine\": 1.50, \"env\": {\"KEEP\": \"x\"}}");
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| watch(&context, &done));
        let start = |number: usize| context.ccc_command(&[["alpha", "beta"][number % 2]]).spawn().unwrap();
        let children: Vec<_> = (0..SWITCHES).map(start).collect();
        let ended: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
        // Before anything is judged: the reader would go on for ever.
        done.store(true, Ordering::Relaxed);
        for output in &ended {
            ccc_output(output).succeeds();
        }
        assert!(reader.join().unwrap() > 0);
    });
    assert_eq!(
        context.settings_value()["env"],
        serde_json::json!({ "KEEP": "x" }),
        "no start leaves a route behind"
    );
    for provider in ["alpha", "beta"] {
        context.run_ccc(&format!("use {provider}")).succeeds();
        context.run_ccc(&format!("remove {provider}")).succeeds();
    }
    assert_eq!(read(&context.settings()), "{\"mine\": 1.50, \"env\": {\"KEEP\": \"x\"}}");
}

/// Every look finds a whole file, on one provider and not on two.
fn watch(context: &TestContext, done: &AtomicBool) -> usize {
    let mut looks = 0;
    while !done.load(Ordering::Relaxed) {
        let text = read(&context.settings());
        let settings: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"));
        assert_eq!(settings["env"]["KEEP"], "x");
        assert!(!(text.contains("alpha-1") && text.contains("beta.example")), "{text}");
        looks += 1;
    }
    looks
}
