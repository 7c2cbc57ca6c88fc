//! Which programs run tests.

use super::invocation::Invocation;

/// Whether an invocation runs tests, not only builds or lists them.
pub(super) fn runs_tests(invocation: &Invocation) -> bool {
    if invocation.has_option("--version") || invocation.has_option("--help") {
        return false;
    }
    let subcommand = match invocation.subcommand() {
        Some((subcommand, _)) => subcommand,
        None => "",
    };
    match invocation.program.as_str() {
        "cargo" => runs_cargo_tests(invocation, subcommand),
        "pytest" | "py.test" => !invocation.has_option("--collect-only") && !invocation.has_option("--co"),
        "tox" | "nox" | "nose2" | "nosetests" | "behave" | "jest" | "mocha" | "ava" | "jasmine" | "karma"
        | "rspec" | "phpunit" | "pest" | "paratest" | "ctest" | "bats" | "prove" | "gotestsum" | "ginkgo"
        | "busted" => true,
        "vitest" => !matches!(subcommand, "list" | "bench" | "init"),
        "playwright" | "go" | "dotnet" | "mix" | "deno" | "swift" | "flutter" | "dart" | "bazel"
        | "stack" | "cabal" | "meson" | "ng" | "sbt" | "lein" | "manage.py" | "artisan" => {
            subcommand == "test"
        }
        "cypress" => subcommand == "run",
        "npm" | "yarn" | "pnpm" | "bun" | "turbo" | "nx" | "lerna" => runs_node_tests(invocation),
        "make" | "gmake" | "just" | "task" | "rake" | "ninja" | "composer" | "rails" | "hatch" => {
            runs_target(invocation)
        }
        "mvn" | "mvnw" => runs_maven_tests(invocation),
        "gradle" | "gradlew" => runs_gradle_tests(invocation),
        "coverage" => runs_module(invocation),
        "node" => invocation.has_option("--test") || runs_script(invocation),
        "ruby" | "php" | "perl" | "tsx" | "ts-node" | "bash" | "sh" | "zsh" => runs_script(invocation),
        program if program.starts_with("python") => runs_module(invocation) || runs_script(invocation),
        _ => is_test_script(&invocation.path),
    }
}

fn runs_cargo_tests(invocation: &Invocation, subcommand: &str) -> bool {
    if invocation.has_option("--no-run") || invocation.has_option("--list") {
        return false;
    }
    let has = |word: &str| invocation.arguments.iter().any(|argument| argument == word);
    match subcommand {
        "test" | "t" | "tarpaulin" => true,
        "nextest" => has("run") || has("r"),
        "llvm-cov" => !has("report") && !has("clean") && !has("show-env"),
        "miri" | "hack" | "careful" | "insta" | "xtask" => has("test") || has("nextest"),
        _ => false,
    }
}

/// Options of package managers whose value is in the next word.
const NODE_VALUES: [&str; 8] = ["-w", "--workspace", "--prefix", "--filter", "-F", "-C", "--cwd", "--dir"];

/// `npm test`, `npm run test:unit`, `yarn workspace web test`, `pnpm --filter web vitest`
fn runs_node_tests(invocation: &Invocation) -> bool {
    let mut words = Vec::new();
    let mut is_value = false;
    for argument in &invocation.arguments {
        // What follows is for the script.
        if argument == "--" {
            break;
        }
        if !std::mem::take(&mut is_value) && !argument.starts_with('-') {
            words.push(argument.as_str());
        }
        is_value = NODE_VALUES.contains(&argument.as_str());
    }
    match words.as_slice() {
        ["t" | "tst" | "jest" | "vitest" | "mocha" | "playwright" | "cypress", ..] => true,
        // `nx run-many -t test`
        ["run-many" | "affected", ..] => words.iter().any(|word| is_test_target(word)),
        ["workspace", _, script, ..]
        | ["run" | "run-script" | "task", script, ..]
        | ["workspaces", "foreach", "run", script, ..]
        | [script, ..] => is_test_target(script),
        [] => false,
    }
}

