//! `uninstall --purge` deletes a folder that is Overtone's as a whole, and nothing else.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::context::{Output, TestContext, put};
use crate::pty::Pty;

/// Runs it with a home of its own choice.
fn purge(context: &TestContext, home: &Path) -> Output {
    let mut command = context.command(&["uninstall", "--purge", "--yes"]);
    Output::new(&command.env("OVERTONE_HOME", home).output().unwrap())
}

/// With a home of its own choice, as a hook makes it in its first session.
fn use_home(context: &TestContext, home: &Path) {
    let mut command = context.command(&["init", "quick", "--session", "s1"]);
    let output = command.env("OVERTONE_HOME", home).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn the_users_own_folder_is_never_deleted() {
    let context = TestContext::for_commands();
    let home = context.state().parent().unwrap().to_owned();
    put(&home.join("thesis.tex"), "years of work");
    put(&home.join("plugin/mine.txt"), "mine");
    use_home(&context, &home);
    purge(&context, &home).fails(&["not deleted", "--purge"]);
    // The folder around it, and by another name.
    purge(&context, home.parent().unwrap()).fails(&["not deleted"]);
    purge(&context, Path::new("/")).fails(&["not deleted"]);
    let link = context.project().join("link");
    symlink(&home, &link).unwrap();
    purge(&context, &link).fails(&["not deleted"]);
    assert_eq!(fs::read_to_string(home.join("thesis.tex")).unwrap(), "years of work");
    // Also without --purge, nothing of the user's goes.
    let mut command = context.command(&["uninstall"]);
    let output = command.env("OVERTONE_HOME", &home).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(fs::read_to_string(home.join("plugin/mine.txt")).unwrap(), "mine");
}

#[test]
fn even_an_empty_home_folder_of_the_user_stays() {
    let context = TestContext::for_commands();
    let home = context.state().parent().unwrap().to_owned();
    use_home(&context, &home);
    purge(&context, &home).fails(&["not deleted"]);
    assert!(home.join("sessions/s1").exists());
}

#[test]
fn a_project_and_a_strange_folder_stay() {
    let context = TestContext::for_commands();
    let project = context.project();
    put(&project.join(".git/HEAD"), "ref: refs/heads/main\n");
    put(&project.join("src/main.rs"), "fn main() {}\n");
    use_home(&context, &project);
    purge(&context, &project).fails(&[".git", "src", "not deleted"]);
    let strange = context.project().join("../strange");
    put(&strange.join("notes.txt"), "mine");
    purge(&context, &strange).fails(&["notes.txt"]);
    let empty = context.project().join("../empty");
    fs::create_dir(&empty).unwrap();
    purge(&context, &empty).fails(&["not deleted"]);
    assert!(project.join("src/main.rs").exists() && strange.join("notes.txt").exists() && empty.exists());
}

#[test]
fn foreign_files_in_the_home_are_not_deleted() {
    let context = TestContext::for_commands();
    context.run("up").ok();
    put(&context.state().join("backup/photo.jpg"), "x");
    context.run("uninstall --purge --yes").fails(&["backup"]);
    assert!(context.state().join("plugin").exists(), "nothing is changed before it is clear that all may go");
    fs::remove_dir_all(context.state().join("backup")).unwrap();
    context.run("uninstall --purge --yes").ok();
    assert!(!context.state().exists());
}

#[test]
fn everything_that_overtone_makes_may_go() {
    let context = TestContext::for_commands();
    context.run("up").ok();
    context.run("init quick").ok();
    context.agent("s1", "developer", Some("PASS"));
    context.run("config set language en").ok();
    for (number, text) in [(1, "npm test"), (2, "npm test")] {
        let payload = serde_json::json!({
            "session_id": "s1", "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "cwd": context.project(),
            "tool_input": { "command": text }, "error": format!("Exit code {number}"), "is_interrupt": false,
        });
        context.hook("post-use-failure", &payload);
    }
    context.run("dashboard --token");
    context.run("doctor");
    context.run("uninstall --purge --yes").ok();
    assert!(!context.state().exists());
}

#[test]
fn a_home_of_an_earlier_version_takes_a_yes_at_the_terminal() {
    let context = TestContext::for_commands();
    context.run("init quick").ok();
    fs::remove_file(context.state().join(".overtone-home")).unwrap();
    context.run("uninstall --purge --yes").fails(&["not deleted", "terminal"]);
    assert!(context.state().join("sessions/s1").exists());
    let command = context.command(&["uninstall", "--purge", "--yes"]);
    let mut terminal = Pty::start(&command, 100, 20);
    terminal.sees(&["[y/N]"]);
    terminal.press("n\r");
    assert!(!terminal.ends().success());
    assert!(context.state().join("sessions/s1").exists());
    let mut terminal = Pty::start(&command, 100, 20);
    terminal.sees(&["[y/N]"]);
    terminal.press("y\r");
    assert!(terminal.ends().success());
    assert!(!context.state().exists());
}

#[test]
fn up_marks_the_home_of_an_earlier_version() {
    let context = TestContext::for_commands();
    context.run("init quick").ok();
    fs::remove_file(context.state().join(".overtone-home")).unwrap();
    context.run("up").ok();
    context.run("uninstall --purge --yes").ok();
    assert!(!context.state().exists());
}
