//! `running-check.json`: which check runs now, so that the status line and the dashboard can show it.

use std::path::PathBuf;

use overtone_core::engine::state::Millis;
use overtone_core::evidence::Check;
use overtone_store::files::{self, PRIVATE};
use overtone_store::{Session, clock, object};
use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};

/// A check that is running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningCheck {
    pub name: String,
    pub started_at: Millis,
}

/// Removes the file when the check has ended.
#[derive(Debug)]
pub(crate) struct Shown(PathBuf);

impl Drop for Shown {
    fn drop(&mut self) {
        // A file that stays is recognised by its process, which is gone then.
        let _ = files::remove(&self.0);
    }
}

pub(crate) fn show(session: &Session, check: &Check, started_at: Millis) -> Shown {
    let path = path_in(session);
    let shown =
        json!({"check": check.name, "startedAt": clock::to_iso(started_at), "pid": std::process::id()});
    // The check runs whether it can be shown or not.
    let _ = files::write_atomic(&path, shown.to_string().as_bytes(), PRIVATE);
    Shown(path)
}

/// The check that runs now, if any.
pub fn running_check(session: &Session) -> Option<RunningCheck> {
    let fields = object::read(&path_in(session));
    let name = fields.get("check").and_then(Value::as_str)?.to_owned();
    let started_at = clock::from_iso(fields.get("startedAt").and_then(Value::as_str)?)?;
    let pid = fields.get("pid").and_then(Value::as_i64)?;
    let process = Pid::from_raw(i32::try_from(pid).ok()?)?;
    test_kill_process(process).is_ok().then_some(RunningCheck { name, started_at })
}

fn path_in(session: &Session) -> PathBuf {
    session.dir().join("running-check.json")
}
