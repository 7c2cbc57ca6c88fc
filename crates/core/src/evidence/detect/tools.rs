//! The commands of the usual tools of each language.

use super::{Found, Project, Purpose};

/// The tools of a language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tool {
    Rust,
    Go,
    Maven,
    Gradle,
    DotNet,
    Elixir,
    Ruby,
    Php,
    Python,
    Node,
}

impl Tool {
    pub(super) const ALL: [Self; 10] = [
        Self::Rust,
        Self::Go,
        Self::Maven,
        Self::Gradle,
        Self::DotNet,
        Self::Elixir,
        Self::Ruby,
        Self::Php,
        Self::Python,
        Self::Node,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Go => "go",
            Self::Maven => "maven",
            Self::Gradle => "gradle",
            Self::DotNet => "dotnet",
            Self::Elixir => "elixir",
            Self::Ruby => "ruby",
            Self::Php => "php",
            Self::Python => "python",
            Self::Node => "node",
        }
    }

    /// The programs that belong to it.
    fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Rust => &["cargo"],
            Self::Go => &["go", "golangci-lint", "gotestsum"],
            Self::Maven => &["mvn", "mvnw"],
            Self::Gradle => &["gradle", "gradlew"],
            Self::DotNet => &["dotnet"],
            Self::Elixir => &["mix"],
            Self::Ruby => &["bundle", "rspec", "rake", "rails", "rubocop"],
            Self::Php => &["phpunit", "pest", "composer"],
            Self::Python => &["pytest", "python", "python3", "tox", "nox", "uv", "poetry", "ruff", "mypy"],
            Self::Node => {
                &["npm", "npx", "yarn", "pnpm", "bun", "node", "jest", "vitest", "mocha", "eslint", "tsc"]
            }
        }
    }

    /// Whether one of its programs is called in these commands.
    pub(super) fn is_called_in(self, commands: &str) -> bool {
        let is_separator = |c: char| !c.is_alphanumeric() && c != '-' && c != '_';
        commands.split(is_separator).any(|word| self.programs().contains(&word))
    }

    pub(super) fn command(self, project: &Project, purpose: Purpose) -> Option<Found> {
        match (self, purpose) {
            (Self::Node, _) => node(project, purpose),
            (Self::Rust, Purpose::Test) => rust(project, "test", ""),
            (Self::Rust, Purpose::Lint) if configures_clippy(project) => {
                rust(project, "clippy", " --all-targets")
            }
            (Self::Go, Purpose::Test) if project.has("go.mod") => Some(Found::new("go test ./...", "go.mod")),
            (Self::Go, Purpose::Lint) if project.has("go.mod") => Some(go_lint(project)),
            (Self::Maven, Purpose::Test) if project.has("pom.xml") => Some(Found::new(
                if project.has("mvnw") { "./mvnw -B test" } else { "mvn -B test" },
                "pom.xml",
            )),
            (Self::Gradle, Purpose::Test) => gradle(project),
            (Self::DotNet, Purpose::Test) => dotnet(project),
            (Self::Elixir, Purpose::Test) if project.has("mix.exs") => {
                Some(Found::new("mix test", "mix.exs"))
            }
            (Self::Elixir, Purpose::Lint) if project.has("mix.exs") && project.has(".formatter.exs") => {
                Some(Found::new("mix format --check-formatted", ".formatter.exs"))
            }
            (Self::Ruby, Purpose::Test) => ruby(project),
            (Self::Ruby, Purpose::Lint) if names_package(project, "Gemfile", "rubocop") => {
                Some(Found::new("bundle exec rubocop", "Gemfile"))
            }
            (Self::Php, Purpose::Test) => php(project),
            (Self::Python, Purpose::Test) => python_tests(project),
            (Self::Python, Purpose::Lint) => python_lint(project),
            _ => None,
        }
    }
}

