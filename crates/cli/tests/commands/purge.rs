//! `uninstall --purge` deletes a folder that is Overtone's as a whole, and nothing else.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::pty::Pty;
use crate::world::{Output, World, put};

/// Runs it with a home of its own choice.
fn purge(world: &World, home: &Path) -> Output {
    let mut command = world.command(&["uninstall", "--purge", "--yes"]);
    Output::of(&command.env("OVERTONE_HOME", home).output().unwrap())
}

/// With a home of its own choice, as a hook makes it in its first session.
fn use_home(world: &World, home: &Path) {
    let mut command = world.command(&["init", "quick", "--session", "s1"]);
    let output = command.env("OVERTONE_HOME", home).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn the_users_own_folder_is_never_deleted() {
    let world = World::new();
    let home = world.state().parent().unwrap().to_owned();
    put(&home.join("thesis.tex"), "years of work");
    put(&home.join("plugin/mine.txt"), "mine");
    use_home(&world, &home);
    purge(&world, &home).fails(&["not deleted", "--purge"]);
    // The folder around it, and by another name.
    purge(&world, home.parent().unwrap()).fails(&["not deleted"]);
    purge(&world, Path::new("/")).fails(&["not deleted"]);
    let link = world.project().join("link");
    symlink(&home, &link).unwrap();
    purge(&world, &link).fails(&["not deleted"]);
    assert_eq!(fs::read_to_string(home.join("thesis.tex")).unwrap(), "years of work");
    // Also without --purge, nothing of the user's goes.
    let mut command = world.command(&["uninstall"]);
    let output = command.env("OVERTONE_HOME", &home).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(fs::read_to_string(home.join("plugin/mine.txt")).unwrap(), "mine");
}

#[test]
fn even_an_empty_home_folder_of_the_user_stays() {
    let world = World::new();
    let home = world.state().parent().unwrap().to_owned();
    use_home(&world, &home);
    purge(&world, &home).fails(&["not deleted"]);
    assert!(home.join("sessions/s1").exists());
}

#[test]
fn a_project_and_a_strange_folder_stay() {
    let world = World::new();
    let project = world.project();
    put(&project.join(".git/HEAD"), "ref: refs/heads/main\n");
    put(&project.join("src/main.rs"), "fn main() {}\n");
    use_home(&world, &project);
    purge(&world, &project).fails(&[".git", "src", "not deleted"]);
    let strange = world.project().join("../strange");
    put(&strange.join("notes.txt"), "mine");
    purge(&world, &strange).fails(&["notes.txt"]);
    let empty = world.project().join("../empty");
    fs::create_dir(&empty).unwrap();
    purge(&world, &empty).fails(&["not deleted"]);
    assert!(project.join("src/main.rs").exists() && strange.join("notes.txt").exists() && empty.exists());
}

#[test]
fn what_somebody_put_into_the_home_is_not_deleted_with_it() {
    let world = World::new();
    world.run("up").ok();
    put(&world.state().join("backup/photo.jpg"), "x");
    world.run("uninstall --purge --yes").fails(&["backup"]);
    assert!(world.state().join("plugin").exists(), "nothing is changed before it is clear that all may go");
    fs::remove_dir_all(world.state().join("backup")).unwrap();
    world.run("uninstall --purge --yes").ok();
    assert!(!world.state().exists());
}

#[test]
fn everything_that_overtone_makes_may_go() {
    let world = World::new();
    world.run("up").ok();
    world.run("init quick").ok();
    world.agent("s1", "developer", Some("PASS"));
    world.run("config set language en").ok();
    for (number, text) in [(1, "npm test"), (2, "npm test")] {
        let payload = serde_json::json!({
            "session_id": "s1", "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "cwd": world.project(),
            "tool_input": { "command": text }, "error": format!("Exit code {number}"), "is_interrupt": false,
        });
        world.hook("post-use-failure", &payload);
    }
    world.run("dashboard --token");
    world.run("doctor");
    world.run("uninstall --purge --yes").ok();
    assert!(!world.state().exists());
}

#[test]
fn a_home_of_an_earlier_version_takes_a_yes_at_the_terminal() {
    let world = World::new();
    world.run("init quick").ok();
    fs::remove_file(world.state().join(".overtone-home")).unwrap();
    world.run("uninstall --purge --yes").fails(&["not deleted", "terminal"]);
    assert!(world.state().join("sessions/s1").exists());
    let command = world.command(&["uninstall", "--purge", "--yes"]);
    let mut terminal = Pty::start(&command, 100, 20);
    terminal.sees(&["[y/N]"]);
    terminal.press("n\r");
    assert!(!terminal.ends().success());
    assert!(world.state().join("sessions/s1").exists());
    let mut terminal = Pty::start(&command, 100, 20);
    terminal.sees(&["[y/N]"]);
    terminal.press("y\r");
    assert!(terminal.ends().success());
    assert!(!world.state().exists());
}

#[test]
fn up_marks_the_home_of_an_earlier_version() {
    let world = World::new();
    world.run("init quick").ok();
    fs::remove_file(world.state().join(".overtone-home")).unwrap();
    world.run("up").ok();
    world.run("uninstall --purge --yes").ok();
    assert!(!world.state().exists());
}
