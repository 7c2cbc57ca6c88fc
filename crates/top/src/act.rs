//! Stopping and resuming a session, the way `overtone stop` and `overtone resume` do it.

use overtone_engine::commands::{Refusal, resume, stop};
use overtone_hooks::{Documented, act};
use overtone_messages::{cli, top as words};
use overtone_store::{Home, SessionId, clock};

use crate::state::{Action, Look};

/// Who did it, for the timeline.
const BY: &str = "user";

/// Does it, and says what came of it.
pub(crate) fn change(home: &Home, look: &Look, action: Action, id: &SessionId) -> String {
    let session = home.session(id);
    // A session that has gone must not come back as an empty folder.
    if !session.exists() {
        return cli::no_such_session(look.lang, id.as_str());
    }
    let done = act(home, &session, None, Documented::Continued, |snapshot| match action {
        Action::Stop => stop(snapshot, BY, clock::now()),
        Action::Resume => resume(snapshot, &look.settings, BY, clock::now()),
    });
    match done {
        Ok(problems) if problems.is_empty() => match action {
            Action::Stop => cli::stopped(look.lang),
            Action::Resume => cli::resumed(look.lang),
        },
        Ok(problems) => words::failed(look.lang, &problems.join("; ")),
        Err(error) => match error.downcast::<Refusal>() {
            Ok(refusal) => refused(look, action, &refusal),
            Err(error) => words::failed(look.lang, &error.to_string()),
        },
    }
}

fn refused(look: &Look, action: Action, refusal: &Refusal) -> String {
    match (refusal, action) {
        (Refusal::NoWorkflow, _) => cli::no_workflow(look.lang),
        (Refusal::Completed, _) => cli::already_complete(look.lang),
        (Refusal::Moved { to }, _) => cli::moved_to(look.lang, to),
        (_, Action::Stop) => cli::stopped_already(look.lang),
        (_, Action::Resume) => cli::running_already(look.lang),
    }
}
