//! Compares the replayed state with the stored one.

use crate::engine::state::{Ending, StageResult, StageState, WorkflowState};

/// A value that differs between the replayed and the stored state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// The path in `workflow.json`: `failCount`, `stages.TEST.result`.
    pub name: String,
    pub replayed: String,
    pub stored: String,
}

/// The stages and counters that differ.
pub fn mismatches(replayed: &WorkflowState, stored: &WorkflowState) -> Vec<Mismatch> {
    let other = values(stored);
    let differing = values(replayed).into_iter().filter_map(|(name, replayed)| {
        let stored = other.iter().find(|(same, _)| *same == name).map(|(_, value)| value.clone());
        let stored = stored.unwrap_or_default();
        if replayed == stored { None } else { Some(Mismatch { name, replayed, stored }) }
    });
    differing.collect()
}

/// All compared values with their paths in the file.
fn values(state: &WorkflowState) -> Vec<(String, String)> {
    let ending = state.ending.map(Ending::key).unwrap_or_default();
    let plain = [
        ("workflowType", state.workflow_type.clone()),
        ("ending", ending.to_owned()),
        ("failCount", state.fail_count.to_string()),
        ("rejectCount", state.reject_count.to_string()),
        ("retroCount", state.retro_count.to_string()),
    ];
    let plain = plain.into_iter().map(|(name, value)| (name.to_owned(), value));
    plain.chain(state.stages.iter().flat_map(stage_values)).collect()
}

fn stage_values(stage: &StageState) -> [(String, String); 3] {
    let name = |part: &str| format!("stages.{}.{part}", stage.key);
    let result = stage.result.as_ref().map(StageResult::as_str).unwrap_or_default();
    [
        (name("status"), stage.status.key().to_owned()),
        (name("result"), result.to_owned()),
        (name("attempts"), stage.attempts.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use crate::engine::state::{Millis, Status, Verdict};
    use crate::registry::Workflow;

    use super::*;

    #[test]
    fn every_value_that_differs_is_named() {
        let replayed = WorkflowState::new("a", Workflow::Single, None, Millis(1));
        assert_eq!(
            mismatches(&replayed, &WorkflowState::new("b", Workflow::Single, Some("f"), Millis(2))),
            []
        );
        let mut stored = replayed.clone();
        stored.fail_count = 2;
        stored.ending = Some(Ending::Aborted);
        stored.stages[0].status = Status::Completed;
        stored.stages[0].result = Some(StageResult::Verdict(Verdict::Fail));
        let names: Vec<_> = mismatches(&replayed, &stored).into_iter().map(|m| m.name).collect();
        assert_eq!(names, ["ending", "failCount", "stages.DEV.status", "stages.DEV.result"]);
        stored.stages.clear();
        let gone = mismatches(&replayed, &stored).pop().unwrap();
        assert_eq!(
            (gone.name.as_str(), gone.replayed.as_str(), gone.stored.as_str()),
            ("stages.DEV.attempts", "0", "")
        );
    }
}
