//! Instruction counts by callgrind: the same on every machine, whatever its load.

use std::process::Stdio;

use super::role::{Baseline, Role};
use super::subject::Subject;
use super::subjects::Subjects;
use crate::error::{Error, Result};

const WRAPPER: [&str; 3] = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"];

/// Instructions of each program; none for those that are mostly a dynamic loader or an interpreter.
pub(crate) fn measure(subjects: &mut Subjects) -> Result<Vec<Option<u64>>> {
    subjects.each(|subject| match subject.role {
        Role::Baseline(Baseline::True) | Role::Rival(_) => Ok(None),
        _ => count(subject).map(Some),
    })
}

fn count(subject: &Subject) -> Result<u64> {
    let output = subject
        .command_under(&WRAPPER)?
        .stderr(Stdio::piped())
        .output()
        .map_err(|e| Error::new(format!("cannot run valgrind on {}: {e}", subject.label())))?;
    let text = String::from_utf8_lossy(&output.stderr);
    instructions(&text).ok_or_else(|| {
        Error::new(format!("no instruction count for {}: {}", subject.label(), text.trim_end()))
    })
}

/// The line is `==123== Collected : 147802`.
fn instructions(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found_among_the_chatter() {
        let text = "==1== Callgrind, a profiler\n==1== Events    : Ir\n==1== Collected : 147802\n==1== \n==1== I   refs:      147,802\n";
        assert_eq!(instructions(text), Some(147_802));
        assert_eq!(instructions("==1== killed\n"), None);
    }
}
