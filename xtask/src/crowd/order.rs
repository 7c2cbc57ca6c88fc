//! The order of a timeline's lines, and marks that are there exactly once.

use std::collections::HashMap;

use jiff::Timestamp;
use overtone_core::registry::WarningReason;
use serde_json::Value;

use super::marks::Mark;
use crate::figures::{Bar, Figure};

/// A failed command is noted without the session's lock, so its line may come later than its time: by as long as
/// its process had to wait for a processor. Nobody waits longer than this for anything.
const TOLERANCE_MILLIS: f64 = 3000.0;

/// How far the time of a line lies before that of an earlier one, at most, in milliseconds.
#[derive(Debug, Default, PartialEq)]
pub(super) struct StepsBack {
    /// Among lines that are written under the session's lock.
    pub(super) locked: f64,
    pub(super) any: f64,
}

pub(super) fn largest_steps_back(timeline: &[Value]) -> StepsBack {
    let locked = timeline.iter().filter(|line| line["type"] != "tool:failure");
    StepsBack { locked: largest_step_back(locked), any: largest_step_back(timeline.iter()) }
}

fn largest_step_back<'a>(lines: impl Iterator<Item = &'a Value>) -> f64 {
    let mut latest = i64::MIN;
    let mut largest = 0;
    for time in lines.filter_map(time_of) {
        largest = largest.max(latest.saturating_sub(time)).max(0);
        latest = latest.max(time);
    }
    std::time::Duration::from_millis(largest.unsigned_abs()).as_secs_f64() * 1000.0
}

fn time_of(line: &Value) -> Option<i64> {
    line["ts"].as_str()?.parse::<Timestamp>().ok().map(Timestamp::as_millisecond)
}

pub(super) fn figures(steps: &StepsBack) -> [Figure; 2] {
    [
        Figure::new("step back in time, under the lock", steps.locked, Bar::AtMost(0.0), "ms"),
        Figure::new("step back in time, any line", steps.any, Bar::AtMostWhenQuiet(TOLERANCE_MILLIS), "ms"),
    ]
}

/// Nothing ends before it has begun, and iterations count up one by one.
pub(super) fn check(timeline: &[Value]) -> Vec<String> {
    let mut findings: Vec<String> = Vec::new();
    let (mut delegated, mut ended, mut iteration) = (0_i64, 0_i64, 0_u64);
    let mut started: Vec<&str> = Vec::new();
    let mut is_stopped = false;
    for (number, line) in (1..).zip(timeline) {
        let stage = line["stage"].as_str().unwrap_or_default();
        if time_of(line).is_none() {
            findings.push(format!("line {number} has no time"));
        }
        match line["type"].as_str().unwrap_or_default() {
            "agent:delegate" => delegated += 1,
            "agent:error" => ended += 1,
            "agent:complete" => ended += i64::from(line["durationMs"].is_number()),
            "stage:start" => started.push(stage),
            "stage:complete" if !started.contains(&stage) => {
                findings.push(format!("line {number} completes {stage}, which has not started"));
            }
            "loop:advance" => {
                iteration += 1;
                if line["iteration"] != iteration {
                    findings
                        .push(format!("line {number} is iteration {}, not {iteration}", line["iteration"]));
                }
            }
            "system:warning" if line["reason"] == WarningReason::LoopStopped.name() => {
                if is_stopped {
                    findings.push(format!("line {number} stops the loop a second time"));
                }
                is_stopped = true;
            }
            // A loop that paused without a line is resumed as well as one that was stopped.
            "loop:start" if line["reason"] == "resumed" => is_stopped = false,
            _ => {}
        }
        if ended > delegated {
            findings.push(format!("line {number} ends an agent that was not delegated yet"));
        }
    }
    findings
}

/// Marks to look for in one place.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks {
    /// There exactly once.
    pub(super) certain: Vec<Mark>,
    /// There once or not at all.
    pub(super) possible: Vec<Mark>,
}

