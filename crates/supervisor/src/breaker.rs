//! Ends rounds that lead nowhere: the same feedback again, or no change in the working tree since the last one.

use std::hash::{DefaultHasher, Hash, Hasher};

use crate::record::Trace;

/// How many blocks in a row may bring nothing new; the one after the last of them is not sent any more.
const MAX_STALLS: u32 = 2;

/// The block to remember, after the one before it.
pub(crate) fn trace(before: Option<&Trace>, feedback: &str, tree: Option<String>) -> Trace {
    let feedback = fingerprint(feedback);
    let stalls = match before {
        Some(before) if is_stalled(before, &feedback, tree.as_deref()) => before.stalls + 1,
        _ => 0,
    };
    Trace { feedback, tree, stalls }
}

/// Whether it is time to give up and to ask the person.
pub(crate) fn is_stuck(trace: &Trace) -> bool {
    trace.stalls >= MAX_STALLS
}

fn is_stalled(before: &Trace, feedback: &str, tree: Option<&str>) -> bool {
    // Without git nobody can tell whether the tree has changed.
    before.feedback == feedback || (tree.is_some() && before.tree.as_deref() == tree)
}

/// The same words count as the same, however they are spaced.
fn fingerprint(feedback: &str) -> String {
    let mut hasher = DefaultHasher::new();
    feedback.split_whitespace().for_each(|word| word.to_lowercase().hash(&mut hasher));
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stalls(blocks: &[(&str, Option<&str>)]) -> Vec<u32> {
        let mut last: Option<Trace> = None;
        let next = |(feedback, tree): &(&str, Option<&str>)| {
            let now = trace(last.as_ref(), feedback, tree.map(str::to_owned));
            last = Some(now.clone());
            now.stalls
        };
        blocks.iter().map(next).collect()
    }

    #[test]
    fn the_same_again_is_no_progress() {
        assert_eq!(stalls(&[("a b", None), ("A  b", None), ("a b", None)]), [0, 1, 2]);
        assert_eq!(stalls(&[("a", Some("1")), ("b", Some("1")), ("c", Some("1"))]), [0, 1, 2]);
    }

    #[test]
    fn anything_new_counts() {
        assert_eq!(stalls(&[("a", Some("1")), ("b", Some("2")), ("c", Some("3"))]), [0, 0, 0]);
        assert_eq!(stalls(&[("a", None), ("a", None), ("b", None), ("b", None)]), [0, 1, 0, 1]);
    }
}
