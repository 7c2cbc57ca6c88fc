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

use crate::world::{Output, TOKEN_A, World, mode, put, read};

/// A file of the user's that a start depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Config,
    Settings,
    Pin,
}

const KINDS: [Kind; 3] = [Kind::Config, Kind::Settings, Kind::Pin];

impl Kind {
    fn path(self, world: &World) -> PathBuf {
        match self {
            Self::Config => world.config(),
            Self::Settings => world.settings(),
            Self::Pin => world.path("project/.ccc.json"),
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
            let world = World::new();
            let path = kind.path(&world);
            shape.put(&path);
            assert_refused(&world, kind.lines(), &[part, &path.display().to_string()]);
        }
    }
}

/// Nothing but the folder of `ccc`'s own state may differ after a refusal.
#[track_caller]
fn assert_refused(world: &World, lines: &[&str], parts: &[&str]) {
    if fs::metadata(world.config()).is_ok_and(|about| about.is_file()) {
        // It holds tokens, so it is made private whatever comes of the rest.
        fs::set_permissions(world.config(), Permissions::from_mode(0o600)).unwrap();
    }
    let before = everything(world);
    for line in lines {
        run(world, line).fails(parts);
        assert!(everything(world) == before, "`ccc {line}` changed something");
        assert_eq!(world.arguments(), None, "`ccc {line}` started the client");
    }
}

/// A program that waits for a pipe is ended and reported; no other limit depends on time.
#[track_caller]
fn run(world: &World, line: &str) -> Output {
    let mut child = world.command(&line.split_whitespace().collect::<Vec<_>>()).spawn().unwrap();
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_mins(10) {
            child.kill().unwrap();
            panic!("`ccc {line}` hangs");
        }
        thread::sleep(Duration::from_millis(2));
    }
    Output::of(&child.wait_with_output().unwrap())
}

/// Every file of the home and the project: kind, mode, and content or aim.
fn everything(world: &World) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![world.path("home"), world.path("project")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let about = fs::symlink_metadata(&path).unwrap();
            if path == world.path("home/.claude/ccc") {
                continue;
            }
            let content = if about.is_file() {
                fs::read(&path).unwrap()
            } else if about.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else {
                Vec::new()
            };
            if about.is_dir() {
                folders.push(path.clone());
            }
            found.insert(path, (about.mode(), content));
        }
    }
    found
}

#[test]
fn a_choice_that_was_never_made_is_not_made_by_a_refusal() {
    let world = World::empty();
    let config =
        "{\n  \"providers\": {\n    \"beta\": { \"env\": { \"ANTHROPIC_MODEL\": \"m\" } }\n  } // mine\n}\n";
    put(&world.config(), config);
    Shape::Pipe.put(&world.settings());
    assert_refused(&world, &["beta", "", "use beta"], &["not a regular file", "settings.json"]);
}

#[test]
fn an_empty_file_says_nothing() {
    for text in ["", " \n\t\n", "\u{feff}", "// nothing yet\n"] {
        let world = World::new();
        put(&world.config(), text);
        assert_refused(&world, &["beta", "use beta", "run --isolated beta"], &["unknown provider: beta"]);
        assert_refused(&world, &[""], &["no provider is chosen", "ccc.json"]);
        let world = World::new();
        put(&world.path("project/.ccc.json"), text);
        run(&world, "").ok().stderr_has(&["ccc: on alpha\n"]);
        assert_eq!(read(&world.path("project/.ccc.json")), text);
    }
}

#[test]
fn comments_and_a_byte_order_mark_in_a_pin_are_read_over() {
    let world = World::new();
    let text = "\u{feff}{\n  /* for\n this */ \"provider\": \"beta\", // one\n}\n";
    put(&world.path("project/.ccc.json"), text);
    run(&world, "").ok().stderr_has(&[".ccc.json:3"]);
    assert!(read(&world.path("record/private.json")).contains("beta.example"));
    assert_eq!(read(&world.path("project/.ccc.json")), text);
}

#[test]
fn a_byte_order_mark_and_a_comment_in_the_settings_are_told_by_line() {
    let world = World::new();
    put(&world.settings(), "\u{feff}{\n\n  \"a\": 1, // mine\n}");
    assert_refused(&world, Kind::Settings.lines(), &["settings.json:3"]);
}

