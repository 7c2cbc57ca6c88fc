//! `ccc supervise`: the command that `/supervisor` and `/supervisoroff` run in a session.

use std::env;

use overtone_core::messages::supervisor as messages;
use overtone_store::SessionId;
use overtone_store::supervision::{StateFolder, is_session_enabled, switch_session};

use super::args::{SuperviseArgs, Switch};
use super::context::CccContext;
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::out;

pub(super) fn run(context: &CccContext, args: &SuperviseArgs) -> CommandResult {
    let lang = context.lang;
    let named = args.session.clone().or_else(|| env::var("CLAUDE_CODE_SESSION_ID").ok());
    let named = named
        .ok_or_else(|| CommandError::new(messages::no_session(lang)).hint(messages::no_session_hint(lang)))?;
    let (session, folder) = (parse_session(context, &named)?, state_folder(context)?);
    let failed = |error| CommandError::io(lang, &folder.path(), &error);
    let state = match args.switch {
        Switch::Status => is_session_enabled(&folder, &session).map_err(failed)?,
        on_or_off => {
            let on = on_or_off == Switch::On;
            switch_session(&folder, &session, on, args.inside).map_err(failed)?;
            Some(on)
        }
    };
    // The client shows the output in the conversation.
    out::print(&match state {
        Some(true) => messages::session_on(lang, session.as_str()),
        Some(false) => messages::session_off(lang, session.as_str()),
        None => messages::session_default(lang, session.as_str()),
    })
}

pub(super) fn parse_session(context: &CccContext, text: &str) -> CommandResult<SessionId> {
    let invalid = || {
        CommandError::new(messages::bad_session(context.lang)).hint(messages::bad_session_hint(context.lang))
    };
    SessionId::parse(text).ok_or_else(invalid)
}

pub(super) fn state_folder(context: &CccContext) -> CommandResult<StateFolder> {
    use overtone_core::messages::ccc;
    let missing = || CommandError::new(ccc::no_home(context.lang)).hint(ccc::no_home_hint(context.lang));
    StateFolder::from_process().ok_or_else(missing)
}
