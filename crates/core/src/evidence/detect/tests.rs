use super::*;

fn check_lines(files: &[(&str, &str)], scripts: &[(&str, &str)]) -> Vec<String> {
    let files: Vec<_> = files.iter().map(|(path, text)| ProjectFile { path, text }).collect();
    let scripts: Vec<_> = scripts.iter().map(|(name, command)| Script { name, command }).collect();
    let project = Project { files: &files, node_scripts: &scripts, composer_scripts: &[] };
    detect(&project)
        .into_iter()
        .map(|check| format!("{}: {} ({})", check.name, check.run, check.because))
        .collect()
}

#[track_caller]
fn assert_checks(files: &[(&str, &str)], scripts: &[(&str, &str)], expected: &[&str]) {
    assert_eq!(check_lines(files, scripts), expected, "{files:?} {scripts:?}");
}

#[test]
fn each_language_has_its_command() {
    assert_checks(&[("Cargo.toml", "[package]")], &[], &["test: cargo test (Cargo.toml)"]);
    assert_checks(
        &[("Cargo.toml", "[workspace]\n[workspace.lints.clippy]")],
        &[],
        &[
            "test: cargo test --workspace (Cargo.toml)",
            "lint: cargo clippy --workspace --all-targets (Cargo.toml)",
        ],
    );
    assert_checks(&[("go.mod", "")], &[], &["test: go test ./... (go.mod)", "lint: go vet ./... (go.mod)"]);
    assert_checks(&[("pom.xml", ""), ("mvnw", "")], &[], &["test: ./mvnw -B test (pom.xml)"]);
    assert_checks(&[("build.gradle", "plugins { id 'java' }")], &[], &["test: gradle test (build.gradle)"]);
    assert_checks(&[("build.gradle", "task hello {}")], &[], &[]);
    assert_checks(
        &[("a.csproj", "<PackageReference Include=\"Microsoft.NET.Test.Sdk\" />")],
        &[],
        &["test: dotnet test (a.csproj)"],
    );
    assert_checks(&[("a.csproj", "<Project />")], &[], &[]);
    assert_checks(&[("mix.exs", "")], &[], &["test: mix test (mix.exs)"]);
    assert_checks(&[("Gemfile", "gem 'rspec-rails'")], &[], &["test: bundle exec rspec (Gemfile)"]);
    assert_checks(&[("Gemfile", "# gem 'rspec'")], &[], &[]);
    assert_checks(
        &[("composer.json", "\"phpunit/phpunit\": \"^10\""), ("phpunit.xml", "")],
        &[],
        &["test: vendor/bin/phpunit (composer.json)"],
    );
    assert_checks(&[], &[], &[]);
}

#[test]
fn python_needs_a_reason_for_its_runner() {
    assert_checks(&[("pyproject.toml", "[project]")], &[], &[]);
    assert_checks(
        &[("pyproject.toml", "dev = [\"pytest>=8\"]\n[tool.ruff]"), ("uv.lock", "")],
        &[],
        &["test: uv run pytest (pyproject.toml)", "lint: uv run ruff check (pyproject.toml)"],
    );
    assert_checks(
        &[("requirements-dev.txt", "pytest==8\n")],
        &[],
        &["test: python3 -m pytest (requirements-dev.txt)"],
    );
    assert_checks(&[("requirements.txt", "# pytest\nrequests\n")], &[], &[]);
    assert_checks(&[("tox.ini", "[testenv]\n")], &[], &["test: tox (tox.ini)"]);
    assert_checks(
        &[("setup.cfg", ""), ("tests/test_a.py", "import unittest")],
        &[],
        &["test: python3 -m unittest discover -s tests (tests/test_a.py)"],
    );
}

#[test]
fn scripts_of_a_package_are_run_by_its_manager() {
    let scripts =
        [("test", "vitest run"), ("lint", "eslint ."), ("typecheck", "tsc"), ("build", "vite build")];
    assert_checks(
        &[("package.json", ""), ("pnpm-lock.yaml", "")],
        &scripts,
        &[
            "test: pnpm test (package.json)",
            "lint: pnpm run lint (package.json)",
            "typecheck: pnpm run typecheck (package.json)",
        ],
    );
    assert_checks(&[("bun.lockb", "")], &[("test", "vitest run")], &["test: bun run test (package.json)"]);
    assert_checks(&[], &[("test", "react-scripts test")], &["test: CI=true npm test (package.json)"]);
    // Placeholders, watchers and fixers are no checks.
    assert_checks(&[], &[("test", "echo \"Error: no test specified\" && exit 1")], &[]);
    assert_checks(
        &[],
        &[("test", "jest --watch"), ("test:ci", "jest")],
        &["test: npm run test:ci (package.json)"],
    );
    assert_checks(&[], &[("lint", "eslint . --fix")], &[]);
    assert_checks(&[], &[("build", "tsc -b")], &["build: npm run build (package.json)"]);
}

#[test]
fn a_wrapper_of_the_project_comes_first() {
    let cargo = ("Cargo.toml", "[package]");
    assert_checks(
        &[cargo, ("Makefile", ".PHONY: test\ntest: build\n\tcargo test\n")],
        &[],
        &["test: make test (Makefile)"],
    );
    assert_checks(
        &[cargo, ("Makefile", "test:\n\t./run.sh\n")],
        &[("test", "jest")],
        &["test: make test (Makefile)"],
    );
    assert_checks(
        &[cargo, ("Makefile", "test:\n\tcargo test\nother:\n\tnpm test\n")],
        &[("test", "jest")],
        &["test: make test (Makefile)", "test-node: npm test (package.json)"],
    );
    assert_checks(
        &[cargo],
        &[("test", "jest")],
        &["test: cargo test (Cargo.toml)", "test-node: npm test (package.json)"],
    );
    assert_checks(
        &[cargo, ("justfile", "@test *args:\n    cargo test\n")],
        &[],
        &["test: just test (justfile)"],
    );
    for text in ["test := 1\n", ".PHONY: test\n", "# test:\n", "latest:\n\tx\n", "a:\n\ttest: x\n"] {
        assert_checks(&[cargo, ("Makefile", text)], &[], &["test: cargo test (Cargo.toml)"]);
    }
    for text in ["test name:\n    x\n", "test := '1'\n"] {
        assert_checks(&[cargo, ("justfile", text)], &[], &["test: cargo test (Cargo.toml)"]);
    }
}

#[test]
fn tests_are_for_two_stages_and_the_rest_for_one() {
    let files = [ProjectFile { path: "go.mod", text: "" }];
    let checks = detect(&Project { files: &files, ..Project::default() });
    assert_eq!(checks[0].stages, [Stage::Dev, Stage::Test]);
    assert_eq!(checks[1].stages, [Stage::Dev]);
}

#[test]
fn a_script_of_composer_is_preferred() {
    let scripts = [Script { name: "test", command: "phpunit" }];
    let checks = detect(&Project { composer_scripts: &scripts, ..Project::default() });
    assert_eq!(checks[0].run, "composer test");
}
