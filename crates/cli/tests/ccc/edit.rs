//! `ccc edit`: only a sound file is saved, and nothing that was typed gets lost.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use crate::terminal::at_terminal;
use crate::world::{Output, World, mode, put, read};

/// An editor that notes down how it was started and then runs a script on the file, which is `$file`.
fn editor(world: &World, name: &str, script: &str) -> String {
    let path = world.path("bin").join(name);
    let text = format!(
        "#!/bin/sh\nfor argument in \"$@\"; do printf '%s\\n' \"$argument\"; file=$argument; done > \"$RECORD/editor\"\n\
         stat -c %a \"$file\" > \"$RECORD/mode\"\n{script}\n"
    );
    put(&path, &text);
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

fn edit(world: &World, words: &[&str], editor: &str) -> Output {
    Output::of(&world.command(words).env("EDITOR", editor).output().unwrap())
}

fn copies(world: &World) -> Vec<PathBuf> {
    let Ok(files) = fs::read_dir(world.path("home/.claude/ccc")) else { return Vec::new() };
    let paths = files.map(|file| file.unwrap().path());
    paths.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("edit-")).collect()
}

#[test]
fn a_sound_change_is_saved_privately_and_a_link_stays() {
    let world = World::new();
    let real = world.path("dotfiles/ccc.json");
    fs::create_dir(world.path("dotfiles")).unwrap();
    fs::rename(world.config(), &real).unwrap();
    symlink(&real, world.config()).unwrap();
    let program = editor(&world, "mine", "sed -i 's/alpha-1/alpha-2/' \"$file\"");
    edit(&world, &["edit"], &format!("{program} --wait 'two words'"))
        .ok()
        .stderr_has(&["saved ", "ccc.json"]);
    assert!(read(&real).contains("alpha-2"));
    assert_eq!((mode(&real), world.config().is_symlink()), (0o600, true));
    let arguments = read(&world.path("record/editor"));
    assert!(
        arguments.starts_with("--wait\ntwo words\n")
            && arguments.lines().last().unwrap().contains("/ccc/edit-"),
        "{arguments}"
    );
    assert_eq!(read(&world.path("record/mode")), "600\n");
    assert!(copies(&world).is_empty());
}

#[test]
fn nothing_changed_is_said() {
    let world = World::new();
    let before = read(&world.config());
    edit(&world, &["edit"], &editor(&world, "mine", "")).ok().stderr_has(&["nothing changed in "]);
    assert_eq!(read(&world.config()), before);
    assert!(copies(&world).is_empty());
}

#[test]
fn a_faulty_text_is_refused_and_kept() {
    let world = World::new();
    let before = read(&world.config());
    for (script, parts) in [
        ("printf '{\\n oops' > \"$file\"", vec![".json:2", "malformed JSON"]),
        ("printf '[]' > \"$file\"", vec!["not a JSON object"]),
        (
            "printf '{\"providers\": {\\n\"a\": {\"env\": {\\n\"X\": []}}}, \"current_provider\": \"b\",\\n\"claude_args\": 1}' > \"$file\"",
            vec![
                ":3",
                "`providers.a.env.X` is not a text",
                "unknown provider: b",
                "`claude_args` is not a list",
                "not saved: 3",
            ],
        ),
        (
            "printf '{\"supervisor\": {\"enabled\": 1,\\n\"max_iterations\": 0}}' > \"$file\"",
            vec!["`supervisor.enabled` is neither true nor false", ":2", "whole number from 1"],
        ),
    ] {
        let output = edit(&world, &["edit"], &editor(&world, "mine", script)).stderr_has(&parts);
        assert_eq!(output.code, Some(1));
        let [copy] = copies(&world).try_into().unwrap();
        output.stderr_has(&["is as it was; your version is kept in ", &copy.display().to_string()]);
        assert_eq!((read(&world.config()), mode(&copy)), (before.clone(), 0o600));
        fs::remove_file(copy).unwrap();
    }
}

