//! Which sessions are old enough to be removed. It reads no clock, so that the rule can be tested.

use overtone_core::engine::state::Millis;

const DAY: i64 = 24 * 3600 * 1000;

/// What decides about a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidate {
    pub(super) last_activity: Millis,
    /// Its workflow is not finished.
    pub(super) open: bool,
    pub(super) current: bool,
}

/// How long and how many are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub(super) days: u64,
    pub(super) sessions: u64,
}

/// The indexes of those to remove. `candidates` are sorted, the last active first.
pub(super) fn find_outdated(candidates: &[Candidate], rule: Rule, now: Millis) -> Vec<usize> {
    let limit = i64::try_from(rule.days).unwrap_or(i64::MAX).saturating_mul(DAY);
    let mut kept = 0;
    let mut outdated = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        let old = now.since(candidate.last_activity) > limit;
        let protected = candidate.current || (candidate.open && !old);
        if !protected && (old || kept >= rule.sessions) {
            outdated.push(index);
        } else {
            kept += 1;
        }
    }
    outdated
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(1000 * DAY);

    fn aged(days: i64) -> Candidate {
        Candidate { last_activity: Millis(NOW.0 - days * DAY), open: false, current: false }
    }

    fn rule(days: u64, sessions: u64) -> Rule {
        Rule { days, sessions }
    }

    #[test]
    fn old_ones_go_and_young_ones_stay() {
        assert_eq!(find_outdated(&[aged(1), aged(30), aged(31)], rule(30, 500), NOW), [2]);
        assert!(find_outdated(&[], rule(1, 1), NOW).is_empty());
    }

    #[test]
    fn the_current_session_and_open_work_stay() {
        let current = Candidate { current: true, ..aged(400) };
        let open = Candidate { open: true, ..aged(10) };
        let forgotten = Candidate { open: true, ..aged(31) };
        assert_eq!(find_outdated(&[open, forgotten, current], rule(30, 1), NOW), [1]);
    }

    #[test]
    fn the_oldest_beyond_the_number_go() {
        assert_eq!(find_outdated(&[aged(1), aged(2), aged(3), aged(4)], rule(30, 2), NOW), [2, 3]);
        let open = Candidate { open: true, ..aged(3) };
        assert_eq!(find_outdated(&[aged(1), aged(2), open, aged(4)], rule(30, 2), NOW), [3]);
    }

    #[test]
    fn a_clock_that_went_backwards_removes_nothing() {
        assert!(find_outdated(&[aged(-5)], rule(1, 5), NOW).is_empty());
        assert!(find_outdated(&[aged(5)], rule(u64::MAX, 5), NOW).is_empty());
    }
}
