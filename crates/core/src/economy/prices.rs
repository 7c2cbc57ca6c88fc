//! The prices of models. This file is the only place to change them.

use std::borrow::Cow;

use crate::economy::Tokens;

/// The day of the price table.
pub const PRICES_DATE: &str = "2026-11-13";

/// What a model costs, in dollars per million tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    /// A part of the model's name.
    pub model: Cow<'static, str>,
    pub input: f64,
    pub output: f64,
    pub cache_read: f64,
    /// Writing to the cache for five minutes.
    pub cache_write: f64,
    /// Writing to the cache for an hour.
    pub cache_write_1h: f64,
}

/// By name: input, output, cache read, cache write, cache write for an hour. These are the list prices that version 2.1.325
/// of Claude Code has built in. Surcharges, such as for very long prompts or a region, are not part of the table.
const PRICES: &[(&str, [f64; 5])] = &[
    ("claude-3-5-haiku", [0.8, 4.0, 0.08, 1.0, 1.6]),
    ("haiku-4-5", [1.0, 5.0, 0.1, 1.25, 2.0]),
    ("haiku-5-5", [0.1, 0.5, 0.01, 0.125, 0.2]),
    ("claude-3-5-sonnet", [3.0, 15.0, 0.3, 3.75, 6.0]),
    ("claude-3-7-sonnet", [3.0, 15.0, 0.3, 3.75, 6.0]),
    ("sonnet-4", [3.0, 15.0, 0.3, 3.75, 6.0]),
    ("sonnet-4-0", [3.0, 15.0, 0.3, 3.75, 6.0]),
    ("sonnet-4-5", [3.0, 15.0, 0.3, 3.75, 6.0]),
    ("sonnet-4-6", [3.0, 15.0, 0.3, 3.75, 6.0]),
    ("sonnet-5", [2.0, 10.0, 0.2, 2.5, 4.0]),
    ("sonnet-5-5", [2.0, 10.0, 0.1, 2.5, 4.0]),
    ("opus-4", [15.0, 75.0, 1.5, 18.75, 30.0]),
    ("opus-4-0", [15.0, 75.0, 1.5, 18.75, 30.0]),
    ("opus-4-1", [15.0, 75.0, 1.5, 18.75, 30.0]),
    ("opus-4-5", [5.0, 25.0, 0.5, 6.25, 10.0]),
    ("opus-4-6", [5.0, 25.0, 0.5, 6.25, 10.0]),
    ("opus-4-7", [5.0, 25.0, 0.5, 6.25, 10.0]),
    ("opus-4-8", [5.0, 25.0, 0.5, 6.25, 10.0]),
    ("opus-5", [5.0, 25.0, 0.5, 6.25, 10.0]),
    ("opus-5-5", [4.0, 20.0, 0.2, 5.0, 8.0]),
    ("fable-5", [10.0, 50.0, 1.0, 12.5, 20.0]),
    ("fable-5-1", [10.0, 50.0, 0.25, 12.5, 20.0]),
    ("fable-5-2", [8.0, 40.0, 0.2, 10.0, 16.0]),
    ("mythos-5", [10.0, 50.0, 1.0, 12.5, 20.0]),
    ("mythos-5-1", [10.0, 50.0, 0.25, 12.5, 20.0]),
    ("mythos-5-2", [8.0, 40.0, 0.2, 10.0, 16.0]),
];

/// The prices in force: the table above, and what the user has set.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PriceTable {
    /// The user's prices. They come before those of the table.
    own: Vec<Price>,
    own_date: Option<String>,
}

impl PriceTable {
    /// The table with the user's own prices, and the day of which these are.
    pub const fn with_own(own: Vec<Price>, own_date: Option<String>) -> Self {
        Self { own, own_date }
    }

    /// The user's own prices.
    pub fn own(&self) -> &[Price] {
        &self.own
    }

    pub fn own_date(&self) -> Option<&str> {
        self.own_date.as_deref()
    }

    /// The prices of the built-in table.
    pub fn built_in() -> impl Iterator<Item = Price> {
        PRICES.iter().map(built_in_price)
    }

    /// The cost of tokens of a model, in dollars. `None` if its price is not known, since a guess would be misleading.
    #[allow(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^52")]
    pub fn cost(&self, model: &str, tokens: &Tokens) -> Option<f64> {
        let price = self.price(model)?;
        let long = tokens.cache_write_1h.min(tokens.cache_write);
        let parts = [
            (tokens.input, price.input),
            (tokens.output, price.output),
            (tokens.cache_read, price.cache_read),
            (tokens.cache_write - long, price.cache_write),
            (long, price.cache_write_1h),
        ];
        Some(parts.iter().map(|(count, price)| *count as f64 / 1e6 * price).sum())
    }