fn rust(project: &Project, subcommand: &str, options: &str) -> Option<Found> {
    let manifest = project.text("Cargo.toml")?;
    let scope = if manifest.contains("[workspace]") { " --workspace" } else { "" };
    Some(Found::new(format!("cargo {subcommand}{scope}{options}"), "Cargo.toml"))
}

fn configures_clippy(project: &Project) -> bool {
    let manifest = project.text("Cargo.toml").unwrap_or_default();
    manifest.contains("lints.clippy]") || project.first_of(&["clippy.toml", ".clippy.toml"]).is_some()
}

fn go_lint(project: &Project) -> Found {
    match project.first_of(&[".golangci.yml", ".golangci.yaml", ".golangci.toml"]) {
        Some(file) => Found::new("golangci-lint run", file),
        None => Found::new("go vet ./...", "go.mod"),
    }
}

/// A build without a plugin for a language has no tests.
fn gradle(project: &Project) -> Option<Found> {
    let file = project.first_of(&["build.gradle.kts", "build.gradle"])?;
    let build = project.text(file)?;
    let languages = ["java", "kotlin", "groovy", "scala", "application", "com.android"];
    if !languages.iter().any(|language| build.contains(language)) {
        return None;
    }
    Some(Found::new(if project.has("gradlew") { "./gradlew test" } else { "gradle test" }, file))
}

fn dotnet(project: &Project) -> Option<Found> {
    if let Some(solution) = project.with_extension("sln").or_else(|| project.with_extension("slnx")) {
        return if solution.text.contains("Test") {
            Some(Found::new("dotnet test", solution.path))
        } else {
            None
        };
    }
    let file = project.with_extension("csproj")?;
    if file.text.contains("Microsoft.NET.Test.Sdk") {
        Some(Found::new("dotnet test", file.path))
    } else {
        None
    }
}

fn ruby(project: &Project) -> Option<Found> {
    if names_package(project, "Gemfile", "rspec") {
        return Some(Found::new("bundle exec rspec", "Gemfile"));
    }
    let rakefile = project.text("Rakefile")?;
    let has_tests = rakefile.contains("Rake::TestTask") || rakefile.contains("Minitest::TestTask");
    if has_tests && project.has("Gemfile") {
        Some(Found::new("bundle exec rake test", "Rakefile"))
    } else {
        None
    }
}

fn php(project: &Project) -> Option<Found> {
    if project.composer_scripts.iter().any(|script| script.name == "test") {
        return Some(Found::new("composer test", "composer.json"));
    }
    let manifest = project.text("composer.json")?;
    project.first_of(&["phpunit.xml", "phpunit.xml.dist"])?;
    if manifest.contains("\"pestphp/pest\"") {
        Some(Found::new("vendor/bin/pest", "composer.json"))
    } else if manifest.contains("\"phpunit/phpunit\"") {
        Some(Found::new("vendor/bin/phpunit", "composer.json"))
    } else {
        None
    }
}

/// pytest if the project names it, else `unittest` if there are tests that use it.
fn python_tests(project: &Project) -> Option<Found> {
    let prefix = python_prefix(project);
    if let Some(file) = file_that_names(project, "pytest") {
        let run = if prefix.is_empty() { "python3 -m pytest".to_owned() } else { format!("{prefix}pytest") };
        return Some(Found::new(run, file));
    }
    if let Some(settings) = project.text("tox.ini")
        && settings.contains("[testenv")
    {
        return Some(Found::new("tox", "tox.ini"));
    }
    let is_unittest = |path: &str, text: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.starts_with("test") && has_extension(name, "py") && text.contains("unittest")
    };
    let test = project.files.iter().find(|file| is_unittest(file.path, file.text))?;
    let python = if prefix.is_empty() { "python3".to_owned() } else { format!("{prefix}python") };
    match test.path.split_once('/') {
        Some((folder, _)) => {
            Some(Found::new(format!("{python} -m unittest discover -s {folder}"), test.path))
        }
        None => Some(Found::new(format!("{python} -m unittest"), test.path)),
    }
}