fn runs_target(invocation: &Invocation) -> bool {
    // A dry run prints only.
    if invocation.program.ends_with("make")
        && (invocation.has_flag('n') || invocation.has_option("--dry-run"))
    {
        return false;
    }
    let mut is_value = false;
    invocation.arguments.iter().any(|argument| {
        let is_target =
            !std::mem::take(&mut is_value) && !argument.starts_with('-') && !argument.contains('=');
        is_value = matches!(argument.as_str(), "-C" | "-f" | "--directory" | "--file" | "--justfile");
        is_target && (is_test_target(argument) || argument == "check" && invocation.program.ends_with("make"))
    })
}

fn runs_maven_tests(invocation: &Invocation) -> bool {
    let is_skipped = invocation.arguments.iter().any(|argument| {
        argument.starts_with("-DskipTests") && argument != "-DskipTests=false"
            || argument == "-Dmaven.test.skip=true"
    });
    let mut goals = invocation.arguments.iter();
    !is_skipped
        && goals.any(|goal| matches!(goal.as_str(), "test" | "verify" | "integration-test" | "surefire:test"))
}

fn runs_gradle_tests(invocation: &Invocation) -> bool {
    let mut is_excluded = false;
    invocation.arguments.iter().any(|argument| {
        let is_task = !std::mem::take(&mut is_excluded);
        is_excluded = matches!(argument.as_str(), "-x" | "--exclude-task" | "--tests");
        let name = argument.rsplit(':').next().unwrap_or(argument);
        is_task && (matches!(name, "test" | "check") || name.ends_with("Test") || name.ends_with("Tests"))
    })
}

/// `python -m pytest`, also in `coverage run -m pytest`.
fn runs_module(invocation: &Invocation) -> bool {
    let Some(at) = invocation.arguments.iter().position(|argument| argument == "-m") else { return false };
    match invocation.arguments.get(at + 1) {
        Some(module) => matches!(module.as_str(), "pytest" | "unittest" | "nose2" | "tox" | "nox" | "behave"),
        None => false,
    }
}

/// A script of tests, or `manage.py test`.
fn runs_script(invocation: &Invocation) -> bool {
    let mut words = invocation.arguments.iter().filter(|argument| !argument.starts_with('-'));
    let Some(script) = words.next() else { return false };
    // The code of `python -c` is not a path.
    if script.contains([' ', '\n', '(']) {
        return false;
    }
    let is_runner = script.ends_with("manage.py") || script == "artisan" || script == "setup.py";
    let is_test_command = match words.next() {
        Some(word) => word == "test",
        None => false,
    };
    is_test_script(script) || (is_runner && is_test_command)
}

/// Whether a file is run as tests, by its name: `./run-tests.sh`, `scripts/test.py`, `build/parser_test`.
fn is_test_script(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    // `test` alone is a part of the shell.
    (path.contains('/') || !extension.is_empty()) && parts(stem).any(is_test_word)
}

/// Whether a target of a build tool or a script of a package runs tests: `test`, `test:unit`, `integration-tests`.
fn is_test_target(target: &str) -> bool {
    let is_other = |part: &str| {
        matches!(
            part,
            "clean" | "build" | "lint" | "install" | "setup" | "docs" | "list" | "watch" | "format"
        )
    };
    let is_test = parts(target).any(|part| is_test_word(part) || matches!(part, "spec" | "specs" | "e2e"));
    is_test && !parts(target).any(is_other)
}

fn parts(name: &str) -> impl Iterator<Item = &str> {
    name.split(['-', '_', ':', '.', '/'])
}

fn is_test_word(part: &str) -> bool {
    matches!(
        part,
        "test" | "tests" | "runtest" | "runtests" | "unittest" | "unittests" | "alltests" | "selftest"
    )
}
