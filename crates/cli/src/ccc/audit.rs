//! `ccc audit`: every review there was, and what it found.

use overtone_messages::{Lang, supervisor as words};
use overtone_supervisor::{Audited, audit, audits};
use serde_json::{Value, json};

use super::args::AuditArgs;
use super::face::Face;
use super::supervise::{folder, session};
use crate::ui::error::{Done, Failure};
use crate::ui::out;
use crate::ui::style::{Palette, Tone};
use crate::ui::table::{Cell, Table};

/// What fits beside the other columns.
const FEEDBACK_CHARS: usize = 60;

pub(super) fn run(face: &Face, args: &AuditArgs) -> Done {
    match &args.session {
        Some(name) => one(face, name, args.output.json),
        None => all(face, args.output.json),
    }
}

fn all(face: &Face, as_json: bool) -> Done {
    let folder = folder(face)?;
    let found = audits(&folder).map_err(|error| Failure::io(face.lang, &folder.path(), &error))?;
    if as_json {
        let session = |one: &Audited| json!({"session": one.session.as_str(), "rounds": one.rounds});
        return out::json(&found.iter().map(session).collect::<Vec<_>>().into());
    }
    if found.is_empty() {
        return out::print(&words::no_audits(face.lang));
    }
    let lang = face.lang;
    let mut table = Table::with_head([
        words::head_session(lang),
        words::head_rounds(lang),
        words::head_outcome(lang),
        words::head_cost(lang),
        words::head_time(lang),
    ]);
    for one in &found {
        table.row(session_row(one, lang));
    }
    out::print(&table.render(Palette::for_stdout()))
}

fn session_row(one: &Audited, lang: Lang) -> [Cell; 5] {
    let last = one.rounds.last().cloned().unwrap_or_default();
    let cost: f64 = one.rounds.iter().filter_map(|round| round["cost_usd"].as_f64()).sum();
    [
        Cell::new(one.session.as_str()),
        Cell::new(one.rounds.len().to_string()).right(),
        outcome(&last, lang),
        Cell::new(dollars(cost)).right(),
        Cell::new(time(&last)),
    ]
}

fn one(face: &Face, name: &str, as_json: bool) -> Done {
    let (session, folder, lang) = (session(face, name)?, folder(face)?, face.lang);
    let found = audit(&folder, &session).map_err(|error| Failure::io(lang, &folder.path(), &error))?;
    let none = || Failure::new(words::no_audit(lang, session.as_str())).hint(words::no_audit_hint(lang));
    let rounds = found.ok_or_else(none)?;
    if as_json {
        return out::json(&json!({"session": session.as_str(), "rounds": rounds}));
    }
    let mut table = Table::with_head([
        words::head_time(lang),
        words::head_round(lang),
        words::head_outcome(lang),
        words::head_checks(lang),
        words::head_cost(lang),
        words::head_feedback(lang),
    ]);
    for round in &rounds {
        table.row(round_row(round, lang));
    }
    out::print(&table.render(Palette::for_stdout()))
}

fn round_row(round: &Value, lang: Lang) -> [Cell; 6] {
    let number = round["round"].as_u64().map(|number| number.to_string()).unwrap_or_default();
    let feedback = round["feedback"].as_str().unwrap_or_default();
    [
        Cell::new(time(round)),
        Cell::new(number).right(),
        outcome(round, lang),
        Cell::new(checks(round)),
        Cell::new(dollars(round["cost_usd"].as_f64().unwrap_or(0.0))).right(),
        Cell::new(feedback.chars().take(FEEDBACK_CHARS).collect::<String>()),
    ]
}

/// `2/3`: how many passed.
fn checks(round: &Value) -> String {
    let all = round["evidence"].as_array().map_or(&[][..], Vec::as_slice);
    let passed = all.iter().filter(|check| check["result"] == "passed").count();
    if all.is_empty() { String::new() } else { format!("{passed}/{}", all.len()) }
}

fn outcome(round: &Value, lang: Lang) -> Cell {
    match round["outcome"].as_str() {
        Some("allow") => Cell::new(words::outcome_allow(lang)).tone(Tone::Good),
        Some("block") => Cell::new(words::outcome_block(lang)).tone(Tone::Bad),
        _ => Cell::new(words::outcome_none(lang)).tone(Tone::Faint),
    }
}

fn dollars(amount: f64) -> String {
    format!("${amount:.4}")
}

/// To the second.
fn time(round: &Value) -> String {
    let text = round["time"].as_str().unwrap_or_default();
    text.split('.').next().unwrap_or_default().replace('T', " ")
}
