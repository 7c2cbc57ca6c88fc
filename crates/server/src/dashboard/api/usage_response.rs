//! What a session has used, as the API returns it.

use overtone_core::economy::{PriceTable, Spending};
use overtone_store::{UsageEntry, UsageScope};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct SessionUsage {
    pub(crate) agents: Vec<AgentUsage>,
    pub(crate) stages: Vec<StageUsage>,
    pub(crate) total: TokenUsage,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokenUsage {
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    cost_usd: f64,
    /// Tokens of models whose price is not known.
    unpriced_tokens: u64,
}

impl From<&Spending> for TokenUsage {
    fn from(spending: &Spending) -> Self {
        Self {
            input_tokens: spending.tokens.input,
            output_tokens: spending.tokens.output,
            cache_read_tokens: spending.tokens.cache_read,
            cache_write_tokens: spending.tokens.cache_write,
            cost_usd: spending.cost.usd,
            unpriced_tokens: spending.cost.unpriced_tokens,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AgentUsage {
    #[serde(flatten)]
    pub(crate) tokens: TokenUsage,
    /// `None` for the main agent.
    pub(crate) agent: Option<String>,
    pub(crate) stage: Option<String>,
    pub(crate) agent_id: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) messages: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct StageUsage {
    #[serde(flatten)]
    pub(crate) tokens: TokenUsage,
    /// `None` for the main agent, and for agents without a stage.
    pub(crate) stage: Option<String>,
    pub(crate) attempts: u32,
}

impl SessionUsage {
    pub(crate) fn new(entries: &[UsageEntry], prices: &PriceTable) -> Self {
        let mut total = Spending::default();
        for entry in entries {
            total += entry.usage.spending(prices);
        }
        let agents = grouped(entries, |entry| (entry.scope == UsageScope::Main, entry.agent_id.as_deref()));
        let stages = grouped(entries, |entry| entry.stage.as_deref());
        Self {
            agents: agents.iter().map(|entries| AgentUsage::new(entries, prices)).collect(),
            stages: stages.iter().map(|entries| StageUsage::new(entries, prices)).collect(),
            total: TokenUsage::from(&total),
        }
    }
}

/// The entries with the same key, in the order of their first one.
fn grouped<'a, K: PartialEq>(
    entries: &'a [UsageEntry],
    key: impl Fn(&'a UsageEntry) -> K,
) -> Vec<Vec<&'a UsageEntry>> {
    let mut groups: Vec<(K, Vec<&UsageEntry>)> = Vec::new();
    for entry in entries {
        let key = key(entry);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(entry),
            None => groups.push((key, vec![entry])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn spending(entries: &[&UsageEntry], prices: &PriceTable) -> TokenUsage {
    let mut sum = Spending::default();
    for entry in entries {
        sum += entry.usage.spending(prices);
    }
    TokenUsage::from(&sum)
}

impl AgentUsage {
    fn new(entries: &[&UsageEntry], prices: &PriceTable) -> Self {
        let newest =
            |field: fn(&UsageEntry) -> Option<String>| entries.iter().rev().find_map(|entry| field(entry));
        Self {
            tokens: spending(entries, prices),
            agent: newest(|entry| entry.agent.clone()),
            stage: newest(|entry| entry.stage.clone()),
            agent_id: newest(|entry| entry.agent_id.clone()),
            model: newest(|entry| entry.usage.models.last().map(|usage| usage.model.clone())),
            messages: entries.iter().map(|entry| entry.usage.messages()).sum(),
        }
    }
}

impl StageUsage {
    fn new(entries: &[&UsageEntry], prices: &PriceTable) -> Self {
        Self {
            tokens: spending(entries, prices),
            stage: entries.first().and_then(|entry| entry.stage.clone()),
            attempts: entries.iter().filter_map(|entry| entry.attempt).max().unwrap_or(0),
        }
    }
}
