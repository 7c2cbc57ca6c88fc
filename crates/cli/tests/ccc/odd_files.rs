//! Whatever lies in the place of `ccc.json`, `settings.json` or `.ccc.json`: it is used, or refused with its name and
//! a hint. A refusal leaves everything as it was and starts nothing.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::context::{Output, TOKEN_A, TestContext, ccc_output, mode, put, read};

/// A file of the user's that a start depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Config,
    Settings,
    Pin,
}

const KINDS: [Kind; 3] = [Kind::Config, Kind::Settings, Kind::Pin];

impl Kind {
    fn path(self, context: &TestContext) -> PathBuf {
        match self {
            Self::Config => context.config(),
            Self::Settings => context.settings(),
            Self::Pin => context.path("project/.ccc.json"),
        }
    }

    /// Command lines that cannot do without it.
    fn lines(self) -> &'static [&'static str] {
        match self {
            Self::Config => {
                &["beta", "", "use beta", "beta --dry-run", "list", "run --isolated beta", "add new"]
            }
            Self::Settings => &["beta", "use beta", "beta --dry-run"],
            Self::Pin => &["", "-c", "--dry-run", "current"],
        }
    }
}

/// What is put in the place of a file.
enum Shape {
    Bytes(Vec<u8>),
    Folder,
    Pipe,
}

fn bytes(text: impl Into<Vec<u8>>) -> Shape {
    Shape::Bytes(text.into())
}

impl Shape {
    fn put(&self, path: &Path) {
        let _ = fs::remove_file(path);
        match self {
            Self::Bytes(bytes) => fs::write(path, bytes).unwrap(),
            Self::Folder => fs::create_dir(path).unwrap(),
            Self::Pipe => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
        }
    }
}

/// What no file may be, and what is said about it beside its name.
fn unusable() -> Vec<(&'static str, Shape, &'static str)> {
    vec![
        ("malformed", bytes(format!("{{\n  \"t\": \"{TOKEN_A}\",\n  oops\n}}")), ".json:3"),
        ("cut off", bytes(format!("{{\n\"a\": {{\n\"b\": \"{TOKEN_A}")), ".json:3"),
        ("two values", bytes("{}\n{}"), ".json:2"),
        ("list", bytes("[]"), "not a JSON object"),
        ("text", bytes("\n\"provider\""), "not a JSON object"),
        ("null", bytes("null"), "not a JSON object"),
        ("not UTF-8", bytes(b"{\n\"provider\": \"\xff\xfe\"}".to_vec()), "not UTF-8 text"),
        ("UTF-16", bytes(b"\xff\xfe{\0}\0".to_vec()), "not UTF-8 text"),
        ("45 MB", bytes(format!("{{\"a\": \"{}\"}}", "x".repeat(45_000_000))), "larger than 4 MiB"),
        ("20,000 deep", bytes(deep()), "nested more than 128 levels deep"),
        ("folder", Shape::Folder, "a folder, not a file"),
        ("pipe", Shape::Pipe, "not a regular file"),
    ]
}

/// As JSON goes, there is nothing wrong with it.
fn deep() -> String {
    format!("{{\"a\": {}{}}}", "[".repeat(20_000), "]".repeat(20_000))
}

#[test]
fn what_no_file_may_be_is_refused() {
    for kind in KINDS {
        for (name, shape, part) in unusable() {
            println!("{kind:?}: {name}");
            let context = TestContext::with_providers();
            let path = kind.path(&context);
            shape.put(&path);
            assert_refused(&context, kind.lines(), &[part, &path.display().to_string()]);
        }
    }
}

/// Nothing but the folder of `ccc`'s own state may differ after a refusal.
#[track_caller]
fn assert_refused(context: &TestContext, lines: &[&str], parts: &[&str]) {
    if fs::metadata(context.config()).is_ok_and(|about| about.is_file()) {
        // It holds tokens, so it is made private whatever comes of the rest.
        fs::set_permissions(context.config(), Permissions::from_mode(0o600)).unwrap();
    }
    let before = everything(context);
    for line in lines {
        run(context, line).fails(parts);
        assert!(everything(context) == before, "`ccc {line}` changed something");
        assert_eq!(context.arguments(), None, "`ccc {line}` started the client");
    }
}

