//! Starts that touch nothing global, and projects that name their provider.

use std::fs;

use serde_json::Value;

use crate::world::{Output, TOKEN_B, World, mode, put, read};

fn private(world: &World) -> Value {
    serde_json::from_str(&read(&world.path("record/private.json"))).unwrap()
}

#[test]
fn a_private_file_carries_the_provider() {
    let world = World::new();
    let before = read(&world.config());
    world.run("run --isolated beta -- -p hi").ok().stderr_has(&["on beta, for this start only"]);
    let arguments = world.arguments().unwrap();
    assert_eq!(
        (arguments[0].as_str(), &arguments[2..]),
        ("--settings", ["--verbose", "-p", "hi"].map(str::to_owned).as_slice())
    );
    assert_eq!(mode(&world.path("record/private.json")), 0o600);
    assert_eq!(private(&world)["env"]["ANTHROPIC_AUTH_TOKEN"], TOKEN_B);
    assert!(!world.settings().exists());
    assert_eq!(read(&world.config()), before);
}

#[test]
fn the_provider_in_the_settings_does_not_shine_through() {
    let world = World::new();
    put(&world.settings(), r#"{"env":{"ANTHROPIC_MODEL":"mine"}}"#);
    world.run("use alpha").ok();
    let before = read(&world.settings());
    world.run("run --isolated beta").ok();
    assert_eq!(private(&world)["env"]["ANTHROPIC_MODEL"], "mine");
    assert_eq!(private(&world)["env"]["ANTHROPIC_BASE_URL"], "https://beta.example");
    assert_eq!(read(&world.settings()), before);
    fs::remove_file(world.settings()).unwrap();
    world.run("use beta").ok();
    world.run("use alpha").ok();
    world.run("run --isolated beta").ok();
    assert_eq!(private(&world)["env"]["ANTHROPIC_MODEL"], "");
}

#[test]
fn the_users_own_settings_are_merged_and_never_send_it_elsewhere() {
    let world = World::new();
    world.run("use alpha").ok();
    let mine = "{\n\"env\": {\"ANTHROPIC_BASE_URL\": \"https://mine\", \"ANTHROPIC_API_KEY\": \"mine\", \"X\": \"1\"},\n\
                \"model\": \"opus\", \"apiKeyHelper\": \"mine\"}";
    put(&world.path("project/mine.json"), mine);
    for words in [
        vec!["run", "--isolated", "beta", "--", "--settings", "mine.json", "-p", "hi"],
        vec!["run", "--isolated", "beta", "--", "-p", "hi", "--settings=mine.json"],
        vec!["run", "--isolated", "beta", "--", "--settings", mine, "-p", "hi"],
        vec!["beta", "-p", "hi", "--settings", "mine.json"],
    ] {
        world.forget();
        Output::of(&world.command(&words).output().unwrap()).ok();
        let arguments = world.arguments().unwrap();
        let settings = arguments.iter().filter(|argument| argument.starts_with("--settings")).count();
        assert_eq!((settings, &arguments[2..]), (1, ["--verbose", "-p", "hi"].map(str::to_owned).as_slice()));
        let private = private(&world);
        assert_eq!(private["env"]["ANTHROPIC_BASE_URL"], "https://beta.example", "{words:?}");
        assert_eq!(
            (&private["env"]["ANTHROPIC_API_KEY"], &private["apiKeyHelper"]),
            (&"".into(), &"".into())
        );
        assert_eq!(
            (&private["env"]["X"], &private["model"]),
            (&"1".into(), &"opus".into()),
            "the rest is theirs"
        );
    }
    let words = ["beta", "--settings", "mine.json"];
    let output = world.command(&words).env("CCC_SUPERVISOR", "1").output().unwrap();
    Output::of(&output).fails(&["cannot start on beta", "ANTHROPIC_BASE_URL (", "mine.json:2)"]);
    for broken in ["gone.json", "{oops}"] {
        let output =
            world.command(&["run", "--isolated", "beta", "--", "--settings", broken]).output().unwrap();
        Output::of(&output).fails(&[if broken == "gone.json" { broken } else { "--settings" }]);
    }
}

#[test]
fn settings_of_the_users_that_say_nothing_of_a_route_are_passed_on_as_they_are() {
    let world = World::new();
    put(&world.path("project/mine.json"), r#"{"model": "opus"}"#);
    world.run("beta --settings mine.json").ok();
    assert_eq!(world.arguments().unwrap(), ["--verbose", "--settings", "mine.json"]);
}

#[test]
fn private_files_of_ended_processes_are_taken_away() {
    let world = World::new();
    for _ in 0..3 {
        world.run("run --isolated beta").ok();
    }
    let files = fs::read_dir(world.path("home/.claude/ccc")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.starts_with("isolated-")).count(), 1);
}

#[test]
fn a_project_names_its_provider() {
    let world = World::new();
    put(&world.path("project/.ccc.json"), "{\n  // for this one\n  \"provider\": \"beta\"\n}");
    fs::create_dir(world.path("project/deep")).unwrap();
    assert_eq!(world.run("current").ok().stdout, "beta\n");
    let output = world.command(&[]).current_dir(world.path("project/deep")).output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().contains(".ccc.json:3"));
    assert_eq!(private(&world)["env"]["ANTHROPIC_BASE_URL"], "https://beta.example");
    assert!(!world.settings().exists());
    assert_eq!(world.run("list --json").ok().json()["providers"][0]["current"], true);
    world.run("alpha").ok().stderr_has(&["ccc: on alpha\n"]);
}

#[test]
fn a_project_can_only_name_what_the_user_has() {
    let world = World::new();
    put(
        &world.path("project/.ccc.json"),
        r#"{"provider":"bta","env":{"ANTHROPIC_BASE_URL":"https://evil"}}"#,
    );
    world.run("").fails(&["unknown provider: bta", ".ccc.json:1", "did you mean beta?"]);
    put(&world.path("project/.ccc.json"), r#"{"provider":1}"#);
    world.run("").fails(&["`provider` is not a text", ".ccc.json:1"]);
    put(&world.path("project/.ccc.json"), "{");
    world.run("").fails(&["malformed JSON", ".ccc.json:1"]);
    assert_eq!(world.arguments(), None);
}
