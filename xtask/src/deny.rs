//! The step `deny`: the rules of `deny.toml` about licences, banned crates and sources, and known vulnerabilities.
//!
//! `deny.toml` is cargo-deny's file, and `cargo deny check bans licenses sources` reads it, too. cargo-deny would have to be
//! built from source on a fresh machine: the binary in the Python registry (0.14.2) does not know the licence Unicode-3.0.
//! These checks need only cargo, and read licence expressions with cargo-deny's own library.

mod rules;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use spdx::{Expression, Licensee, ParseMode};

use crate::error::{Error, Result};
use crate::{advisories, shell};
use rules::Rules;

/// How cargo names the default registry, whatever protocol it is read with.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// What `cargo metadata` says about all packages.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

/// The packages that are used on the chosen platforms.
#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
}

#[derive(Debug, Clone, Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    /// None for packages of this workspace.
    source: Option<String>,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Clone, Deserialize)]
struct Dependency {
    name: String,
    req: String,
    path: Option<String>,
}

/// Checks every package that can become part of the programs or of their tests.
pub(crate) fn run() -> Result<()> {
    advisories::check()?;
    let rules = rules::read()?;
    let packages = packages(&rules)?;
    for line in duplicates(&packages) {
        println!("warning: {line}");
    }
    let violations = violations(&rules, &packages)?;
    if violations.is_empty() {
        println!("deny: {} packages follow the rules", packages.len());
        return Ok(());
    }
    for violation in &violations {
        eprintln!("{violation}");
    }
    Err(Error::new(format!("{} packages break a rule", violations.len())).hint("the rules are in deny.toml"))
}

/// The packages of the lock file that are used on one of the platforms of the rules.
fn packages(rules: &Rules) -> Result<Vec<Package>> {
    let mut command = shell::cargo();
    command.args(["metadata", "--format-version=1", "--locked", "--all-features"]);
    for target in &rules.graph.targets {
        command.args(["--filter-platform", target]);
    }
    let metadata: Metadata = serde_json::from_str(&shell::capture(&mut command)?)
        .map_err(|e| Error::new(format!("cannot read cargo metadata: {e}")))?;
    let used: BTreeSet<String> = metadata.resolve.nodes.into_iter().map(|node| node.id).collect();
    let mut packages = metadata.packages;
    packages.retain(|package| used.contains(&package.id));
    Ok(packages)
}

/// One line for every rule that a package breaks.
fn violations(rules: &Rules, packages: &[Package]) -> Result<Vec<String>> {
    let allowed = licensees(&rules.licenses.allow)?;
    let mut lines = Vec::new();
    for package in packages {
        let mut broken = Vec::new();
        broken.extend(licence_violation(rules, &allowed, package)?);
        broken.extend(source_violation(package));
        broken.extend(ban_violation(rules, package));
        broken.extend(wildcard_violations(package));
        lines.extend(broken.into_iter().map(|what| format!("{} {}: {what}", package.name, package.version)));
    }
    Ok(lines)
}

fn licensees(names: &[String]) -> Result<Vec<Licensee>> {
    let parse = |name: &String| {
        Licensee::parse(name).map_err(|e| Error::new(format!("deny.toml: not a licence: {name}: {e}")))
    };
    names.iter().map(parse).collect()
}

/// Packages of this workspace are not published, so their licence is not checked.
fn licence_violation(rules: &Rules, allowed: &[Licensee], package: &Package) -> Result<Option<String>> {
    if package.source.is_none() {
        return Ok(None);
    }
    let Some(licence) = &package.license else {
        return Ok(Some("names no licence".to_owned()));
    };
    let Ok(expression) = Expression::parse_mode(licence, ParseMode::LAX) else {
        return Ok(Some(format!("not a licence: {licence}")));
    };
    let mut accepted = allowed.to_vec();
    if let Some(exception) = rules.licenses.exceptions.iter().find(|entry| entry.krate == package.name) {
        accepted.extend(licensees(&exception.allow)?);
    }
    if expression.evaluate(|required| accepted.iter().any(|licensee| licensee.satisfies(required))) {
        return Ok(None);
    }
    Ok(Some(format!("its licence is not allowed: {licence}")))
}

