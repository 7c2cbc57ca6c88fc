//! Files and changes that are rejected, with their messages. The file stays unchanged.

#![allow(clippy::unwrap_used, reason = "a panic is the failure report of a test")]
#![allow(clippy::disallowed_methods, reason = "fixtures need no atomic writes")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use jsonc_edit::{Changed, Document, MAX_BYTES, MAX_DEPTH, SettingsError, SettingsErrorKind, SettingsFile};
use serde_json::json;
use tempfile::TempDir;

fn put(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
}

fn folder_with(bytes: &[u8]) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("settings.json");
    put(&path, bytes);
    (dir, path)
}

fn edit(path: &Path) -> Result<(Changed, ()), SettingsError> {
    SettingsFile::at(path).edit(|doc| doc.set(&["model"], "opus"))
}

/// The error of an edit, with `F` for the path of the file. Checks that the file is unchanged and alone in its folder.
fn refusal(bytes: &[u8]) -> String {
    let (dir, path) = folder_with(bytes);
    let error = edit(&path).unwrap_err();
    assert_eq!(error.to_string(), SettingsFile::at(&path).read().unwrap_err().to_string());
    assert!(error.hint().is_some());
    assert!(fs::read(&path).unwrap() == bytes);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    error.to_string().replace(path.to_str().unwrap(), "F")
}

#[test]
fn malformed_files_are_named_with_line_and_column() {
    let cases: [(&str, &str); 12] = [
        ("{\n  \"a\": 1\n  \"b\": 2\n}", "malformed JSON in F:2:9: expected comma"),
        ("{\"a\": 1", "malformed JSON in F:1:1: unterminated object"),
        ("{\n  \"a\": [1,\n", "malformed JSON in F:2:8: unterminated array"),
        ("{\n  \"a\": \"sk-secret\n}", "malformed JSON in F:2:8: string without a closing quote"),
        ("{\"a\": \"\t\"}", "malformed JSON in F:1:8: control character in a string"),
        ("{\"a\": 'x'}", "malformed JSON in F:1:7: single-quoted strings are not allowed"),
        ("{a: 1}", "malformed JSON in F:1:2: expected string for object property"),
        ("{\"a\": sk-secret}", "malformed JSON in F:1:7: unexpected token"),
        ("{\"a\": \"\\ud8aa\"}", "malformed JSON in F:1:8: invalid escape in a string"),
        ("{} {}", "malformed JSON in F:1:4: text cannot contain more than one json value"),
        ("{} /*", "malformed JSON in F:1:4: unterminated comment block"),
        ("\u{feff}{\"é字\": 1 2}", "malformed JSON in F:1:9: expected comma"),
    ];
    for (text, expected) in cases {
        let message = refusal(text.as_bytes());
        assert_eq!(message, expected);
        assert!(!message.contains("sk-"));
    }
}

#[test]
fn every_truncation_is_refused_or_empty() {
    let text = "{\"env\": {\"A\": \"\\u00e9 x\", \"B\": [1, true, null, -1.5e3]}, /* c */ \"d\": {}}";
    for end in 1..text.len() {
        let error = Document::parse(Path::new("f"), &text[..end]).unwrap_err();
        assert!(matches!(error.kind, SettingsErrorKind::Syntax(_)), "{end}");
    }
}

#[test]
fn other_values_than_objects_are_refused() {
    for text in ["[]", "null", "\"sk-secret\"", "1"] {
        assert_eq!(refusal(text.as_bytes()), "not a JSON object: F:1:1");
    }
    assert_eq!(refusal(b"// c\n []"), "not a JSON object: F:2:2");
}

#[test]
fn bytes_that_are_not_utf8_are_refused() {
    assert_eq!(refusal(b"{\n  \"a\": \"\xff\"\n}"), "not UTF-8 text: F:2:9");
    assert_eq!(refusal(b"\xff\xfe{\0}\0"), "not UTF-8 text: F:1:1");
}

#[test]
fn huge_files_are_refused() {
    let huge = format!("{{\"a\": \"{}\"}}", "x".repeat(45_000_000));
    assert_eq!(refusal(huge.as_bytes()), "larger than 4 MiB: F");
    let error = Document::parse(Path::new("f"), &huge).unwrap_err();
    assert!(matches!(error.kind, SettingsErrorKind::TooLarge));
    let largest = format!("{{\"a\": \"{}\"}}", "x".repeat(MAX_BYTES - 9));
    Document::parse(Path::new("f"), &largest).unwrap();
    let mut document = Document::parse(Path::new("f"), &largest).unwrap();
    assert!(matches!(document.set(&["b"], 1).unwrap_err().kind, SettingsErrorKind::TooLarge));
    assert_eq!(document.get(&["b"]), None, "a change that fails is not there");
}

