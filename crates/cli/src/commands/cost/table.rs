//! The costs as a table.

use overtone_core::economy::{Spending, price_tag, short_count};
use overtone_core::messages::{Lang, cli as words};
use overtone_hook::ansi::{Text, Tone};
use overtone_session::view::{CostKey, CostReport, CostRow};

use super::{Costs, Group};
use crate::context::Context;
use crate::ui::quantity::percent;
use crate::ui::table::{Cell, Table};

pub(super) fn render(context: &Context, costs: &Costs) -> Text {
    let lang = context.lang;
    let mut parts = Vec::new();
    if !costs.report.rows.is_empty() {
        parts.push(table(lang, costs).render(context.palette));
    }
    let notes = notes(lang, costs);
    if !notes.is_empty() {
        parts.push((notes.join("\n") + "\n").into());
    }
    Text::join(parts, "\n")
}

fn table(lang: Lang, costs: &Costs) -> Table {
    let mut table = Table::with_head([
        head(lang, costs.group),
        words::head_tries(lang),
        words::head_tokens_in(lang),
        words::head_tokens_out(lang),
        words::head_tokens_cached(lang),
        words::head_cost(lang),
    ]);
    for row in &costs.report.rows {
        add_row(&mut table, lang, row);
    }
    if costs.report.rows.len() > 1 {
        let total = Cell::new(words::total(lang)).tone(Tone::Strong);
        table.row(cells(total, String::new(), &costs.report.total));
    }
    table
}

fn head(lang: Lang, group: Group) -> String {
    match group {
        Group::Stage => words::label_stage(lang),
        Group::Agent => words::head_agent(lang),
        Group::Workflow => words::label_workflow(lang),
        Group::Project => words::head_project(lang),
        Group::Day => words::head_day(lang),
        Group::Model => words::head_model(lang),
    }
}

/// A row, and one for each attempt if there are several.
fn add_row(table: &mut Table, lang: Lang, row: &CostRow) {
    let name = match &row.key {
        CostKey::Named(name) => name.clone(),
        CostKey::MainAgent => words::main_agent(lang),
        CostKey::Outside => words::outside_workflows(lang),
    };
    let tries = if row.attempts.is_empty() { String::new() } else { row.attempts.len().to_string() };
    table.row(cells(Cell::new(name), tries, &row.spending));
    if row.attempts.len() < 2 {
        return;
    }
    for (attempt, spending) in &row.attempts {
        table.row(cells(Cell::new(format!("  #{attempt}")).tone(Tone::Faint), String::new(), spending));
    }
}

fn cells(name: Cell, tries: String, spending: &Spending) -> [Cell; 6] {
    let tokens = &spending.tokens;
    let cached = tokens.cache_read.saturating_add(tokens.cache_write);
    let count = |count| Cell::new(short_count(count)).right();
    let cost = Cell::new(price_tag(&spending.cost)).right();
    [name, Cell::new(tries).right(), count(tokens.input), count(tokens.output), count(cached), cost]
}

fn notes(lang: Lang, costs: &Costs) -> Vec<String> {
    let (report, sources) = (&costs.report, &costs.sources);
    let mut notes = Vec::new();
    let total = report.total.cost.usd;
    let share = |spending: &Spending| percent(if total > 0.0 { spending.cost.usd / total } else { 0.0 });
    let purposes = [
        (&report.purposes.repairs, words::cost_of_repairs as fn(Lang, &str, &str) -> String),
        (&report.purposes.clean_reviews, words::cost_of_clean_reviews),
        (&report.purposes.unchanged, words::cost_of_unchanged),
    ];
    for (spending, text) in purposes {
        if !spending.is_nothing() {
            notes.push(text(lang, &price_tag(&spending.cost), &share(spending)));
        }
    }
    if let Some(each) = per_workflow(report) {
        notes.push(words::cost_of_finished(lang, &each, report.finished));
    }
    if let Some(tokens) = costs.lean_savings()
        && tokens > 0
    {
        notes.push(words::cost_lean_savings(lang, &short_count(tokens), report.agent_requests));
    }
    let unpriced = report.total.cost.unpriced_tokens;
    if unpriced > 0 {
        notes.push(words::cost_without_price(lang, &short_count(unpriced)));
    }
    if sources.conversations > 0 {
        notes.push(words::cost_from_conversations(lang, sources.conversations));
    }
    if sources.client_totals > 0 {
        let usd = overtone_core::economy::dollars(sources.client_usd);
        notes.push(words::cost_from_client(lang, sources.client_totals, &usd));
    }
    notes
}

/// What a completed workflow has cost on average.
#[allow(clippy::cast_precision_loss, reason = "counts of workflows are small")]
pub(super) fn per_workflow(report: &CostReport) -> Option<String> {
    if report.finished == 0 || report.finished_spending.is_nothing() {
        return None;
    }
    let mut each = report.finished_spending.cost;
    each.usd /= report.finished as f64;
    Some(price_tag(&each))
}
