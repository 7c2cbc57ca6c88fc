//! Installs the products that Overtone is compared with from npm, below the target folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::{e2e, shell, tools};

/// Name, package and version of each peer; the test kit has what else is to be known about them.
const PINNED: &str = include_str!("../../crates/testkit/peers.txt");

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Peer<'a> {
    pub(crate) name: &'a str,
    pub(crate) package: &'a str,
    pub(crate) version: &'a str,
}

/// The peers of the list.
pub(crate) fn all() -> Vec<Peer<'static>> {
    PINNED.lines().filter_map(read_line).collect()
}

fn read_line(line: &str) -> Option<Peer<'_>> {
    let mut words = line.split_whitespace();
    match (words.next(), words.next(), words.next()) {
        (Some(name), Some(package), Some(version)) if name != "#" => Some(Peer { name, package, version }),
        _ => None,
    }
}

/// The variable by which the test kit finds their folder.
pub(crate) const FOLDER_VARIABLE: &str = "OVERTONE_PEERS";

/// Installs those that are named, unless they are there. Returns their folder, and which cannot be had for
/// what reason.
pub(crate) fn fetch(names: &[String]) -> Result<(PathBuf, BTreeMap<String, String>)> {
    let folder = shell::target_dir()?.join("peers");
    let mut absent = BTreeMap::new();
    for peer in all() {
        if names.iter().any(|name| name == peer.name)
            && let Err(error) = fetch_one(&folder.join(peer.name), &peer)
        {
            eprintln!("peers: {} cannot be had: {error}", peer.name);
            absent.insert(peer.name.to_owned(), error.to_string());
        }
    }
    Ok((folder, absent))
}

fn fetch_one(folder: &Path, peer: &Peer) -> Result<()> {
    let manifest = folder.join("node_modules").join(peer.package).join("package.json");
    if version_of(&manifest).as_deref() == Some(peer.version) {
        return Ok(());
    }
    tools::may_install(peer.name)?;
    eprintln!("peers: fetching {} {}", peer.package, peer.version);
    e2e::npm_install(folder, &format!("{}@{}", peer.package, peer.version))?;
    match version_of(&manifest) {
        Some(_) => Ok(()),
        None => Err(Error::new(format!("npm did not install {}", peer.package))),
    }
}

fn version_of(manifest: &Path) -> Option<String> {
    let text = std::fs::read_to_string(manifest).ok()?;
    let manifest: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(manifest["version"].as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_but_comments_is_a_peer() {
        let lines = PINNED.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(all().len(), lines);
        assert_eq!(read_line("a b 1.2.3"), Some(Peer { name: "a", package: "b", version: "1.2.3" }));
        assert_eq!(read_line("# a b"), None);
    }
}
