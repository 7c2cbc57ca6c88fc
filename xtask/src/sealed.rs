//! Workflows of fixtures with the seal that Overtone gives them, and without it.

use std::path::Path;

use overtone_store::{Home, SessionId, StoreError, Transaction};
use serde_json::Value;

use crate::error::{Error, Result};

/// Creates the key of a home and seals the workflow and the loop of a session, as the first hooks would. A session may have none.
pub(crate) fn seal_workflow(home: &Path, session: &str) -> Result<()> {
    let home = Home::at(home.to_owned());
    let id = SessionId::parse(session).ok_or_else(|| Error::new(format!("not a session: {session}")))?;
    let session = home.session(&id);
    let seal = || -> std::result::Result<(), StoreError> {
        let key = home.seal_key().map_err(|e| StoreError::io(home.root(), e))?;
        let workflow = session.load_workflow()?;
        let looping = session.load_loop(&workflow)?;
        let mut transaction = Transaction::default();
        if let Some(document) = &looping.document {
            transaction.put_loop(&session, document, key)?;
        }
        if let Some(document) = &workflow.document {
            transaction.put_workflow(&session, document, key)?;
        }
        transaction.commit().map(drop)
    };
    seal().map_err(|e| Error::new(format!("cannot seal the workflow: {e}")))
}

/// Whether a file is the copy that Overtone keeps of a workflow.
pub(crate) fn is_copy(name: &Path) -> bool {
    name.ends_with("workflow.sealed.json")
}

/// The content of a `workflow.json` without its seal: a change to it is then no change by another program.
pub(crate) fn without_seal(bytes: &[u8]) -> Vec<u8> {
    let Ok(Value::Object(mut members)) = serde_json::from_slice(bytes) else { return bytes.to_vec() };
    members.shift_remove("seal");
    format!("{:#}\n", Value::Object(members)).into_bytes()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::shell::write_file;

    #[test]
    fn a_workflow_is_sealed_and_unsealed() {
        let home = tempfile::tempdir().unwrap();
        seal_workflow(home.path(), "s").unwrap();
        let file = home.path().join("sessions/s/workflow.json");
        write_file(&file, br#"{"workflowType":"quick","unknown":1}"#).unwrap();
        seal_workflow(home.path(), "s").unwrap();
        let sealed = fs::read(&file).unwrap();
        assert!(String::from_utf8_lossy(&sealed).contains("\"seal\""));
        assert!(fs::read_dir(file.parent().unwrap()).unwrap().flatten().any(|entry| is_copy(&entry.path())));
        assert_eq!(without_seal(&sealed), b"{\n  \"workflowType\": \"quick\",\n  \"unknown\": 1\n}\n");
    }
}
