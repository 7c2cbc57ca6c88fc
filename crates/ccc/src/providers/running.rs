//! Finds running clients: those that `ccc` has started, and those that the client itself has recorded.
//!
//! `ccc` replaces itself by the client it starts, so the process id stays the same. A record counts only while a
//! process with that id is alive and, where the system reports it, has the recorded start time.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, test_kill_process};
use serde::Serialize;
use serde_json::Value;

use crate::providers::switch::make_state_folder;
use crate::providers::{CccPaths, ProvidersError};

const PREFIX: &str = "started-";
const SUFFIX: &str = ".json";
/// Records are a few hundred bytes; larger files are not ours.
const MAX_RECORD_BYTES: u64 = 64 * 1024;
/// Further records in a folder are ignored.
const MAX_RECORDS: usize = 1_000;

/// A start of the client, as recorded for later commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartRecord {
    pub provider: String,
    pub supervised: bool,
    /// Whether it has a private settings file, which wins over the shared settings.
    pub private: bool,
}

/// The content of `started-PID.json`.
#[derive(Serialize)]
struct RecordFile<'a> {
    provider: &'a str,
    supervised: bool,
    private: bool,
    folder: Option<String>,
    start: Option<String>,
}

/// A running client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningClient {
    pub process: u32,
    /// Its working folder.
    pub folder: Option<PathBuf>,
    /// The provider it was started on, if `ccc` started it.
    pub provider: Option<String>,
}

/// Records that this process is about to become a client. A record that is left behind by a failed start does no harm.
pub fn record_start(paths: &CccPaths, record: &StartRecord) -> Result<(), ProvidersError> {
    make_state_folder(paths)?;
    remove_stale_records(&paths.state());
    let path = record_path(paths, std::process::id());
    let content = RecordFile {
        provider: &record.provider,
        supervised: record.supervised,
        private: record.private,
        folder: env::current_dir().ok().map(|folder| folder.display().to_string()),
        start: start_time(std::process::id()),
    };
    let text = serde_json::to_string(&content).unwrap_or_default();
    write_record(&path, &text).map_err(|error| ProvidersError::io(&path, error))
}

/// Writes without a lock and without flushing to disk: an incomplete record is ignored.
fn write_record(path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}

/// Removes the record after the client could not be started.
pub fn remove_start_record(paths: &CccPaths) {
    // If this fails, a later start removes it.
    let _ = fs::remove_file(record_path(paths, std::process::id()));
}

/// The running clients that a change of the shared settings affects: all without a private settings file.
pub fn clients_on_shared_settings(paths: &CccPaths) -> Vec<RunningClient> {
    let starts = live_starts(&paths.state());
    let mut found = Vec::new();
    for (process, record) in &starts {
        if record["private"] != true {
            found.push(RunningClient {
                process: *process,
                folder: record["folder"].as_str().map(PathBuf::from),
                provider: record["provider"].as_str().map(str::to_owned),
            });
        }
    }
    for (process, folder) in recorded_by_client(&paths.client_sessions()) {
        if !starts.iter().any(|(started, _)| *started == process) {
            found.push(RunningClient { process, folder, provider: None });
        }
    }
    found.sort_by_key(|client| client.process);
    found
}

/// Whether another supervised client is running whose hook is in the shared settings.
pub(crate) fn has_supervised(paths: &CccPaths) -> bool {
    let own = std::process::id();
    live_starts(&paths.state())
        .iter()
        .any(|(process, record)| *process != own && record["supervised"] == true && record["private"] != true)
}

fn record_path(paths: &CccPaths, process: u32) -> PathBuf {
    paths.state().join(format!("{PREFIX}{process}{SUFFIX}"))
}

/// The records of starts whose process is still alive.
fn live_starts(state: &Path) -> Vec<(u32, Value)> {
    let mut records = read_records(state, process_of);
    records.retain(|(process, record)| is_alive(*process, record["start"].as_str()));
    records
}

