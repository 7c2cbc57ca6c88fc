//! What the processes on one session must have left behind: every update exactly once, in order, nothing torn.

use std::collections::BTreeMap;

use overtone_core::registry::WarningReason;
use serde_json::Value;

use super::one_session::{Action, SESSION, all_steps};
use super::{Size, read_lessons, read_state};
use crate::error::Result;
use crate::sandbox::Sandbox;
use crate::tree;

/// How often each update is there.
#[derive(Default)]
struct Counts(BTreeMap<String, u64>);

impl Counts {
    fn add(&mut self, names: &[&str]) {
        for name in names {
            self.set(name, self.get(name) + 1);
        }
    }

    fn set(&mut self, name: &str, count: u64) {
        self.0.insert(name.to_owned(), count);
    }

    fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or(0)
    }

    fn differences(&self, found: &Self) -> Vec<String> {
        let mut names: Vec<_> = self.0.keys().chain(found.0.keys()).collect();
        names.sort();
        names.dedup();
        names.retain(|name| self.get(name) != found.get(name));
        let describe = |name: &String| format!("{name}: {}, expected {}", found.get(name), self.get(name));
        names.into_iter().map(describe).collect()
    }
}

/// Compares the files with what was done. `changes` are the actions that said that they have changed the loop.
pub(super) fn check(sandbox: &Sandbox, size: Size, changes: &[Action]) -> Result<Vec<String>> {
    let read = |name: &str| read_state(&sandbox.session(SESSION).join(name));
    let timeline = read("timeline.jsonl")?;
    let timeline = timeline.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut errors = expected(size, changes, timeline).differences(&found(sandbox, timeline)?);
    errors.extend(check_order(timeline));
    let context = read("context.json")?;
    if context["costUsd"].as_f64() != context["usedPercentage"].as_f64().map(|percent| percent + 1.0) {
        errors.push(format!("context.json: no status line has written {context}"));
    }
    for name in tree::files(&sandbox.session(SESSION))?.keys().map(|name| name.display().to_string()) {
        if name.starts_with('.') && name != ".lock" {
            errors.push(format!("{name} was left behind"));
        }
    }
    Ok(errors)
}

fn expected(size: Size, changes: &[Action], timeline: &[Value]) -> Counts {
    let mut counts = Counts::default();
    // The preparation: a workflow was started, and a developer has reported.
    counts.add(&["loop:start", "agent:delegate", "agents ended", "agent:complete developer", "handoffs"]);
    for step in all_steps(size) {
        let (id, agent) = (step.id(), step.agent_id());
        match step.action {
            // Each agent ends with a report, or is given up.
            Action::Delegate => counts.add(&["agent:delegate", "attempts", "agents ended"]),
            Action::StopAgent => {
                counts.add(&["handoffs", &format!("agent:complete {agent}"), &format!("handoff {agent}")]);
            }
            Action::FailCommand => {
                let lesson = format!("lesson failing{:03} run", step.worker);
                counts.add(&[
                    &format!("tool:failure {id}"),
                    &format!("observation {id}"),
                    "observations",
                    &lesson,
                ]);
            }
            Action::Compact => counts.add(&["compactions", &format!("session:compact {id}")]),
            Action::Submit => counts.add(&["observations", "lesson quick"]),
            _ => {}
        }
    }
    for change in changes {
        match change {
            Action::Stop => counts.add(&["loop:advance", "iterations"]),
            Action::StopLoop => counts.add(&["loop stopped"]),
            _ => counts.add(&["loop:start"]),
        }
    }
    // Every failure of a stage is a lesson about it.
    for _ in timeline.iter().filter(|line| line["type"] == "stage:retry") {
        counts.add(&["observations", "lesson TEST"]);
    }
    counts
}

