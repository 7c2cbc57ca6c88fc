//! What sessions share: a start changes nothing for the others, `ccc use` says whom it moves, and what an earlier
//! version wrote goes.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use crate::world::{Output, TOKEN_A, TOKEN_B, World, mode, put, read};

/// A client that runs until its input ends, and says so.
const WAITING: &str = "#!/bin/sh\necho started\nread line\necho ended\n";

struct Running {
    child: Child,
}

impl Running {
    /// Waits until the client has taken the place of `ccc`.
    fn start(world: &World, words: &[&str], supervised: bool) -> Self {
        use std::io::{BufRead, BufReader};
        let client = world.path("bin/claude");
        put(&client, WAITING);
        fs::set_permissions(&client, Permissions::from_mode(0o755)).unwrap();
        let mut command = world.command(words);
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
    let world = World::new();
    for line in ["alpha", "beta", "run --isolated alpha"] {
        world.run(line).ok();
        let settings = read(&world.settings());
        assert!(!settings.contains("ANTHROPIC") && !settings.contains("example"), "{line}: {settings}");
    }
    let output = world.command(&["beta"]).env("CCC_SUPERVISOR", "1").output().unwrap();
    Output::of(&output).ok();
    let settings = read(&world.settings());
    assert!(settings.contains("supervisor-hook") && !settings.contains("ANTHROPIC"), "{settings}");
}

#[test]
fn ccc_use_says_which_running_sessions_follow() {
    let world = World::new();
    let (plain, private) = (
        Running::start(&world, &["alpha"], false),
        Running::start(&world, &["run", "--isolated", "alpha"], false),
    );
    // One that was started without ccc, as the client notes it.
    let own = std::process::id();
    let note = json!({ "pid": own, "cwd": "/srv/elsewhere", "sessionId": "s" });
    put(&world.path(&format!("home/.claude/sessions/{own}.json")), &note.to_string());
    put(&world.path("home/.claude/sessions/999999999.json"), r#"{"pid": 999999999, "cwd": "/gone"}"#);
    let output = world.run("use beta --dry-run").ok().stderr_has(&["would follow:", &plain.process()]);
    assert!(!read(&world.settings()).contains("beta"), "{output:?}");
    let output = world.run("use beta").ok().stderr_has(&[
        "switched to beta",
        "these running sessions follow with their next request:",
        &format!("  {}  {}  (started on alpha)", plain.process(), world.path("project").display()),
        &format!("  {own}  /srv/elsewhere\n"),
    ]);
    assert!(!output.stderr.contains(&private.process()) && !output.stderr.contains("/gone"), "{output:?}");
    assert!(!world.run("use beta").ok().stderr.contains("follow"), "nothing has changed");
    plain.end();
    private.end();
    fs::remove_dir_all(world.path("home/.claude/sessions")).unwrap();
    assert_eq!(world.run("use alpha").ok().stderr, "switched to alpha\n");
}

#[test]
fn a_hook_stays_as_long_as_a_supervised_session_runs() {
    let world = World::new();
    let supervised = Running::start(&world, &["alpha"], true);
    let other = Running::start(&world, &["beta"], false);
    other.end();
    assert!(read(&world.settings()).contains("supervisor-hook"), "it is still supervised");
    world.run("use beta").ok();
    assert!(read(&world.settings()).contains("supervisor-hook"));
    supervised.end();
    world.run("use --off").ok();
    Running::start(&world, &["beta"], false).end();
    assert!(!read(&world.settings()).contains("supervisor-hook"));
}

/// As the version before this one left it after `ccc alpha`.
fn of_an_earlier_version(world: &World) {
    let env = json!({ "HTTP_PROXY": "http://p", "ANTHROPIC_BASE_URL": "https://alpha.example",
        "ANTHROPIC_AUTH_TOKEN": TOKEN_A, "ANTHROPIC_MODEL": "alpha-1" });
    put(
        &world.settings(),
        &json!({ "model": "opus", "env": env, "permissions": { "allow": ["Read"] } }).to_string(),
    );
    fs::set_permissions(world.settings(), Permissions::from_mode(0o644)).unwrap();
    let claim = |name: &str, value: &str| json!({ "path": ["env", name], "values": [value] });
    let mut model = claim("ANTHROPIC_MODEL", "alpha-1");
    model["previous"] = json!("mine");
    let claims = json!([
        claim("ANTHROPIC_BASE_URL", "https://alpha.example"), claim("ANTHROPIC_AUTH_TOKEN", TOKEN_A), model,
        { "path": ["permissions", "allow"], "items": ["Read"], "whole": true, "made": true }
    ]);
    let owned = json!({ (world.settings().display().to_string()): claims });
    put(&world.path("home/.claude/ccc/owned.json"), &owned.to_string());
}

fn own_env() -> Value {
    json!({ "HTTP_PROXY": "http://p", "ANTHROPIC_MODEL": "mine" })
}

#[test]
fn what_an_earlier_version_wrote_is_taken_out_by_the_next_start() {
    let world = World::new();
    of_an_earlier_version(&world);
    let output = world.run("alpha").ok().stderr_has(&[
        "took out of ",
        "env.ANTHROPIC_BASE_URL, env.ANTHROPIC_AUTH_TOKEN, env.ANTHROPIC_MODEL",
        "ccc use <name> puts it back",
    ]);
    assert!(!output.stderr.contains("ANTHROPIC_BASE_URL in "), "it is no conflict: {output:?}");
    assert_eq!(world.settings_value()["env"], own_env());
    assert_eq!(world.variable("ANTHROPIC_BASE_URL").as_deref(), Some("https://alpha.example"));
    assert!(!world.run("alpha").ok().stderr.contains("took out"));
}

#[test]
fn what_an_earlier_version_wrote_is_taken_out_by_use_and_by_the_doctor() {
    let world = World::new();
    of_an_earlier_version(&world);
    world.run("use beta").ok();
    assert_eq!(world.settings_value()["env"]["ANTHROPIC_AUTH_TOKEN"], TOKEN_B);
    assert_eq!(mode(&world.settings()), 0o600);
    world.run("use --off").ok();
    assert_eq!(world.settings_value()["env"], own_env());

    let world = World::new();
    of_an_earlier_version(&world);
    let found = world.run("doctor").stdout;
    assert!(found.contains("an earlier version put a provider into the settings of all sessions"), "{found}");
    assert!(found.contains("settings.json:1") && !found.contains(TOKEN_A), "{found}");
    assert!(found.contains("others can read the tokens") && found.contains("mode 644"), "{found}");
    world.run("doctor --fix");
    assert_eq!(world.settings_value()["env"], own_env());
    assert_eq!(world.settings_value()["permissions"]["allow"], json!(["Read"]), "it is no route");
    assert_eq!(mode(&world.settings()), 0o600);
    assert!(!world.run("doctor").stdout.contains("earlier version"));
}
