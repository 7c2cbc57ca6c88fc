//! `ccc edit`: only a sound file is saved, and nothing that was typed gets lost.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use crate::context::{Output, TestContext, ccc_output, mode, put, read};
use crate::terminal::at_terminal;

/// An editor that notes down how it was started and then runs a script on the file, which is `$file`.
fn editor(context: &TestContext, name: &str, script: &str) -> String {
    let path = context.path("bin").join(name);
    let text = format!(
        "#!/bin/sh\nfor argument in \"$@\"; do printf '%s\\n' \"$argument\"; file=$argument; done > \"$RECORD/editor\"\n\
         stat -c %a \"$file\" > \"$RECORD/mode\"\n{script}\n"
    );
    put(&path, &text);
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

fn edit(context: &TestContext, words: &[&str], editor: &str) -> Output {
    ccc_output(&context.ccc_command(words).env("EDITOR", editor).output().unwrap())
}

fn copies(context: &TestContext) -> Vec<PathBuf> {
    let Ok(files) = fs::read_dir(context.path("home/.claude/ccc")) else { return Vec::new() };
    let paths = files.map(|file| file.unwrap().path());
    paths.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("edit-")).collect()
}

#[test]
fn a_sound_change_is_saved_privately_and_a_link_stays() {
    let context = TestContext::with_providers();
    let real = context.path("dotfiles/ccc.json");
    fs::create_dir(context.path("dotfiles")).unwrap();
    fs::rename(context.config(), &real).unwrap();
    symlink(&real, context.config()).unwrap();
    let program = editor(&context, "mine", "sed -i 's/alpha-1/alpha-2/' \"$file\"");
    edit(&context, &["edit"], &format!("{program} --wait 'two words'"))
        .succeeds()
        .stderr_has(&["saved ", "ccc.json"]);
    assert!(read(&real).contains("alpha-2"));
    assert_eq!((mode(&real), context.config().is_symlink()), (0o600, true));
    let arguments = read(&context.path("record/editor"));
    assert!(
        arguments.starts_with("--wait\ntwo words\n")
            && arguments.lines().last().unwrap().contains("/ccc/edit-"),
        "{arguments}"
    );
    assert_eq!(read(&context.path("record/mode")), "600\n");
    assert!(copies(&context).is_empty());
}

#[test]
fn nothing_changed_is_said() {
    let context = TestContext::with_providers();
    let before = read(&context.config());
    edit(&context, &["edit"], &editor(&context, "mine", "")).succeeds().stderr_has(&["nothing changed in "]);
    assert_eq!(read(&context.config()), before);
    assert!(copies(&context).is_empty());
}

#[test]
fn a_faulty_text_is_refused_and_kept() {
    let context = TestContext::with_providers();
    let before = read(&context.config());
    for (script, parts) in [
        ("printf '{\\n oops' > \"$file\"", vec![".json:2", "malformed JSON"]),
        ("printf '[]' > \"$file\"", vec!["not a JSON object"]),
        (
            "printf '{\"providers\": {\\n\"a\": {\"env\": {\\n\"X\": []}}}, \"current_provider\": \"b\",\\n\"claude_args\": 1}' > \"$file\"",
            vec![
                ":3",
                "`providers.a.env.X` is not a string",
                "unknown provider: b",
                "`claude_args` is not a list",
                "not saved: 3 errors",
            ],
        ),
        (
            "printf '{\"supervisor\": {\"enabled\": 1,\\n\"max_iterations\": 0}}' > \"$file\"",
            vec!["`supervisor.enabled` must be true or false", ":2", "whole number, 1 or more"],
        ),
    ] {
        let output = edit(&context, &["edit"], &editor(&context, "mine", script)).stderr_has(&parts);
        assert_eq!(output.code, Some(1));
        let [copy] = copies(&context).try_into().unwrap();
        output.stderr_has(&["is unchanged; your version is kept in ", &copy.display().to_string()]);
        assert_eq!((read(&context.config()), mode(&copy)), (before.clone(), 0o600));
        fs::remove_file(copy).unwrap();
    }
}