fn found(sandbox: &Sandbox, timeline: &[Value]) -> Result<Counts> {
    let folder = sandbox.session(SESSION);
    let mut counts = Counts::default();
    for line in timeline {
        let text = |field: &str| line[field].as_str().unwrap_or_default();
        match text("type") {
            name @ ("agent:delegate" | "loop:advance" | "loop:start") => counts.add(&[name]),
            "agent:error" => counts.add(&["agents ended"]),
            "agent:complete" => {
                counts.add(&[&format!("agent:complete {}", text("agentId"))]);
                // A late report of an agent that was given up has no duration.
                if line["durationMs"].is_number() {
                    counts.add(&["agents ended"]);
                }
            }
            "tool:failure" => count_ids(&mut counts, "tool:failure", text("error")),
            "session:compact" => counts.add(&[&format!("session:compact {}", text("trigger"))]),
            "system:warning" if is_stop(line) => counts.add(&["loop stopped"]),
            _ => {}
        }
    }
    for line in read_state(&folder.join("observations.jsonl"))?.as_array().into_iter().flatten() {
        counts.add(&["observations"]);
        count_ids(&mut counts, "observation", line["evidence"].as_str().unwrap_or_default());
    }
    for name in tree::files(&folder.join("handoffs"))?.keys() {
        let report = read_state(&folder.join("handoffs").join(name))?;
        count_ids(&mut counts, "handoff", report.as_str().unwrap_or_default());
    }
    for lesson in read_lessons(sandbox)? {
        let trigger = lesson["trigger"].as_str().unwrap_or_default();
        counts.set(&format!("lesson {trigger}"), number(&lesson["count"]));
    }
    let workflow = read_state(&folder.join("workflow.json"))?;
    counts.set("handoffs", number(&workflow["handoffCount"]));
    counts.set("attempts", number(&workflow["stages"]["TEST"]["attempts"]));
    counts.set(
        "agents at work",
        workflow["activeAgents"].as_object().map_or(u64::MAX, |agents| agents.len() as u64),
    );
    counts.set("iterations", number(&read_state(&folder.join("loop.json"))?["iterations"]));
    counts.set("compactions", number(&read_state(&folder.join("compact-count.json"))?["count"]));
    Ok(counts)
}

/// Counts the steps' ids, such as `w003r017`, in a text.
fn count_ids(counts: &mut Counts, what: &str, text: &str) {
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
        if word.len() == 8 && word.starts_with('w') && word[4..].starts_with('r') {
            counts.add(&[&format!("{what} {word}")]);
        }
    }
}

fn is_stop(line: &Value) -> bool {
    line["reason"] == WarningReason::LoopStopped.name()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or(u64::MAX)
}

/// Times do not go back, no agent ends before it was delegated, iterations count up one by one, and a loop is not stopped
/// twice in a row.
fn check_order(timeline: &[Value]) -> Vec<String> {
    let mut errors = Vec::new();
    let (mut latest, mut running, mut iteration, mut is_stopped) = ("", 0, 0, false);
    for line in timeline {
        let mut wrong = |what: &str| errors.push(format!("timeline: {what}: {line}"));
        match line["type"].as_str().unwrap_or_default() {
            // Recorded without the session's lock, so it may come late.
            "tool:failure" => continue,
            "agent:delegate" => running += 1,
            "agent:error" => running -= 1,
            "agent:complete" if line["durationMs"].is_number() => running -= 1,
            "loop:advance" => {
                iteration += 1;
                if line["iteration"] != iteration {
                    wrong("not the next iteration");
                }
            }
            "system:warning" if is_stop(line) => {
                if is_stopped {
                    wrong("stops the loop a second time");
                }
                is_stopped = true;
            }
            "loop:start" => is_stopped = false,
            _ => {}
        }
        // All times are written in the same form, so they compare as texts.
        let time = line["ts"].as_str().unwrap_or_default();
        if time < latest {
            wrong("earlier than a line before it");
        }
        latest = time.max(latest);
        if running < 0 {
            wrong("ends an agent that was not delegated yet");
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_lost_a_doubled_and_an_unknown_update_are_found() {
        let (mut expected, mut found) = (Counts::default(), Counts::default());
        expected.add(&["a", "b", "c"]);
        found.add(&["a", "b", "b", "d"]);
        assert_eq!(
            expected.differences(&found),
            ["b: 2, expected 1", "c: 0, expected 1", "d: 1, expected 0"]
        );
    }

    #[test]
    fn lines_out_of_order_are_found() {
        let line = |ts: &str, kind: &str| json!({ "ts": ts, "type": kind, "iteration": 1 });
        assert!(check_order(&[line("1", "agent:delegate"), line("2", "agent:error")]).is_empty());
        assert_eq!(check_order(&[line("2", "agent:delegate"), line("1", "agent:error")]).len(), 1);
        assert_eq!(check_order(&[line("1", "agent:error"), line("2", "agent:delegate")]).len(), 1);
        assert_eq!(check_order(&[line("1", "loop:advance"), line("1", "loop:advance")]).len(), 1);
    }
}
