//! `ccc supervise`: what `/supervisor` and `/supervisoroff` run in a session.

use std::env;

use overtone_messages::supervisor as words;
use overtone_store::SessionId;
use overtone_supervisor::{StateFolder, switch_session, switched};

use super::args::{SuperviseArgs, Switch};
use super::face::Face;
use crate::ui::error::{Done, Failure};
use crate::ui::out;

pub(super) fn run(face: &Face, args: &SuperviseArgs) -> Done {
    let lang = face.lang;
    let named = args.session.clone().or_else(|| env::var("CLAUDE_CODE_SESSION_ID").ok());
    let named =
        named.ok_or_else(|| Failure::new(words::no_session(lang)).hint(words::no_session_hint(lang)))?;
    let (session, folder) = (session(face, &named)?, folder(face)?);
    let failed = |error| Failure::io(lang, &folder.path(), &error);
    let state = match args.switch {
        Switch::Status => switched(&folder, &session).map_err(failed)?,
        on_or_off => {
            let on = on_or_off == Switch::On;
            switch_session(&folder, &session, on, args.inside).map_err(failed)?;
            Some(on)
        }
    };
    // The client puts it into the conversation, where the person sees it.
    out::print(&match state {
        Some(true) => words::session_on(lang, session.as_str()),
        Some(false) => words::session_off(lang, session.as_str()),
        None => words::session_default(lang, session.as_str()),
    })
}

pub(super) fn session(face: &Face, text: &str) -> Result<SessionId, Failure> {
    let bad = || Failure::new(words::bad_session(face.lang)).hint(words::bad_session_hint(face.lang));
    SessionId::parse(text).ok_or_else(bad)
}

pub(super) fn folder(face: &Face) -> Result<StateFolder, Failure> {
    use overtone_messages::ccc;
    let none = || Failure::new(ccc::no_home(face.lang)).hint(ccc::no_home_hint(face.lang));
    StateFolder::from_process().ok_or_else(none)
}
