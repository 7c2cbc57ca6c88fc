//! Many sessions at once in one project: each must come out exactly as one that is alone.

use std::fs;
use std::time::Instant;

use jiff::Timestamp;
use overtone_core::registry::Hook;
use serde_json::{Map, Value, json};

use super::{payload, read_lessons, read_state, run_hook, run_program};
use crate::background::in_parallel;
use crate::error::Result;
use crate::measure::{Limit, Report};
use crate::sandbox::Sandbox;
use crate::tree;

pub(super) fn run(sandbox: &Sandbox, sessions: usize, report: &mut Report) -> Result<()> {
    work(sandbox, "alone")?;
    end(sandbox, "alone")?;
    let alone = read_session(sandbox, "alone")?;

    eprintln!("crowd: {sessions} sessions at once");
    let (begun, name) = (Instant::now(), |number: usize| format!("crowd-{number:03}"));
    in_parallel(sessions, |number| work(sandbox, &name(number)))?;
    // This one has started last, so it stays the current session while the others end.
    run_hook(sandbox, "last", Hook::OnStart, json!({ "source": "startup" }))?;
    in_parallel(sessions, |number| end(sandbox, &name(number)))?;
    report.add(format!("{sessions} sessions at once"), begun.elapsed().as_secs_f64(), "s", Limit::None);

    check_current_session(sandbox, Some("last"), report);
    end(sandbox, "last")?;
    check_current_session(sandbox, None, report);
    for session in (0..sessions).map(name) {
        let found = read_session(sandbox, &session)?;
        for file in alone.keys().chain(found.keys().filter(|file| !alone.contains_key(*file))) {
            let (alone, found) = (alone.get(file), found.get(file));
            if alone != found {
                report.errors.push(format!("{session}, {file}: {found:?}, expected {alone:?}"));
            }
        }
    }
    let lessons = read_lessons(sandbox)?;
    if lessons.len() != 2 || lessons.iter().any(|lesson| lesson["count"] != 1 + sessions) {
        report.errors.push(format!("not two lessons of {} sessions: {lessons:?}", 1 + sessions));
    }
    Ok(())
}

/// A session from its start to a failed test. From the failed command and from the failed stage, all learn the same.
fn work(sandbox: &Sandbox, session: &str) -> Result<()> {
    let hook = |hook: Hook, fields: Value| run_hook(sandbox, session, hook, fields).map(drop);
    hook(Hook::OnStart, json!({ "source": "startup" }))?;
    run_program(&mut sandbox.command(&["init", "quick", "--session", session]), &Value::Null)?;
    hook(Hook::OnSubmit, json!({ "prompt": "go" }))?;
    hook(Hook::PostUseFailure, payload::failed_command("shared check", "call"))?;
    for (agent, verdict) in [("developer", "PASS"), ("tester", "FAIL")] {
        hook(Hook::PreTask, payload::delegation(agent, agent))?;
        hook(Hook::OnAgentStart, payload::agent_start(agent, agent))?;
        hook(Hook::OnAgentStop, payload::agent_stop(agent, agent, verdict))?;
    }
    hook(Hook::PreCompact, json!({ "trigger": "auto" }))?;
    hook(Hook::OnStop, json!({ "stop_hook_active": false, "background_tasks": [] }))
}

fn end(sandbox: &Sandbox, session: &str) -> Result<()> {
    run_hook(sandbox, session, Hook::OnSessionEnd, json!({ "reason": "other" })).map(drop)
}

fn check_current_session(sandbox: &Sandbox, expected: Option<&str>, report: &mut Report) {
    let found = fs::read_to_string(sandbox.overtone_home().join(".current-session-id")).ok();
    if found.as_deref() != expected {
        report.errors.push(format!("the current session is {found:?}, expected {expected:?}"));
    }
}

/// The files of a session by name, without what depends on the time or on other sessions.
fn read_session(sandbox: &Sandbox, session: &str) -> Result<Map<String, Value>> {
    let folder = sandbox.session(session);
    let read = |name: &std::path::PathBuf| {
        Ok((name.display().to_string(), normalize(read_state(&folder.join(name))?, session)))
    };
    tree::files(&folder)?.keys().map(read).collect()
}

fn normalize(value: Value, session: &str) -> Value {
    match value {
        Value::String(text) if text.parse::<Timestamp>().is_ok() => json!("<time>"),
        Value::String(text) => Value::String(text.replace(session, "<session>")),
        Value::Array(items) => items.into_iter().map(|item| normalize(item, session)).collect(),
        Value::Object(mut fields) => {
            // How certain a lesson is depends on how many sessions have learned it, and a seal on the session.
            fields.retain(|name, _| !["durationMs", "confidence", "seal"].contains(&name.as_str()));
            fields.into_iter().map(|(name, value)| (name, normalize(value, session))).collect()
        }
        other => other,
    }
}
