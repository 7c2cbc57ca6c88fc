//! Values that get in the way of a provider are named before the start, with file and line.

use crate::world::{World, put, read};

#[test]
fn values_that_win_or_stay_are_named_with_their_line() {
    let world = World::new();
    put(&world.settings(), "{\n  \"env\": {\n    \"ANTHROPIC_API_KEY\": \"own-key-of-mine\"\n  }\n}\n");
    put(
        &world.path("project/.claude/settings.json"),
        "{\"env\": {\n\"ANTHROPIC_BASE_URL\": \"https://other\"}}",
    );
    put(
        &world.path("project/.claude/settings.local.json"),
        "{\"env\": {\"ANTHROPIC_MODEL\": \"local\", \"CLAUDE_CODE_USE_BEDROCK\": \"1\", \"OTHER\": \"x\"}}",
    );
    let output = world.run("beta").ok().stderr_has(&[
        "warning: ANTHROPIC_API_KEY in ",
        "/home/.claude/settings.json:3 stays in force",
        "warning: ANTHROPIC_BASE_URL in ",
        "/project/.claude/settings.json:2 wins over the provider's value",
        "settings.local.json:1 stays in force",
        "CLAUDE_CODE_USE_BEDROCK",
    ]);
    assert!(!output.stderr.contains("own-key") && !output.stderr.contains("OTHER"), "{output:?}");
    assert_eq!(output.stderr.lines().filter(|line| line.starts_with("warning: ")).count(), 4);
}

#[test]
fn what_ccc_wrote_itself_is_no_conflict() {
    let world = World::new();
    put(&world.settings(), "{\"env\": {\"ANTHROPIC_MODEL\": \"mine\"}}");
    world.run("alpha").ok().stderr_has(&["ANTHROPIC_MODEL", "is replaced by the provider's value for now"]);
    assert_eq!(world.run("alpha").ok().stderr, "ccc: on alpha\n");
    world.run("beta").ok();
    assert!(read(&world.settings()).contains("mine"));
}

#[test]
fn a_private_file_wins_over_the_projects() {
    let world = World::new();
    put(
        &world.path("project/.claude/settings.json"),
        "{\"env\": {\"ANTHROPIC_BASE_URL\": \"https://other\"}}",
    );
    let output = world.run("run --isolated beta").ok();
    assert_eq!(output.stderr, "ccc: on beta, for this start only\n");
}

#[test]
fn what_is_inherited_and_not_set_by_the_provider_stays_in_force() {
    let world = World::new()
        .with("ANTHROPIC_API_KEY", "own-key-of-mine")
        .with("ANTHROPIC_BASE_URL", "https://inherited.example")
        .with("CLAUDE_CODE_USE_BEDROCK", "1")
        .with("CLAUDE_CODE_ENTRYPOINT", "cli")
        .with("ANTHROPIC_MODEL", "");
    for line in ["beta", "run --isolated beta"] {
        let output = world.run(line).ok().stderr_has(&[
            "warning: ANTHROPIC_API_KEY from your environment stays in force",
            "unset ANTHROPIC_API_KEY, or set it to \"\"",
            "warning: CLAUDE_CODE_USE_BEDROCK from your environment",
        ]);
        assert!(!output.stderr.contains("own-key") && !output.stderr.contains("BASE_URL"), "{output:?}");
        assert_eq!(output.stderr.lines().filter(|line| line.starts_with("warning: ")).count(), 2);
    }
}

#[test]
fn what_a_settings_file_says_counts_more_than_what_is_inherited() {
    let world = World::new().with("ANTHROPIC_API_KEY", "inherited-key").with("ANTHROPIC_MODEL", "inherited");
    put(&world.settings(), "{\"env\": {\"ANTHROPIC_API_KEY\": \"\"}}");
    let output = world.run("alpha").ok();
    assert_eq!(output.stderr, "ccc: on alpha\n");
    // The switch takes alpha's model away again, so the inherited one comes into force; a private file empties it.
    world.run("beta --dry-run").ok().stderr_has(&["ANTHROPIC_MODEL from your environment stays in force"]);
    let output = world.run("run --isolated beta").ok();
    assert_eq!(output.stderr, "ccc: on beta, for this start only\n");
}
