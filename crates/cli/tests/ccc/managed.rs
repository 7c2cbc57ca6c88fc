//! The administrator's settings, which win over everything: named before the start, and never in its way.

use std::process::Command;

use crate::namespace;
use crate::world::{Output, TOKEN_A, World, put, read};

const FILE: &str = "/etc/claude-code/managed-settings.json";

/// A world with `etc/`, which takes the place of the machine's while `ccc` runs.
fn world() -> World {
    let world = World::new();
    world.install("bin/ccc");
    std::fs::create_dir_all(world.path("etc/claude-code")).unwrap();
    world
}

fn run(world: &World, words: &[&str]) -> Option<Output> {
    let ccc = world.path("bin/ccc").display().to_string();
    let program: Vec<_> = std::iter::once(ccc.as_str()).chain(words.iter().copied()).collect();
    namespace::run(world, &world.path("etc"), "/etc", &program)
}

#[test]
fn what_the_administrator_set_is_named_with_its_line() {
    let world = world();
    let text = format!(
        "{{\n  \"env\": {{\n    \"ANTHROPIC_BASE_URL\": \"https://proxy.example\",\n    \
         \"ANTHROPIC_API_KEY\": \"{TOKEN_A}\"\n  }}\n}}\n"
    );
    put(&world.path("etc/claude-code/managed-settings.json"), &text);
    for words in [["beta"].as_slice(), &["run", "--isolated", "beta"]] {
        let Some(output) = run(&world, words) else { return };
        let output = output.ok().stderr_has(&[
            &format!("warning: ANTHROPIC_BASE_URL in {FILE}:3 wins over the provider's value; ask the administrator"),
            &format!("warning: ANTHROPIC_API_KEY in {FILE}:4 stays in force"),
        ]);
        assert_eq!(output.stderr.lines().filter(|line| line.starts_with("warning: ")).count(), 2);
        assert_eq!(output.stdout, "from-claude\n", "it is the administrator's choice, so the client starts");
    }
    assert_eq!(read(&world.path("etc/claude-code/managed-settings.json")), text);
}

#[test]
fn what_agrees_with_the_provider_is_not_mentioned() {
    let world = world();
    put(
        &world.path("etc/claude-code/managed-settings.json"),
        r#"{"env": {"ANTHROPIC_BASE_URL": "https://beta.example", "OTHER": "x"}, "model": "opus"}"#,
    );
    let Some(output) = run(&world, &["beta"]) else { return };
    assert_eq!(output.ok().stderr, "ccc: on beta\n");
}

#[test]
fn a_file_that_cannot_be_used_is_the_clients_business() {
    for shape in ["malformed", "folder", "pipe", "link to nowhere"] {
        let world = world();
        let file = world.path("etc/claude-code/managed-settings.json");
        match shape {
            "malformed" => put(&file, "{oops"),
            "folder" => std::fs::create_dir(&file).unwrap(),
            "pipe" => assert!(Command::new("mkfifo").arg(&file).status().unwrap().success()),
            _ => std::os::unix::fs::symlink("/nowhere/at/all", &file).unwrap(),
        }
        let Some(output) = run(&world, &["beta"]) else { return };
        assert_eq!(output.ok().stderr, "ccc: on beta\n", "{shape}");
        assert_eq!(world.settings_value()["env"]["ANTHROPIC_BASE_URL"], "https://beta.example");
    }
}
