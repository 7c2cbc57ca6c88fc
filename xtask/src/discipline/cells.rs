//! Plays cases: one process of the test kit for each, so that one that fails does not end the others.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;

use super::peers;
use super::results::{CaseInfo, Cell, Played, Results};
use crate::background::in_parallel;
use crate::error::{Error, Result};

/// The program of the test kit, and the variables that it finds clients and programs by.
#[derive(Debug)]
pub(super) struct Player {
    program: PathBuf,
    environment: Vec<(&'static str, OsString)>,
}

/// One line of the list of columns.
#[derive(Debug, Deserialize)]
struct ColumnInfo {
    name: String,
}

impl Player {
    pub(super) fn new(program: PathBuf, environment: Vec<(&'static str, OsString)>) -> Self {
        Self { program, environment }
    }

    /// The chosen cases, or all of them.
    pub(super) fn cases(&self, chosen: &[String]) -> Result<Vec<CaseInfo>> {
        let all: Vec<CaseInfo> = self.list("cases")?;
        let names: Vec<_> = all.iter().map(|case| case.name.as_str()).collect();
        refuse_unknown("case", chosen, &names)?;
        let is_chosen = |case: &CaseInfo| chosen.is_empty() || chosen.contains(&case.name);
        Ok(all.into_iter().filter(is_chosen).collect())
    }

    /// The chosen columns, or all of them.
    pub(super) fn columns(&self, chosen: &[String]) -> Result<Vec<String>> {
        let all: Vec<ColumnInfo> = self.list("columns")?;
        let names: Vec<_> = all.iter().map(|column| column.name.as_str()).collect();
        refuse_unknown("column", chosen, &names)?;
        let all = all.into_iter().map(|column| column.name);
        Ok(all.filter(|name| chosen.is_empty() || chosen.contains(name)).collect())
    }

    fn list<T: for<'a> Deserialize<'a>>(&self, what: &str) -> Result<Vec<T>> {
        let text = self.capture(&["list", what])?;
        text.lines().map(parse).collect()
    }

    /// Installs the peers among the columns. Returns those that cannot be had, with the reason.
    pub(super) fn fetch_peers(&mut self, columns: &[String]) -> Result<BTreeMap<String, String>> {
        let (folder, absent) = peers::fetch(columns)?;
        self.environment.push(("OVERTONE_DISCIPLINE_PEERS", folder.into()));
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
        let printed = self.capture(&["play", case, column])?;
        parse(printed.lines().last().unwrap_or_default())
    }

    /// What the program prints. Its error is the line in which it says what went wrong.
    fn capture(&self, arguments: &[&str]) -> Result<String> {
        let mut command = Command::new(&self.program);
        command.args(arguments).envs(self.environment.iter().map(|(name, value)| (name, value)));
        let output = command.stdin(Stdio::null()).output();
        let output = output.map_err(|e| Error::io("cannot run", &self.program, &e))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        let mut lines = printed.lines().skip_while(|line| !line.contains("panicked at")).skip(1);
        let reason = lines.next().or_else(|| printed.lines().next());
        Err(Error::new(reason.unwrap_or("it failed without a reason")))
    }
}

/// Shows a result while the others are still being played.
fn report(case: &str, column: &str, run: &Played) {
    eprintln!("discipline: {case} in {column}: {}", run.outcome.name());
    for note in &run.notes {
        eprintln!("    {note}");
    }
}

fn parse<T: for<'a> Deserialize<'a>>(line: &str) -> Result<T> {
    serde_json::from_str(line).map_err(|e| Error::new(format!("cannot read a result: {e}: {line}")))
}

fn refuse_unknown(what: &str, chosen: &[String], known: &[&str]) -> Result<()> {
    for name in chosen {
        if !known.contains(&name.as_str()) {
            let hint = format!("one of: {}", known.join(", "));
            return Err(Error::new(format!("no {what} is named {name}")).hint(hint));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_the_last_line() {
        let run: Played =
            parse(r#"{"outcome":"stopped","means":["x"],"requests":2,"milliseconds":3,"hooks":4}"#).unwrap();
        assert_eq!((run.outcome.name(), run.requests, run.milliseconds), ("stopped", 2, 3));
        assert!(parse::<Played>("sandbox").unwrap_err().to_string().contains("cannot read a result"));
    }

    #[test]
    fn a_name_that_does_not_exist_is_refused_with_the_names_that_do() {
        let error = refuse_unknown("column", &["barre".to_owned()], &["bare", "strict"]);
        assert_eq!(error.unwrap_err().to_string(), "no column is named barre\nhint: one of: bare, strict");
    }

    #[test]
    fn a_failure_is_reported_with_its_reason() {
        // A shell stands in for the program of the test kit.
        let player = Player::new("/bin/sh".into(), vec![("OVERTONE_BIN", "here".into())]);
        let failing = "echo \"thread 'main' panicked at x.rs:1:1:\" >&2; echo 'no end' >&2; exit 101";
        assert_eq!(player.capture(&["-c", failing]).unwrap_err().to_string(), "no end");
        assert_eq!(player.capture(&["-c", "echo $OVERTONE_BIN"]).unwrap(), "here\n");
    }
}
