//! `overtone checks`: every check with its command, its stages, whether it is trusted, and its last result.

use overtone_core::engine::describe_result;
use overtone_core::engine::state::Millis;
use overtone_core::evidence::{Check, Receipt};
use overtone_core::messages::checks as words;
use overtone_core::registry::GuardLevel;
use overtone_hook::ansi::{Text, Tone};
use overtone_session::view::ReceiptJson;
use overtone_store::clock;
use serde::Serialize;

use super::{ListArgs, session_of_checks};
use crate::context::Context;
use crate::project_checks::{ProjectChecks, TrustState, stage_list};
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::out;
use crate::ui::quantity::age;
use crate::ui::table::{Cell, Table};

/// The output of `overtone checks --json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ChecksJson<'a> {
    file: String,
    trusted: bool,
    /// The checks have changed since they were trusted.
    changed: bool,
    guard: Option<&'static str>,
    checks: Vec<CheckJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckJson<'a> {
    name: &'a str,
    run: &'a str,
    stages: Vec<&'static str>,
    timeout_ms: u64,
    last: Option<ReceiptJson>,
}

pub(super) fn run(context: &Context, args: &ListArgs) -> CommandResult {
    let checks = ProjectChecks::load(context, context.project(args.project.dir.as_deref())?)?;
    let receipts = match session_of_checks(context, args.session.as_deref())? {
        Some(session) => session.receipts().map_err(|error| CommandError::store(context.lang, &error))?,
        None => Vec::new(),
    };
    if args.output.json {
        return out::json(&to_json(&checks, &receipts));
    }
    checks.warn_about_unknown_keys(context.lang);
    out::print(&render(context, &checks, &receipts))
}

fn to_json<'a>(checks: &'a ProjectChecks, receipts: &'a [Receipt]) -> ChecksJson<'a> {
    let check = |check: &'a Check| CheckJson {
        name: &check.name,
        run: &check.run,
        stages: check.stages.iter().map(|stage| stage.key()).collect(),
        timeout_ms: u64::try_from(check.timeout.as_millis()).unwrap_or(u64::MAX),
        last: last_receipt(check, receipts).map(ReceiptJson::from),
    };
    ChecksJson {
        file: checks.path_text(),
        trusted: checks.trust_state() == TrustState::Trusted,
        changed: checks.trust_state() == TrustState::Changed,
        guard: checks.file.guard.map(GuardLevel::name),
        checks: checks.checks().iter().map(check).collect(),
    }
}

fn render(context: &Context, checks: &ProjectChecks, receipts: &[Receipt]) -> Text {
    let lang = context.lang;
    if checks.checks().is_empty() {
        let text = format!("{}\n{}\n", words::no_checks(lang, &checks.path_text()), words::detect_hint(lang));
        return text.into();
    }
    let mut table = Table::with_head([
        words::head_check(lang),
        words::head_stages(lang),
        words::head_trusted(lang),
        words::head_last(lang),
        words::head_command(lang),
    ]);
    let (trust, now) = (checks.trust_state(), clock::now());
    for check in checks.checks() {
        table.row([
            Cell::new(&check.name).tone(Tone::Strong),
            stage_list(&check.stages).into(),
            trust.label(lang).into(),
            last_result(context, last_receipt(check, receipts), now),
            (&check.run).into(),
        ]);
    }
    let hint = match trust {
        TrustState::Trusted => String::new(),
        TrustState::Changed => format!("{}\n", words::changed_hint(lang)),
        TrustState::Never => format!("{}\n", words::trust_hint(lang)),
    };
    table.render(context.palette) + &hint
}

/// The last run of exactly this command.
fn last_receipt<'a>(check: &Check, receipts: &'a [Receipt]) -> Option<&'a Receipt> {
    receipts.iter().rfind(|receipt| receipt.check == check.name && receipt.command == check.run)
}

fn last_result(context: &Context, receipt: Option<&Receipt>, now: Millis) -> Cell {
    let lang = context.lang;
    let Some(receipt) = receipt else { return words::not_run_yet(lang).into() };
    let result = describe_result(receipt, lang);
    let tone = if receipt.failure().is_none() { Tone::Good } else { Tone::Bad };
    Cell::new(words::last_result(lang, &result, &age(now.since(receipt.started_at)))).tone(tone)
}
