//! `overtone fleet stop`, `resume`, `pause` and `message`: an order to whichever machine has the session.

use overtone_fleet::{Deed, Reply, send};
use overtone_messages::fleet as words;
use serde_json::json;

use super::desk::{Desk, one};
use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::out;

pub(super) const GONE: u8 = 3;
const WITHDRAWN: u8 = 4;
const UNKNOWN: u8 = 5;

pub(super) fn run(context: &Context, name: &str, deed: Deed, output: &OutputArgs) -> Done {
    let desk = Desk::open_as_member(context)?;
    let picture = desk.picture()?;
    let state = one(context, &picture, name)?;
    let (done, user) = (done_words(context, &deed, &state.machine_name), Desk::user());
    let reply = desk.wait(Box::pin(send(&desk.link, &state.machine, &state.session, deed, &user)))?;
    let ended = ending(context, &reply, &state.machine_name, &state.session);
    if output.json {
        let (outcome, reason) = key(&reply);
        let machine = json!({ "id": state.machine, "name": state.machine_name });
        out::json(&json!({
            "session": state.session, "machine": machine, "outcome": outcome, "reason": reason,
        }))?;
        return ended.map_err(|failure| Failure::Silent(code(&failure)));
    }
    ended?;
    out::print(&done)
}

const fn code(failure: &Failure) -> u8 {
    match failure {
        Failure::Coded { code, .. } => *code,
        _ => 1,
    }
}

fn key(reply: &Reply) -> (&'static str, Option<&str>) {
    match reply {
        Reply::Done => ("done", None),
        Reply::Refused(reason) => ("refused", Some(reason)),
        Reply::Gone => ("gone", None),
        Reply::Withdrawn => ("withdrawn", None),
        Reply::Unknown => ("unknown", None),
    }
}

fn done_words(context: &Context, deed: &Deed, machine: &str) -> String {
    let lang = context.lang;
    match deed {
        Deed::Stop => words::done_stop(lang, machine),
        Deed::Resume => words::done_resume(lang, machine),
        Deed::Pause => words::done_pause(lang, machine),
        Deed::Message { .. } => words::done_message(lang, machine),
        Deed::HandOver | Deed::Ping => words::done_other(lang, machine),
    }
}

fn ending(context: &Context, reply: &Reply, machine: &str, session: &str) -> Done {
    let lang = context.lang;
    let coded = |code, message, hint| Err(Failure::Coded { code, message, hint });
    match reply {
        Reply::Done => Ok(()),
        Reply::Refused(reason) => {
            Err(Failure::new(words::refused(lang, machine, reason)).hint(words::refused_hint(lang, session)))
        }
        Reply::Gone => coded(GONE, words::machine_gone(lang, machine), words::gone_hint(lang, session)),
        Reply::Withdrawn => {
            coded(WITHDRAWN, words::no_answer(lang, machine), words::no_answer_hint(lang, machine))
        }
        Reply::Unknown => {
            coded(UNKNOWN, words::maybe_done(lang, machine), words::maybe_done_hint(lang, session))
        }
    }
}
