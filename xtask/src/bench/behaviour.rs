//! Whether each program does what it is measured for: a fast error path would make the best figures.

use std::path::PathBuf;
use std::process::{Output, Stdio};

use serde_json::Value;

use super::cases::REFUSED;
use super::ccc::Stop;
use super::role::Role;
use super::state::State;
use super::subject::Subject;
use super::subjects::Subjects;
use crate::error::{Error, Result};

/// For each subject what was not expected of it, if anything.
pub(crate) fn check(subjects: &mut Subjects) -> Result<Vec<Option<String>>> {
    let ours = our_refusal(subjects)?;
    (0..subjects.len())
        .map(|index| {
            let (subject, _) = subjects.prepare(index)?;
            let before = subject.settings();
            let output = run(subject)?;
            let after = subject.settings();
            let surprise = failure(&output).or_else(|| match subject.role {
                Role::Baseline(_) => None,
                Role::Rival(_) => other_answer(&output, &ours),
                Role::Case(..) => complaint(&output),
                Role::Stop(stop, _) => other_text(&output, stop),
                Role::Switch(_) => (before == after).then(|| "changed nothing".to_owned()),
            });
            let (subject, changed) = subjects.prepare(index)?;
            Ok(surprise.or_else(|| misclassified(subject.role, &changed)))
        })
        .collect()
}

fn run(subject: &Subject) -> Result<Output> {
    let mut command = subject.command()?;
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.output().map_err(|e| Error::new(format!("cannot start {}: {e}", subject.label())))
}

/// What the other languages' hooks must answer, too: a refusal.
fn our_refusal(subjects: &mut Subjects) -> Result<Value> {
    let wanted = Role::Case(&REFUSED, State::Typical).label();
    let index = subjects.iter().position(|subject| subject.label() == wanted);
    let output = run(subjects.prepare(index.unwrap_or_default())?.0)?;
    let answer = answer(&output).unwrap_or_default();
    if answer["hookSpecificOutput"]["permissionDecision"] == "deny" {
        return Ok(answer);
    }
    Err(Error::new(format!("{wanted} does not refuse: {answer}")))
}

fn answer(output: &Output) -> Option<Value> {
    serde_json::from_slice(&output.stdout).ok()
}

fn failure(output: &Output) -> Option<String> {
    let first = String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned();
    (!output.status.success()).then(|| format!("failed: {}: {first}", output.status))
}

/// Anything on stderr.
fn complaint(output: &Output) -> Option<String> {
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines().next().map(|line| format!("complained: {line}"))
}

fn other_answer(output: &Output, expected: &Value) -> Option<String> {
    let found = answer(output);
    (found.as_ref() != Some(expected)).then(|| format!("answered {found:?} instead of {expected}"))
}

fn other_text(output: &Output, stop: Stop) -> Option<String> {
    let text = String::from_utf8_lossy(&output.stdout);
    (text != stop.answer()).then(|| format!("answered {text:?}"))
}

/// Whether it left something on disk, as its class says.
fn misclassified(role: Role, changed: &[PathBuf]) -> Option<String> {
    match (role.writes(), changed) {
        (true, []) => Some("wrote nothing".to_owned()),
        (false, [file, ..]) => Some(format!("wrote {}", file.display())),
        _ => None,
    }
}
