//! `overtone fleet stop`, `resume`, `pause` and `message`: sends an order to the machine that owns the session.

use overtone_core::messages::fleet as words;
use overtone_fleet::{OrderCommand, OrderOutcome, send_order};
use serde::Serialize;

use super::connection::{FleetConnection, find_session};
use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::out;

// Exit codes.
pub(super) const GONE: u8 = 3;
const WITHDRAWN: u8 = 4;
const UNKNOWN: u8 = 5;

/// The JSON output of these commands.
#[derive(Serialize)]
struct OrderJson<'a> {
    session: &'a str,
    machine: MachineJson<'a>,
    outcome: &'static str,
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct MachineJson<'a> {
    id: &'a str,
    name: &'a str,
}

pub(super) fn run(
    context: &Context,
    name: &str,
    command: OrderCommand,
    output: &OutputArgs,
) -> CommandResult {
    let connection = FleetConnection::open_as_member(context)?;
    let snapshot = connection.snapshot()?;
    let state = find_session(context, &snapshot, name)?;
    let (done, user) = (done_message(context, &command, &state.machine_name), FleetConnection::user());
    let reply = connection.wait(Box::pin(send_order(
        &connection.link,
        &state.machine,
        &state.session,
        command,
        &user,
    )))?;
    let result = check_outcome(context, &reply, &state.machine_name, &state.session);
    if output.json {
        let (outcome, reason) = outcome_key(&reply);
        let machine = MachineJson { id: &state.machine, name: &state.machine_name };
        out::json(&OrderJson { session: &state.session, machine, outcome, reason })?;
        return result.map_err(|failure| CommandError::silent(failure.exit_code()));
    }
    result?;
    out::print(&done)
}

fn outcome_key(reply: &OrderOutcome) -> (&'static str, Option<&str>) {
    match reply {
        OrderOutcome::Done => ("done", None),
        OrderOutcome::Refused(reason) => ("refused", Some(reason)),
        OrderOutcome::Gone => ("gone", None),
        OrderOutcome::Withdrawn => ("withdrawn", None),
        OrderOutcome::Unknown => ("unknown", None),
    }
}

fn done_message(context: &Context, command: &OrderCommand, machine: &str) -> String {
    let lang = context.lang;
    match command {
        OrderCommand::Stop => words::done_stop(lang, machine),
        OrderCommand::Resume => words::done_resume(lang, machine),
        OrderCommand::Pause => words::done_pause(lang, machine),
        OrderCommand::Message { .. } => words::done_message(lang, machine),
        OrderCommand::HandOver | OrderCommand::Ping => words::done_other(lang, machine),
    }
}

fn check_outcome(context: &Context, reply: &OrderOutcome, machine: &str, session: &str) -> CommandResult {
    let lang = context.lang;
    let coded =
        |code, message: String, hint: String| Err(CommandError::new(message).hint(hint).with_exit_code(code));
    match reply {
        OrderOutcome::Done => Ok(()),
        OrderOutcome::Refused(reason) => {
            Err(CommandError::new(words::refused(lang, machine, reason))
                .hint(words::refused_hint(lang, session)))
        }
        OrderOutcome::Gone => {
            coded(GONE, words::machine_gone(lang, machine), words::gone_hint(lang, session))
        }
        OrderOutcome::Withdrawn => {
            coded(WITHDRAWN, words::no_answer(lang, machine), words::no_answer_hint(lang, machine))
        }
        OrderOutcome::Unknown => {
            coded(UNKNOWN, words::maybe_done(lang, machine), words::maybe_done_hint(lang, session))
        }
    }
}
