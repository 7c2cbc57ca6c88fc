//! Compares the state at the end of a replay with the one on disk.

use std::fs;
use std::path::Path;

use overtone_core::engine::Snapshot;
use overtone_core::engine::state::WorkflowState;
use overtone_core::replay::{Mismatch, Summary, mismatches};
use overtone_store::{WorkflowDoc, files};

use super::source::TimelineSource;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum StoredState {
    /// There is nothing to compare with.
    Absent,
    Same,
    Different(Vec<Mismatch>),
    /// Lines are missing, so a difference would not be an error.
    Incomplete,
    /// The session has written more since the timeline was read.
    MovedOn,
    Broken(String),
}

pub(super) fn compare(source: &TimelineSource, summary: &Summary, state: &Snapshot) -> StoredState {
    let (Some(timeline), Some(replayed)) = (&source.path, &state.workflow) else {
        return StoredState::Absent;
    };
    let stored = match read(&timeline.with_file_name("workflow.json")) {
        Ok(Some(stored)) => stored,
        Ok(None) => return StoredState::Absent,
        Err(problem) => return StoredState::Broken(problem),
    };
    if summary.is_cut || summary.skipped_count > 0 {
        return StoredState::Incomplete;
    }
    match mismatches(replayed, &stored) {
        found if found.is_empty() => StoredState::Same,
        _ if has_grown(timeline, source.bytes) => StoredState::MovedOn,
        found => StoredState::Different(found),
    }
}

fn read(path: &Path) -> Result<Option<WorkflowState>, String> {
    let text = files::read_small(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let Some(text) = text else { return Ok(None) };
    match WorkflowDoc::parse(path, &text) {
        Ok(document) => Ok(Some(document.state)),
        Err(error) => Err(error.to_string()),
    }
}

fn has_grown(path: &Path, bytes: u64) -> bool {
    fs::metadata(path).is_ok_and(|about| about.len() > bytes)
}
