//! `ccc migrate`: a set-up that was made by hand or by another launcher is taken over whole, once.

use serde_json::{Value, json};

use crate::world::{TOKEN_A, TOKEN_B, World, mode, put, read};

const SETTINGS: &str = r#"{
  "model": "opus",
  "env": {
    "ANTHROPIC_BASE_URL": "https://api.moonshot.cn/anthropic",
    "ANTHROPIC_AUTH_TOKEN": "sk-a-0123456789-aaaaaaaaaaaaaaaa",
    "HTTPS_PROXY": "http://proxy:8080"
  }
}
"#;

fn config(world: &World) -> Value {
    serde_json::from_str(&read(&world.config())).unwrap()
}

#[test]
fn settings_become_a_provider_that_comes_and_goes() {
    let world = World::empty();
    put(&world.settings(), SETTINGS);
    let output = world.run("migrate").ok().stderr_has(&[
        "found moonshot:",
        "ANTHROPIC_AUTH_TOKEN=****aaaa",
        "moonshot is added to ",
        "moonshot becomes the current provider",
        "switched by ccc from now on: ANTHROPIC_BASE_URL, ANTHROPIC_AUTH_TOKEN",
    ]);
    assert_eq!(output.stdout, "");
    assert_eq!(read(&world.settings()), SETTINGS);
    let env =
        json!({ "ANTHROPIC_BASE_URL": "https://api.moonshot.cn/anthropic", "ANTHROPIC_AUTH_TOKEN": TOKEN_A });
    assert_eq!(
        config(&world),
        json!({ "providers": { "moonshot": { "env": env } }, "current_provider": "moonshot" })
    );
    assert_eq!(mode(&world.config()), 0o600);
    assert_eq!(world.run("").ok().stderr, "ccc: on moonshot\n");
    assert_eq!(read(&world.settings()), SETTINGS);
    world.run("add other --base-url https://other.example").ok();
    world.run("use other").ok();
    let own = world.settings_value();
    assert_eq!(
        (&own["env"]["ANTHROPIC_BASE_URL"], &own["env"]["ANTHROPIC_AUTH_TOKEN"], &own["env"]["HTTPS_PROXY"]),
        (&json!("https://other.example"), &json!(""), &json!("http://proxy:8080"))
    );
    assert_eq!(own["model"], "opus");
    world.run("use moonshot").ok();
    assert_eq!(world.settings_value()["env"]["ANTHROPIC_AUTH_TOKEN"], TOKEN_A);
}

#[test]
fn a_second_time_there_is_nothing_to_do() {
    let world = World::empty();
    put(&world.settings(), SETTINGS);
    world.run("migrate").ok();
    let files =
        || (read(&world.config()), read(&world.settings()), read(&world.path("home/.claude/ccc/owned.json")));
    let before = files();
    world.run("migrate").ok().stderr_has(&["nothing to take over", "settings.json"]);
    assert_eq!(world.run("migrate --json").ok().json()["changed"], false);
    assert_eq!(files(), before);
    std::fs::remove_file(world.path("home/.claude/ccc/owned.json")).unwrap();
    world.run("migrate").ok().stderr_has(&["moonshot is there already"]);
    assert_eq!(files(), before);
}

#[test]
fn a_dry_run_writes_nothing() {
    let world = World::empty();
    put(&world.settings(), SETTINGS);
    world.run("migrate --dry-run").ok().stderr_has(&["moonshot is added to", "nothing was changed"]);
    let found = world.run("migrate --dry-run --json").ok().json();
    assert_eq!(found["found"][0]["env"]["ANTHROPIC_AUTH_TOKEN"], "****aaaa");
    assert_eq!((&found["changed"], &found["current"]), (&json!(false), &json!("moonshot")));
    assert!(!world.config().exists() && !world.path("home/.claude/ccc").exists());
}

