//! Surroundings that no single call is to blame for.

mod clock;
mod deleted;
mod full;
mod locks;
mod rights;
mod versions;

use std::path::{Path, PathBuf};

use super::inject;
use super::judge::Expected;
use super::picture::Picture;
use super::run::Ran;
use super::subject::Subject;
use super::world::{Site, World};
use crate::error::{Error, Result};
use crate::tree;

/// One check and what came of it.
#[derive(Debug)]
pub(crate) struct Check {
    pub name: &'static str,
    pub verdict: Verdict,
}

#[derive(Debug)]
pub(crate) enum Verdict {
    Held(String),
    /// This machine does not allow it; the reason is told.
    Skipped(String),
    Broken(String),
}

impl Verdict {
    /// Held if nothing is wrong.
    fn of(wrong: &[String], held: String) -> Self {
        if wrong.is_empty() { Self::Held(held) } else { Self::Broken(wrong.join("\n    ")) }
    }
}

type Examine = fn(&Stage) -> Result<Verdict>;

const CHECKS: [(&str, Examine); 8] = [
    ("clock-goes-back", clock::examine),
    ("newer-version", versions::newer),
    ("unknown-kinds", versions::unknown),
    ("older-version", versions::older),
    ("session-deleted", deleted::examine),
    ("read-only-home", rights::examine),
    ("full-disk", full::examine),
    ("no-locks", locks::examine),
];

/// Where the checks take place.
#[derive(Debug)]
pub(crate) struct Stage {
    binary: PathBuf,
    scratch: PathBuf,
    sites: Vec<(World, Site, Picture)>,
}

/// Runs the checks, or those whose name is asked for.
pub(crate) fn run(only: Option<&str>, binary: &Path, scratch: &Path) -> Result<Vec<Check>> {
    let wanted: Vec<_> =
        CHECKS.into_iter().filter(|(name, _)| only.is_none_or(|only| name.contains(only))).collect();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let stage = Stage::build(binary, &scratch.join("surroundings"))?;
    let mut checks = Vec::new();
    for (name, examine) in wanted {
        eprintln!("faults: {name}");
        checks.push(Check { name, verdict: examine(&stage)? });
    }
    Ok(checks)
}

impl Stage {
    fn build(binary: &Path, scratch: &Path) -> Result<Self> {
        tree::remove(scratch)?;
        let mut sites = Vec::new();
        for world in World::IN_SESSION {
            let site = Site::build(&scratch.join(format!("{world:?}")), binary, world)?;
            let picture = Picture::take(&site.root)?;
            sites.push((world, site, picture));
        }
        Ok(Self { binary: binary.to_owned(), scratch: scratch.to_owned(), sites })
    }

    /// A world as it was when it was built.
    fn fresh(&self, world: World) -> Result<(&Site, &Picture)> {
        let found = self.sites.iter().find(|(other, ..)| *other == world);
        let (_, site, picture) = found.ok_or_else(|| Error::new(format!("no world {world:?}")))?;
        picture.put(&site.root)?;
        Ok((site, picture))
    }

    /// The world of a subject, and what it does there when nothing is wrong.
    fn expected(&self, subject: &Subject) -> Result<(&Site, Expected)> {
        let (site, picture) = self.fresh(subject.world)?;
        let (expected, _) = inject::observe(site, subject)?;
        picture.put(&site.root)?;
        Ok((site, expected))
    }
}

/// Adds who it was.
fn named(subject: &Subject, wrong: Vec<String>) -> impl Iterator<Item = String> + '_ {
    wrong.into_iter().map(|what| format!("{}: {what}", subject.name))
}

/// What is wrong with a run that nothing should get in the way of.
fn unwell(ran: &Ran) -> Option<String> {
    let is_well =
        ran.code == Some(0) && !ran.stderr.contains("panicked") && !ran.stderr.contains("[overtone/");
    (!is_well).then(|| format!("exit code {:?}: {}{}", ran.code, ran.stdout, ran.stderr.trim_end()))
}
