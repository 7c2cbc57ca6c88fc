//! Proposes checks for a project from its own files.
//!
//! Only commands that the project certainly has are proposed. The caller reads the files and parses JSON.

mod recipes;
mod tools;

use crate::registry::Stage;
use recipes::Recipe;
use tools::Tool;

/// A file of the project, by its path from the root. The text may be empty where only its presence matters.
#[derive(Debug, Clone, Copy)]
pub struct ProjectFile<'a> {
    pub path: &'a str,
    pub text: &'a str,
}

/// The files whose text matters, in the root of a project. Of the others, only the presence counts.
const READ_FILES: [&str; 20] = [
    "Cargo.toml",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    ".justfile",
    "package.json",
    "composer.json",
    "pyproject.toml",
    "setup.cfg",
    "tox.ini",
    "Pipfile",
    "Gemfile",
    "Rakefile",
    "build.gradle",
    "build.gradle.kts",
    "go.mod",
    "mix.exs",
    "pom.xml",
];

/// Whether the text of a file with this name matters.
pub fn is_read(name: &str) -> bool {
    let extension = match name.rsplit_once('.') {
        Some((_, extension)) => extension,
        None => "",
    };
    let is_project = matches!(extension, "sln" | "slnx" | "csproj");
    let is_test = name.starts_with("test") && extension == "py";
    let is_requirements = name.starts_with("requirements") && extension == "txt";
    READ_FILES.contains(&name) || is_project || is_test || is_requirements
}

/// A script of `package.json` or `composer.json`.
#[derive(Debug, Clone, Copy)]
pub struct Script<'a> {
    pub name: &'a str,
    pub command: &'a str,
}

/// What is known about a project.
#[derive(Debug, Clone, Copy, Default)]
pub struct Project<'a> {
    /// The files of the root folder, such as `Cargo.toml`, `Makefile` and lock files, and the Python files in `tests`.
    pub files: &'a [ProjectFile<'a>],
    /// `scripts` in `package.json`. Empty without that file.
    pub node_scripts: &'a [Script<'a>],
    /// `scripts` in `composer.json`. Empty without that file.
    pub composer_scripts: &'a [Script<'a>],
}

impl<'a> Project<'a> {
    fn text(&self, path: &str) -> Option<&'a str> {
        let file = self.files.iter().find(|file| file.path == path)?;
        Some(file.text)
    }

    fn has(&self, path: &str) -> bool {
        self.text(path).is_some()
    }

    /// The first of these files that exists.
    fn first_of(&self, paths: &[&'static str]) -> Option<&'static str> {
        paths.iter().copied().find(|path| self.has(path))
    }

    fn with_extension(&self, extension: &str) -> Option<ProjectFile<'a>> {
        let has_extension = |file: &&ProjectFile| match file.path.rsplit_once('.') {
            Some((_, found)) => found == extension,
            None => false,
        };
        self.files.iter().find(has_extension).copied()
    }
}

/// A check that a user may want to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProposedCheck {
    /// `test`, `lint`, `typecheck` or `build`. A second one has the name of its tool as well: `test-node`.
    pub name: String,
    /// The command for the shell, in the root of the project.
    pub run: String,
    pub stages: Vec<Stage>,
    /// The file that it was found in.
    pub because: String,
}

/// What a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Test,
    Lint,
    Typecheck,
    Build,
}

impl Purpose {
    const ALL: [Self; 4] = [Self::Test, Self::Lint, Self::Typecheck, Self::Build];

    fn name(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Lint => "lint",
            Self::Typecheck => "typecheck",
            Self::Build => "build",
        }
    }

    fn stages(self) -> Vec<Stage> {
        match self {
            Self::Test => vec![Stage::Dev, Stage::Test],
            Self::Lint | Self::Typecheck | Self::Build => vec![Stage::Dev],
        }
    }
}

/// A command with the file that proves it.
#[derive(Debug)]
struct Found {
    run: String,
    because: String,
}

impl Found {
    fn new(run: impl Into<String>, because: impl Into<String>) -> Self {
        Self { run: run.into(), because: because.into() }
    }
}

/// The checks that a project offers, tests first.
///
/// A recipe of the project's own `Makefile` or `justfile` replaces the commands of the tools that it calls. A recipe that calls
/// none of them by name is taken to replace all. A build is proposed only for tools that offer no tests.
pub fn detect(project: &Project) -> Vec<ProposedCheck> {
    let mut checks = Vec::new();
    for purpose in Purpose::ALL {
        let recipe = recipes::find(project, purpose.name());
        if purpose == Purpose::Build && !checks.is_empty() {
            break;
        }
        let mut names_taken = 0;
        if let Some(recipe) = &recipe {
            checks.push(proposed(
                purpose,
                None,
                Found { run: recipe.run.clone(), because: recipe.file.to_owned() },
            ));
            names_taken += 1;
        }
        for tool in Tool::ALL {
            if is_replaced(recipe.as_ref(), tool) {
                continue;
            }
            if let Some(found) = tool.command(project, purpose) {
                let suffix = if names_taken > 0 { Some(tool.name()) } else { None };
                checks.push(proposed(purpose, suffix, found));
                names_taken += 1;
            }
        }
    }
    checks
}

fn is_replaced(recipe: Option<&Recipe>, tool: Tool) -> bool {
    let Some(recipe) = recipe else { return false };
    let names_tools = Tool::ALL.into_iter().any(|any| any.is_called_in(&recipe.commands));
    !names_tools || tool.is_called_in(&recipe.commands)
}

fn proposed(purpose: Purpose, suffix: Option<&str>, found: Found) -> ProposedCheck {
    let name = match suffix {
        Some(suffix) => format!("{}-{suffix}", purpose.name()),
        None => purpose.name().to_owned(),
    };
    ProposedCheck { name, run: found.run, stages: purpose.stages(), because: found.because }
}

#[cfg(test)]
mod tests;