fn has_extension(name: &str, extension: &str) -> bool {
    match name.rsplit_once('.') {
        Some((_, found)) => found == extension,
        None => false,
    }
}

fn python_prefix(project: &Project) -> &'static str {
    match project.first_of(&["uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock"]) {
        Some("uv.lock") => "uv run ",
        Some("poetry.lock") => "poetry run ",
        Some("pdm.lock") => "pdm run ",
        Some(_) => "pipenv run ",
        None => "",
    }
}

/// The configuration or the list of requirements that names a package.
fn file_that_names<'a>(project: &Project<'a>, package: &str) -> Option<&'a str> {
    let is_python_list = |path: &str| {
        matches!(path, "pyproject.toml" | "setup.cfg" | "tox.ini" | "Pipfile")
            || (path.starts_with("requirements") && has_extension(path, "txt"))
    };
    let file = project.files.iter().find(|file| {
        file.path == format!("{package}.ini") || (is_python_list(file.path) && names(file.text, package))
    })?;
    Some(file.path)
}

fn names_package(project: &Project, path: &str, package: &str) -> bool {
    match project.text(path) {
        Some(text) => names(text, package),
        None => false,
    }
}

/// Whether a text names a package outside of comments, alone or as the first part of a longer name.
fn names(text: &str, package: &str) -> bool {
    let is_word_char = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.lines().any(|line| {
        let code = line.split('#').next().unwrap_or(line);
        code.match_indices(package).any(|(at, _)| !code[..at].ends_with(is_word_char))
    })
}

fn python_lint(project: &Project) -> Option<Found> {
    let file = project.first_of(&["ruff.toml", ".ruff.toml"]);
    let manifest = project.text("pyproject.toml").unwrap_or_default();
    let configured = if manifest.contains("[tool.ruff") { Some("pyproject.toml") } else { file };
    Some(Found::new(format!("{}ruff check", python_prefix(project)), configured?))
}

/// The script of `package.json` for a purpose, run by the package manager of the lock file.
fn node(project: &Project, purpose: Purpose) -> Option<Found> {
    let names: &[&str] = match purpose {
        Purpose::Test => &["test", "test:ci", "test:run", "test:unit"],
        Purpose::Lint => &["lint"],
        Purpose::Typecheck => &["typecheck", "type-check", "check-types", "tsc"],
        Purpose::Build => &["build"],
    };
    let script = names.iter().find_map(|name| {
        project.node_scripts.iter().find(|script| script.name == *name && can_check(script.command))
    })?;
    let manager = match project.first_of(&["pnpm-lock.yaml", "yarn.lock", "bun.lockb", "bun.lock"]) {
        Some("pnpm-lock.yaml") => "pnpm",
        Some("yarn.lock") => "yarn",
        Some(_) => "bun",
        None => "npm",
    };
    // `bun test` is Bun's own runner, not the script.
    let run = if script.name == "test" && manager != "bun" {
        format!("{manager} test")
    } else {
        format!("{manager} run {}", script.name)
    };
    // It waits for changes unless it is told that nobody watches.
    let needs_ci = script.command.contains("react-scripts test");
    Some(Found::new(if needs_ci { format!("CI=true {run}") } else { run }, "package.json"))
}

/// Whether a script ends by itself and changes no source. npm's placeholder for tests only fails.
fn can_check(command: &str) -> bool {
    let watches = |word: &str| matches!(word, "--watch" | "--watchAll" | "--watch=true" | "--watchAll=true");
    let is_placeholder = command.trim().is_empty() || command.contains("no test specified");
    let watches_by_default = command.contains("ng test") && !command.contains("--watch=false");
    let changes = |word: &str| matches!(word, "--fix" | "--write");
    !is_placeholder
        && !watches_by_default
        && !command.split_whitespace().any(|word| watches(word) || changes(word))
}