#[test]
fn links_stay_links_and_lead_to_what_changed() {
    for kind in KINDS {
        let world = World::new();
        put(&world.settings(), "{\"mine\": 1.50}");
        put(&world.path("project/.ccc.json"), r#"{"provider": "beta"}"#);
        let (link, real) = (kind.path(&world), world.path("dotfiles/real.json"));
        fs::create_dir(world.path("dotfiles")).unwrap();
        fs::rename(&link, &real).unwrap();
        symlink("../somewhere", world.path("home/unrelated")).unwrap();
        symlink(&real, &link).unwrap();
        let before = read(&real);
        run(&world, if kind == Kind::Pin { "" } else { "beta" }).ok();
        assert_eq!(fs::read_link(&link).unwrap(), real, "{kind:?}");
        assert_eq!(read(&real) == before, kind == Kind::Pin, "{kind:?}");
        let names: Vec<_> = fs::read_dir(world.path("dotfiles")).unwrap().flatten().collect();
        assert_eq!(names.len(), 1, "{names:?}");
    }
}

#[test]
fn a_link_to_nowhere_is_filled_where_something_is_written() {
    let world = World::new();
    symlink(world.path("dotfiles/settings.json"), world.settings()).unwrap();
    run(&world, "beta").ok();
    assert!(fs::symlink_metadata(world.settings()).unwrap().is_symlink());
    assert!(read(&world.path("dotfiles/settings.json")).contains("\"allow\""));
    let world = World::empty();
    symlink(world.path("dotfiles/ccc.json"), world.config()).unwrap();
    assert_refused(&world, &["beta"], &["unknown provider: beta"]);
    run(&world, "add beta --token-env T").ok();
    assert!(fs::symlink_metadata(world.config()).unwrap().is_symlink());
    assert_eq!(mode(&world.path("dotfiles/ccc.json")), 0o600);
}

#[test]
fn a_pin_that_leads_nowhere_is_not_taken_for_none() {
    let world = World::new();
    symlink(world.path("project/gone.json"), world.path("project/.ccc.json")).unwrap();
    assert_refused(&world, Kind::Pin.lines(), &[".ccc.json"]);
}

#[test]
fn a_pin_that_may_only_be_read_is_enough() {
    let world = World::new();
    put(&world.path("project/.ccc.json"), r#"{"provider": "beta"}"#);
    fs::set_permissions(world.path("project/.ccc.json"), Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(world.path("project"), Permissions::from_mode(0o555)).unwrap();
    run(&world, "").ok().stderr_has(&["on beta", ".ccc.json:1"]);
    fs::set_permissions(world.path("project"), Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_read_only_folder_is_respected() {
    let world = World::new();
    put(&world.settings(), "{}");
    let folder = world.path("home/.claude");
    fs::set_permissions(&folder, Permissions::from_mode(0o555)).unwrap();
    assert_refused(&world, &["beta", "use beta", "add new"], &["home/.claude"]);
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
}

/// The superuser may do everything, so where the tests run as one, another user has to try.
#[test]
fn what_an_ordinary_user_may_not_do_is_told() {
    let world = World::new();
    put(&world.settings(), "{}");
    let folder = world.path("home/.claude");
    for (path, mode, parts) in [
        (folder.clone(), 0o555, ["cannot", "home/.claude"]),
        (world.settings(), 0o000, ["cannot read", "settings.json"]),
        (world.config(), 0o000, ["cannot read", "ccc.json"]),
    ] {
        let usual = fs::metadata(&path).unwrap().permissions();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        for words in [["beta"].as_slice(), &["use", "beta"]] {
            let output = ordinary(&world, words);
            fs::set_permissions(&path, usual.clone()).unwrap();
            output.fails(&parts);
            assert_eq!(read(&world.settings()), "{}");
            assert!(read(&world.config()).contains("\"current_provider\": \"alpha\""));
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        }
        fs::set_permissions(&path, usual).unwrap();
    }
    assert_eq!(world.arguments(), None);
}

/// Runs `ccc` as somebody who is not the superuser, with the world as their own.
fn ordinary(world: &World, words: &[&str]) -> Output {
    const NOBODY: u32 = 65_534;
    let about = fs::metadata(world.path("home")).unwrap();
    if about.uid() != 0 && about.uid() != NOBODY {
        return Output::of(&world.command(words).output().unwrap());
    }
    let ccc = world.path("bin/ccc");
    if !ccc.exists() {
        // A copy: the owner of a hard link is that of the build itself.
        assert!(Command::new("cp").arg(crate::world::BINARY).arg(&ccc).status().unwrap().success());
        let root = world.path("");
        assert!(Command::new("chown").args(["-R", "65534:65534"]).arg(root).status().unwrap().success());
    }
    Output::of(&world.program(&ccc).args(words).uid(NOBODY).gid(NOBODY).output().unwrap())
}

#[test]
fn a_broken_memory_of_what_is_ours_is_refused_too() {
    for (name, shape, part) in unusable() {
        println!("{name}");
        let world = World::new();
        put(&world.settings(), "{\"env\": {\"KEEP\": \"x\"}}");
        run(&world, "use alpha").ok();
        let owned = world.path("home/.claude/ccc/owned.json");
        shape.put(&owned);
        let lines = ["beta", "use beta", "run --isolated beta", "beta --dry-run", "remove alpha"];
        assert_refused(&world, &lines, &[part, "owned.json"]);
    }
}
