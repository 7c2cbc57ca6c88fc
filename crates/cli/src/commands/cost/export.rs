//! The costs for other programs: JSON and comma-separated values.

use overtone_core::economy::Spending;
use overtone_session::view::{CostKey, CostRow, Purposes};
use serde::Serialize;

use super::{Costs, Group};
use crate::session::SelectedSession;

/// The output of `overtone cost --json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CostsJson<'a> {
    session: Option<&'a str>,
    by: &'static str,
    rows: Vec<RowJson<'a>>,
    total: SpendingJson,
    purposes: PurposesJson,
    completed_workflows: CompletedJson,
    lean_savings: Option<LeanSavingsJson>,
    sources: SourcesJson,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RowJson<'a> {
    /// `None` for the main agent, and for what belongs to no workflow.
    key: Option<&'a str>,
    kind: &'static str,
    messages: u64,
    #[serde(flatten)]
    spending: SpendingJson,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    attempts: Vec<AttemptJson>,
}

#[derive(Serialize)]
struct AttemptJson {
    attempt: u32,
    #[serde(flatten)]
    spending: SpendingJson,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpendingJson {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    /// `None` if nothing of it has a price.
    cost_usd: Option<f64>,
    unpriced_tokens: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PurposesJson {
    coordination: SpendingJson,
    repairs: SpendingJson,
    clean_reviews: SpendingJson,
    unchanged: SpendingJson,
}

/// What lean agents would have saved. `null` if the agents are lean.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LeanSavingsJson {
    requests: u64,
    input_tokens: u64,
}

#[derive(Serialize)]
struct CompletedJson {
    count: usize,
    #[serde(flatten)]
    spending: SpendingJson,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SourcesJson {
    sessions: usize,
    from_conversations: usize,
    from_client: usize,
    client_usd: f64,
}

impl From<&Spending> for SpendingJson {
    fn from(spending: &Spending) -> Self {
        Self {
            input_tokens: spending.tokens.input,
            output_tokens: spending.tokens.output,
            cache_read_tokens: spending.tokens.cache_read,
            cache_write_tokens: spending.tokens.cache_write,
            cost_usd: spending.cost.known_usd(),
            unpriced_tokens: spending.cost.unpriced_tokens,
        }
    }
}

impl From<&Purposes> for PurposesJson {
    fn from(purposes: &Purposes) -> Self {
        Self {
            coordination: (&purposes.coordination).into(),
            repairs: (&purposes.repairs).into(),
            clean_reviews: (&purposes.clean_reviews).into(),
            unchanged: (&purposes.unchanged).into(),
        }
    }
}

pub(super) fn to_json<'a>(selected: Option<&'a SelectedSession>, costs: &'a Costs) -> CostsJson<'a> {
    let report = &costs.report;
    CostsJson {
        session: selected.map(|selected| selected.session.id().as_str()),
        by: costs.group.name(),
        rows: report.rows.iter().map(|row| row_json(costs.group, row)).collect(),
        total: (&report.total).into(),
        purposes: (&report.purposes).into(),
        completed_workflows: CompletedJson {
            count: report.finished,
            spending: (&report.finished_spending).into(),
        },
        lean_savings: costs
            .lean_savings()
            .map(|input_tokens| LeanSavingsJson { requests: report.agent_requests, input_tokens }),
        sources: SourcesJson {
            sessions: costs.sessions,
            from_conversations: costs.sources.conversations,
            from_client: costs.sources.client_totals,
            client_usd: costs.sources.client_usd,
        },
    }
}

fn row_json(group: Group, row: &CostRow) -> RowJson<'_> {
    let (key, kind) = key_and_kind(group, &row.key);
    let attempt =
        |(attempt, spending): (&u32, &Spending)| AttemptJson { attempt: *attempt, spending: spending.into() };
    RowJson {
        key,
        kind,
        messages: row.messages,
        spending: (&row.spending).into(),
        attempts: row.attempts.iter().map(attempt).collect(),
    }
}

const fn key_and_kind(group: Group, key: &CostKey) -> (Option<&str>, &'static str) {
    match key {
        CostKey::Named(name) => (Some(name.as_str()), group.name()),
        CostKey::MainAgent => (None, "main"),
        CostKey::Outside => (None, "outside"),
    }
}

/// The rows for a spreadsheet, with the cost in dollars.
pub(super) fn to_csv(costs: &Costs) -> String {
    let mut lines = vec![format!(
        "{},kind,messages,input_tokens,output_tokens,cache_read_tokens,cache_write_tokens,cost_usd,unpriced_tokens",
        costs.group.name()
    )];
    for row in &costs.report.rows {
        let (key, kind) = key_and_kind(costs.group, &row.key);
        let spending = SpendingJson::from(&row.spending);
        let usd = spending.cost_usd.map(|usd| format!("{usd:.6}")).unwrap_or_default();
        let counts = [
            row.messages,
            spending.input_tokens,
            spending.output_tokens,
            spending.cache_read_tokens,
            spending.cache_write_tokens,
        ];
        let counts = counts.map(|count| count.to_string()).join(",");
        let key = quoted(key.unwrap_or_default());
        lines.push(format!("{key},{kind},{counts},{usd},{}", spending.unpriced_tokens));
    }
    lines.join("\n")
}

/// A field that spreadsheets take as text, even if it looks like a formula.
fn quoted(text: &str) -> String {
    let text = if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_of_a_spreadsheet_is_text() {
        assert_eq!(["DEV", "/a,b", "a\"b", "=1+1"].map(quoted), ["DEV", "\"/a,b\"", "\"a\"\"b\"", "'=1+1"]);
    }
}
