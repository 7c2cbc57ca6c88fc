//! Tokens and costs: counted from the session's ledger, and as attributes of the agents that have ended.

use std::io;

use overtone_core::economy::{PriceTable, Spending, TokenUsage};
use overtone_core::engine::state::Millis;
use overtone_session::view::{History, SessionUsage, UsageSource};
use overtone_store::config::Config;
use overtone_store::{Home, Session, UsageEntry};

use crate::telemetry::safe_name;
use crate::telemetry::totals::{Count, Metric};
use crate::telemetry::tracker::{Attribute, ExportBatch, FinishedSpan};

/// The client may write the last message of an agent so much later than the agent ended, in milliseconds.
const LATE: i64 = 10_000;

/// The counts for entries of the ledger that were not counted before.
pub(crate) fn count_entries(home: &Home, session: &Session, entries: &[UsageEntry]) -> Vec<Count> {
    if entries.is_empty() {
        return Vec::new();
    }
    let prices = Config::load_or_default(home).prices();
    let current = session.workflow().ok().flatten().map(|document| document.state);
    let mut counts = Vec::new();
    for entry in entries {
        let name = match &current {
            Some(workflow) if entry.workflow.is_some() && workflow.created_at == entry.workflow => {
                safe_name::name(&workflow.workflow_type)
            }
            _ => safe_name::OTHER,
        };
        let stage = entry.stage.as_deref().map(safe_name::name).unwrap_or_default();
        counts.extend(counts_of(name, stage, &entry.usage.spending(&prices)));
    }
    counts
}

/// Adds the tokens and costs of agents to their spans. Those of a session without a ledger are counted here, too.
pub(crate) fn add_to_spans(home: &Home, session: &Session, batch: &mut ExportBatch) -> io::Result<()> {
    if !batch.finished.iter().any(|span| span.agent_id.is_some()) {
        return Ok(());
    }
    let used = SessionUsage::load(session, &History::default())?;
    let prices = Config::load_or_default(home).prices();
    for span in &mut batch.finished {
        let usage = usage_of(span, &used);
        if usage.is_empty() {
            continue;
        }
        if used.source == UsageSource::Conversations {
            let stage = span.stage.as_deref().unwrap_or_default();
            batch.counts.extend(counts_of(&span.workflow, stage, &usage.spending(&prices)));
        }
        span.attributes.extend(attributes(&usage, &prices));
    }
    Ok(())
}

/// What the agent of a span has used. An agent that was continued has several spans.
fn usage_of(span: &FinishedSpan, used: &SessionUsage) -> TokenUsage {
    let mut usage = TokenUsage::default();
    let Some(id) = span.agent_id.as_deref() else { return usage };
    let is_within = |at: Millis| at >= span.start && at.0 <= span.end.0 + LATE;
    for entry in used.entries.iter().filter(|entry| entry.agent_id.as_deref() == Some(id)) {
        if used.source == UsageSource::Conversations || is_within(entry.at) {
            usage.add_all(&entry.usage);
        }
    }
    usage
}

/// Each kind of token with its name in the metric, its attribute key, and the amount.
fn tokens_by_kind(spending: &Spending) -> [(&'static str, &'static str, u64); 4] {
    let tokens = &spending.tokens;
    [
        ("input", "overtone.tokens.input", tokens.input),
        ("output", "overtone.tokens.output", tokens.output),
        ("cache_read", "overtone.tokens.cache_read", tokens.cache_read),
        ("cache_write", "overtone.tokens.cache_write", tokens.cache_write),
    ]
}

fn attributes(usage: &TokenUsage, prices: &PriceTable) -> Vec<(&'static str, Attribute)> {
    let spending = usage.spending(prices);
    let integer = |count: u64| Attribute::Integer(i64::try_from(count).unwrap_or(i64::MAX));
    let mut all: Vec<_> = tokens_by_kind(&spending).map(|(_, key, count)| (key, integer(count))).to_vec();
    if let Some(last) = usage.models.last() {
        all.push(("overtone.model", Attribute::Text(safe_name::model(&last.model).to_owned())));
    }
    if spending.cost.usd > 0.0 {
        all.push(("overtone.cost_usd", Attribute::Float(spending.cost.usd)));
    }
    all
}

#[allow(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^52")]
fn counts_of(workflow: &str, stage: &str, spending: &Spending) -> Vec<Count> {
    let count = |metric, detail, amount| Count::new(metric, workflow, stage, detail, amount);
    let tokens = tokens_by_kind(spending).map(|(kind, _, amount)| count(Metric::Tokens, kind, amount as f64));
    let cost = count(Metric::CostUsd, "", spending.cost.usd);
    tokens.into_iter().chain([cost]).filter(Count::is_positive).collect()
}