/// A program that waits for a pipe is ended and reported; no other limit depends on time.
#[track_caller]
fn run(context: &TestContext, line: &str) -> Output {
    let mut child = context.ccc_command(&line.split_whitespace().collect::<Vec<_>>()).spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_mins(10) {
            child.kill().unwrap();
            panic!("`ccc {line}` hangs");
        }
        thread::sleep(Duration::from_millis(2));
    }
    ccc_output(&child.wait_with_output().unwrap())
}

/// Every file of the home and the project: kind, mode, and content or aim.
fn everything(context: &TestContext) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![context.path("home"), context.path("project")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let about = fs::symlink_metadata(&path).unwrap();
            if path == context.path("home/.claude/ccc") {
                continue;
            }
            let bytes = if about.is_file() {
                fs::read(&path).unwrap()
            } else if about.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else {
                Vec::new()
            };
            if about.is_dir() {
                folders.push(path.clone());
            }
            found.insert(path, (about.mode(), bytes));
        }
    }
    found
}

#[test]
fn a_choice_that_was_never_made_is_not_made_by_a_refusal() {
    let context = TestContext::without_providers();
    let config =
        "{\n  \"providers\": {\n    \"beta\": { \"env\": { \"ANTHROPIC_MODEL\": \"m\" } }\n  } // mine\n}\n";
    put(&context.config(), config);
    Shape::Pipe.put(&context.settings());
    assert_refused(&context, &["beta", "", "use beta"], &["not a regular file", "settings.json"]);
}

#[test]
fn an_empty_file_says_nothing() {
    for text in ["", " \n\t\n", "\u{feff}", "// nothing yet\n"] {
        let context = TestContext::with_providers();
        put(&context.config(), text);
        assert_refused(&context, &["beta", "use beta", "run --isolated beta"], &["unknown provider: beta"]);
        assert_refused(&context, &[""], &["no provider is selected", "ccc.json"]);
        let context = TestContext::with_providers();
        put(&context.path("project/.ccc.json"), text);
        run(&context, "").succeeds().stderr_has(&["ccc: on alpha\n"]);
        assert_eq!(read(&context.path("project/.ccc.json")), text);
    }
}

#[test]
fn comments_and_a_byte_order_mark_in_a_pin_are_read_over() {
    let context = TestContext::with_providers();
    let text = "\u{feff}{\n  /* for\n this */ \"provider\": \"beta\", // one\n}\n";
    put(&context.path("project/.ccc.json"), text);
    run(&context, "").succeeds().stderr_has(&[".ccc.json:3"]);
    assert!(read(&context.path("record/private.json")).contains("beta.example"));
    assert_eq!(read(&context.path("project/.ccc.json")), text);
}

#[test]
fn a_byte_order_mark_and_a_comment_in_the_settings_are_reported_with_their_line() {
    let context = TestContext::with_providers();
    put(&context.settings(), "\u{feff}{\n\n  \"a\": 1, // mine\n}");
    assert_refused(&context, Kind::Settings.lines(), &["settings.json:3"]);
}

