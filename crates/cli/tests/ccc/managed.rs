//! The administrator's settings, which win over everything: where they would send the client to another provider, they
//! are named and nothing starts.

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
        output.fails(&[
            "cannot start on beta",
            &format!("ANTHROPIC_BASE_URL ({FILE}:3)"),
            &format!("ANTHROPIC_API_KEY ({FILE}:4)"),
            "ask the administrator",
        ]);
    }
    assert_eq!(world.arguments(), None, "the token of beta is not for the administrator's server");
    assert!(!world.settings().exists());
    assert_eq!(read(&world.path("etc/claude-code/managed-settings.json")), text);
}

#[test]
fn a_file_beside_the_main_one_counts_as_well() {
    let world = world();
    put(
        &world.path("etc/claude-code/managed-settings.d/10-route.json"),
        "{\n\"env\": {\"CLAUDE_CODE_USE_VERTEX\": \"1\"}}",
    );
    let Some(output) = run(&world, &["beta"]) else { return };
    output.fails(&["CLAUDE_CODE_USE_VERTEX (/etc/claude-code/managed-settings.d/10-route.json:2)"]);
}

#[test]
fn a_model_of_the_administrator_is_only_named() {
    let world = world();
    put(&world.path("etc/claude-code/managed-settings.json"), r#"{"env": {"ANTHROPIC_MODEL": "opus"}}"#);
    let Some(output) = run(&world, &["beta"]) else { return };
    output.ok().stderr_has(&[&format!("warning: ANTHROPIC_MODEL in {FILE}:1 stays in force")]);
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
        assert_eq!(world.variable("ANTHROPIC_BASE_URL").as_deref(), Some("https://beta.example"));
    }
}
