//! The state at the end of a replay beside the one on disk.

use std::fs;
use std::path::Path;

use overtone_engine::Snapshot;
use overtone_engine::state::WorkflowState;
use overtone_replay::{Mismatch, Summary, mismatches};
use overtone_store::{StoreError, WorkflowDoc, files};

use super::source::Source;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// There is nothing to compare with.
    Absent,
    Same,
    Different(Vec<Mismatch>),
    /// Lines are missing, so the state must not be taken for wrong.
    Unsure,
    /// The session has written more since the timeline was read.
    MovedOn,
    Broken(String),
}

pub(super) fn compare(source: &Source, summary: &Summary, state: &Snapshot) -> Stored {
    let (Some(timeline), Some(replayed)) = (&source.path, &state.workflow) else { return Stored::Absent };
    let stored = match read(&timeline.with_file_name("workflow.json")) {
        Ok(Some(stored)) => stored,
        Ok(None) => return Stored::Absent,
        Err(problem) => return Stored::Broken(problem),
    };
    if summary.is_cut || summary.skipped_count > 0 {
        return Stored::Unsure;
    }
    match mismatches(replayed, &stored) {
        found if found.is_empty() => Stored::Same,
        _ if has_grown(timeline, source.bytes) => Stored::MovedOn,
        found => Stored::Different(found),
    }
}

fn read(path: &Path) -> Result<Option<WorkflowState>, String> {
    let text = files::read_small(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let document = text.map(|text| WorkflowDoc::parse(path, &text)).transpose();
    document
        .map(|document| document.map(|document| document.state))
        .map_err(|error: StoreError| error.to_string())
}

fn has_grown(path: &Path, bytes: u64) -> bool {
    fs::metadata(path).is_ok_and(|about| about.len() > bytes)
}
