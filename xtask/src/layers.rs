//! `cargo xtask layers`: the architecture's invariants, checked against cargo's own view and the sources.

mod rules;
mod sources;

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::shell;
use rules::{
    COMMAND_SOURCES, FORBIDDEN_IN_HOOKS, FORMAT_FREE_SOURCES, HOOK_CRATE, LAYERS, Layer, PURE_SOURCES, Reach,
};

pub(crate) fn run() -> Result<()> {
    let mut violations = Vec::new();
    for layer in &LAYERS {
        violations.extend(unlisted(layer, &dependencies(layer.package, layer.reach)?));
    }
    violations.extend(forbidden_in_hooks(&dependencies(HOOK_CRATE, Reach::Tree)?));
    for folder in PURE_SOURCES {
        violations.extend(sources::impure(&shell::root().join(folder))?);
    }
    for folder in FORMAT_FREE_SOURCES {
        violations.extend(sources::formats(&shell::root().join(folder))?);
    }
    violations.extend(sources::writes_to_terminal(&shell::root().join(COMMAND_SOURCES))?);
    report(&violations)
}

fn report(violations: &[String]) -> Result<()> {
    for violation in violations {
        println!("{violation}");
    }
    if violations.is_empty() {
        println!(
            "layers: {} crates, {} source folders and the hook path keep their rules",
            LAYERS.len(),
            PURE_SOURCES.len()
        );
        return Ok(());
    }
    Err(Error::new(format!("{} layer rules are broken", violations.len()))
        .hint("move the code to the layer that may do it, or change xtask/src/layers/rules.rs with a reason"))
}

fn unlisted(layer: &Layer, found: &BTreeSet<String>) -> Vec<String> {
    found
        .iter()
        .filter(|name| !layer.may_use.contains(&name.as_str()))
        .map(|name| format!("{} depends on {name}: {}", layer.package, layer.because))
        .collect()
}

fn forbidden_in_hooks(found: &BTreeSet<String>) -> Vec<String> {
    FORBIDDEN_IN_HOOKS
        .iter()
        .filter(|(name, _)| found.contains(*name))
        .map(|(name, because)| format!("{HOOK_CRATE} links {name}: {because}"))
        .collect()
}

/// The names of the crates that a package depends on, without itself. Development dependencies do not count.
fn dependencies(package: &str, reach: Reach) -> Result<BTreeSet<String>> {
    let depth = match reach {
        Reach::Direct => "1",
        Reach::Tree => "99",
    };
    let mut command = shell::cargo();
    command.args(["tree", "--package", package, "--edges", "normal", "--prefix", "none"]);
    let text = shell::capture(command.args(["--depth", depth, "--color", "never"]))?;
    Ok(names(&text, package))
}

/// Each line begins with a name: `serde v1.0.0 (*)`.
fn names(tree: &str, package: &str) -> BTreeSet<String> {
    tree.lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != package)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TREE: &str =
        "overtone-engine v0.1.0 (/x)\novertone-registry v0.1.0 (/y)\nserde v1.0.0\nserde v1.0.0 (*)\n";

    #[test]
    fn only_listed_crates_pass() {
        let layer = Layer {
            package: "overtone-engine",
            reach: Reach::Tree,
            may_use: &["overtone-registry"],
            because: "it is pure",
        };
        let found = names(TREE, layer.package);
        assert_eq!(unlisted(&layer, &found), ["overtone-engine depends on serde: it is pure"]);
    }

    #[test]
    fn the_hook_path_is_kept_light() {
        let found = names("overtone-hook v0.1.0\nclap v4.0.0\nserde v1.0.0\n", HOOK_CRATE);
        let broken = forbidden_in_hooks(&found);
        assert_eq!(broken.len(), 1);
        assert!(broken[0].starts_with("overtone-hook links clap"));
    }
}