#[test]
fn a_person_can_correct_at_once() {
    let world = World::new();
    let script = "if grep -q alpha-9 \"$file\"; then sed -i 's/broken//' \"$file\"; else sed -i 's/alpha-1/alpha-9/; 1s/$/broken/' \"$file\"; fi";
    let program = editor(&world, "mine", script);
    let mut command = world.command(&["edit"]);
    let (code, seen) = at_terminal(command.env("EDITOR", &program), "y\n");
    assert_eq!(code, Some(0), "{seen}");
    assert!(
        seen.contains("edit again?") && seen.contains("malformed JSON") && seen.contains("saved "),
        "{seen}"
    );
    assert!(read(&world.config()).contains("alpha-9"));
    let before = read(&world.config());
    let mut command = world.command(&["edit"]);
    let program = editor(&world, "mine", "echo x >> \"$file\"");
    let (code, seen) = at_terminal(command.env("EDITOR", &program), "n\n");
    assert_eq!((code, read(&world.config())), (Some(1), before), "{seen}");
    assert_eq!(copies(&world).len(), 1);
}

#[test]
fn a_broken_file_can_be_mended() {
    let world = World::new();
    put(&world.config(), "{ broken");
    edit(&world, &["edit"], &editor(&world, "mine", "echo '{}' > \"$file\"")).ok();
    assert_eq!(read(&world.config()), "{}\n");
}

#[test]
fn what_somebody_else_wrote_meanwhile_stays() {
    let world = World::new();
    let script = format!(
        "echo '{{\"mine\": 1}}' > \"$file\"; echo '{{\"theirs\": 1}}' > '{}'",
        world.config().display()
    );
    let output = edit(&world, &["edit"], &editor(&world, "mine", &script));
    let [copy] = copies(&world).try_into().unwrap();
    output.fails(&["changed by somebody else meanwhile", &copy.display().to_string()]);
    assert_eq!(read(&world.config()), "{\"theirs\": 1}\n");
    assert!(read(&copy).contains("mine"));
}

#[test]
fn a_missing_file_begins_with_a_template_that_is_sound() {
    for lang in ["en", "zh-CN", "zh-TW"] {
        let world = World::empty().with("OVERTONE_LANG", lang);
        edit(&world, &["edit"], &editor(&world, "mine", "")).ok();
        assert!(!world.config().exists());
        edit(&world, &["edit"], &editor(&world, "mine", "echo >> \"$file\"")).ok();
        assert_eq!(mode(&world.config()), 0o600);
        assert!(read(&world.config()).contains("// ") && read(&world.config()).contains("\"kimi\""));
        assert_eq!(world.run("current").ok().stdout, "kimi\n");
    }
}

#[test]
fn a_provider_is_found_by_editors_that_take_lines() {
    let world = World::new();
    let line = read(&world.config()).lines().position(|line| line.contains("\"beta\"")).unwrap() + 1;
    edit(&world, &["edit", "beta"], &editor(&world, "nvim", "")).ok();
    assert!(read(&world.path("record/editor")).starts_with(&format!("+{line}\n")));
    edit(&world, &["edit", "beta"], &editor(&world, "other", "")).ok();
    assert!(!read(&world.path("record/editor")).contains('+'));
    edit(&world, &["edit", "bta"], "false").fails(&["unknown provider: bta", "did you mean beta?"]);
}

#[test]
fn visual_comes_first_and_a_failing_editor_changes_nothing() {
    let world = World::new();
    let before = read(&world.config());
    let mine = editor(&world, "mine", "");
    let output = world.command(&["edit"]).env("VISUAL", &mine).env("EDITOR", "false").output().unwrap();
    Output::of(&output).ok();
    let output = edit(&world, &["edit"], "/no/such/editor");
    assert_eq!(output.code, Some(1));
    output.stderr_has(&["the editor /no/such/editor failed", "set VISUAL or EDITOR"]);
    assert!(copies(&world).is_empty());
    let gives_up = editor(&world, "mine", "echo x >> \"$file\"; exit 3");
    let output = edit(&world, &["edit"], &gives_up);
    assert_eq!((output.code, read(&world.config())), (Some(1), before));
    output.stderr_has(&["exit status: 3", "your version is kept in"]);
}

#[test]
fn a_read_only_file_is_respected() {
    let world = World::new();
    fs::set_permissions(world.config(), Permissions::from_mode(0o444)).unwrap();
    let program = editor(&world, "mine", "chmod u+w \"$file\"; sed -i 's/alpha-1/x/' \"$file\"");
    let output = edit(&world, &["edit"], &program);
    assert_eq!(output.code, Some(1));
    output.stderr_has(&["read-only file", "your version is kept in"]);
    assert!(read(&world.config()).contains("alpha-1"));
}