#[test]
fn deep_files_are_refused_without_using_up_the_stack() {
    let small_stack = std::thread::Builder::new().stack_size(512 * 1024);
    let tries = || {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let deep = format!("{{\"a\": {}1{}}}", open.repeat(20_000), close.repeat(20_000));
            let column = 7 + open.len() * (MAX_DEPTH - 1);
            assert_eq!(refusal(deep.as_bytes()), format!("nested more than 128 levels deep: F:1:{column}"));
            assert!(refusal(&deep.as_bytes()[..20_000]).starts_with("nested more than"));
        }
        let levels = MAX_DEPTH - 1;
        let allowed = format!("{{\"a\": {}1{}}}", "[".repeat(levels), "]".repeat(levels));
        let mut document = Document::parse(Path::new("f"), &allowed).unwrap();
        document.set(&["b"], document.get(&["a"]).unwrap()).unwrap();
        assert!(document.remove(&["a"]).unwrap());
        let long = vec!["k"; 20_000];
        assert!(matches!(document.set(&long, 1).unwrap_err().kind, SettingsErrorKind::TooDeep));
        assert!(matches!(
            document.set(&long[..MAX_DEPTH], json!({"x": 1})).unwrap_err().kind,
            SettingsErrorKind::TooDeep
        ));
        assert_eq!(document.get(&long), None);
    };
    small_stack.spawn(tries).unwrap().join().unwrap();
}

#[test]
fn a_scalar_on_the_path_is_not_overwritten() {
    let (_dir, path) = folder_with(b"{\n  \"env\": {\"A\": \"sk-secret\"},\n  \"hooks\": null\n}");
    let before = fs::read(&path).unwrap();
    let file = SettingsFile::at(&path);
    let at = |path: &[&str]| {
        let error = file.edit(|doc| doc.set(path, 1)).unwrap_err();
        error.to_string().replace(file.path().to_str().unwrap(), "F")
    };
    assert_eq!(at(&["env", "A", "b"]), "`env.A` is not an object: F:2:11");
    assert_eq!(at(&["hooks", "Stop"]), "`hooks` is not an object: F:3:3");
    let error = file.edit(|doc| doc.array_push(&["env"], 1)).unwrap_err();
    assert_eq!(error.hint().unwrap(), "make `env` a list, or remove it");
    assert!(error.to_string().starts_with("`env` is not a list: "));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn write_protected_files_and_folders_are_respected() {
    let (dir, path) = folder_with(b"{}");
    fs::set_permissions(&path, PermissionsExt::from_mode(0o444)).unwrap();
    let error = edit(&path).unwrap_err();
    assert_eq!(error.to_string(), format!("read-only file: {}", path.display()));
    assert_eq!(error.hint().unwrap(), format!("to allow changes: chmod u+w '{}'", path.display()));
    assert_eq!(fs::read(&path).unwrap(), b"{}");

    fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).unwrap();
    fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o555)).unwrap();
    let error = edit(&path).unwrap_err();
    assert!(matches!(&error.kind, SettingsErrorKind::ReadOnlyFolder(folder) if folder == dir.path()));
    assert_eq!(fs::read(&path).unwrap(), b"{}");
    assert_eq!(edit_to_the_same(&path), Changed::No, "reading needs no permission to write");
    fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o700)).unwrap();
}

fn edit_to_the_same(path: &Path) -> Changed {
    SettingsFile::at(path).edit(|doc| doc.remove(&["model"])).unwrap().0
}

#[test]
fn only_regular_files_are_accepted() {
    let dir = tempfile::tempdir().unwrap();
    let error = edit(dir.path()).unwrap_err();
    assert_eq!(error.to_string(), format!("a folder, not a file: {}", dir.path().display()));
    let null = dir.path().join("null");
    symlink("/dev/null", &null).unwrap();
    assert!(matches!(SettingsFile::at(&null).read().unwrap_err().kind, SettingsErrorKind::NotAFile));
    let turning = dir.path().join("loop");
    symlink("loop", &turning).unwrap();
    assert!(matches!(edit(&turning).unwrap_err().kind, SettingsErrorKind::Read(_)));
    let below_a_file = dir.path().join("f").join("settings.json");
    put(&dir.path().join("f"), b"x");
    assert!(SettingsFile::at(&below_a_file).read().is_err());
    assert!(edit(&below_a_file).is_err());
}
