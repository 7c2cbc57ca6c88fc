//! A session's folder in the mirror: its state files and its agents' messages.

use std::fs;
use std::io;
use std::path::Path;

use overtone_store::{Session, files};
use overtone_view::TOLD_FILE;
use serde_json::{Map, Value, json};

use crate::error::{FleetError, Result};
use crate::link::Link;
use crate::message::{Handoff, SessionState};
use crate::names::handoff_key;
use crate::share::STATE_FILES;
use crate::trust::{Kind, Opened};

/// Makes the files say what the state says. The last one is the workflow, which most look at.
pub(super) fn put_state(session: &Session, state: &SessionState) -> io::Result<()> {
    session.create().map_err(io::Error::other)?;
    put(session, TOLD_FILE, Some(&state.summary))?;
    put(session, "session.json", Some(&origin(state)))?;
    for name in STATE_FILES.into_iter().rev().filter(|name| *name != "session.json") {
        put(session, name, state.files.get(name))?;
    }
    Ok(())
}

/// Where it works, and on which machine. Paths of that machine lead nowhere on this one, so the conversation is left out.
fn origin(state: &SessionState) -> Value {
    let known = state.files.get("session.json").and_then(Value::as_object);
    let mut origin: Map<String, Value> = known.cloned().unwrap_or_default();
    origin.shift_remove("transcript");
    origin.insert("machine".to_owned(), json!({ "id": state.machine, "name": state.machine_name }));
    Value::Object(origin)
}

/// Only what has changed is written: whoever watches the folder would look again.
fn put(session: &Session, name: &str, value: Option<&Value>) -> io::Result<()> {
    let path = session.dir().join(name);
    let there = files::read_small(&path).ok().flatten();
    match value.map(Value::to_string) {
        Some(text) if there.as_ref() == Some(&text) => Ok(()),
        Some(text) => files::write_atomic(&path, text.as_bytes(), files::PRIVATE),
        None if there.is_some() => files::take_away(&path).map(drop),
        None => Ok(()),
    }
}

/// Agents' messages that are shared and not here yet. Each is written once.
pub(super) async fn fetch_handoffs(link: &Link, session: &Session, state: &SessionState) -> Result<()> {
    let missing = state.handoffs.iter().filter(|name| is_plain(name));
    let missing = missing.filter(|name| !session.dir().join("handoffs").join(name).exists());
    for name in missing {
        let key = handoff_key(session.id().as_str(), name);
        let value = link.handoffs.get(&key).await;
        let value = value.map_err(|error| FleetError::server("fetch an agent's message", error))?;
        let opened = value.and_then(|value| link.keyring.open::<Handoff>(Kind::Handoff, &key, &value).ok());
        let Some(Opened { body: Handoff { text }, .. }) = opened else { continue };
        session.save_handoff(&format!("handoffs/{name}"), &text).map_err(io::Error::other)?;
    }
    Ok(())
}

/// A file's name, and not a way to somewhere else.
fn is_plain(name: &str) -> bool {
    let is_text = Path::new(name).extension().is_some_and(|end| end == "md");
    is_text && !name.starts_with('.') && name.len() <= 200 && !name.contains(['/', '\\', '\0'])
}

/// Removes a session that the fleet no longer has.
pub(super) fn remove(session: &Session) -> io::Result<()> {
    // Something else in its place is none of ours.
    if !fs::symlink_metadata(session.dir()).is_ok_and(|about| about.is_dir()) {
        return Ok(());
    }
    session.remove().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_files_are_names_of_messages() {
        assert!(is_plain("01-DEV-developer.md"));
        for wrong in ["../x.md", "a/b.md", ".hidden.md", "x.txt", "", "\0.md"] {
            assert!(!is_plain(wrong), "{wrong}");
        }
    }
}
