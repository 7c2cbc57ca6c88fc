//! Files that cannot be used: refused with file, line and hint, and left as they are.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::world::{TOKEN_A, World, put, read};

/// A file's content, and what is said about it.
fn bad() -> Vec<(String, &'static str)> {
    vec![
        (format!("{{\n  \"token\": \"{TOKEN_A}\",\n  oops\n}}"), ".json:3"),
        (format!("{{\n\"a\": \"{TOKEN_A}"), ".json:2"),
        ("[]".to_owned(), "not a JSON object"),
        ("\"text\"".to_owned(), "not a JSON object"),
        (" ".repeat(5 * 1024 * 1024), "larger than"),
        (format!("{{\"a\": {}", "[".repeat(20_000)), "nested more than"),
    ]
}

fn is_refused(world: &World, file: &Path, content: &str, part: &str) {
    put(file, content);
    for line in ["beta", "use beta", "beta --dry-run"] {
        world.run(line).fails(&[part, &file.display().to_string()]);
        assert!(read(file) == content, "{line} changed {}", file.display());
    }
    assert_eq!(world.arguments(), None);
}

#[test]
fn a_bad_ccc_json_is_refused() {
    let world = World::empty();
    for (content, part) in bad() {
        is_refused(&world, &world.config(), &content, part);
    }
    assert!(!world.settings().exists());
}

#[test]
fn a_bad_settings_json_is_refused() {
    let world = World::new();
    let config = read(&world.config());
    for (content, part) in bad() {
        is_refused(&world, &world.settings(), &content, part);
    }
    is_refused(&world, &world.settings(), "{\n  // mine\n  \"a\": 1\n}", "settings.json:2");
    is_refused(&world, &world.settings(), "{\n  \"env\": \"text\"\n}", "settings.json:2");
    assert_eq!(read(&world.config()), config);
}

#[test]
fn values_of_the_wrong_type_are_named_with_their_line() {
    let world = World::empty();
    for (content, parts) in [
        ("{\n\"providers\": []}", ["`providers` is not an object", "ccc.json:2"]),
        ("{\"providers\": {\n\"beta\": 1}}", ["`providers.beta` is not an object", "ccc.json:2"]),
        (
            "{\"providers\": {\"beta\": {\n\"env\": {\n\"A\": []}}}}",
            ["`providers.beta.env.A` is not a text", "ccc.json:3"],
        ),
        ("{\"providers\": {\"beta\": {}},\n\"settings\": 1}", ["`settings` is not an object", "ccc.json:2"]),
        (
            "{\"providers\": {\"beta\": {}},\n\"claude_args\": [1]}",
            ["`claude_args` is not a list of texts", "ccc.json:2"],
        ),
    ] {
        put(&world.config(), content);
        world.run("beta").fails(&parts);
        assert_eq!(read(&world.config()), content);
    }
    assert_eq!(world.arguments(), None);
}

#[test]
fn a_byte_order_mark_stays() {
    let world = World::new();
    for file in [world.config(), world.settings()] {
        let text = if file.exists() { read(&file) } else { "{}".to_owned() };
        put(&file, &format!("\u{feff}{text}"));
    }
    world.run("beta").ok();
    assert!(
        read(&world.config()).starts_with("\u{feff}{") && read(&world.settings()).starts_with("\u{feff}{")
    );
    assert!(read(&world.settings()).contains("\"allow\""));
}

#[test]
fn an_empty_settings_file_is_filled() {
    let world = World::new();
    put(&world.settings(), "");
    world.run("beta").ok();
    assert_eq!(world.settings_value(), serde_json::json!({ "permissions": { "allow": ["Read"] } }));
}

#[test]
fn a_read_only_settings_file_is_respected() {
    let world = World::new();
    put(&world.settings(), "{}");
    fs::set_permissions(world.settings(), Permissions::from_mode(0o444)).unwrap();
    world.run("beta").fails(&["read-only file", "settings.json", "chmod u+w"]);
    assert_eq!(read(&world.settings()), "{}");
    assert_eq!(world.arguments(), None);
    assert!(read(&world.config()).contains("\"current_provider\": \"alpha\""));
}

#[test]
fn a_read_only_ccc_json_is_respected() {
    let world = World::new();
    let before = read(&world.config());
    fs::set_permissions(world.config(), Permissions::from_mode(0o444)).unwrap();
    world.run("add gamma").fails(&["read-only file", "ccc.json", "chmod u+w"]);
    world.run("beta").fails(&["read-only file", "ccc.json", "chmod u+w"]);
    assert_eq!(read(&world.config()), before);
    assert!(!world.settings().exists());
}

#[test]
fn a_link_in_a_circle_is_told() {
    let world = World::new();
    symlink(world.settings(), world.settings()).unwrap();
    world.run("beta").fails(&["settings.json"]);
    assert_eq!(world.arguments(), None);
}