impl Marks {
    pub(super) fn map(self, change: impl Fn(Mark) -> Mark) -> Self {
        let changed = |marks: Vec<Mark>| marks.into_iter().map(&change).collect();
        Self { certain: changed(self.certain), possible: changed(self.possible) }
    }

    pub(super) fn join(mut self, other: Self) -> Self {
        self.certain.extend(other.certain);
        self.possible.extend(other.possible);
        self
    }

    /// Looks for each mark in the texts; says which are missing, there more than once, or nobody's.
    pub(super) fn check(&self, place: &str, texts: &[String]) -> Vec<String> {
        let mut seen: HashMap<String, usize> = HashMap::new();
        for text in texts {
            for word in text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| is_mark(word)) {
                *seen.entry(word.to_owned()).or_default() += 1;
            }
        }
        let mut take = |mark: &Mark| seen.remove(&mark.text()).unwrap_or(0);
        let certain: Vec<_> = self.certain.iter().map(|mark| (mark, take(mark), 1..=1)).collect();
        let possible: Vec<_> = self.possible.iter().map(|mark| (mark, take(mark), 0..=1)).collect();
        let wrong =
            certain.into_iter().chain(possible).filter(|(_, count, allowed)| !allowed.contains(count));
        let mut findings: Vec<_> = wrong
            .map(|(mark, count, _)| format!("{place}: {} is there {count} times", mark.text()))
            .collect();
        if !seen.is_empty() {
            findings.push(format!("{place}: {} marks that nobody made", seen.len()));
        }
        findings
    }
}

fn is_mark(word: &str) -> bool {
    let digits = |text: &str| text.len() == 3 && text.bytes().all(|b| b.is_ascii_digit());
    word.strip_prefix('w').and_then(|rest| rest.split_once('r')).is_some_and(|(w, r)| digits(w) && digits(r))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(second: u32, kind: &str) -> Value {
        json!({ "ts": format!("2026-01-01T00:00:{second:02}.000Z"), "type": kind, "stage": "TEST" })
    }

    #[test]
    fn steps_back_are_measured_from_the_latest_line() {
        let lines = [at(5, "stage:start"), at(2, "tool:failure"), at(4, "agent:delegate"), at(9, "x")];
        assert_eq!(largest_steps_back(&lines), StepsBack { locked: 1000.0, any: 3000.0 });
        assert_eq!(largest_steps_back(&[]), StepsBack::default());
    }

    #[test]
    fn nothing_ends_before_it_begins() {
        assert!(check(&[at(1, "stage:start"), at(2, "stage:complete")]).is_empty());
        assert_eq!(check(&[at(1, "stage:complete"), at(2, "stage:start")]).len(), 1);
        assert_eq!(check(&[at(1, "agent:error"), at(2, "agent:delegate")]).len(), 1);
        assert_eq!(check(&[json!({ "type": "x" })]).len(), 1);
    }

    #[test]
    fn a_mark_is_missed_and_a_second_one_is_noticed() {
        let marks: Vec<_> = (0..3).map(|round| Mark { worker: 1, round }).collect();
        let texts = ["a w001r000 b".to_owned(), "w001r001".to_owned(), "x: w001r001.".to_owned()];
        let certain = |marks: &[Mark]| Marks { certain: marks.to_vec(), ..Marks::default() };
        let possible = |marks: &[Mark]| Marks { possible: marks.to_vec(), ..Marks::default() };
        let findings = certain(&marks).check("here", &texts);
        assert_eq!(findings, ["here: w001r001 is there 2 times", "here: w001r002 is there 0 times"]);
        assert_eq!(possible(&marks).check("here", &texts), ["here: w001r001 is there 2 times"]);
        assert!(certain(&marks[..1]).check("here", &texts[..1]).is_empty());
        assert_eq!(Marks::default().check("here", &texts[..1]).len(), 1);
    }
}
