//! A file system that cannot lock, as some network file systems.
//!
//! Hooks that would change a session refuse without its lock: the default answer and one line. Two of them at once
//! would otherwise write the same prepared file, and the state could be torn. What is settled by comparing and
//! renaming (a person's settings, a feature's folder) goes on without.

use super::{Stage, Verdict, named};
use crate::error::Result;
use crate::faults::judge;
use crate::faults::picture::Picture;
use crate::faults::run;
use crate::faults::strace::Fault;
use crate::faults::subject::Subject;

const ERRORS: [&str; 3] = ["ENOLCK", "EOPNOTSUPP", "ENOSYS"];

pub(super) fn examine(stage: &Stage) -> Result<Verdict> {
    let (mut wrong, mut runs) = (Vec::new(), 0);
    let subjects: Vec<_> = Subject::all().into_iter().filter(|subject| !subject.is_heavy()).collect();
    for (subject, error) in subjects.iter().zip(ERRORS.into_iter().cycle()) {
        let (site, expected) = stage.expected(subject)?;
        let fault = Fault { call: "flock".to_owned(), nth: 1, error, lasting: true };
        let ran = run::traced(site, subject, Some(&fault))?;
        let left = Picture::take(&site.root)?;
        let mut complaints = judge::in_surroundings(subject, &expected, &ran, &left);
        complaints.extend(judge::unreadable(&left));
        wrong.extend(named(subject, complaints));
        runs += 1;
    }
    Ok(Verdict::of(&wrong, format!("{runs} starts without a single lock")))
}
