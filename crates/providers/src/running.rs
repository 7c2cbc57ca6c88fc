//! Which clients are running: those that `ccc` has started, and those that the client itself has noted.
//!
//! `ccc` becomes the client it starts, so its process id is the client's. A note is believed only as long as a process
//! with that id lives and, where the system tells it, began at the same moment.

use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, test_kill_process};
use serde_json::{Value, json};

use crate::switch::make_state;
use crate::{Places, ProvidersError};

const PREFIX: &str = "started-";
const SUFFIX: &str = ".json";
/// A note is some hundred bytes.
const MAX_BYTES: u64 = 64 * 1024;
/// More clients than this are not looked at.
const MAX_NOTES: usize = 1_000;

/// A start as it is noted for later ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    pub provider: String,
    pub supervised: bool,
    /// Whether it has settings of its own, which win over the shared ones.
    pub private: bool,
}

/// A client that is running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    pub process: u32,
    /// The folder that it works in.
    pub folder: Option<PathBuf>,
    /// The provider that `ccc` has started it on, if `ccc` did.
    pub provider: Option<String>,
}

/// Notes that this process becomes a client. The note lies in the way of nobody when that fails.
pub fn note_start(places: &Places, started: &Started) -> Result<(), ProvidersError> {
    make_state(places)?;
    sweep(&places.state());
    let path = note(places, std::process::id());
    let content = json!({
        "provider": started.provider, "supervised": started.supervised, "private": started.private,
        "folder": env::current_dir().ok().map(|folder| folder.display().to_string()),
        "start": began(std::process::id()),
    });
    write(&path, &content.to_string()).map_err(|error| ProvidersError::io(&path, error))
}

/// Without a lock and without waiting for the disk: a note that is torn counts as none.
fn write(path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(text.as_bytes())
}

/// Takes the note back: the client could not be started.
pub fn forget_start(places: &Places) {
    // It is swept away later otherwise.
    let _ = fs::remove_file(note(places, std::process::id()));
}

/// The clients whose next request follows a change of the shared settings.
pub fn followers(places: &Places) -> Vec<Running> {
    let started = started(&places.state());
    let is_private =
        |process: u32| started.iter().any(|(id, note)| *id == process && note["private"] == true);
    let by_ccc = started.iter().map(|(process, note)| Running {
        process: *process,
        folder: note["folder"].as_str().map(PathBuf::from),
        provider: note["provider"].as_str().map(str::to_owned),
    });
    let mut found: Vec<_> = by_ccc.filter(|running| !is_private(running.process)).collect();
    for (process, folder) in noted_by_client(&places.client_sessions()) {
        let is_known = found.iter().any(|running| running.process == process);
        if !is_known && !is_private(process) {
            found.push(Running { process, folder, provider: None });
        }
    }
    found.sort_by_key(|running| running.process);
    found
}

/// Whether a supervised client is running that has its hook in the shared settings.
pub(crate) fn has_supervised(places: &Places) -> bool {
    let own = std::process::id();
    let is_one = |(process, note): &(u32, Value)| {
        *process != own && note["supervised"] == true && note["private"] != true
    };
    started(&places.state()).iter().any(is_one)
}

fn note(places: &Places, process: u32) -> PathBuf {
    places.state().join(format!("{PREFIX}{process}{SUFFIX}"))
}

/// The notes of starts whose process is still there.
fn started(state: &Path) -> Vec<(u32, Value)> {
    let notes = notes(state, |name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.parse().ok());
    notes.into_iter().filter(|(process, note)| is_alive(*process, note["start"].as_str())).collect()
}

/// The client writes `sessions/PID.json`, with the moment its process began as the system has it.
fn noted_by_client(folder: &Path) -> Vec<(u32, Option<PathBuf>)> {
    let notes = notes(folder, |name| name.strip_suffix(SUFFIX)?.parse().ok());
    let alive = notes
        .into_iter()
        .filter(|(process, note)| note["pid"] == *process && is_alive(*process, note["procStart"].as_str()));
    alive.map(|(process, note)| (process, note["cwd"].as_str().map(PathBuf::from))).collect()
}

fn notes(folder: &Path, process_of: impl Fn(&str) -> Option<u32>) -> Vec<(u32, Value)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_NOTES);
    let read = |entry: fs::DirEntry| {
        let process = process_of(entry.file_name().to_str()?)?;
        let about = entry.metadata().ok()?;
        // A pipe would never end, and a link leads elsewhere.
        if !about.is_file() || about.len() > MAX_BYTES {
            return None;
        }
        Some((process, serde_json::from_slice(&fs::read(entry.path()).ok()?).ok()?))
    };
    entries.filter_map(read).collect()
}

fn sweep(state: &Path) {
    let entries = fs::read_dir(state).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix(PREFIX).and_then(|name| name.strip_suffix(SUFFIX)?.parse().ok());
        if process.is_some_and(|process| !is_alive(process, None)) {
            // Another start may have been faster.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn is_alive(process: u32, start: Option<&str>) -> bool {
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    let is_there = pid.is_some_and(|pid| test_kill_process(pid) != Err(rustix::io::Errno::SRCH));
    match (start, began(process)) {
        (Some(noted), Some(now)) => is_there && noted == now,
        _ => is_there,
    }
}

/// The moment a process began, in the system's own count; `None` where the system does not say.
fn began(process: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program may hold blanks and parentheses; what follows the last one is in fixed order.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn only_living_processes_count_and_an_id_given_anew_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let places = Places::resolve(&|_| Some(OsString::from(dir.path()))).unwrap();
        let (own, sessions) = (std::process::id(), places.client_sessions());
        fs::create_dir_all(&sessions).unwrap();
        fs::create_dir_all(places.state()).unwrap();
        let put = |path: PathBuf, text: Value| write(&path, &text.to_string()).unwrap();
        put(
            sessions.join(format!("{own}.json")),
            json!({ "pid": own, "cwd": "/w", "procStart": began(own) }),
        );
        put(sessions.join("1.json"), json!({ "pid": 1, "procStart": "never" }));
        put(sessions.join("999999999.json"), json!({ "pid": 999_999_999 }));
        put(sessions.join("2.json"), json!({ "pid": 3 }));
        let found = followers(&places);
        assert_eq!(found, [Running { process: own, folder: Some("/w".into()), provider: None }]);

        let started = Started { provider: "kimi".into(), supervised: false, private: false };
        note_start(&places, &started).unwrap();
        assert_eq!(followers(&places)[0].provider.as_deref(), Some("kimi"));
        note_start(&places, &Started { private: true, ..started }).unwrap();
        assert!(followers(&places).is_empty());
        put(note(&places, 999_999_999), json!({ "supervised": true }));
        assert!(!has_supervised(&places));
        put(note(&places, 1), json!({ "supervised": true }));
        assert!(has_supervised(&places));
        forget_start(&places);
        assert!(!note(&places, own).exists());
    }
}
