//! `overtone fleet status`: the state of this machine's relay, without contacting the server.

use std::path::PathBuf;

use overtone_core::engine::text::printable;
use overtone_core::messages::{Lang, cli, fleet as words};
use overtone_fleet::{
    RefusalReason, RefusedOrder, fleet_dir, is_relay_running, last_relay_status, refused_orders,
};
use overtone_store::{Home, clock};
use serde::Serialize;
use serde_json::Value;

use super::connection::{keyring, settings};
use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::CommandResult;
use crate::ui::out;
use crate::ui::quantity::{age, or_dash};
use crate::ui::table::{Cell, Fields};
use overtone_hook::ansi::Tone;

/// A relay writes its status every eight seconds. After this many milliseconds without one, it counts as stuck.
const MAX_STATUS_AGE: i64 = 60_000;
/// How many refused orders are shown.
const SHOWN_ORDERS: usize = 5;

/// The output of `overtone fleet status --json`. Values of the relay's own status are passed on as they are.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusJson<'a> {
    machine: &'a str,
    name: &'a str,
    fingerprint: String,
    membership: &'a str,
    relay: &'static str,
    restarts: u64,
    last_failure: &'a Value,
    problem: &'a Value,
    last_sign: &'a Value,
    #[serde(rename = "told")]
    published: &'a Value,
    refused: RefusedJson<'a>,
}

#[derive(Serialize)]
struct RefusedJson<'a> {
    count: u64,
    file: PathBuf,
    orders: &'a [RefusedOrder],
}

/// The state of the relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RelayState {
    Connected,
    Disconnected,
    /// It is running, but has not written its status for this many milliseconds.
    Silent(i64),
    None,
}

impl RelayState {
    fn read(home: &Home, status: &Value) -> Self {
        if !is_relay_running(home) {
            return Self::None;
        }
        let at = status["at"].as_str().and_then(clock::from_iso);
        let silence = match at {
            Some(at) => clock::now().since(at),
            None => 0,
        };
        match status["connected"].as_bool() {
            _ if silence > MAX_STATUS_AGE => Self::Silent(silence),
            Some(true) => Self::Connected,
            _ => Self::Disconnected,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Connected => "connected",
            Self::Disconnected => "disconnected",
            Self::Silent(_) => "silent",
            Self::None => "none",
        }
    }

    fn cell(self, lang: Lang) -> Cell {
        match self {
            Self::Connected => Cell::new(words::relay_state_connected(lang)).tone(Tone::Good),
            Self::Disconnected => Cell::new(words::relay_state_disconnected(lang)).tone(Tone::Warning),
            Self::Silent(time) => Cell::new(words::relay_state_silent(lang, &age(time))).tone(Tone::Bad),
            Self::None => Cell::new(words::relay_state_none(lang)).tone(Tone::Warning),
        }
    }
}

pub(super) fn run(context: &Context, output: &OutputArgs) -> CommandResult {
    let (home, lang) = (context.home()?, context.lang);
    let settings = settings(context)?;
    let keyring = keyring(context, &settings)?;
    let status = last_relay_status(home).unwrap_or_default();
    let state = RelayState::read(home, &status);
    let refused = refused_orders(home);
    let restarts = status["restarts"].as_u64().unwrap_or_default();
    let membership = status["membership"].as_str().unwrap_or("unknown").to_owned();
    let machine = keyring.machine();
    if output.json {
        return out::json(&StatusJson {
            machine: &machine.id,
            name: &machine.name,
            fingerprint: keyring.fingerprint(),
            membership: &membership,
            relay: state.name(),
            restarts,
            last_failure: &status["lastFailure"],
            problem: &status["problem"],
            last_sign: &status["at"],
            published: &status["told"],
            refused: RefusedJson {
                count: refused.count,
                file: fleet_dir(home).join("refused.json"),
                orders: &refused.orders,
            },
        });
    }
    let mut fields = Fields::default();
    fields.add(
        words::head_machine(lang),
        Cell::new(format!("{} ({})", machine.name, machine.id)).tone(Tone::Strong),
    );
    fields.add(words::label_fingerprint(lang), keyring.fingerprint());
    fields.add(words::label_team(lang), membership_text(lang, &membership));
    fields.add(words::label_relay(lang), state.cell(lang));
    if restarts > 0 {
        let count = u32::try_from(restarts).unwrap_or(u32::MAX);
        let why = printable(status["lastFailure"].as_str().unwrap_or("–"));
        fields.add(String::new(), Cell::new(words::relay_restarts(lang, count, &why)).tone(Tone::Warning));
    }
    if let Some(problem) = status["problem"].as_str() {
        fields.add(words::label_problem(lang), Cell::new(printable(problem)).tone(Tone::Bad));
    }
    let mut lines = vec![Cell::new(words::refused_count(lang, refused.count))];
    lines.extend(refused.orders.iter().rev().take(SHOWN_ORDERS).map(|order| refused_cell(lang, order)));
    fields.add_lines(words::label_refused(lang), lines);
    out::print(&fields.render(context.palette))
}

fn membership_text(lang: Lang, membership: &str) -> String {
    match membership {
        "member" => words::membership_member(lang),
        "waiting" => words::membership_waiting(lang),
        "removed" => words::membership_removed(lang),
        "outsider" => words::membership_outsider(lang),
        _ => words::membership_unknown(lang),
    }
}

fn refused_cell(lang: Lang, order: &RefusedOrder) -> Cell {
    let at = or_dash(clock::from_iso(&order.at).map(|at| cli::ago(lang, &age(clock::now().since(at)))));
    let from = order.from.as_deref().map(|from| format!(" · {}", printable(from))).unwrap_or_default();
    let why = reason_text(lang, order.reason);
    let text = format!("{at}{from} · {why} · {} B: {}", order.bytes, printable(&order.preview));
    Cell::new(text).tone(Tone::Faint)
}

fn reason_text(lang: Lang, reason: RefusalReason) -> String {
    match reason {
        RefusalReason::Malformed => words::refused_malformed(lang),
        RefusalReason::Later => words::refused_later(lang),
        RefusalReason::Unsigned => words::refused_unsigned(lang),
        RefusalReason::UnknownSender => words::refused_unknown(lang),
        RefusalReason::Forged => words::refused_forged(lang),
        RefusalReason::BadId => words::refused_bad_id(lang),
        RefusalReason::OutOfTime => words::refused_out_of_time(lang),
        RefusalReason::GivenUp => words::refused_given_up(lang),
        RefusalReason::Other => words::refused_other(lang),
    }
}