/// The live processes that the client has recorded in `sessions/PID.json`, with their folders.
fn recorded_by_client(folder: &Path) -> Vec<(u32, Option<PathBuf>)> {
    let mut records = read_records(folder, |name| name.strip_suffix(SUFFIX)?.parse().ok());
    records.retain(|(process, record)| {
        record["pid"] == *process && is_alive(*process, record["procStart"].as_str())
    });
    records
        .into_iter()
        .map(|(process, record)| (process, record["cwd"].as_str().map(PathBuf::from)))
        .collect()
}

fn process_of(file_name: &str) -> Option<u32> {
    file_name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok()
}

/// The JSON files of a folder whose name contains a process id.
fn read_records(folder: &Path, process_of: impl Fn(&str) -> Option<u32>) -> Vec<(u32, Value)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_RECORDS);
    let read = |entry: fs::DirEntry| {
        let process = process_of(entry.file_name().to_str()?)?;
        let metadata = entry.metadata().ok()?;
        // Reading a pipe would block, and a link may lead elsewhere.
        if !metadata.is_file() || metadata.len() > MAX_RECORD_BYTES {
            return None;
        }
        Some((process, serde_json::from_slice(&fs::read(entry.path()).ok()?).ok()?))
    };
    entries.filter_map(read).collect()
}

fn remove_stale_records(state: &Path) {
    for entry in fs::read_dir(state).into_iter().flatten().flatten() {
        let Some(process) = process_of(&entry.file_name().to_string_lossy()) else { continue };
        if !is_alive(process, None) {
            // Another start may have removed it already.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether the process exists and, if both are known, has the recorded start time: process ids are reused.
fn is_alive(process: u32, recorded_start: Option<&str>) -> bool {
    let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return false };
    if test_kill_process(pid) == Err(rustix::io::Errno::SRCH) {
        return false;
    }
    match (recorded_start, start_time(process)) {
        (Some(recorded), Some(actual)) => recorded == actual,
        _ => true,
    }
}

/// The start time of a process in clock ticks since boot; `None` where the system does not report it.
fn start_time(process: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The program name may contain blanks and parentheses; the fields after the last parenthesis have a fixed order.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use serde_json::json;

    use super::*;

    #[test]
    fn ended_processes_and_reused_ids_are_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let paths = CccPaths::resolve(&|_| Some(OsString::from(dir.path()))).unwrap();
        let (own, sessions) = (std::process::id(), paths.client_sessions());
        fs::create_dir_all(&sessions).unwrap();
        fs::create_dir_all(paths.state()).unwrap();
        let put = |path: PathBuf, text: Value| write_record(&path, &text.to_string()).unwrap();
        put(
            sessions.join(format!("{own}.json")),
            json!({ "pid": own, "cwd": "/w", "procStart": start_time(own) }),
        );
        put(sessions.join("1.json"), json!({ "pid": 1, "procStart": "never" }));
        put(sessions.join("999999999.json"), json!({ "pid": 999_999_999 }));
        put(sessions.join("2.json"), json!({ "pid": 3 }));
        let found = clients_on_shared_settings(&paths);
        assert_eq!(found, [RunningClient { process: own, folder: Some("/w".into()), provider: None }]);

        let record = StartRecord { provider: "kimi".into(), supervised: false, private: false };
        record_start(&paths, &record).unwrap();
        assert_eq!(clients_on_shared_settings(&paths)[0].provider.as_deref(), Some("kimi"));
        record_start(&paths, &StartRecord { private: true, ..record }).unwrap();
        assert!(clients_on_shared_settings(&paths).is_empty());
        put(record_path(&paths, 999_999_999), json!({ "supervised": true }));
        assert!(!has_supervised(&paths));
        put(record_path(&paths, 1), json!({ "supervised": true }));
        assert!(has_supervised(&paths));
        remove_start_record(&paths);
        assert!(!record_path(&paths, own).exists());
    }
}
