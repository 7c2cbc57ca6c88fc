//! Files that cannot be used: refused with file, line and hint, and left as they are.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::context::{TOKEN_A, TestContext, put, read};

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

fn is_refused(context: &TestContext, file: &Path, text: &str, part: &str) {
    put(file, text);
    for line in ["beta", "use beta", "beta --dry-run"] {
        context.run_ccc(line).fails(&[part, &file.display().to_string()]);
        assert!(read(file) == text, "{line} changed {}", file.display());
    }
    assert_eq!(context.arguments(), None);
}

#[test]
fn a_bad_ccc_json_is_refused() {
    let context = TestContext::without_providers();
    for (content, part) in bad() {
        is_refused(&context, &context.config(), &content, part);
    }
    assert!(!context.settings().exists());
}

#[test]
fn a_bad_settings_json_is_refused() {
    let context = TestContext::with_providers();
    let config = read(&context.config());
    for (content, part) in bad() {
        is_refused(&context, &context.settings(), &content, part);
    }
    is_refused(&context, &context.settings(), "{\n  // mine\n  \"a\": 1\n}", "settings.json:2");
    is_refused(&context, &context.settings(), "{\n  \"env\": \"text\"\n}", "settings.json:2");
    assert_eq!(read(&context.config()), config);
}

#[test]
fn values_of_the_wrong_type_are_named_with_their_line() {
    let context = TestContext::without_providers();
    for (content, parts) in [
        ("{\n\"providers\": []}", ["`providers` is not an object", "ccc.json:2"]),
        ("{\"providers\": {\n\"beta\": 1}}", ["`providers.beta` is not an object", "ccc.json:2"]),
        (
            "{\"providers\": {\"beta\": {\n\"env\": {\n\"A\": []}}}}",
            ["`providers.beta.env.A` is not a string", "ccc.json:3"],
        ),
        ("{\"providers\": {\"beta\": {}},\n\"settings\": 1}", ["`settings` is not an object", "ccc.json:2"]),
        (
            "{\"providers\": {\"beta\": {}},\n\"claude_args\": [1]}",
            ["`claude_args` is not a list of strings", "ccc.json:2"],
        ),
    ] {
        put(&context.config(), content);
        context.run_ccc("beta").fails(&parts);
        assert_eq!(read(&context.config()), content);
    }
    assert_eq!(context.arguments(), None);
}

#[test]
fn a_byte_order_mark_stays() {
    let context = TestContext::with_providers();
    for file in [context.config(), context.settings()] {
        let text = if file.exists() { read(&file) } else { "{}".to_owned() };
        put(&file, format!("\u{feff}{text}"));
    }
    context.run_ccc("beta").succeeds();
    assert!(
        read(&context.config()).starts_with("\u{feff}{")
            && read(&context.settings()).starts_with("\u{feff}{")
    );
    assert!(read(&context.settings()).contains("\"allow\""));
}

#[test]
fn an_empty_settings_file_is_filled() {
    let context = TestContext::with_providers();
    put(&context.settings(), "");
    context.run_ccc("beta").succeeds();
    assert_eq!(context.settings_value(), serde_json::json!({ "permissions": { "allow": ["Read"] } }));
}

#[test]
fn a_read_only_settings_file_is_respected() {
    let context = TestContext::with_providers();
    put(&context.settings(), "{}");
    fs::set_permissions(context.settings(), Permissions::from_mode(0o444)).unwrap();
    context.run_ccc("beta").fails(&["read-only file", "settings.json", "chmod u+w"]);
    assert_eq!(read(&context.settings()), "{}");
    assert_eq!(context.arguments(), None);
    assert!(read(&context.config()).contains("\"current_provider\": \"alpha\""));
}

#[test]
fn a_read_only_ccc_json_is_respected() {
    let context = TestContext::with_providers();
    let before = read(&context.config());
    fs::set_permissions(context.config(), Permissions::from_mode(0o444)).unwrap();
    context.run_ccc("add gamma").fails(&["read-only file", "ccc.json", "chmod u+w"]);
    context.run_ccc("beta").fails(&["read-only file", "ccc.json", "chmod u+w"]);
    assert_eq!(read(&context.config()), before);
    assert!(!context.settings().exists());
}

#[test]
fn a_circular_link_is_reported() {
    let context = TestContext::with_providers();
    symlink(context.settings(), context.settings()).unwrap();
    context.run_ccc("beta").fails(&["settings.json"]);
    assert_eq!(context.arguments(), None);
}
