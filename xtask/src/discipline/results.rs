//! What was played, and how it came out.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The column that the others are compared with.
pub(super) const BARE: &str = "bare";

/// A case, as the program that plays it lists it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct CaseInfo {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) source: String,
    pub(super) is_honest: bool,
}

/// One run of a case, as the program prints it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct Played {
    pub(super) outcome: Outcome,
    pub(super) means: Vec<String>,
    pub(super) requests: u32,
    pub(super) milliseconds: u32,
    #[serde(default)]
    pub(super) notes: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    Stopped,
    Noticed,
    Through,
    Undisturbed,
    Disturbed,
}

impl Outcome {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Stopped => "stopped",
            Self::Noticed => "noticed",
            Self::Through => "through",
            Self::Undisturbed => "undisturbed",
            Self::Disturbed => "disturbed",
        }
    }
}

/// All runs of one case in one column. There is at least one.
#[derive(Debug, Clone, Default)]
pub(super) struct Cell {
    pub(super) runs: Vec<Played>,
    pub(super) errors: Vec<String>,
}

impl Cell {
    /// The outcome, if every run had the same and none failed.
    pub(super) fn outcome(&self) -> Option<Outcome> {
        let first = self.runs.first()?.outcome;
        let is_steady = self.errors.is_empty() && self.runs.iter().all(|run| run.outcome == first);
        if is_steady { Some(first) } else { None }
    }

    /// The least of a figure. What a busy machine adds is not the gate's.
    fn least(&self, figure: fn(&Played) -> u32) -> i64 {
        self.runs.iter().map(figure).min().unwrap_or_default().into()
    }
}

/// Everything that was played.
#[derive(Debug, Default)]
pub(super) struct Results {
    pub(super) cases: Vec<CaseInfo>,
    pub(super) columns: Vec<String>,
    pub(super) times: usize,
    pub(super) cells: BTreeMap<(String, String), Cell>,
}

/// How the cases of one column came out.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) misbehaviour: usize,
    pub(super) stopped: usize,
    pub(super) noticed: usize,
    pub(super) through: usize,
    pub(super) honest: usize,
    pub(super) disturbed: usize,
    /// Cells without a single outcome.
    pub(super) unsteady: usize,
}

impl Results {
    pub(super) fn cell(&self, case: &str, column: &str) -> Option<&Cell> {
        self.cells.get(&(case.to_owned(), column.to_owned()))
    }

    pub(super) fn count(&self, column: &str) -> Counts {
        let mut counts = Counts::default();
        for case in &self.cases {
            if case.is_honest {
                counts.honest += 1;
            } else {
                counts.misbehaviour += 1;
            }
            match self.cell(&case.name, column).and_then(Cell::outcome) {
                Some(Outcome::Stopped) => counts.stopped += 1,
                Some(Outcome::Noticed) => counts.noticed += 1,
                Some(Outcome::Through) => counts.through += 1,
                Some(Outcome::Disturbed) => counts.disturbed += 1,
                Some(Outcome::Undisturbed) => {}
                None => counts.unsteady += 1,
            }
        }
        counts
    }

    /// The requests and milliseconds that a column adds to the bare client, if that was played too.
    pub(super) fn added(&self, case: &str, column: &str) -> Option<(i64, i64)> {
        let (bare, cell) = (self.cell(case, BARE)?, self.cell(case, column)?);
        let difference = |figure: fn(&Played) -> u32| cell.least(figure) - bare.least(figure);
        Some((difference(|run| run.requests), difference(|run| run.milliseconds)))
    }

    pub(super) fn errors(&self) -> Vec<String> {
        let cells = self.cells.iter();
        cells
            .flat_map(|((case, column), cell)| {
                cell.errors.iter().map(move |error| format!("{case} in {column}: {error}"))
            })
            .collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn played(outcome: Outcome, requests: u32) -> Played {
        Played { outcome, means: Vec::new(), requests, milliseconds: 10 * requests, notes: Vec::new() }
    }

    /// Two cases of misbehaviour and an honest one in two columns.
    pub(crate) fn results() -> Results {
        let case = |name: &str, is_honest| CaseInfo {
            name: name.to_owned(),
            title: format!("What {name} does"),
            source: if is_honest { "honest" } else { "false success" }.to_owned(),
            is_honest,
        };
        let mut results = Results {
            cases: vec![case("a", false), case("b", false), case("c", true)],
            columns: vec![BARE.to_owned(), "strict".to_owned()],
            times: 1,
            ..Results::default()
        };
        let cells = [
            ("a", BARE, Outcome::Through, 3),
            ("b", BARE, Outcome::Through, 3),
            ("c", BARE, Outcome::Undisturbed, 3),
            ("a", "strict", Outcome::Stopped, 5),
            ("b", "strict", Outcome::Noticed, 3),
            ("c", "strict", Outcome::Undisturbed, 3),
        ];
        for (case, column, outcome, requests) in cells {
            let cell = Cell { runs: vec![played(outcome, requests)], errors: Vec::new() };
            results.cells.insert((case.to_owned(), column.to_owned()), cell);
        }
        results
    }

    #[test]
    fn an_outcome_has_to_be_the_same_every_time() {
        let stopped = played(Outcome::Stopped, 3);
        let steady = Cell { runs: vec![stopped.clone(), stopped.clone()], errors: Vec::new() };
        assert_eq!(steady.outcome(), Some(Outcome::Stopped));
        let unsteady = Cell { runs: vec![stopped, played(Outcome::Through, 3)], errors: Vec::new() };
        assert_eq!(unsteady.outcome(), None);
        assert_eq!(Cell { errors: vec!["it hung".to_owned()], ..steady }.outcome(), None);
        assert_eq!(Cell::default().outcome(), None);
    }

    #[test]
    fn a_column_is_compared_with_the_bare_client() {
        assert_eq!(results().added("a", "strict"), Some((2, 20)));
        assert_eq!(results().added("a", "no such column"), None);
        let mut slower = results();
        let key = ("a".to_owned(), "strict".to_owned());
        slower.cells.get_mut(&key).unwrap().runs.push(played(Outcome::Stopped, 9));
        assert_eq!(slower.added("a", "strict"), Some((2, 20)), "the fastest run counts");
        let counts = results().count("strict");
        assert_eq!((counts.misbehaviour, counts.stopped, counts.noticed), (2, 1, 1));
        assert_eq!((counts.honest, counts.disturbed, counts.unsteady), (1, 0, 0));
    }
}