    /// The price of a model: the user's own, else that of the table. Of several that fit, the longest name counts.
    pub fn price(&self, model: &str) -> Option<Price> {
        let own = self.own.iter().filter(|price| model.contains(&*price.model));
        if let Some(price) = own.max_by_key(|price| price.model.len()) {
            return Some(price.clone());
        }
        let known = PRICES.iter().filter(|(name, _)| names_model(name, model));
        known.max_by_key(|(name, _)| name.len()).map(built_in_price)
    }
}

fn built_in_price(
    (model, [input, output, cache_read, cache_write, cache_write_1h]): &(&'static str, [f64; 5]),
) -> Price {
    Price {
        model: Cow::Borrowed(model),
        input: *input,
        output: *output,
        cache_read: *cache_read,
        cache_write: *cache_write,
        cache_write_1h: *cache_write_1h,
    }
}

/// Whether the model has this name, with or without a provider before it and a date or an option after it. A further version
/// number makes it another model: `opus-5` is not `claude-opus-5-9`.
fn names_model(name: &str, model: &str) -> bool {
    let Some(at) = model.find(name) else { return false };
    let is_start = !model[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
    let rest = &model[at + name.len()..];
    let Some(next) = rest.strip_prefix(['-', '.']) else {
        return is_start && !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
    };
    let digits = next.bytes().take_while(u8::is_ascii_digit).count();
    is_start && !(1..=3).contains(&digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLION: Tokens =
        Tokens { input: 1_000_000, output: 1_000_000, cache_read: 0, cache_write: 0, cache_write_1h: 0 };

    fn cost(model: &str) -> Option<f64> {
        PriceTable::default().cost(model, &MILLION)
    }

    #[test]
    fn a_model_has_the_price_of_its_own_version() {
        let cases = [
            ("claude-opus-4-20250514", 90.0),
            ("claude-opus-4-1-20250805", 90.0),
            ("us.anthropic.claude-opus-4-5-20251101-v1:0", 30.0),
            ("claude-opus-5", 30.0),
            ("claude-opus-5[1m]", 30.0),
            ("claude-opus-5-5", 24.0),
            ("claude-sonnet-4@20250514", 18.0),
            ("claude-sonnet-5-5", 12.0),
            ("claude-haiku-4-5-20251001", 6.0),
            ("claude-3-5-haiku-20241022", 4.8),
        ];
        for (model, expected) in cases {
            let found = cost(model).unwrap();
            assert!((found - expected).abs() < 1e-9, "{model}: {found}");
        }
    }

    #[test]
    fn another_version_or_model_has_no_price() {
        for model in
            ["claude-opus-5-9", "claude-opus-6", "claude-opus-50", "glm-4.6", "opus", "", "<synthetic>"]
        {
            assert_eq!(cost(model), None, "{model}");
        }
    }

    #[test]
    fn every_kind_of_token_has_its_own_price() {
        let tokens =
            Tokens { cache_read: 1_000_000, cache_write: 3_000_000, cache_write_1h: 1_000_000, ..MILLION };
        let found = PriceTable::default().cost("claude-sonnet-4-5", &tokens).unwrap();
        assert!((found - (18.0 + 0.3 + 2.0 * 3.75 + 6.0)).abs() < 1e-9, "{found}");
    }

    #[test]
    fn the_users_prices_come_first_and_the_longest_name_counts() {
        let own = |model: &'static str, input: f64| Price {
            model: Cow::Borrowed(model),
            input,
            ..built_in_price(&("", [0.0; 5]))
        };
        let table = PriceTable::with_own(vec![own("glm", 1.0), own("glm-4.6", 2.0), own("opus", 3.0)], None);
        let cost = |model: &str| table.cost(model, &MILLION);
        assert_eq!((cost("z-ai/glm-4.6"), cost("glm-5")), (Some(2.0), Some(1.0)));
        assert_eq!((cost("claude-opus-5"), cost("claude-sonnet-4-5")), (Some(3.0), Some(18.0)));
    }

    #[test]
    fn no_name_is_listed_twice() {
        for (at, (name, _)) in PRICES.iter().enumerate() {
            assert!(PRICES[..at].iter().all(|(other, _)| other != name), "{name}");
        }
    }
}