#[test]
fn what_is_there_stays_with_its_comments_and_a_copy_is_kept() {
    let world = World::empty();
    let before = "{\n  // mine\n  \"zeta\": 1.50,\n  \"providers\": {\n    \"moonshot\": { \"env\": {} } // other\n  },\n  \"current_provider\": \"moonshot\"\n}\n";
    put(&world.config(), before);
    put(&world.settings(), SETTINGS);
    world.run("migrate --name moonshot").fails(&["provider exists already: moonshot", "ccc.json:5"]);
    world.run("migrate --name list").fails(&["not usable as a provider's name"]);
    assert_eq!(read(&world.config()), before);
    world.run("migrate").ok().stderr_has(&["moonshot-2 is added", "ccc.backup.json"]);
    let after = read(&world.config());
    assert!(
        after.contains("// mine\n  \"zeta\": 1.50")
            && after.contains("// other")
            && after.contains("moonshot-2")
    );
    assert!(after.contains("\"current_provider\": \"moonshot\""));
    let backup = world.path("home/.claude/ccc/ccc.backup.json");
    assert_eq!((read(&backup).as_str(), mode(&backup)), (before, 0o600));
}

#[test]
fn what_another_provider_hides_is_found_too() {
    let world = World::new();
    put(
        &world.settings(),
        &json!({ "env": { "ANTHROPIC_MODEL": "mine", "ANTHROPIC_API_KEY": TOKEN_B } }).to_string(),
    );
    world.run("use alpha").ok();
    world.run("migrate --name own").ok();
    assert_eq!(
        config(&world)["providers"]["own"]["env"],
        json!({ "ANTHROPIC_MODEL": "mine", "ANTHROPIC_API_KEY": TOKEN_B })
    );
    assert_eq!(config(&world)["current_provider"], "alpha");
    world.run("use beta").ok();
    assert_eq!(world.settings_value()["env"].get("ANTHROPIC_MODEL"), None);
    assert_eq!(
        world.settings_value()["env"]["ANTHROPIC_API_KEY"],
        "",
        "an exported one is not for beta either"
    );
    world.run("use own").ok();
    assert_eq!(
        world.settings_value()["env"],
        json!({ "ANTHROPIC_MODEL": "mine", "ANTHROPIC_API_KEY": TOKEN_B })
    );
}

#[test]
fn the_file_of_another_launcher_is_merged() {
    let world = World::new();
    let other = world.path("profiles.json");
    put(
        &other,
        &format!(
            "{{ // theirs\n \"profiles\": {{ \"glm\": {{ \"base_url\": \"https://glm.example\", \"token\": \"{TOKEN_B}\", \"color\": \"red\" }},\n\
         \"alpha\": {{ \"baseUrl\": \"https://other.example\" }}, \"use\": {{ \"apiKey\": \"k\" }}, \"odd\": 1 }}, \"current\": \"glm\" }}"
        ),
    );
    let line = format!("migrate --from {}", other.display());
    world.run(&line).ok().stderr_has(&[
        "glm is added to",
        "ANTHROPIC_AUTH_TOKEN=****bbbb",
        "alpha is there already and differs; yours is kept",
        "use is not usable as a name",
        "odd holds nothing that is understood",
    ]);
    let after = config(&world);
    assert_eq!(
        after["providers"]["glm"],
        json!({ "env": { "ANTHROPIC_BASE_URL": "https://glm.example", "ANTHROPIC_AUTH_TOKEN": TOKEN_B } })
    );
    assert_eq!(after["providers"]["alpha"]["env"]["ANTHROPIC_BASE_URL"], "https://alpha.example");
    assert_eq!(after["current_provider"], "alpha");
    let text = read(&world.config());
    world.run(&line).ok().stderr_has(&["nothing to take over"]);
    assert_eq!(read(&world.config()), text);
    world.run("migrate --from /no/such/file").fails(&["/no/such/file"]);
}

#[test]
fn an_older_configuration_is_taken_whole_where_there_is_none() {
    let world = World::empty();
    let old = world.path("old.json");
    put(&old, &crate::world::providers().to_string());
    world.run(&format!("migrate --from {}", old.display())).ok().stderr_has(&["`claude_args` is taken over"]);
    assert_eq!(config(&world), {
        let mut all = crate::world::providers();
        let settings = all.as_object_mut().unwrap().remove("settings");
        all["settings"] = settings.unwrap();
        all
    });
    assert_eq!(world.run("current").ok().stdout, "alpha\n");
}

#[test]
fn settings_that_cannot_be_used_are_refused() {
    let world = World::empty();
    put(&world.settings(), "{\n// mine\n}");
    world.run("migrate").fails(&["settings.json:2"]);
    put(&world.settings(), "{}");
    world.run("migrate").ok().stderr_has(&["nothing to take over"]);
    assert!(!world.config().exists());
}
