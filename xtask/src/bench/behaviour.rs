//! Whether each hook does what it is measured for: a fast error path would make the best figures.

use std::path::PathBuf;
use std::process::Stdio;

use super::cases::Class;
use super::ccc::Call;
use super::subject::{Role, Subject, Subjects};
use crate::error::{Error, Result};

/// For each subject what was not expected of it, if anything.
pub(crate) fn check(subjects: &mut Subjects) -> Result<Vec<Option<String>>> {
    (0..subjects.len())
        .map(|index| {
            let (subject, _) = subjects.prepare(index)?;
            if let Role::Ccc(call) = subject.role {
                return surprise(subject, call);
            }
            let complaint = complaint(subject)?;
            let (subject, changed) = subjects.prepare(index)?;
            Ok(complaint.or_else(|| misclassified(subject, &changed)))
        })
        .collect()
}

/// A failure or anything on stderr.
fn complaint(subject: &Subject) -> Result<Option<String>> {
    let output = subject
        .command()?
        .stderr(Stdio::piped())
        .output()
        .map_err(|e| Error::new(format!("cannot start {}: {e}", subject.label())))?;
    if !output.status.success() {
        return Ok(Some(format!("failed: {}", output.status)));
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Ok(text.lines().next().map(|line| format!("complained: {line}")))
}

/// Another answer than the one that is measured, or a switch that changed nothing.
fn surprise(subject: &Subject, call: Call) -> Result<Option<String>> {
    let before = subject.settings();
    let output = subject.command()?.stdout(Stdio::piped()).output();
    let output = output.map_err(|e| Error::new(format!("cannot start {}: {e}", subject.label())))?;
    let answer = String::from_utf8_lossy(&output.stdout);
    Ok(if !output.status.success() {
        Some(format!("failed: {}", output.status))
    } else if answer != call.answer() {
        Some(format!("answered {answer:?}"))
    } else if call.is_switch() == (before == subject.settings()) {
        Some("the settings say otherwise".to_owned())
    } else {
        None
    })
}

fn misclassified(subject: &Subject, changed: &[PathBuf]) -> Option<String> {
    let class = subject.role.class()?;
    match (class, changed) {
        (Class::Writing, []) => Some("wrote nothing".to_owned()),
        (Class::Reading, [file, ..]) => Some(format!("wrote {}", file.display())),
        _ => None,
    }
}
