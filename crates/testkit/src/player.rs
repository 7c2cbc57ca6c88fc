//! Plays the script: records each request, finds its actor and takes that actor's next turn.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::secrets::Secrets;
use crate::{Actor, Request, Script, Turn, error};

/// The script and all that was asked so far, shared by the connections.
#[derive(Debug)]
pub(crate) struct Player {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    script: Script,
    log: Log,
}

/// What a mock has seen.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) requests: Vec<Request>,
    /// Method and path of everything else that the client asked for.
    pub(crate) others: Vec<String>,
    /// Why responders of the test panicked.
    pub(crate) panics: Vec<String>,
}

impl Player {
    pub(crate) fn new(script: Script) -> Self {
        Self { state: Mutex::new(State { script, log: Log::default() }) }
    }

    /// The answer to a request of the model's.
    pub(crate) fn answer(&self, body: Value, headers: BTreeMap<String, String>, secrets: Secrets) -> Turn {
        let state = &mut *self.lock();
        let actor = Actor::identify(&body, &headers, state.script.reviewer_marker());
        let request = Request::new(actor, body, headers, &state.log.requests).with(secrets);
        let turn = catch_unwind(AssertUnwindSafe(|| state.script.next(&request).for_tools(&request.tools())));
        state.log.requests.push(request);
        turn.unwrap_or_else(|cause| {
            state.log.panics.push(format!("the responder of {actor:?} panicked: {}", reason(&*cause)));
            error(400, "invalid_request_error", "the test's responder panicked")
        })
    }

    pub(crate) fn note(&self, other: String) {
        self.lock().log.others.push(other);
    }

    /// The requests so far. They stay in the log.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.lock().log.requests.clone()
    }

    pub(crate) fn take_log(&self) -> Log {
        std::mem::take(&mut self.lock().log)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn reason(cause: &(dyn Any + Send)) -> &str {
    let text = cause.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("no reason given")
}
