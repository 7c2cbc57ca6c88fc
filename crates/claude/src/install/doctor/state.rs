//! Checks the home folder: permissions, broken files and abandoned sessions.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use overtone_store::config::{Config, KEYS, keys};
use overtone_store::{Session, StoreError, StoreErrorKind, files};

use super::{Finding, Installation};

const DAY: Duration = Duration::from_hours(24);

pub(super) fn check(installation: &Installation) -> Vec<Finding> {
    let root = installation.home.root();
    if !root.exists() {
        return Vec::new();
    }
    let mut findings = check_permissions(root);
    let config = match Config::load(installation.home) {
        Ok(config) => config,
        Err(error) => {
            findings.push(broken_file(&error));
            Config::default()
        }
    };
    for key in KEYS.iter().filter(|key| config.has_bad_value(key)) {
        findings.push(Finding::BadConfigValue { key: key.name, allowed: key.allowed() });
    }
    let days = u64::from(config.get(keys::RETENTION_DAYS));
    let sessions = installation.home.sessions().unwrap_or_default();
    findings.extend(sessions.iter().flat_map(|session| check_session(session, days)));
    findings
}

fn check_permissions(root: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Ok(metadata) = root.metadata() {
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            findings.push(Finding::NotPrivate { path: root.to_owned(), mode });
        }
    }
    findings.extend(exposed_token(root));
    let test_file = root.join(".doctor");
    match files::write_new(&test_file, b"", files::PRIVATE) {
        Ok(()) => drop(fs::remove_file(&test_file)),
        Err(error) => findings.push(Finding::NotWritable { path: root.to_owned(), error: error.to_string() }),
    }
    findings
}

/// The dashboard does not start with a token that other users can read.
fn exposed_token(root: &Path) -> Option<Finding> {
    let path = root.join("dashboard/token");
    let mode = path.symlink_metadata().ok()?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 { Some(Finding::TokenExposed { path, mode }) } else { None }
}

fn check_session(session: &Session, days: u64) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_open = match session.workflow() {
        Ok(Some(document)) => document.state.is_open(),
        Ok(None) => false,
        Err(error) => {
            findings.push(broken_file(&error));
            false
        }
    };
    if let Err(error) = session.looping() {
        findings.push(broken_file(&error));
    }
    let idle = idle_days(session);
    if is_open && idle > days {
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

fn broken_file(error: &StoreError) -> Finding {
    let what = match &error.kind {
        StoreErrorKind::Io(error) => error.to_string(),
        StoreErrorKind::Broken(what) => what.clone(),
        StoreErrorKind::Locked => "locked".to_owned(),
        StoreErrorKind::Untrusted => "changed by another program".to_owned(),
    };
    Finding::BrokenFile { path: error.path.clone(), what }
}
