//! Targets of a `Makefile` and recipes of a `justfile`.

use super::Project;

/// A recipe that needs no arguments.
#[derive(Debug)]
pub(super) struct Recipe {
    pub(super) run: String,
    pub(super) file: &'static str,
    /// The commands that it consists of.
    pub(super) commands: String,
}

pub(super) fn find(project: &Project, name: &str) -> Option<Recipe> {
    if let Some(file) = project.first_of(&["GNUmakefile", "makefile", "Makefile"])
        && let Some(commands) = commands_of(project.text(file)?, name, is_make_target)
    {
        return Some(Recipe { run: format!("make {name}"), file, commands });
    }
    let file = project.first_of(&["justfile", "Justfile", ".justfile"])?;
    let commands = commands_of(project.text(file)?, name, is_just_recipe)?;
    Some(Recipe { run: format!("just {name}"), file, commands })
}

/// The indented lines below the line that begins the recipe.
fn commands_of(text: &str, name: &str, begins: fn(&str, &str) -> bool) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| !begins(line, name));
    lines.next()?;
    let body = lines.take_while(|line| line.starts_with(['\t', ' ']) || line.trim().is_empty());
    Some(body.collect::<Vec<_>>().join("\n"))
}

/// `test: dependencies`, also among other targets, but not `test := value`.
fn is_make_target(line: &str, name: &str) -> bool {
    let Some((targets, rest)) = line.split_once(':') else { return false };
    let is_assignment = rest.trim_start_matches(':').starts_with('=');
    !line.starts_with(['\t', ' ', '#'])
        && !is_assignment
        && targets.split_whitespace().any(|target| target == name)
}

/// `test:`, `@test *args:`, or with parameters that have a default.
fn is_just_recipe(line: &str, name: &str) -> bool {
    let line = line.strip_prefix('@').unwrap_or(line);
    let Some((head, rest)) = line.split_once(':') else { return false };
    let mut words = head.split_whitespace();
    let is_named = !line.starts_with(['\t', ' ', '#']) && words.next() == Some(name);
    let is_optional = |parameter: &str| parameter.starts_with('*') || parameter.contains('=');
    is_named && !rest.starts_with('=') && words.all(is_optional)
}
