//! What a workflow uses: tokens by kind and model, and their cost at list prices.

mod budget;
mod prices;

use std::ops::AddAssign;

pub use budget::{Budget, Limits, MAX_AMOUNT, MICRO_USD, NoAmount, amount_text, micro_usd, parse_limits};
pub use prices::{PRICES_DATE, Price, PriceTable};

/// How many input tokens fewer a request of a lean agent has, at least: measured with `cargo xtask tokens` in client 2.1.325 for whole
/// workflows, of which the largest saves 4,900 per request.
pub const LEAN_SAVES_TOKENS: u64 = 4_900;

/// Tokens by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    /// All tokens that were written to the cache.
    pub cache_write: u64,
    /// The part of `cache_write` that is kept for an hour. It has a price of its own.
    pub cache_write_1h: u64,
}

impl Tokens {
    pub const fn total(&self) -> u64 {
        self.input
            .saturating_add(self.output)
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }

    /// What `self` has more of than `earlier`, by kind.
    #[must_use]
    pub const fn beyond(&self, earlier: &Self) -> Self {
        Self {
            input: self.input.saturating_sub(earlier.input),
            output: self.output.saturating_sub(earlier.output),
            cache_read: self.cache_read.saturating_sub(earlier.cache_read),
            cache_write: self.cache_write.saturating_sub(earlier.cache_write),
            cache_write_1h: self.cache_write_1h.saturating_sub(earlier.cache_write_1h),
        }
    }
}

impl AddAssign for Tokens {
    /// Does not overflow, whatever a file says.
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.cache_write_1h = self.cache_write_1h.saturating_add(other.cache_write_1h);
    }
}

/// What was used of one model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelUsage {
    pub model: String,
    pub messages: u64,
    pub tokens: Tokens,
}

/// What was used, by model, in the order in which the models were first used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TokenUsage {
    pub models: Vec<ModelUsage>,
}

impl TokenUsage {
    pub fn add(&mut self, model: &str, messages: u64, tokens: Tokens) {
        if let Some(known) = self.models.iter_mut().find(|known| known.model == model) {
            known.messages = known.messages.saturating_add(messages);
            known.tokens += tokens;
        } else {
            self.models.push(ModelUsage { model: model.to_owned(), messages, tokens });
        }
    }

    pub fn add_all(&mut self, other: &Self) {
        for usage in &other.models {
            self.add(&usage.model, usage.messages, usage.tokens);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.models.is_empty()
    }

    pub fn tokens(&self) -> Tokens {
        let mut sum = Tokens::default();
        for usage in &self.models {
            sum += usage.tokens;
        }
        sum
    }

    pub fn messages(&self) -> u64 {
        self.models.iter().fold(0, |sum, usage| sum.saturating_add(usage.messages))
    }

    pub fn cost(&self, prices: &PriceTable) -> Cost {
        let mut cost = Cost::default();
        for usage in &self.models {
            match prices.cost(&usage.model, &usage.tokens) {
                Some(usd) => cost.usd += usd,
                None => cost.unpriced_tokens = cost.unpriced_tokens.saturating_add(usage.tokens.total()),
            }
        }
        cost
    }

    /// The tokens and their cost.
    pub fn spending(&self, prices: &PriceTable) -> Spending {
        Spending { tokens: self.tokens(), cost: self.cost(prices) }
    }
}

/// A cost in dollars. The tokens of models without a price are not part of it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    pub usd: f64,
    pub unpriced_tokens: u64,
}

impl Cost {
    /// The dollars, unless nothing of what was used has a price.
    pub fn known_usd(&self) -> Option<f64> {
        if self.usd > 0.0 || self.unpriced_tokens == 0 { Some(self.usd) } else { None }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.usd += other.usd;
        self.unpriced_tokens = self.unpriced_tokens.saturating_add(other.unpriced_tokens);
    }
}

/// What something took: tokens, and what they cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Spending {
    pub tokens: Tokens,
    pub cost: Cost,
}

impl Spending {
    pub const fn is_nothing(&self) -> bool {
        self.tokens.total() == 0
    }
}

impl AddAssign for Spending {
    fn add_assign(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.cost += other.cost;
    }
}

/// `$12.34`, and `$0.0123` for a few cents.
pub fn dollars(usd: f64) -> String {
    if usd > 0.0 && usd < 0.1 { format!("${usd:.4}") } else { format!("${usd:.2}") }
}

/// The dollars of a cost, with a mark if a part of it has no price, and a dash if all of it has none.
pub fn price_tag(cost: &Cost) -> String {
    match cost.known_usd() {
        Some(usd) if cost.unpriced_tokens > 0 => format!("{}+", dollars(usd)),
        Some(usd) => dollars(usd),
        None => "–".to_owned(),
    }
}

/// `512`, `12.3k`, `4.0M`.
#[allow(clippy::cast_precision_loss, reason = "shown with one decimal")]
pub fn short_count(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{:.1}k", count as f64 / 1e3),
        _ => format!("{:.1}M", count as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(input: u64, output: u64) -> Tokens {
        Tokens { input, output, ..Tokens::default() }
    }

    #[test]
    fn usage_is_summed_by_model_and_only_known_models_cost_something() {
        let mut usage = TokenUsage::default();
        usage.add("claude-sonnet-4-5", 1, tokens(1_000_000, 0));
        usage.add("glm-4.6", 1, tokens(70, 7));
        usage.add("claude-sonnet-4-5", 2, tokens(0, 1_000_000));
        assert_eq!((usage.models.len(), usage.messages()), (2, 4));
        assert_eq!(usage.tokens(), tokens(1_000_070, 1_000_007));
        let cost = usage.cost(&PriceTable::default());
        assert_eq!(cost.unpriced_tokens, 77);
        assert!((cost.usd - 18.0).abs() < 1e-9, "{cost:?}");
        assert_eq!(price_tag(&cost), "$18.00+");
    }

    #[test]
    fn a_cost_that_is_not_known_is_a_dash() {
        let nothing = Cost::default();
        let unknown = Cost { usd: 0.0, unpriced_tokens: 9 };
        assert_eq!([price_tag(&nothing), price_tag(&unknown)], ["$0.00", "–"]);
    }

    #[test]
    fn amounts_read_well() {
        assert_eq!(
            [dollars(0.0), dollars(0.0123), dollars(0.1), dollars(12.345)],
            ["$0.00", "$0.0123", "$0.10", "$12.35"]
        );
        assert_eq!([short_count(999), short_count(12_345), short_count(4_000_000)], ["999", "12.3k", "4.0M"]);
    }

    #[test]
    fn hostile_counts_do_not_overflow() {
        let mut sum = tokens(u64::MAX, 1);
        sum += tokens(1, u64::MAX);
        assert_eq!((sum.input, sum.total()), (u64::MAX, u64::MAX));
        assert_eq!(tokens(1, 5).beyond(&tokens(3, 2)), tokens(0, 3));
    }
}
