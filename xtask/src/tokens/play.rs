//! Plays sessions, several at a time.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::results::{Bill, Results, Session};
use crate::background::in_parallel;
use crate::error::{Error, Result};
use crate::kit::{KitProgram, parse};
use crate::shell;

/// How sessions are played.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    /// How often each of them. Every time must have the same bill, except for peers.
    pub(super) times: usize,
    /// How many at once.
    pub(super) jobs: usize,
    /// The folder for the pieces of the requests.
    pub(super) pieces: Option<&'a Path>,
}

pub(super) fn play(kit: &KitProgram, sessions: Vec<Session>, plan: &Plan<'_>) -> Result<Results> {
    let (next, bills) = (AtomicUsize::new(0), Mutex::new(vec![None; sessions.len()]));
    in_parallel(plan.jobs, |_| {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(session) = sessions.get(at) else { return Ok(()) };
            let bill = play_times(kit, session, plan).map_err(|error| error.to_string());
            report(session, &bill);
            bills.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(bill);
        }
    })?;
    let bills = bills.into_inner().unwrap_or_else(PoisonError::into_inner);
    let unplayed = || Err("it was not played".to_owned());
    let played =
        sessions.into_iter().zip(bills).map(|(session, bill)| (session, bill.unwrap_or_else(unplayed)));
    Ok(Results { played: played.collect() })
}

fn play_times(kit: &KitProgram, session: &Session, plan: &Plan<'_>) -> Result<Bill> {
    let first = play_once(kit, session, plan.pieces)?;
    for _ in 1..plan.times {
        let again = play_once(kit, session, None)?;
        if again != first && !session.is_peer {
            let (one, other) = (first.bytes(), again.bytes());
            return Err(Error::new(format!("two runs differ: {one} and {other} bytes"))
                .hint("compare what --pieces writes in two runs; crates/testkit/src/economy/steady.rs evens out differences"));
        }
    }
    Ok(first)
}

fn play_once(kit: &KitProgram, session: &Session, pieces: Option<&Path>) -> Result<Bill> {
    let mut arguments = vec!["play", &session.run, &session.profile, &session.language];
    let Some(folder) = pieces else { return kit.last_line(&arguments) };
    arguments.push("--pieces");
    let printed = kit.capture(&arguments)?;
    let file = format!("{}-{}-{}.jsonl", session.run, session.profile, session.language);
    shell::write_file(&folder.join(file), printed.as_bytes())?;
    parse(printed.lines().last().unwrap_or_default())
}

/// Shows a result while others are still being played.
fn report(session: &Session, bill: &std::result::Result<Bill, String>) {
    let title = session.title();
    match bill {
        Ok(Bill { not_supported: Some(reason), .. }) => {
            eprintln!("tokens: {title}: not supported by this build: {reason}");
        }
        Ok(bill) => eprintln!("tokens: {title}: {} requests, {} tokens", bill.requests(), bill.tokens()),
        Err(error) => eprintln!("tokens: {title}: {error}"),
    }
}
