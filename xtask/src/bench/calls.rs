//! `--calls`: the system calls of one row, to see what could be spared.

use std::process::Stdio;

use super::subjects::Subjects;
use crate::error::{Error, Result};
use crate::{shell, tools};

/// Shows them on stderr, in their order, with all processes and threads.
pub(crate) fn show(subjects: &mut Subjects, label: &str) -> Result<()> {
    tools::require("strace")?;
    let index = subjects.iter().position(|subject| subject.label() == label).ok_or_else(|| {
        let labels: Vec<_> = subjects.iter().map(|subject| format!("\"{}\"", subject.label())).collect();
        Error::new(format!("no such row: {label}")).hint(format!("one of {}", labels.join(", ")))
    })?;
    let (subject, _) = subjects.prepare(index)?;
    shell::run(subject.command_under(&["strace", "-f", "-s", "96"])?.stderr(Stdio::inherit()))
}