#[test]
fn links_stay_links_and_lead_to_what_changed() {
    for kind in KINDS {
        let context = TestContext::with_providers();
        put(&context.settings(), "{\"mine\": 1.50}");
        put(&context.path("project/.ccc.json"), r#"{"provider": "beta"}"#);
        let (link, real) = (kind.path(&context), context.path("dotfiles/real.json"));
        fs::create_dir(context.path("dotfiles")).unwrap();
        fs::rename(&link, &real).unwrap();
        symlink("../somewhere", context.path("home/unrelated")).unwrap();
        symlink(&real, &link).unwrap();
        let before = read(&real);
        run(&context, if kind == Kind::Pin { "" } else { "beta" }).succeeds();
        assert_eq!(fs::read_link(&link).unwrap(), real, "{kind:?}");
        assert_eq!(read(&real) == before, kind == Kind::Pin, "{kind:?}");
        let names: Vec<_> = fs::read_dir(context.path("dotfiles")).unwrap().flatten().collect();
        assert_eq!(names.len(), 1, "{names:?}");
    }
}

#[test]
fn a_link_to_nowhere_is_filled_where_something_is_written() {
    let context = TestContext::with_providers();
    symlink(context.path("dotfiles/settings.json"), context.settings()).unwrap();
    run(&context, "beta").succeeds();
    assert!(fs::symlink_metadata(context.settings()).unwrap().is_symlink());
    assert!(read(&context.path("dotfiles/settings.json")).contains("\"allow\""));
    let context = TestContext::without_providers();
    symlink(context.path("dotfiles/ccc.json"), context.config()).unwrap();
    assert_refused(&context, &["beta"], &["unknown provider: beta"]);
    run(&context, "add beta --token-env T").succeeds();
    assert!(fs::symlink_metadata(context.config()).unwrap().is_symlink());
    assert_eq!(mode(&context.path("dotfiles/ccc.json")), 0o600);
}

#[test]
fn a_pin_that_leads_nowhere_is_not_taken_for_none() {
    let context = TestContext::with_providers();
    symlink(context.path("project/gone.json"), context.path("project/.ccc.json")).unwrap();
    assert_refused(&context, Kind::Pin.lines(), &[".ccc.json"]);
}

#[test]
fn a_pin_that_may_only_be_read_is_enough() {
    let context = TestContext::with_providers();
    put(&context.path("project/.ccc.json"), r#"{"provider": "beta"}"#);
    fs::set_permissions(context.path("project/.ccc.json"), Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(context.path("project"), Permissions::from_mode(0o555)).unwrap();
    run(&context, "").succeeds().stderr_has(&["on beta", ".ccc.json:1"]);
    fs::set_permissions(context.path("project"), Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_read_only_folder_is_respected() {
    let context = TestContext::with_providers();
    put(&context.settings(), "{}");
    let folder = context.path("home/.claude");
    fs::set_permissions(&folder, Permissions::from_mode(0o555)).unwrap();
    assert_refused(&context, &["beta", "use beta", "add new"], &["home/.claude"]);
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
}

/// The superuser may do everything, so where the tests run as one, another user has to try.
#[test]
fn missing_permissions_are_reported() {
    let context = TestContext::with_providers();
    put(&context.settings(), "{}");
    let folder = context.path("home/.claude");
    for (path, mode, parts) in [
        (folder.clone(), 0o555, ["cannot", "home/.claude"]),
        (context.settings(), 0o000, ["cannot read", "settings.json"]),
        (context.config(), 0o000, ["cannot read", "ccc.json"]),
    ] {
        let usual = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        for words in [["beta"].as_slice(), &["use", "beta"]] {
            let output = ordinary(&context, words);
            fs::set_permissions(&path, usual.clone()).unwrap();
            output.fails(&parts);
            assert_eq!(read(&context.settings()), "{}");
            assert!(read(&context.config()).contains("\"current_provider\": \"alpha\""));
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        }
        fs::set_permissions(&path, usual).unwrap();
    }
    assert_eq!(context.arguments(), None);
}

/// Runs `ccc` as an ordinary user who owns all files of the context.
fn ordinary(context: &TestContext, words: &[&str]) -> Output {
    const NOBODY: u32 = 65_534;
    let about = fs::metadata(context.path("home")).unwrap();
    if about.uid() != 0 && about.uid() != NOBODY {
        return ccc_output(&context.ccc_command(words).output().unwrap());
    }
    let ccc = context.path("bin/ccc");
    if !ccc.exists() {
        // A copy: the owner of a hard link is that of the build itself.
        assert!(Command::new("cp").arg(crate::context::BINARY).arg(&ccc).status().unwrap().success());
        let root = context.path("");
        assert!(Command::new("chown").args(["-R", "65534:65534"]).arg(root).status().unwrap().success());
    }
    ccc_output(&context.program(&ccc).args(words).uid(NOBODY).gid(NOBODY).output().unwrap())
}

#[test]
fn a_broken_memory_of_what_is_ours_is_refused_too() {
    for (name, shape, part) in unusable() {
        println!("{name}");
        let context = TestContext::with_providers();
        put(&context.settings(), "{\"env\": {\"KEEP\": \"x\"}}");
        run(&context, "use alpha").succeeds();
        let owned = context.path("home/.claude/ccc/owned.json");
        shape.put(&owned);
        let lines = ["beta", "use beta", "run --isolated beta", "beta --dry-run", "remove alpha"];
        assert_refused(&context, &lines, &[part, "owned.json"]);
    }
}
