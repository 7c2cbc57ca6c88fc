//! Writes the state files and the handoffs of a session in the mirror.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use overtone_session::view::COPY_SUMMARY_FILE;
use overtone_store::{Session, files};
use serde_json::{Map, Value};

use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::message::{Handoff, MachineRef, SessionState};
use crate::names::handoff_key;
use crate::share::STATE_FILES;
use crate::trust::{Kind, VerifiedMessage};

/// Writes the files of a state. The workflow comes last, because most readers watch it.
pub(crate) fn put_state(session: &Session, state: &SessionState) -> io::Result<()> {
    session.create().map_err(io::Error::other)?;
    put(session, COPY_SUMMARY_FILE, Some(&state.summary))?;
    put(session, "session.json", Some(&origin(state)))?;
    for name in STATE_FILES.into_iter().rev().filter(|name| *name != "session.json") {
        put(session, name, state.files.get(name))?;
    }
    Ok(())
}

/// The project and the machine of the session. The transcript is left out, because its path is on another machine.
fn origin(state: &SessionState) -> Value {
    let known = state.files.get("session.json").and_then(Value::as_object);
    let mut origin: Map<String, Value> = known.cloned().unwrap_or_default();
    origin.shift_remove("transcript");
    let machine = MachineRef { id: &state.machine, name: &state.machine_name };
    origin.insert("machine".to_owned(), serde_json::to_value(machine).unwrap_or_default());
    Value::Object(origin)
}

/// Writes or removes a file, only if its content changes: every write wakes up the watchers of the folder.
fn put(session: &Session, name: &str, value: Option<&Value>) -> io::Result<()> {
    let path = session.dir().join(name);
    let current = files::read_small(&path).ok().flatten();
    match value.map(Value::to_string) {
        Some(text) if current.as_ref() == Some(&text) => Ok(()),
        Some(text) => files::write_atomic(&path, text.as_bytes(), files::PRIVATE),
        None if current.is_some() => files::remove(&path).map(drop),
        None => Ok(()),
    }
}

/// Fetches the handoffs that are shared and not in the mirror yet. Each is written once.
pub(super) async fn fetch_handoffs(link: &Link, session: &Session, state: &SessionState) -> Result<()> {
    let missing = state.handoffs.iter().filter(|name| is_file_name(name));
    let missing = missing.filter(|name| !session.dir().join("handoffs").join(name).exists());
    for name in missing {
        let key = handoff_key(session.id().as_str(), name);
        let value = link.handoffs.get(&key).await;
        let value = value.map_err(|error| FleetError::server("fetch a handoff", error))?;
        let opened = value.and_then(|value| link.keyring.open::<Handoff>(Kind::Handoff, &key, &value).ok());
        let Some(VerifiedMessage { body: Handoff { text }, .. }) = opened else { continue };
        session.save_handoff(&format!("handoffs/{name}"), &text).map_err(io::Error::other)?;
    }
    Ok(())
}

/// Whether a name is a plain file name, without path separators.
fn is_file_name(name: &str) -> bool {
    let is_text = Path::new(name).extension() == Some(OsStr::new("md"));
    is_text && !name.starts_with('.') && name.len() <= 200 && !name.contains(['/', '\\', '\0'])
}

/// Removes a session from the mirror.
pub(super) fn remove(session: &Session) -> io::Result<()> {
    // Anything but a folder was not written by the mirror.
    match fs::symlink_metadata(session.dir()) {
        Ok(metadata) if metadata.is_dir() => session.remove().map_err(io::Error::other),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_file_names_are_accepted() {
        assert!(is_file_name("01-DEV-developer.md"));
        for wrong in ["../x.md", "a/b.md", ".hidden.md", "x.txt", "", "\0.md"] {
            assert!(!is_file_name(wrong), "{wrong}");
        }
    }
}
