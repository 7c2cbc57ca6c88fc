//! Starting the client: in place of `ccc`, with its arguments, on the provider that was asked for.

use serde_json::json;

use crate::world::{Output, TOKEN_A, World, put, read};

fn lines(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn the_client_takes_the_place_of_ccc() {
    let world = World::new().with("CLIENT_EXIT", "7");
    let child = world.command(&["beta", "-p", "two words", "--dry-run"]).spawn().unwrap();
    let process = child.id();
    let output = Output::of(&child.wait_with_output().unwrap());
    assert_eq!((output.code, output.stdout.as_str()), (Some(7), "from-claude\n"), "{output:?}");
    assert_eq!(output.stderr, "ccc: on beta\n");
    assert_eq!(read(&world.path("record/pid")).trim(), process.to_string());
    assert_eq!(world.arguments().unwrap(), lines(&["--verbose", "-p", "two words", "--dry-run"]));
    assert_eq!(world.variable("ANTHROPIC_BASE_URL").as_deref(), Some("https://beta.example"));
    assert_eq!(world.settings_value(), json!({ "permissions": { "allow": ["Read"] } }));
    assert!(read(&world.config()).contains("\"current_provider\": \"beta\""));
}

#[test]
fn without_a_name_the_current_one_is_used() {
    let world = World::new();
    world.run("--continue").ok();
    assert_eq!(world.arguments().unwrap(), lines(&["--verbose", "--continue"]));
    assert_eq!(world.variable("ANTHROPIC_MODEL").as_deref(), Some("alpha-1"));
}

#[test]
fn tokens_are_in_the_environment_and_in_no_argument_and_no_shared_file() {
    let world = World::new();
    for line in
        ["alpha", "alpha --dry-run", "run alpha", "run --isolated alpha", "run --isolated --dry-run alpha"]
    {
        world.run(line).ok();
        assert!(!read(&world.path("record/argv")).contains(TOKEN_A), "{line}");
        assert_eq!(world.variable("ANTHROPIC_AUTH_TOKEN").as_deref(), Some(TOKEN_A), "{line}");
        assert!(!read(&world.settings()).contains(TOKEN_A), "{line}");
    }
}

#[test]
fn the_clients_own_commands_pass_through_untouched() {
    let world = World::new();
    for (line, arguments) in [
        ("mcp list --json", vec!["mcp", "list", "--json"]),
        ("-- list --help", vec!["list", "--help"]),
        ("--", vec![]),
    ] {
        let output = world.run(line).ok();
        assert_eq!(output.stderr, "");
        assert_eq!(world.arguments().unwrap(), lines(&arguments), "{line}");
    }
    assert!(!world.settings().exists());
    assert!(!world.path("home/.claude/ccc").exists());
}

#[test]
fn a_dry_run_shows_everything_and_does_nothing() {
    let world = World::new();
    put(&world.settings(), "{\"env\":{\"ANTHROPIC_MODEL\":\"mine\"}}");
    let before = (read(&world.settings()), read(&world.config()));
    let output = world.run("--dry-run alpha -c").ok().stderr_has(&[
        "settings.json:1",
        "  + ANTHROPIC_MODEL = alpha-1",
        "  + ANTHROPIC_AUTH_TOKEN = ****aaaa",
        "+ permissions.allow = [Read]",
        "would write a private settings file",
        "claude --verbose -c",
    ]);
    assert_eq!(output.stdout, "");
    world.run("use beta --dry-run").ok().stderr_has(&["+ env.ANTHROPIC_BASE_URL = https://beta.example"]);
    assert_eq!((read(&world.settings()), read(&world.config())), before);
    assert_eq!(world.arguments(), None);
    assert!(!world.path("home/.claude/ccc").exists());
    world.run("use alpha").ok();
    world.run("use alpha --dry-run").ok().stderr_has(&["needs no change"]);
}

#[test]
fn without_a_client_nothing_is_changed() {
    let world = World::new();
    std::fs::remove_file(world.path("bin/claude")).unwrap();
    let output = world.command(&["beta"]).env("PATH", world.path("bin")).output().unwrap();
    Output::of(&output).fails(&["claude is not on PATH", "npm install"]);
    assert!(!world.settings().exists());
    assert!(read(&world.config()).contains("\"current_provider\": \"alpha\""));
}

#[test]
fn a_client_that_cannot_be_started_is_told() {
    let world = World::new();
    put(&world.path("bin/claude"), "#!/no/such/interpreter\n");
    world.run("-- x").fails(&["cannot start", "bin/claude"]);
}
