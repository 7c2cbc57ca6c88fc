//! `overtone fleet status`: how this machine's own part of the fleet is, without asking a server.

use overtone_engine::text::printable;
use overtone_fleet::{Reason, RefusedOrder, folder, is_running, last_status, refused_orders};
use overtone_messages::{Lang, cli, fleet as words};
use overtone_store::{Home, clock};
use serde_json::{Value, json};

use super::desk::{keyring, settings};
use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::Done;
use crate::ui::out;
use crate::ui::quantity::age;
use crate::ui::style::Tone;
use crate::ui::table::{Cell, Fields};

/// A relay writes its status every eight seconds; one that does not for so long does nothing else either.
const SILENCE: i64 = 60_000;
/// How many orders are shown that were put aside.
const SHOWN: usize = 5;

/// What the relay does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RelayState {
    Connected,
    Disconnected,
    /// It holds its place and does not move; for so many milliseconds.
    Silent(i64),
    None,
}

impl RelayState {
    fn of(home: &Home, status: &Value) -> Self {
        if !is_running(home) {
            return Self::None;
        }
        let at = status["at"].as_str().and_then(clock::from_iso);
        let silence = at.map_or(0, |at| clock::now().since(at));
        match status["connected"].as_bool() {
            _ if silence > SILENCE => Self::Silent(silence),
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

pub(super) fn run(context: &Context, output: &OutputArgs) -> Done {
    let (home, lang) = (context.home()?, context.lang);
    let settings = settings(context)?;
    let keyring = keyring(context, &settings)?;
    let status = last_status(home).unwrap_or_default();
    let state = RelayState::of(home, &status);
    let refused = refused_orders(home);
    let restarts = status["restarts"].as_u64().unwrap_or_default();
    let membership = status["membership"].as_str().unwrap_or("unknown").to_owned();
    let machine = keyring.machine();
    if output.json {
        return out::json(&json!({
            "machine": machine.id, "name": machine.name, "fingerprint": keyring.fingerprint(),
            "membership": membership, "relay": state.name(), "restarts": restarts,
            "lastFailure": status["lastFailure"], "problem": status["problem"], "lastSign": status["at"], "told": status["told"],
            "refused": { "count": refused.count, "file": folder(home).join("refused.json"), "orders": refused.orders },
        }));
    }
    let mut fields = Fields::default();
    fields.add(
        words::head_machine(lang),
        Cell::new(format!("{} ({})", machine.name, machine.id)).tone(Tone::Strong),
    );
    fields.add(words::label_fingerprint(lang), keyring.fingerprint());
    fields.add(words::label_team(lang), membership_words(lang, &membership));
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
    lines.extend(refused.orders.iter().rev().take(SHOWN).map(|order| refused_cell(lang, order)));
    fields.add_lines(words::label_refused(lang), lines);
    out::print(&fields.render(context.palette))
}

fn membership_words(lang: Lang, membership: &str) -> String {
    match membership {
        "member" => words::membership_member(lang),
        "waiting" => words::membership_waiting(lang),
        "removed" => words::membership_removed(lang),
        "outsider" => words::membership_outsider(lang),
        _ => words::membership_unknown(lang),
    }
}

fn refused_cell(lang: Lang, order: &RefusedOrder) -> Cell {
    let at = clock::from_iso(&order.at)
        .map_or_else(|| "–".to_owned(), |at| cli::ago(lang, &age(clock::now().since(at))));
    let from = order.from.as_deref().map(|from| format!(" · {}", printable(from))).unwrap_or_default();
    let why = reason_words(lang, order.reason);
    let text = format!("{at}{from} · {why} · {} B: {}", order.bytes, printable(&order.preview));
    Cell::new(text).tone(Tone::Faint)
}

fn reason_words(lang: Lang, reason: Reason) -> String {
    match reason {
        Reason::Malformed => words::refused_malformed(lang),
        Reason::Later => words::refused_later(lang),
        Reason::Unsigned => words::refused_unsigned(lang),
        Reason::UnknownSender => words::refused_unknown(lang),
        Reason::Forged => words::refused_forged(lang),
        Reason::BadId => words::refused_bad_id(lang),
        Reason::OutOfTime => words::refused_out_of_time(lang),
        Reason::GivenUp => words::refused_given_up(lang),
        Reason::Other => words::refused_other(lang),
    }
}
