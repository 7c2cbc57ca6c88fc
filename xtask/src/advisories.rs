//! `cargo xtask advisories`: known vulnerabilities of our dependencies, from a table that needs no network.
//!
//! The table has only facts of the `RustSec` database: which versions of which crate an advisory is about. No registry
//! carries that database, and an answer that changes from day to day does not belong into the check of a commit, so the
//! table is pinned here and renewed by hand from a clone of the database.

mod database;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use semver::{Version, VersionReq};

use crate::error::{Error, Result};
use crate::shell;

const TABLE: &str = "xtask/advisories.tsv";
const LOCK: &str = "Cargo.lock";

/// Advisories that do not concern us although a version matches, each with the reason.
const ACCEPTED: [(&str, &str); 0] = [];

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Ask the newest database on the network instead, with cargo-deny
    #[arg(long, conflicts_with = "from")]
    online: bool,
    /// Renew the table from a clone of the `RustSec` advisory database
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.online {
        return ask_online();
    }
    if let Some(clone) = &options.from {
        let text = database::table(clone)?;
        shell::write_file(&shell::root().join(TABLE), text.as_bytes())?;
    }
    check()
}

fn ask_online() -> Result<()> {
    let mut command = Command::new("cargo-deny");
    command.args(["--color", "never", "check", "advisories"]);
    shell::run(command.current_dir(shell::root()).stdin(Stdio::null()))
        .map_err(|e| e.hint("it needs cargo-deny (cargo install cargo-deny --locked) and github.com"))
}

/// Fails when a locked version has a known vulnerability. Advisories that only say that a crate is not maintained are
/// printed.
pub(crate) fn check() -> Result<()> {
    let table = read(TABLE)?;
    let advisories = parse_table(&table)?;
    let mut serious = Vec::new();
    for package in locked(&read(LOCK)?)? {
        for advisory in advisories.iter().filter(|advisory| advisory.concerns(&package)) {
            let line = format!("{}: {} {} ({})", advisory.id, package.name, package.version, advisory.kind);
            println!("{line}");
            if advisory.is_serious() && ACCEPTED.iter().all(|(id, _)| *id != advisory.id) {
                serious.push(line);
            }
        }
    }
    if serious.is_empty() {
        println!("advisories: none of {} concern us ({})", advisories.len(), database::stamp(&table));
        return Ok(());
    }
    Err(Error::new(format!("{} known vulnerabilities", serious.len())).hint(
        "raise the versions with cargo update, or accept one with its reason in xtask/src/advisories.rs",
    ))
}

fn read(name: &str) -> Result<String> {
    let path = shell::root().join(name);
    fs::read_to_string(&path).map_err(|e| Error::io("cannot read", &path, &e))
}

/// One line of the table.
#[derive(Debug)]
struct Advisory {
    id: String,
    package: String,
    /// `vulnerability`, `unsound`, `unmaintained` or `notice`.
    kind: String,
    /// Versions that match any of these are not affected.
    fine: Vec<VersionReq>,
}

/// A package of a lock file.
#[derive(Debug, PartialEq, Eq)]
struct Package {
    name: String,
    version: Version,
}

impl Advisory {
    fn concerns(&self, package: &Package) -> bool {
        self.package == package.name && !self.fine.iter().any(|range| range.matches(&package.version))
    }

    fn is_serious(&self) -> bool {
        matches!(self.kind.as_str(), "vulnerability" | "unsound")
    }
}

fn parse_table(text: &str) -> Result<Vec<Advisory>> {
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let advisories: Vec<_> = lines.map(parse_line).collect::<Result<_>>()?;
    if advisories.is_empty() {
        // A table that has lost its lines would find nothing for ever.
        return Err(Error::new(format!("no advisories in {TABLE}")));
    }
    Ok(advisories)
}

/// `id`, package, kind and the ranges that are fine, between tabs.
fn parse_line(line: &str) -> Result<Advisory> {
    let broken = || Error::new(format!("{TABLE}: not an advisory: {line}"));
    let [id, package, kind, fine] = line.split('\t').collect::<Vec<_>>()[..] else {
        return Err(broken());
    };
    let ranges = fine.split(';').map(str::trim).filter(|range| !range.is_empty());
    let fine = ranges.map(VersionReq::parse).collect::<std::result::Result<_, _>>();
    Ok(Advisory {
        id: id.to_owned(),
        package: package.to_owned(),
        kind: kind.to_owned(),
        fine: fine.map_err(|_| broken())?,
    })
}

/// The packages that come from a registry: our own have no source.
fn locked(lock: &str) -> Result<Vec<Package>> {
    let mut packages = Vec::new();
    for entry in lock.split("[[package]]").skip(1) {
        let value = |key: &str| {
            let line = entry.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "));
            line.map(|value| value.trim_matches('"'))
        };
        let (Some(name), Some(version), Some(_)) = (value("name"), value("version"), value("source")) else {
            continue;
        };
        let version = Version::parse(version).map_err(|e| Error::new(format!("{name} {version}: {e}")))?;
        packages.push(Package { name: name.to_owned(), version });
    }
    if packages.is_empty() {
        return Err(Error::new("a lock file without packages"));
    }
    Ok(packages)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "version = 4\n\n[[package]]\nname = \"door\"\nversion = \"1.2.3\"\nsource = \"registry+x\"\n\n\
                        [[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n";

    fn found(line: &str) -> usize {
        let advisories = parse_table(line).unwrap();
        let packages = locked(LOCK).unwrap();
        advisories.iter().filter(|advisory| packages.iter().any(|package| advisory.concerns(package))).count()
    }

    #[test]
    fn a_version_that_no_range_excuses_is_found() {
        for affected in ["", ">= 1.2.4", "< 1.0.0; >= 1.3.0", "=1.2.2"] {
            assert_eq!(found(&format!("R-1\tdoor\tvulnerability\t{affected}")), 1, "{affected}");
        }
        for fine in [">= 1.2.3", "< 1.0.0; >= 1.2.0, < 2.0.0", "^1.2.3"] {
            assert_eq!(found(&format!("R-1\tdoor\tvulnerability\t{fine}")), 0, "{fine}");
        }
        assert_eq!(found("R-1\twindow\tvulnerability\t"), 0);
        assert_eq!(found("R-1\tours\tvulnerability\t"), 0, "our own packages are not the registry's");
    }

    #[test]
    fn a_broken_table_is_an_error() {
        for broken in ["", "# only a comment", "R-1\tdoor\tvulnerability", "R-1\tdoor\tvulnerability\tsoon"] {
            assert!(parse_table(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn the_pinned_table_is_whole() {
        let advisories = parse_table(&read(TABLE).unwrap()).unwrap();
        assert!(advisories.len() > 1_000, "{}", advisories.len());
        assert!(
            advisories
                .iter()
                .any(|advisory| advisory.id == "RUSTSEC-2021-0124" && advisory.package == "tokio")
        );
        let old = Package { name: "tokio".into(), version: Version::new(1, 8, 0) };
        assert!(advisories.iter().any(|advisory| advisory.is_serious() && advisory.concerns(&old)));
    }
}
