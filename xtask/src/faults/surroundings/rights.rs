//! A home in which nothing may be written, and one that may not even be looked into.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Stage, Verdict, named};
use crate::error::{Error, Result};
use crate::faults::judge;
use crate::faults::picture::Picture;
use crate::faults::run;
use crate::faults::subject::Subject;
use crate::faults::world::Site;
use crate::shell;

/// Nobody's: root is asked for no rights, so it has to become somebody else.
const AS_NOBODY: [&str; 5] = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];

/// Rights of folders and of files.
const READ_ONLY: (u32, u32) = (0o555, 0o444);
const CLOSED: (u32, u32) = (0o000, 0o000);

pub(super) fn examine(stage: &Stage) -> Result<Verdict> {
    let wrapper: &[&str] = if nix::unistd::geteuid().is_root() { &AS_NOBODY } else { &["env", "--"] };
    let (probe, rest) = wrapper.split_first().unwrap_or((&"env", &[]));
    if !shell::probe(Command::new(probe).args(rest).arg("true")) {
        return Ok(Verdict::Skipped(format!("root, and `{}` does not work here", wrapper.join(" "))));
    }
    let program = open_to_all(stage)?;
    let (mut wrong, mut runs) = (Vec::new(), 0);
    for rights in [READ_ONLY, CLOSED] {
        for subject in Subject::started_by_the_client() {
            let (site, expected) = stage.expected(&subject)?;
            set_rights(site, rights)?;
            let ran = run::through(site, wrapper, &program, &subject);
            // Whatever came of it, the next one must be able to clear up.
            set_rights(site, (0o755, 0o644))?;
            let mut left = Picture::take(&site.root)?;
            same_modes(&mut left, &expected.before);
            wrong.extend(named(&subject, judge::in_surroundings(&subject, &expected, &ran?, &left)));
            if left != expected.before {
                wrong.extend(named(&subject, vec!["something changed in a home without rights".to_owned()]));
            }
            runs += 1;
        }
    }
    Ok(Verdict::of(&wrong, format!("{runs} starts by a user who may not write, or not even look")))
}

/// A program and a way to it that everybody may go.
fn open_to_all(stage: &Stage) -> Result<PathBuf> {
    let program = stage.scratch.join("overtone");
    fs::copy(&stage.binary, &program).map_err(|e| Error::io("cannot copy", &stage.binary, &e))?;
    let folders = stage.scratch.ancestors().take(2);
    let sites = stage.sites.iter().map(|(_, site, _)| site.root.as_path());
    for path in folders.chain(sites).chain([program.as_path()]) {
        set_mode(path, 0o755)?;
    }
    Ok(program)
}

/// Files first where folders are closed, folders first where they are opened.
fn set_rights(site: &Site, (folders, files): (u32, u32)) -> Result<()> {
    for part in ["home", "project"] {
        set_below(&site.root.join(part), folders, files)?;
    }
    Ok(())
}

fn set_below(folder: &Path, folders: u32, files: u32) -> Result<()> {
    set_mode(folder, 0o755)?;
    for entry in fs::read_dir(folder).map_err(|e| Error::io("cannot read folder", folder, &e))?.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => set_below(&entry.path(), folders, files)?,
            _ => set_mode(&entry.path(), files)?,
        }
    }
    set_mode(folder, folders)
}

fn set_mode(path: &Path, mode: u32) -> Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))
        .map_err(|e| Error::io("cannot set mode", path, &e))
}

/// The rights were changed by the check itself.
fn same_modes(left: &mut Picture, before: &Picture) {
    for (name, file) in &mut left.files {
        file.mode = before.files.get(name).map_or(file.mode, |old| old.mode);
    }
}
