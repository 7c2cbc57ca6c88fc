//! What sessions share: a start changes nothing for the others, `ccc use` says whom it moves, and what an earlier
//! version wrote goes.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::context::{TOKEN_A, TOKEN_B, TestContext, ccc_output, mode, put, read};

/// A client that runs until its input ends, and says so.
const WAITING: &str = "#!/bin/sh\necho started\nread line\necho ended\n";

struct Running {
    child: Child,
}

impl Running {
    /// Waits until the client has taken the place of `ccc`.
    fn start(context: &TestContext, words: &[&str], supervised: bool) -> Self {
        use std::io::{BufRead, BufReader};
        let client = context.path("bin/claude");
        put(&client, WAITING);
        fs::set_permissions(&client, Permissions::from_mode(0o755)).unwrap();
        let mut command = context.ccc_command(words);
        command.envs(supervised.then_some(("CCC_SUPERVISOR", "1")));
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "started\n");
        Self { child }
    }

    fn process(&self) -> String {
        self.child.id().to_string()
    }

    fn end(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

#[test]
fn starts_leave_nothing_of_a_provider_where_others_read() {
    let context = TestContext::with_providers();
    for line in ["alpha", "beta", "run --isolated alpha"] {
        context.run_ccc(line).succeeds();
        let settings = read(&context.settings());
        assert!(!settings.contains("ANTHROPIC") && !settings.contains("example"), "{line}: {settings}");
    }
    let output = context.ccc_command(&["beta"]).env("CCC_SUPERVISOR", "1").output().unwrap();
    ccc_output(&output).succeeds();
    let settings = read(&context.settings());
    assert!(settings.contains("supervisor-hook") && !settings.contains("ANTHROPIC"), "{settings}");
}

#[test]
fn ccc_use_says_which_running_sessions_follow() {
    let context = TestContext::with_providers();
    let (plain, private) = (
        Running::start(&context, &["alpha"], false),
        Running::start(&context, &["run", "--isolated", "alpha"], false),
    );
    // One that was started without ccc, as the client notes it.
    let own = std::process::id();
    let note = json!({ "pid": own, "cwd": "/srv/elsewhere", "sessionId": "s" });
    put(&context.path(format!("home/.claude/sessions/{own}.json")), note.to_string());
    put(&context.path("home/.claude/sessions/999999999.json"), r#"{"pid": 999999999, "cwd": "/gone"}"#);
    let output =
        context.run_ccc("use beta --dry-run").succeeds().stderr_has(&["would switch:", &plain.process()]);
    assert!(!read(&context.settings()).contains("beta"), "{output:?}");
    let output = context.run_ccc("use beta").succeeds().stderr_has(&[
        "switched to beta",
        "these running sessions will switch with their next request:",
        &format!("  {}  {}  (started on alpha)", plain.process(), context.path("project").display()),
        &format!("  {own}  /srv/elsewhere\n"),
    ]);
    assert!(!output.stderr.contains(&private.process()) && !output.stderr.contains("/gone"), "{output:?}");
    assert!(!context.run_ccc("use beta").succeeds().stderr.contains("follow"), "nothing has changed");
    plain.end();
    private.end();
    fs::remove_dir_all(context.path("home/.claude/sessions")).unwrap();
    assert_eq!(context.run_ccc("use alpha").succeeds().stderr, "switched to alpha\n");
}

#[test]
fn a_hook_stays_as_long_as_a_supervised_session_runs() {
    let context = TestContext::with_providers();
    let supervised = Running::start(&context, &["alpha"], true);
    let other = Running::start(&context, &["beta"], false);
    other.end();
    assert!(read(&context.settings()).contains("supervisor-hook"), "it is still supervised");
    context.run_ccc("use beta").succeeds();
    assert!(read(&context.settings()).contains("supervisor-hook"));
    supervised.end();
    context.run_ccc("use --off").succeeds();
    Running::start(&context, &["beta"], false).end();
    assert!(!read(&context.settings()).contains("supervisor-hook"));
}

/// As the version before this one left it after `ccc alpha`.
fn of_an_earlier_version(context: &TestContext) {
    let env = json!({ "HTTP_PROXY": "http://p", "ANTHROPIC_BASE_URL": "https://alpha.example",
        "ANTHROPIC_AUTH_TOKEN": TOKEN_A, "ANTHROPIC_MODEL": "alpha-1" });
    put(
        &context.settings(),
        json!({ "model": "opus", "env": env, "permissions": { "allow": ["Read"] } }).to_string(),
    );
    fs::set_permissions(context.settings(), Permissions::from_mode(0o644)).unwrap();
    let claim = |name: &str, value: &str| json!({ "path": ["env", name], "values": [value] });
    let mut model = claim("ANTHROPIC_MODEL", "alpha-1");
    model["previous"] = json!("mine");
    let claims = json!([
        claim("ANTHROPIC_BASE_URL", "https://alpha.example"), claim("ANTHROPIC_AUTH_TOKEN", TOKEN_A), model,
        { "path": ["permissions", "allow"], "items": ["Read"], "whole": true, "made": true }
    ]);
    let owned = json!({ (context.settings().display().to_string()): claims });
    put(&context.path("home/.claude/ccc/owned.json"), owned.to_string());
}

fn own_env() -> Value {
    json!({ "HTTP_PROXY": "http://p", "ANTHROPIC_MODEL": "mine" })
}

#[test]
fn what_an_earlier_version_wrote_is_taken_out_by_the_next_start() {
    let context = TestContext::with_providers();
    of_an_earlier_version(&context);
    let output = context.run_ccc("alpha").succeeds().stderr_has(&[
        "removed from ",
        "env.ANTHROPIC_BASE_URL, env.ANTHROPIC_AUTH_TOKEN, env.ANTHROPIC_MODEL",
        "ccc use <name> puts it back",
    ]);
    assert!(!output.stderr.contains("ANTHROPIC_BASE_URL in "), "it is no conflict: {output:?}");
    assert_eq!(context.settings_value()["env"], own_env());
    assert_eq!(context.variable("ANTHROPIC_BASE_URL").as_deref(), Some("https://alpha.example"));
    assert!(!context.run_ccc("alpha").succeeds().stderr.contains("removed from"));
}

#[test]
fn what_an_earlier_version_wrote_is_taken_out_by_use_and_by_the_doctor() {
    let context = TestContext::with_providers();
    of_an_earlier_version(&context);
    context.run_ccc("use beta").succeeds();
    assert_eq!(context.settings_value()["env"]["ANTHROPIC_AUTH_TOKEN"], TOKEN_B);
    assert_eq!(mode(&context.settings()), 0o600);
    context.run_ccc("use --off").succeeds();
    assert_eq!(context.settings_value()["env"], own_env());

    let context = TestContext::with_providers();
    of_an_earlier_version(&context);
    let found = context.run_ccc("doctor").stdout;
    assert!(
        found.contains("an earlier version wrote a provider into the settings of all sessions"),
        "{found}"
    );
    assert!(found.contains("settings.json:1") && !found.contains(TOKEN_A), "{found}");
    assert!(found.contains("others can read the tokens") && found.contains("mode 644"), "{found}");
    context.run_ccc("doctor --fix");
    assert_eq!(context.settings_value()["env"], own_env());
    assert_eq!(context.settings_value()["permissions"]["allow"], json!(["Read"]), "it is no route");
    assert_eq!(mode(&context.settings()), 0o600);
    assert!(!context.run_ccc("doctor").stdout.contains("earlier version"));
}
