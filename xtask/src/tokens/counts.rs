//! `counts.tsv`: the bytes of every session, by origin. They are committed, so that a change of them is seen.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::results::{Bill, ORIGINS, Results, Session, ratio};
use crate::error::{Error, Result};
use crate::shell;

/// How far a count may be from the committed one.
const TOLERANCE: f64 = 0.02;

/// Run, profile, language.
type Key = (String, String, String);

/// The counts of one session: its requests, then the bytes of each origin in the order of [`ORIGINS`].
type Row = [u64; ORIGINS.len() + 1];

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    rows: BTreeMap<Key, Row>,
}

pub(super) fn path() -> PathBuf {
    shell::root().join("xtask/src/tokens/counts.tsv")
}

impl Counts {
    pub(super) fn committed() -> Result<Self> {
        let path = path();
        let text = std::fs::read_to_string(&path)
            .map_err(|e| Error::io("cannot read counts", &path, &e).hint("cargo xtask tokens --write"))?;
        Self::from_text(&text)
    }

    fn from_text(text: &str) -> Result<Self> {
        let mut rows = BTreeMap::new();
        for line in text.lines().skip(1) {
            let (key, row) = read_line(line)
                .ok_or_else(|| Error::new(format!("cannot read a line of counts.tsv: {line}")))?;
            rows.insert(key, row);
        }
        Ok(Self { rows })
    }

    pub(super) fn to_text(&self) -> String {
        let mut text = String::from("run\tprofile\tlanguage\trequests");
        for (origin, _) in ORIGINS {
            // Writing to a string cannot fail.
            let _ = write!(text, "\t{origin}");
        }
        text.push('\n');
        for ((run, profile, language), row) in &self.rows {
            let _ = write!(text, "{run}\t{profile}\t{language}");
            for count in row {
                let _ = write!(text, "\t{count}");
            }
            text.push('\n');
        }
        text
    }

    /// Takes over the counts of what was played.
    pub(super) fn accept(&mut self, results: &Results) {
        let ours = results.bills().filter(|(session, _)| !session.is_peer);
        self.rows.extend(ours.map(|(session, bill)| (key(session), row(bill))));
    }

    /// One line for each session whose input is not the committed one within the tolerance.
    pub(super) fn differences(&self, results: &Results) -> Vec<String> {
        results.bills().filter_map(|(session, bill)| self.difference(session, bill)).collect()
    }

    fn difference(&self, session: &Session, bill: &Bill) -> Option<String> {
        let found = row(bill);
        let Some(known) = self.rows.get(&key(session)) else {
            return Some(format!("{}: not in counts.tsv", session.title()));
        };
        let (old, new): (u64, u64) = (known[1..].iter().sum(), found[1..].iter().sum());
        let change = ratio(new, old) - 1.0;
        if change.abs() <= TOLERANCE && known[0] == found[0] {
            return None;
        }
        let mut text = format!("{}: {old} → {new} bytes ({:+.1} %)", session.title(), change * 100.0);
        let names = std::iter::once("requests").chain(ORIGINS.iter().map(|(name, _)| *name));
        for ((name, old), new) in names.zip(known).zip(found) {
            if *old != new {
                let _ = write!(text, ", {name} {old} → {new}");
            }
        }
        Some(text)
    }
}

fn key(session: &Session) -> Key {
    (session.run.clone(), session.profile.clone(), session.language.clone())
}

fn row(bill: &Bill) -> Row {
    let mut row = [bill.requests(); ORIGINS.len() + 1];
    for (count, (origin, _)) in row[1..].iter_mut().zip(ORIGINS) {
        *count = bill.origin(origin).bytes;
    }
    row
}

fn read_line(line: &str) -> Option<(Key, Row)> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [run, profile, language, counts @ ..] = fields.as_slice() else { return None };
    let counts: Vec<u64> =
        counts.iter().map(|count| count.parse()).collect::<std::result::Result<_, _>>().ok()?;
    let key = ((*run).to_owned(), (*profile).to_owned(), (*language).to_owned());
    Some((key, counts.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::{bill, results, session};
    use super::*;

    fn counts() -> Counts {
        let mut counts = Counts::default();
        counts.accept(&results());
        counts
    }

    #[test]
    fn counts_survive_being_written_and_read() {
        let text = counts().to_text();
        assert!(text.contains("quick\tdefault\ten\t2\t12000\t0\t2000\t0\t0\t0\n"), "{text}");
        assert_eq!(Counts::from_text(&text).unwrap(), counts());
        let peer = Session { is_peer: true, ..session("other", "default") };
        let mut with_peer = counts();
        with_peer.accept(&Results { played: vec![(peer, Ok(bill(1, 1)))] });
        assert_eq!(with_peer, counts(), "other products change by themselves");
        assert!(Counts::from_text("head\nquick\tdefault\n").is_err());
    }

    #[test]
    fn more_than_two_percent_is_a_difference_that_names_its_origin() {
        let differences = |pages| {
            let played = vec![(session("quick", "default"), Ok(bill(3000, pages)))];
            counts().differences(&Results { played })
        };
        assert!(differences(500).is_empty() && differences(560).is_empty());
        assert_eq!(
            differences(600),
            ["quick (default, en): 14000 → 14400 bytes (+2.9 %), pages 2000 → 2400"]
        );
        assert_eq!(differences(400).len(), 1, "what has become cheaper is told too");
    }

    #[test]
    fn a_session_without_counts_is_a_difference() {
        let played = vec![(session("other", "default"), Ok(bill(1, 1)))];
        assert_eq!(counts().differences(&Results { played }), ["other (default, en): not in counts.tsv"]);
    }
}