#[test]
fn the_user_can_correct_an_error_at_once() {
    let context = TestContext::with_providers();
    let script = "if grep -q alpha-9 \"$file\"; then sed -i 's/broken//' \"$file\"; else sed -i 's/alpha-1/alpha-9/; 1s/$/broken/' \"$file\"; fi";
    let program = editor(&context, "mine", script);
    let mut command = context.ccc_command(&["edit"]);
    let (code, seen) = at_terminal(command.env("EDITOR", &program), "y\n");
    assert_eq!(code, Some(0), "{seen}");
    assert!(
        seen.contains("edit again?") && seen.contains("malformed JSON") && seen.contains("saved "),
        "{seen}"
    );
    assert!(read(&context.config()).contains("alpha-9"));
    let before = read(&context.config());
    let mut command = context.ccc_command(&["edit"]);
    let program = editor(&context, "mine", "echo x >> \"$file\"");
    let (code, seen) = at_terminal(command.env("EDITOR", &program), "n\n");
    assert_eq!((code, read(&context.config())), (Some(1), before), "{seen}");
    assert_eq!(copies(&context).len(), 1);
}

#[test]
fn a_broken_file_can_be_fixed() {
    let context = TestContext::with_providers();
    put(&context.config(), "{ broken");
    edit(&context, &["edit"], &editor(&context, "mine", "echo '{}' > \"$file\"")).succeeds();
    assert_eq!(read(&context.config()), "{}\n");
}

#[test]
fn a_concurrent_change_is_kept() {
    let context = TestContext::with_providers();
    let script = format!(
        "echo '{{\"mine\": 1}}' > \"$file\"; echo '{{\"theirs\": 1}}' > '{}'",
        context.config().display()
    );
    let output = edit(&context, &["edit"], &editor(&context, "mine", &script));
    let [copy] = copies(&context).try_into().unwrap();
    output.fails(&["changed by another program in the meantime", &copy.display().to_string()]);
    assert_eq!(read(&context.config()), "{\"theirs\": 1}\n");
    assert!(read(&copy).contains("mine"));
}

#[test]
fn a_missing_file_begins_with_a_template_that_is_sound() {
    for lang in ["en", "zh-CN", "zh-TW"] {
        let context = TestContext::without_providers().with_env("OVERTONE_LANG", lang);
        edit(&context, &["edit"], &editor(&context, "mine", "")).succeeds();
        assert!(!context.config().exists());
        edit(&context, &["edit"], &editor(&context, "mine", "echo >> \"$file\"")).succeeds();
        assert_eq!(mode(&context.config()), 0o600);
        assert!(read(&context.config()).contains("// ") && read(&context.config()).contains("\"kimi\""));
        assert_eq!(context.run_ccc("current").succeeds().stdout, "kimi\n");
    }
}

#[test]
fn a_provider_is_found_by_editors_that_take_lines() {
    let context = TestContext::with_providers();
    let line = read(&context.config()).lines().position(|line| line.contains("\"beta\"")).unwrap() + 1;
    edit(&context, &["edit", "beta"], &editor(&context, "nvim", "")).succeeds();
    assert!(read(&context.path("record/editor")).starts_with(&format!("+{line}\n")));
    edit(&context, &["edit", "beta"], &editor(&context, "other", "")).succeeds();
    assert!(!read(&context.path("record/editor")).contains('+'));
    edit(&context, &["edit", "bta"], "false").fails(&["unknown provider: bta", "did you mean beta?"]);
}

#[test]
fn visual_comes_first_and_a_failing_editor_changes_nothing() {
    let context = TestContext::with_providers();
    let before = read(&context.config());
    let mine = editor(&context, "mine", "");
    let output = context.ccc_command(&["edit"]).env("VISUAL", &mine).env("EDITOR", "false").output().unwrap();
    ccc_output(&output).succeeds();
    let output = edit(&context, &["edit"], "/no/such/editor");
    assert_eq!(output.code, Some(1));
    output.stderr_has(&["the editor /no/such/editor failed", "set VISUAL or EDITOR"]);
    assert!(copies(&context).is_empty());
    let gives_up = editor(&context, "mine", "echo x >> \"$file\"; exit 3");
    let output = edit(&context, &["edit"], &gives_up);
    assert_eq!((output.code, read(&context.config())), (Some(1), before));
    output.stderr_has(&["exit status: 3", "your version is kept in"]);
}

#[test]
fn a_read_only_file_is_respected() {
    let context = TestContext::with_providers();
    fs::set_permissions(context.config(), Permissions::from_mode(0o444)).unwrap();
    let program = editor(&context, "mine", "chmod u+w \"$file\"; sed -i 's/alpha-1/x/' \"$file\"");
    let output = edit(&context, &["edit"], &program);
    assert_eq!(output.code, Some(1));
    output.stderr_has(&["read-only file", "your version is kept in"]);
    assert!(read(&context.config()).contains("alpha-1"));
}
