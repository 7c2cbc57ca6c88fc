//! What the processes on one session must have left behind: every update exactly once, in order, nothing torn.

use std::collections::BTreeMap;
use std::iter;

use overtone_core::registry::WarningReason;
use serde_json::Value;

use super::one_session::{Action, SESSION, all_steps};
use super::{Size, read_lessons, read_state};
use crate::error::Result;
use crate::sandbox::Sandbox;
use crate::tree;

/// What is there more or less often than expected. An update that is expected twice is in the list twice.
fn differences(expected: Vec<String>, found: Vec<String>) -> Vec<String> {
    let mut surplus: BTreeMap<String, i64> = BTreeMap::new();
    for (updates, times) in [(found, 1), (expected, -1)] {
        for update in updates {
            *surplus.entry(update).or_default() += times;
        }
    }
    surplus.retain(|_, times| *times != 0);
    surplus.into_iter().map(|(update, times)| format!("{update}: {times:+}")).collect()
}

/// Compares the files with what was done. `changes` are the actions that said that they have changed the loop.
pub(super) fn check(sandbox: &Sandbox, size: Size, changes: &[Action]) -> Result<Vec<String>> {
    let read = |name: &str| read_state(&sandbox.session(SESSION).join(name));
    let timeline = read("timeline.jsonl")?;
    let timeline = timeline.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut errors = differences(expected(size, changes, timeline), found(sandbox, timeline)?);
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

fn expected(size: Size, changes: &[Action], timeline: &[Value]) -> Vec<String> {
    let mut updates = Vec::new();
    let mut add = |names: &[&str]| updates.extend(names.iter().map(|name| (*name).to_owned()));
    // The preparation: a workflow was started, and a developer has reported.
    add(&["loop:start", "agent:delegate", "agent ended", "agent:complete developer", "handoff"]);
    for step in all_steps(size) {
        let (id, agent) = (step.id(), step.agent_id());
        match step.action {
            // Each agent ends with a report, or is given up.
            Action::Delegate => add(&["agent:delegate", "attempt", "agent ended"]),
            Action::StopAgent => {
                add(&["handoff", &format!("agent:complete {agent}"), &format!("handoff {agent}")]);
            }
            Action::FailCommand => {
                let lesson = format!("lesson failing{:03} run", step.worker);
                add(&["observation", &format!("tool:failure {id}"), &format!("observation {id}"), &lesson]);
            }
            Action::Compact => add(&["compaction", &format!("session:compact {id}")]),
            Action::Submit => add(&["observation", "lesson quick"]),
            _ => {}
        }
    }
    for change in changes {
        match change {
            Action::Stop => add(&["loop:advance", "iteration"]),
            Action::StopLoop => add(&["loop stopped"]),
            _ => add(&["loop:start"]),
        }
    }
    // Every failure of a stage is a lesson about it.
    for _ in timeline.iter().filter(|line| line["type"] == "stage:retry") {
        add(&["observation", "lesson TEST"]);
    }
    updates
}

fn found(sandbox: &Sandbox, timeline: &[Value]) -> Result<Vec<String>> {
    let read = |name: &str| read_state(&sandbox.session(SESSION).join(name));
    let mut updates = Vec::new();
    for line in timeline {
        let text = |field: &str| line[field].as_str().unwrap_or_default();
        match text("type") {
            name @ ("agent:delegate" | "loop:advance" | "loop:start") => updates.push(name.to_owned()),
            "agent:complete" => updates.push(format!("agent:complete {}", text("agentId"))),
            "tool:failure" => updates.extend(ids_in(text("error"), "tool:failure")),
            "session:compact" => updates.push(format!("session:compact {}", text("trigger"))),
            "system:warning" if is_stop(line) => updates.push("loop stopped".to_owned()),
            _ => {}
        }
        if ends_agent(line) {
            updates.push("agent ended".to_owned());
        }
    }
    for line in read("observations.jsonl")?.as_array().into_iter().flatten() {
        updates.push("observation".to_owned());
        updates.extend(ids_in(line["evidence"].as_str().unwrap_or_default(), "observation"));
    }
    for name in tree::files(&sandbox.session(SESSION).join("handoffs"))?.keys() {
        let report = read(&format!("handoffs/{}", name.display()))?;
        updates.extend(ids_in(report.as_str().unwrap_or_default(), "handoff"));
    }
    let mut add = |name: &str, count: &Value| {
        let count = count.as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
        updates.extend(iter::repeat_n(name.to_owned(), count));
    };
    for lesson in read_lessons(sandbox)? {
        add(&format!("lesson {}", lesson["trigger"].as_str().unwrap_or_default()), &lesson["count"]);
    }
    let workflow = read("workflow.json")?;
    add("handoff", &workflow["handoffCount"]);
    add("attempt", &workflow["stages"]["TEST"]["attempts"]);
    add("iteration", &read("loop.json")?["iterations"]);
    add("compaction", &read("compact-count.json")?["count"]);
    updates.extend(
        workflow["activeAgents"].as_object().into_iter().flatten().map(|(id, _)| format!("{id} at work")),
    );
    Ok(updates)
}

/// The ids of steps, such as `w003r017`, in a text.
fn ids_in(text: &str, what: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let ids = words.filter(|word| word.len() == 8 && word.starts_with('w') && word[4..].starts_with('r'));
    ids.map(|id| format!("{what} {id}")).collect()
}

/// A late report of an agent that was given up has no duration.
fn ends_agent(line: &Value) -> bool {
    line["type"] == "agent:error" || (line["type"] == "agent:complete" && line["durationMs"].is_number())
}

fn is_stop(line: &Value) -> bool {
    line["reason"] == WarningReason::LoopStopped.name()
}

/// Nobody else changes the session's files or calls its hooks here.
fn is_false_alarm(line: &Value) -> bool {
    let alarms = [WarningReason::StateEdited, WarningReason::ForgedHook];
    alarms.iter().any(|reason| line["reason"] == reason.name())
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
            _ if ends_agent(line) => running -= 1,
            "loop:advance" => {
                iteration += 1;
                if line["iteration"] != iteration {
                    wrong("not the next iteration");
                }
            }
            "system:warning" if is_false_alarm(line) => {
                wrong("takes what Overtone did for the work of others");
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
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let found = list(&["a", "b", "b", "d"]);
        assert_eq!(differences(list(&["a", "b", "c"]), found), ["b: +1", "c: -1", "d: +1"]);
    }

    #[test]
    fn lines_out_of_order_are_found() {
        let line = |ts: &str, kind: &str| json!({ "ts": ts, "type": kind, "iteration": 1 });
        assert!(check_order(&[line("1", "agent:delegate"), line("2", "agent:error")]).is_empty());
        assert_eq!(check_order(&[line("2", "agent:delegate"), line("1", "agent:error")]).len(), 1);
        assert_eq!(check_order(&[line("1", "agent:error"), line("2", "agent:delegate")]).len(), 1);
        assert_eq!(check_order(&[line("1", "loop:advance"), line("1", "loop:advance")]).len(), 1);
        let edited = json!({ "ts": "1", "type": "system:warning", "reason": "state-edited" });
        assert_eq!(check_order(&[edited]).len(), 1);
    }
}
