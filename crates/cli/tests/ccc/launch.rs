//! Starting the client: in place of `ccc`, with its arguments, on the provider that was asked for.

use serde_json::json;

use crate::context::{TOKEN_A, TestContext, ccc_output, put, read};

fn lines(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn the_client_takes_the_place_of_ccc() {
    let context = TestContext::with_providers().with_env("CLIENT_EXIT", "7");
    let child = context.ccc_command(&["beta", "-p", "two words", "--dry-run"]).spawn().unwrap();
    let process = child.id();
    let output = ccc_output(&child.wait_with_output().unwrap());
    assert_eq!((output.code, output.stdout.as_str()), (Some(7), "from-claude\n"), "{output:?}");
    assert_eq!(output.stderr, "ccc: on beta\n");
    assert_eq!(read(&context.path("record/pid")).trim(), process.to_string());
    assert_eq!(context.arguments().unwrap(), lines(&["--verbose", "-p", "two words", "--dry-run"]));
    assert_eq!(context.variable("ANTHROPIC_BASE_URL").as_deref(), Some("https://beta.example"));
    assert_eq!(context.settings_value(), json!({ "permissions": { "allow": ["Read"] } }));
    assert!(read(&context.config()).contains("\"current_provider\": \"beta\""));
}

#[test]
fn without_a_name_the_current_one_is_used() {
    let context = TestContext::with_providers();
    context.run_ccc("--continue").succeeds();
    assert_eq!(context.arguments().unwrap(), lines(&["--verbose", "--continue"]));
    assert_eq!(context.variable("ANTHROPIC_MODEL").as_deref(), Some("alpha-1"));
}

#[test]
fn tokens_are_in_the_environment_and_in_no_argument_and_no_shared_file() {
    let context = TestContext::with_providers();
    for line in
        ["alpha", "alpha --dry-run", "run alpha", "run --isolated alpha", "run --isolated --dry-run alpha"]
    {
        context.run_ccc(line).succeeds();
        assert!(!read(&context.path("record/argv")).contains(TOKEN_A), "{line}");
        assert_eq!(context.variable("ANTHROPIC_AUTH_TOKEN").as_deref(), Some(TOKEN_A), "{line}");
        assert!(!read(&context.settings()).contains(TOKEN_A), "{line}");
    }
}

#[test]
fn the_clients_own_commands_pass_through_untouched() {
    let context = TestContext::with_providers();
    for (line, arguments) in [
        ("mcp list --json", vec!["mcp", "list", "--json"]),
        ("-- list --help", vec!["list", "--help"]),
        ("--", vec![]),
    ] {
        let output = context.run_ccc(line).succeeds();
        assert_eq!(output.stderr, "");
        assert_eq!(context.arguments().unwrap(), lines(&arguments), "{line}");
    }
    assert!(!context.settings().exists());
    assert!(!context.path("home/.claude/ccc").exists());
}

#[test]
fn a_dry_run_shows_everything_and_does_nothing() {
    let context = TestContext::with_providers();
    put(&context.settings(), "{\"env\":{\"ANTHROPIC_MODEL\":\"mine\"}}");
    let before = (read(&context.settings()), read(&context.config()));
    let output = context.run_ccc("--dry-run alpha -c").succeeds().stderr_has(&[
        "settings.json:1",
        "  + ANTHROPIC_MODEL = alpha-1",
        "  + ANTHROPIC_AUTH_TOKEN = ****aaaa",
        "+ permissions.allow = [Read]",
        "would write a private settings file",
        "claude --verbose -c",
    ]);
    assert_eq!(output.stdout, "");
    context
        .run_ccc("use beta --dry-run")
        .succeeds()
        .stderr_has(&["+ env.ANTHROPIC_BASE_URL = https://beta.example"]);
    assert_eq!((read(&context.settings()), read(&context.config())), before);
    assert_eq!(context.arguments(), None);
    assert!(!context.path("home/.claude/ccc").exists());
    context.run_ccc("use alpha").succeeds();
    context.run_ccc("use alpha --dry-run").succeeds().stderr_has(&["needs no change"]);
}

#[test]
fn without_a_client_nothing_is_changed() {
    let context = TestContext::with_providers();
    std::fs::remove_file(context.path("bin/claude")).unwrap();
    let output = context.ccc_command(&["beta"]).env("PATH", context.path("bin")).output().unwrap();
    ccc_output(&output).fails(&["claude is not on PATH", "npm install"]);
    assert!(!context.settings().exists());
    assert!(read(&context.config()).contains("\"current_provider\": \"alpha\""));
}

#[test]
fn a_client_that_cannot_be_started_is_reported() {
    let context = TestContext::with_providers();
    put(&context.path("bin/claude"), "#!/no/such/interpreter\n");
    context.run_ccc("-- x").fails(&["cannot start", "bin/claude"]);
}
