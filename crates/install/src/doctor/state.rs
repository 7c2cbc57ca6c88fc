//! The home folder: rights, broken files, sessions that nobody will come back to.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use overtone_store::config::{Config, KEYS, Key};
use overtone_store::{Problem, Session, StoreError, files};

use super::{Finding, Patient};

const DAY: Duration = Duration::from_hours(24);

pub(super) fn check(patient: &Patient) -> Vec<Finding> {
    let root = patient.home.root();
    if !root.exists() {
        return Vec::new();
    }
    let mut findings = rights(root);
    let config =
        Config::load(patient.home).inspect_err(|error| findings.push(broken(error))).unwrap_or_default();
    let bad = KEYS.iter().filter(|key| config.has_bad_value(key));
    findings.extend(bad.map(|key| Finding::BadConfigValue { key: key.name, allowed: key.allowed() }));
    let days = Key::find("retention.days").and_then(|key| config.value(key).as_u64()).unwrap_or(30);
    let sessions = patient.home.sessions().unwrap_or_default();
    findings.extend(sessions.iter().flat_map(|session| check_session(session, days)));
    findings
}

fn rights(root: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mode = root.metadata().map_or(0o700, |about| about.permissions().mode() & 0o777);
    if mode & 0o077 != 0 {
        findings.push(Finding::NotPrivate { path: root.to_owned(), mode });
    }
    findings.extend(exposed_token(root));
    let probe = root.join(".doctor");
    match files::write_new(&probe, b"", files::PRIVATE) {
        Ok(()) => drop(fs::remove_file(&probe)),
        Err(error) => findings.push(Finding::NotWritable { path: root.to_owned(), error: error.to_string() }),
    }
    findings
}

/// The dashboard refuses such a token, so it does not start.
fn exposed_token(root: &Path) -> Option<Finding> {
    let path = root.join("dashboard/token");
    let mode = path.symlink_metadata().ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(Finding::TokenExposed { path, mode })
}

fn check_session(session: &Session, days: u64) -> Vec<Finding> {
    let mut findings = Vec::new();
    let workflow = session.workflow().inspect_err(|error| findings.push(broken(error))).ok().flatten();
    findings.extend(session.looping().err().map(|error| broken(&error)));
    let idle = idle_days(session);
    let open = workflow.is_some_and(|doc| doc.state.is_open());
    if open && idle > days {
        findings.push(Finding::OrphanedSession { id: session.id().to_string(), days: idle });
    }
    findings
}

fn idle_days(session: &Session) -> u64 {
    let files = [session.timeline_file(), session.workflow_file()];
    let changed = files.iter().filter_map(|path| path.metadata().ok()?.modified().ok()).max();
    let idle = changed.and_then(|at| SystemTime::now().duration_since(at).ok()).unwrap_or_default();
    idle.as_secs() / DAY.as_secs()
}

fn broken(error: &StoreError) -> Finding {
    let what = match &error.problem {
        Problem::Io(error) => error.to_string(),
        Problem::Broken(what) => what.clone(),
        Problem::Locked => "locked".to_owned(),
    };
    Finding::BrokenFile { path: error.path.clone(), what }
}
