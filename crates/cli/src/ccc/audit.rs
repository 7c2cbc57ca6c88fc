//! `ccc audit`: lists all reviews and their results.

use overtone_core::messages::{Lang, supervisor as messages};
use overtone_store::supervision::{AuditTrail, read_rounds, read_trails};
use serde::Serialize;
use serde_json::Value;

use super::args::AuditArgs;
use super::context::CccContext;
use super::supervise::{parse_session, state_folder};
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::out;
use crate::ui::table::{Cell, Table};
use overtone_hook::ansi::{Palette, Tone};

/// The reviews of one session in the JSON output.
#[derive(Serialize)]
struct TrailJson<'a> {
    session: &'a str,
    rounds: &'a [Value],
}

/// The width of the feedback column.
const MAX_FEEDBACK_CHARS: usize = 60;

pub(super) fn run(context: &CccContext, args: &AuditArgs) -> CommandResult {
    match &args.session {
        Some(name) => show_session(context, name, args.output.json),
        None => show_all(context, args.output.json),
    }
}

fn show_all(context: &CccContext, as_json: bool) -> CommandResult {
    let folder = state_folder(context)?;
    let trails =
        read_trails(&folder).map_err(|error| CommandError::io(context.lang, &folder.path(), &error))?;
    if as_json {
        let mut list = Vec::new();
        for trail in &trails {
            list.push(TrailJson { session: trail.session.as_str(), rounds: &trail.rounds });
        }
        return out::json(&list);
    }
    if trails.is_empty() {
        return out::print(&messages::no_audits(context.lang));
    }
    let lang = context.lang;
    let mut table = Table::with_head([
        messages::head_session(lang),
        messages::head_rounds(lang),
        messages::head_outcome(lang),
        messages::head_cost(lang),
        messages::head_time(lang),
    ]);
    for trail in &trails {
        table.row(session_row(trail, lang));
    }
    out::print(&table.render(Palette::for_stdout()))
}

fn session_row(trail: &AuditTrail, lang: Lang) -> [Cell; 5] {
    let last = trail.rounds.last().cloned().unwrap_or_default();
    let cost: f64 = trail.rounds.iter().filter_map(|round| round["cost_usd"].as_f64()).sum();
    [
        Cell::new(trail.session.as_str()),
        Cell::new(trail.rounds.len().to_string()).right(),
        outcome_cell(&last, lang),
        Cell::new(dollars(cost)).right(),
        Cell::new(time(&last)),
    ]
}

fn show_session(context: &CccContext, name: &str, as_json: bool) -> CommandResult {
    let (session, folder, lang) = (parse_session(context, name)?, state_folder(context)?, context.lang);
    let found =
        read_rounds(&folder, &session).map_err(|error| CommandError::io(lang, &folder.path(), &error))?;
    let missing =
        || CommandError::new(messages::no_audit(lang, session.as_str())).hint(messages::no_audit_hint(lang));
    let rounds = found.ok_or_else(missing)?;
    if as_json {
        return out::json(&TrailJson { session: session.as_str(), rounds: &rounds });
    }
    let mut table = Table::with_head([
        messages::head_time(lang),
        messages::head_round(lang),
        messages::head_outcome(lang),
        messages::head_checks(lang),
        messages::head_cost(lang),
        messages::head_feedback(lang),
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
        outcome_cell(round, lang),
        Cell::new(checks_summary(round)),
        Cell::new(dollars(round["cost_usd"].as_f64().unwrap_or(0.0))).right(),
        Cell::new(feedback.chars().take(MAX_FEEDBACK_CHARS).collect::<String>()),
    ]
}

/// The number of passed checks and of all checks, such as `2/3`.
fn checks_summary(round: &Value) -> String {
    match round["evidence"].as_array() {
        Some(checks) if !checks.is_empty() => {
            let passed = checks.iter().filter(|check| check["result"] == "passed").count();
            format!("{passed}/{}", checks.len())
        }
        _ => String::new(),
    }
}

fn outcome_cell(round: &Value, lang: Lang) -> Cell {
    match round["outcome"].as_str() {
        Some("allow") => Cell::new(messages::outcome_allow(lang)).tone(Tone::Good),
        Some("block") => Cell::new(messages::outcome_block(lang)).tone(Tone::Bad),
        _ => Cell::new(messages::outcome_none(lang)).tone(Tone::Faint),
    }
}

fn dollars(amount: f64) -> String {
    format!("${amount:.4}")
}

/// The time of a round, without fractions of a second.
fn time(round: &Value) -> String {
    let text = round["time"].as_str().unwrap_or_default();
    text.split('.').next().unwrap_or_default().replace('T', " ")
}
