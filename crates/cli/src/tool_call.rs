//! Refuses commands that are the user's to give when a tool of the client runs them and the user was not asked.
//!
//! The permission hook makes the client ask about such commands, but it sees only plain ones: `sh -c 'overtone stop'`, an
//! absolute path or a script pass it by, and a client that bypasses permissions then asks nobody. This check is made where
//! the arguments are final.

use std::ffi::OsString;
use std::process::ExitCode;

use overtone_claude::Environment;
use overtone_core::engine::{always_needs_decision, needs_no_decision};
use overtone_core::messages::cli as words;
use overtone_store::config::Config;
use overtone_store::{
    Home, LoadedLoop, LoadedWorkflow, Session, SessionId, StoreError, StoreErrorKind, clock,
};

use crate::context::Context;
use crate::ui::error::CommandError;

/// Reports the refusal and returns its exit code. Most commands are refused only in sessions with an unfinished workflow:
/// without one there is nothing that the model could end or loosen. What is trusted now runs in later workflows, so `trust`
/// is refused in every session.
pub(crate) fn check(environment: &Environment, arguments: &[OsString]) -> Result<(), ExitCode> {
    // A client that passes no arguments sends a hook's event.
    if !environment.is_tool_call || arguments.is_empty() {
        return Ok(());
    }
    let Some(home) = &environment.home else { return Ok(()) };
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (sessions, command) = (Context::sessions_of_environment(), words.join(" "));
    let is_allowed = if always_needs_decision(&words) {
        sessions.iter().any(|id| was_asked(home, id, &command))
    } else {
        needs_no_decision(&words) || sessions.iter().all(|id| may_run(home, id, &command))
    };
    if is_allowed {
        return Ok(());
    }
    let lang = environment.lang().unwrap_or_else(|| Config::load_or_default(home).language());
    let refusal =
        CommandError::new(words::user_command(lang, &words[0])).hint(words::user_command_hint(lang));
    Err(refusal.report(lang))
}

/// Whether the session has no open workflow, or its client has asked the user about this command. A command that the user
/// declines does not run.
fn may_run(home: &Home, id: &SessionId, command: &str) -> bool {
    let session = home.session(id);
    let workflow = match session.load_workflow() {
        Ok(workflow) => workflow,
        // Another program has changed the state, so the user decides.
        Err(StoreError { kind: StoreErrorKind::Untrusted, .. }) => return false,
        Err(_) => return true,
    };
    match &workflow.document {
        Some(document) if document.state.is_open() => is_asked_by_loop(&session, &workflow, command),
        _ => true,
    }
}

/// Whether the loop remembers that the user is asked about this command. A note that Overtone did not write does not count.
fn is_asked_by_loop(session: &Session, workflow: &LoadedWorkflow, command: &str) -> bool {
    match session.load_loop(workflow) {
        Ok(LoadedLoop { document: Some(looping), .. }) => looping.state.asked.as_deref() == Some(command),
        _ => false,
    }
}

/// Whether the client has asked the user about this command, with a workflow or without.
fn was_asked(home: &Home, id: &SessionId, command: &str) -> bool {
    let session = home.session(id);
    let by_loop = match session.load_workflow() {
        Ok(workflow) => is_asked_by_loop(&session, &workflow, command),
        Err(_) => false,
    };
    by_loop || session.take_question(command, clock::now())
}
