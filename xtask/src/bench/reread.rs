//! Puts every program into memory in the same way before its starts are timed.
//!
//! How a file came there decides in which pieces it lies there, and with that how often a start has to ask for more of
//! it: the same program takes a fifth more or less time after it was copied, built, or read.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{Advice, fadvise};

use super::subjects::Subjects;
use crate::error::{Error, Result};

/// Every program is forgotten and read again from its beginning to its end.
pub(super) fn all(subjects: &Subjects) -> Result<()> {
    let programs: BTreeSet<_> = subjects.iter().map(|subject| subject.program().to_owned()).collect();
    programs.iter().try_for_each(|path| one(path).map_err(|e| Error::io("cannot read", path, &e)))
}

fn one(path: &Path) -> io::Result<()> {
    let mut file = File::open(path)?;
    // Only what is on the disk can be forgotten.
    file.sync_all()?;
    fadvise(&file, 0, None, Advice::DontNeed)?;
    io::copy(&mut file, &mut io::sink()).map(|_| ())
}
