//! Promises about `timeline.jsonl`.

use std::collections::BTreeMap;

use overtone_core::registry::{EventKind, WarningReason};

use super::{Held, Look, require};
use crate::soak::disk::{Line, Status};
use crate::soak::event::Meaning;
use crate::soak::words::{Content, Verdict};

/// The lines that were written since the last look.
fn new_lines(look: &Look) -> Result<Vec<Line>, String> {
    let new = look.after().timeline.get(look.before.timeline.len()..).unwrap_or_default();
    new.lines().map(Line::parse).collect()
}

pub(super) fn grows_in_whole_lines(look: &Look) -> Held {
    let (before, after) = (&look.before.timeline, &look.after().timeline);
    require(after.starts_with(before.as_str()), || "earlier lines are gone or changed".to_owned())?;
    require(after.is_empty() || after.ends_with('\n'), || "the last line has no end".to_owned())?;
    new_lines(look).map(drop)
}

/// Only the session itself and failed tools are told without a workflow.
pub(super) fn begins_with_the_start(look: &Look) -> Held {
    let without = |kind: EventKind| matches!(kind.category(), "session" | "tool" | "system");
    let first = look.after().lines()?.into_iter().find(|line| !without(line.kind));
    require(first.as_ref().is_none_or(|line| line.kind == EventKind::WorkflowStart), || {
        format!("it begins with {:?}", first.map(|line| line.fields))
    })
}

pub(super) fn ends_were_delegated(look: &Look) -> Held {
    let mut open: BTreeMap<String, i64> = BTreeMap::new();
    let mut excess = 0;
    for line in look.after().lines()? {
        let count = open.entry(line.text("agent").to_owned()).or_default();
        match line.kind {
            EventKind::AgentDelegate => *count += 1,
            EventKind::AgentComplete | EventKind::AgentError if *count == 0 => excess += 1,
            EventKind::AgentComplete | EventKind::AgentError => *count -= 1,
            _ => {}
        }
    }
    let excused = look.seat.excuses.ends + look.seat.excuses.unrecorded;
    require(excess <= excused, || format!("{excess} ends without a delegation, {excused} excused by kills"))
}

/// There are no more passes than reports that say so.
pub(super) fn unclear_never_passes(look: &Look) -> Held {
    let contents = look.played.iter().filter_map(|one| match one.event.meaning {
        Meaning::Report { content, .. } => Some(content),
        _ => None,
    });
    // Of a report by an agent without a record, the model does not say what it means.
    if look.played.iter().any(|one| matches!(one.event.meaning, Meaning::StrayEnds)) {
        return Ok(());
    }
    let good_reports = contents.filter(|content| *content == Content::Verdict(Verdict::Pass)).count();
    let lines = new_lines(look)?;
    let ends: Vec<_> = lines.iter().filter(|line| line.kind == EventKind::AgentComplete).collect();
    let passed = ends.iter().filter(|line| line.text("result") == "pass").count();
    require(passed <= good_reports, || format!("{passed} agents passed, {good_reports} reports say so"))?;
    let unreasoned = ends.iter().find(|l| l.text("reason") == "no-verdict" && l.text("result") != "fail");
    require(unreasoned.is_none(), || format!("{unreasoned:?} has no verdict and is no failure"))
}

/// A stage that became active or resolved has its line; so has one that failed or needs the user.
pub(super) fn tells_what_changed(look: &Look) -> Held {
    let Some((before, after)) = look.same_flow() else { return Ok(()) };
    if look.was_killed() {
        return Ok(());
    }
    let lines = new_lines(look)?;
    for (old, new) in before.stages.iter().zip(&after.stages).filter(|(old, new)| old.status != new.status) {
        let kind = match new.status {
            Status::Pending => continue,
            Status::Active => EventKind::StageStart,
            Status::Completed if new.is_blocked() => EventKind::SystemWarning,
            Status::Completed if new.is_failed() => EventKind::StageRetry,
            Status::Completed => EventKind::StageComplete,
        };
        let key = old.key.to_string();
        let is_it = |line: &&Line| {
            let reason =
                kind != EventKind::SystemWarning || line.text("reason") == WarningReason::StageBlocked.name();
            line.kind == kind && line.text("stage") == key && reason
        };
        let count = lines.iter().filter(is_it).count();
        require(count == 1, || format!("{} of {key} is there {count} times", kind.name()))?;
    }
    Ok(())
}

pub(super) fn ending_is_told(look: &Look) -> Held {
    let Some((before, after)) = look.same_flow() else { return Ok(()) };
    if before.ending == after.ending || look.was_killed() {
        return Ok(());
    }
    let lines = new_lines(look)?;
    let told = |kind: EventKind| lines.iter().filter(|line| line.kind == kind).collect::<Vec<_>>();
    let (completed, aborted) = (told(EventKind::WorkflowComplete), told(EventKind::WorkflowAbort));
    let reasons: Vec<_> = aborted.iter().map(|line| line.text("reason")).collect();
    let fits = match after.ending.as_deref() {
        Some("completed") => completed.len() == 1 && aborted.is_empty(),
        Some("aborted") => completed.is_empty() && matches!(reasons[..], ["retry-limit" | "needs-person"]),
        _ => completed.is_empty() && aborted.is_empty(),
    };
    require(fits, || {
        format!("{:?} with {} completions and the reasons {reasons:?}", after.ending, completed.len())
    })
}
