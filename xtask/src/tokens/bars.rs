//! The bars of the measurement: the one place to look them up or change them.

use super::results::{Results, ratio};

/// Run, profile, and how many times the input of the run without Overtone it may have.
const BARS: [(&str, &str, f64); 8] = [
    ("chat", "default", 1.15),
    ("single", "default", 1.4),
    ("quick", "default", 3.2),
    ("single", "lean", 1.0),
    ("quick", "lean", 2.2),
    ("standard", "lean", 3.3),
    ("full", "lean", 4.3),
    ("quick", "lean-by-rule", 1.6),
];

/// A bar with what was found.
#[derive(Debug, PartialEq)]
pub(super) struct Verdict {
    /// Run, profile and language.
    pub(super) what: String,
    pub(super) limit: f64,
    pub(super) found: f64,
}

impl Verdict {
    /// As the tables show it: with two decimals.
    pub(super) fn holds(&self) -> bool {
        (self.found * 100.0).round() <= (self.limit * 100.0).round()
    }
}

/// Judges what was played, in every language. What was not played is not judged.
pub(super) fn judge(results: &Results) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (run, profile, limit) in BARS {
        for (session, bill) in results.bills() {
            if (session.run.as_str(), session.profile.as_str()) != (run, profile) {
                continue;
            }
            if let Some(baseline) = results.baseline(session) {
                let found = ratio(bill.tokens(), baseline.tokens());
                verdicts.push(Verdict { what: session.title(), limit, found });
            }
        }
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::results;
    use super::*;

    #[test]
    fn a_run_is_judged_by_its_input_against_the_run_without_overtone() {
        let verdicts: Vec<_> =
            judge(&results()).into_iter().map(|v| (v.what.clone(), v.found, v.holds())).collect();
        let expected =
            [("single (default, en)".to_owned(), 1.35, true), ("quick (default, en)".to_owned(), 3.5, false)];
        assert_eq!(verdicts, expected);
    }

    #[test]
    fn a_bar_is_met_at_its_limit() {
        let verdict = |found| Verdict { what: String::new(), limit: 1.15, found }.holds();
        assert!(verdict(1.15) && verdict(1.1549) && !verdict(1.156));
    }
}
