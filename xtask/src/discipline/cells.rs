//! Plays cases: one process of the test kit for each, so that one that fails does not end the others.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;

use super::results::{CaseInfo, Cell, Played, Results};
use crate::background::in_parallel;
use crate::error::Result;
use crate::kit::{KitProgram, refuse_unknown};
use crate::peers;

/// Plays cases by the program of the test kit.
#[derive(Debug)]
pub(super) struct Player {
    kit: KitProgram,
}

/// One line of the list of columns.
#[derive(Debug, Deserialize)]
struct ColumnInfo {
    name: String,
}

impl Player {
    pub(super) fn new(kit: KitProgram) -> Self {
        Self { kit }
    }

    /// The chosen cases, or all of them.
    pub(super) fn cases(&self, chosen: &[String]) -> Result<Vec<CaseInfo>> {
        let all: Vec<CaseInfo> = self.kit.lines(&["list", "cases"])?;
        let names: Vec<_> = all.iter().map(|case| case.name.as_str()).collect();
        refuse_unknown("case", chosen, &names)?;
        let is_chosen = |case: &CaseInfo| chosen.is_empty() || chosen.contains(&case.name);
        Ok(all.into_iter().filter(is_chosen).collect())
    }

    /// The chosen columns, or all of them.
    pub(super) fn columns(&self, chosen: &[String]) -> Result<Vec<String>> {
        let all: Vec<ColumnInfo> = self.kit.lines(&["list", "columns"])?;
        let names: Vec<_> = all.iter().map(|column| column.name.as_str()).collect();
        refuse_unknown("column", chosen, &names)?;
        let all = all.into_iter().map(|column| column.name);
        Ok(all.filter(|name| chosen.is_empty() || chosen.contains(name)).collect())
    }

    /// Installs the peers among the columns. Returns those that cannot be had, with the reason.
    pub(super) fn fetch_peers(&mut self, columns: &[String]) -> Result<BTreeMap<String, String>> {
        let (folder, absent) = peers::fetch(columns)?;
        self.kit.set(peers::FOLDER_VARIABLE, folder);
        Ok(absent)
    }

    /// Plays every case in every column so many times.
    pub(super) fn play(
        &self,
        cases: &[CaseInfo],
        columns: &[String],
        times: usize,
        jobs: usize,
    ) -> Result<Results> {
        // All columns of a case are played one after the other, so that a change of the machine's load concerns them alike.
        let mut pairs = Vec::new();
        for case in cases {
            for _ in 0..times {
                pairs.extend(columns.iter().map(|column| (case.name.clone(), column.clone())));
            }
        }
        let (next, cells) = (AtomicUsize::new(0), Mutex::new(BTreeMap::<_, Cell>::new()));
        in_parallel(jobs, |_| {
            while let Some(pair) = pairs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let played = self.play_one(&pair.0, &pair.1);
                let mut cells = cells.lock().unwrap_or_else(PoisonError::into_inner);
                let cell = cells.entry(pair.clone()).or_default();
                match played {
                    Ok(run) => {
                        report(&pair.0, &pair.1, &run);
                        cell.runs.push(run);
                    }
                    Err(error) => cell.errors.push(error.to_string()),
                }
            }
            Ok(())
        })?;
        let cells = cells.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Results { cases: cases.to_vec(), columns: columns.to_vec(), times, cells })
    }

    fn play_one(&self, case: &str, column: &str) -> Result<Played> {
        self.kit.last_line(&["play", case, column])
    }
}

/// Shows a result while the others are still being played.
fn report(case: &str, column: &str, run: &Played) {
    eprintln!("discipline: {case} in {column}: {}", run.outcome.name());
    for note in &run.notes {
        eprintln!("    {note}");
    }
}