fn source_violation(package: &Package) -> Option<String> {
    match package.source.as_deref() {
        None | Some(CRATES_IO) => None,
        Some(source) => Some(format!("comes from {source}")),
    }
}

fn ban_violation(rules: &Rules, package: &Package) -> Option<String> {
    let banned = rules.bans.deny.iter().find(|entry| entry.krate == package.name)?;
    Some(format!("is banned: {}", banned.reason))
}

/// Any version would do: only packages of this workspace may be asked for like that, by their path.
fn wildcard_violations(package: &Package) -> Vec<String> {
    let wildcards = package.dependencies.iter().filter(|entry| entry.req == "*" && entry.path.is_none());
    wildcards.map(|entry| format!("takes any version of {}", entry.name)).collect()
}

/// Crates that are there in several versions, with these.
fn duplicates(packages: &[Package]) -> Vec<String> {
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        versions.entry(&package.name).or_default().push(&package.version);
    }
    versions.retain(|_, versions| versions.len() > 1);
    versions
        .iter()
        .map(|(name, versions)| format!("{name} in several versions: {}", versions.join(", ")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, licence: Option<&str>) -> Package {
        Package {
            id: name.to_owned(),
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            license: licence.map(str::to_owned),
            source: Some(CRATES_IO.to_owned()),
            dependencies: Vec::new(),
        }
    }

    fn broken(package: &Package) -> Vec<String> {
        violations(&rules::read().unwrap(), std::slice::from_ref(package)).unwrap()
    }

    #[test]
    fn one_allowed_licence_of_a_choice_is_enough_and_a_sum_needs_all() {
        for fine in ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR MIT", "(MIT OR GPL-2.0) AND Unicode-3.0"] {
            assert!(broken(&package("door", Some(fine))).is_empty(), "{fine}");
        }
        for wrong in
            ["GPL-3.0", "MIT AND GPL-3.0", "AGPL-3.0-only", "MPL-2.0", "Apache-2.0 WITH LLVM-exception"]
        {
            let lines = broken(&package("door", Some(wrong)));
            assert_eq!(lines, [format!("door 1.0.0: its licence is not allowed: {wrong}")]);
        }
    }

    #[test]
    fn a_licence_that_nobody_can_read_is_refused() {
        assert_eq!(broken(&package("door", None)), ["door 1.0.0: names no licence"]);
        assert_eq!(broken(&package("door", Some("see LICENSE"))), ["door 1.0.0: not a licence: see LICENSE"]);
    }

    #[test]
    fn an_exception_is_for_one_crate() {
        assert!(broken(&package("borrow-or-share", Some("MIT-0"))).is_empty());
        assert_eq!(broken(&package("door", Some("MIT-0"))).len(), 1);
    }

    #[test]
    fn banned_crates_are_refused_with_the_reason() {
        let lines = broken(&package("openssl", Some("MIT")));
        assert_eq!(lines, ["openssl 1.0.0: is banned: a shared C library: the binary must be static"]);
    }

    #[test]
    fn only_the_default_registry_is_a_source() {
        for source in ["git+https://example.com/door", "registry+https://example.com/index"] {
            let foreign = Package { source: Some(source.to_owned()), ..package("door", Some("MIT")) };
            assert_eq!(broken(&foreign), [format!("door 1.0.0: comes from {source}")]);
        }
        let ours = Package { source: None, ..package("overtone", None) };
        assert!(broken(&ours).is_empty());
    }

    #[test]
    fn any_version_is_asked_for_only_by_path() {
        let dependency = |path: Option<&str>| Dependency {
            name: "hinge".to_owned(),
            req: "*".to_owned(),
            path: path.map(str::to_owned),
        };
        let with = |path| Package { dependencies: vec![dependency(path)], ..package("door", Some("MIT")) };
        assert_eq!(broken(&with(None)), ["door 1.0.0: takes any version of hinge"]);
        assert!(broken(&with(Some("crates/hinge"))).is_empty());
    }

    #[test]
    fn several_versions_of_a_crate_are_found() {
        let two = [package("door", None), Package { version: "2.0.0".to_owned(), ..package("door", None) }];
        assert_eq!(duplicates(&two), ["door in several versions: 1.0.0, 2.0.0"]);
        assert!(duplicates(&two[..1]).is_empty());
    }
}
