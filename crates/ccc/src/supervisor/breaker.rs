//! Ends rounds without progress: the same feedback again, or no change in the working tree since the last block.

use std::hash::{DefaultHasher, Hash, Hasher};

use overtone_store::supervision::BlockTrace;

/// After this many consecutive blocks without progress, the session is not sent back any more.
const MAX_STALLS: u32 = 2;

/// The trace of a block, compared with the block before it.
pub(crate) fn next_trace(before: Option<&BlockTrace>, feedback: &str, tree: Option<String>) -> BlockTrace {
    let feedback = fingerprint(feedback);
    let stalls = match before {
        Some(before) if is_stalled(before, &feedback, tree.as_deref()) => before.stalls + 1,
        _ => 0,
    };
    BlockTrace { feedback, tree, stalls }
}

/// Whether to give up and ask the user.
pub(crate) fn is_stuck(trace: &BlockTrace) -> bool {
    trace.stalls >= MAX_STALLS
}

fn is_stalled(before: &BlockTrace, feedback: &str, tree: Option<&str>) -> bool {
    // Without git it is unknown whether the tree has changed.
    before.feedback == feedback || (tree.is_some() && before.tree.as_deref() == tree)
}

/// Feedback that differs only in white space and case has the same fingerprint.
fn fingerprint(feedback: &str) -> String {
    let mut hasher = DefaultHasher::new();
    feedback.split_whitespace().for_each(|word| word.to_lowercase().hash(&mut hasher));
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stalls(blocks: &[(&str, Option<&str>)]) -> Vec<u32> {
        let mut last: Option<BlockTrace> = None;
        let next = |(feedback, tree): &(&str, Option<&str>)| {
            let now = next_trace(last.as_ref(), feedback, tree.map(str::to_owned));
            last = Some(now.clone());
            now.stalls
        };
        blocks.iter().map(next).collect()
    }

    #[test]
    fn the_same_feedback_or_tree_is_no_progress() {
        assert_eq!(stalls(&[("a b", None), ("A  b", None), ("a b", None)]), [0, 1, 2]);
        assert_eq!(stalls(&[("a", Some("1")), ("b", Some("1")), ("c", Some("1"))]), [0, 1, 2]);
    }

    #[test]
    fn new_feedback_with_a_new_tree_is_progress() {
        assert_eq!(stalls(&[("a", Some("1")), ("b", Some("2")), ("c", Some("3"))]), [0, 0, 0]);
        assert_eq!(stalls(&[("a", None), ("a", None), ("b", None), ("b", None)]), [0, 1, 0, 1]);
    }
}
