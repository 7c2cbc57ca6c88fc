//! Which files are tests, by the conventions for their names and folders.

/// Whether a file belongs to the tests of its project, by its path alone. Prose does not, wherever it is.
///
/// In a folder for tests, everything counts, such as expected outputs. A Rust file with tests inside is not
/// a test file; [`super::count_in_source`] finds those tests.
pub fn is_test_file(path: &str) -> bool {
    let path = path.replace('\\', "/");
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    if matches!(extension.to_ascii_lowercase().as_str(), "md" | "txt" | "rst" | "adoc") {
        return false;
    }
    has_test_name(stem, extension) || folders.split('/').any(|folder| is_test_folder(folder, extension))
}

/// Whether a file is a document or a description of a public interface, by its path alone: something that readers and other
/// programs rely on.
pub fn is_document(path: &str) -> bool {
    let path = path.replace('\\', "/").to_ascii_lowercase();
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let is_prose = matches!(
        extension,
        "md" | "mdx" | "markdown" | "rst" | "adoc" | "asciidoc" | "txt" | "org" | "tex" | "pod"
    );
    let is_interface = matches!(extension, "proto" | "graphql" | "graphqls" | "wsdl" | "raml")
        || ["openapi", "swagger", "asyncapi"].iter().any(|name| stem.starts_with(name));
    let is_manual = matches!(extension.as_bytes(), [b'1'..=b'8']);
    let is_known =
        ["readme", "changelog", "changes", "history", "news", "license", "contributing", "upgrading"]
            .contains(&stem);
    let is_inside = |folder: &str| matches!(folder, "doc" | "docs" | "documentation" | "man" | "manual");
    is_prose || is_interface || is_manual || is_known || folders.split('/').any(is_inside)
}

fn is_test_folder(folder: &str, extension: &str) -> bool {
    match folder {
        "test" | "tests" | "__tests__" | "__snapshots__" => true,
        // A specification of an interface often has the same folder, but is not code.
        "spec" | "specs" | "e2e" | "cypress" => is_code(extension),
        // Projects of .NET: `App.Tests`, `App.UnitTests`.
        _ => folder.ends_with("Tests") || folder.ends_with(".Test"),
    }
}

fn is_code(extension: &str) -> bool {
    matches!(
        extension,
        "rs" | "py"
            | "js"
            | "jsx"
            | "mjs"
            | "cjs"
            | "ts"
            | "tsx"
            | "mts"
            | "cts"
            | "go"
            | "java"
            | "kt"
            | "kts"
            | "groovy"
            | "scala"
            | "cs"
            | "rb"
            | "php"
            | "ex"
            | "exs"
            | "swift"
            | "dart"
            | "lua"
            | "c"
            | "cc"
            | "cpp"
            | "sh"
            | "bats"
            | "feature"
    )
}

fn has_test_name(stem: &str, extension: &str) -> bool {
    match extension {
        "rs" => is_one_of(stem, &["test", "tests"]) || ends_with(stem, &["_test", "_tests"]),
        "py" => {
            is_one_of(stem, &["test", "tests", "conftest"])
                || stem.starts_with("test_")
                || ends_with(stem, &["_test", "_tests"])
        }
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => {
            is_one_of(stem, &["test", "tests"])
                || ends_with(
                    stem,
                    &[".test", ".tests", ".spec", ".cy", ".e2e", "-test", "_test", "-spec", "_spec"],
                )
        }
        "go" | "exs" | "dart" => stem.ends_with("_test"),
        "java" | "kt" | "groovy" | "scala" => {
            ends_with(stem, &["Test", "Tests", "TestCase", "IT", "Spec"]) || is_prefixed(stem, "Test")
        }
        "cs" | "swift" => ends_with(stem, &["Test", "Tests"]),
        "php" => ends_with(stem, &["Test", "Cest"]),
        "rb" => stem.starts_with("test_") || ends_with(stem, &["_spec", "_test"]),
        "lua" => stem.ends_with("_spec"),
        "c" | "cc" | "cpp" | "cxx" => {
            stem.starts_with("test_") || ends_with(stem, &["_test", "_tests", "_unittest"])
        }
        "bats" | "feature" | "snap" => true,
        _ => false,
    }
}

fn is_one_of(stem: &str, names: &[&str]) -> bool {
    names.contains(&stem)
}

fn ends_with(stem: &str, endings: &[&str]) -> bool {
    endings.iter().any(|ending| stem.ends_with(ending))
}

/// Whether a name begins with a word of its own: `TestLogin`, but not `Testament`.
fn is_prefixed(stem: &str, word: &str) -> bool {
    match stem.strip_prefix(word) {
        Some(rest) => rest.starts_with(|c: char| c.is_uppercase()),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_files_are_known_by_name_or_folder() {
        for path in [
            "tests/api.rs",
            "crates/core/tests/engine/main.rs",
            "src/parser/tests.rs",
            "src/parser_test.rs",
            "test_login.py",
            "app/login_test.py",
            "app/tests/conftest.py",
            "app/tests.py",
            "src/Button.test.tsx",
            "src/button.spec.js",
            "src/__tests__/button.ts",
            "src/__snapshots__/button.test.ts.snap",
            "cypress/e2e/login.cy.ts",
            "e2e/login.ts",
            "pkg/server_test.go",
            "src/test/java/com/acme/Helper.java",
            "LoginTest.java",
            "LoginIT.java",
            "TestLogin.java",
            "LoginSpec.kt",
            "App.UnitTests/Helper.cs",
            "LoginTests.cs",
            "spec/models/user_spec.rb",
            "test/models/user_test.rb",
            "tests/Unit/UserTest.php",
            "test/user_test.exs",
            "tests/fixtures/answer.json",
            "lib/widget_test.dart",
            "run.bats",
            "src\\app\\Login.test.ts",
        ] {
            assert!(is_test_file(path), "{path}");
        }
    }

    #[test]
    fn documents_are_known_by_name_or_folder() {
        for path in [
            "README",
            "README.md",
            "CHANGELOG.rst",
            "docs/conf.py",
            "web/docs/img/a.png",
            "man/tool.1",
            "tool.8",
            "api/openapi.yaml",
            "swagger-v2.json",
            "api/login.proto",
            "requirements.txt",
            "src\\README.adoc",
        ] {
            assert!(is_document(path), "{path}");
        }
        for path in [
            "src/main.rs",
            "src/docs.rs",
            "test/docker.py",
            "a.mdb",
            "package.json",
            "src/readme_parser.py",
            "",
        ] {
            assert!(!is_document(path), "{path}");
        }
    }

    #[test]
    fn other_files_are_not() {
        for path in [
            "src/main.rs",
            "src/latest.py",
            "src/testing.py",
            "src/contest.js",
            "src/attest.go",
            "src/Testament.java",
            "src/Latest.java",
            "src/protest.rb",
            "src/inspect.rb",
            "docs/test.md",
            "tests/README.md",
            "specs/features/in-progress/login/tasks.md",
            "spec/openapi.yaml",
            "requirements-test.txt",
            "package.json",
            "Makefile",
            "",
        ] {
            assert!(!is_test_file(path), "{path}");
        }
    }
}
