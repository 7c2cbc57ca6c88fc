//! The user's prices of models: the section `prices` of `config.json`.
//!
//! ```json
//! { "prices": { "date": "2026-11-01", "models": { "glm-4.6": { "input": 0.6, "output": 2.2 } } } }
//! ```
//!
//! A price is in dollars per million tokens. Tokens that are read from or written to the cache cost as much as input if no
//! price is given for them. Numbers that are no prices are ignored, and listed by [`Config::bad_prices`].

use std::borrow::Cow;

use overtone_core::economy::{Price, PriceTable};
use serde_json::{Map, Value};

use super::{Config, Section};

/// A price above this is a mistake.
const MAX_PRICE: f64 = 1e6;

impl Config {
    /// The prices in force.
    pub fn prices(&self) -> PriceTable {
        let Some(section) = self.section(Section::Prices) else { return PriceTable::default() };
        let own = models(section).filter_map(|(name, value)| parse_price(name, value)).collect();
        PriceTable::with_own(own, section["date"].as_str().map(str::to_owned))
    }

    /// The models whose prices cannot be used.
    pub fn bad_prices(&self) -> Vec<String> {
        let Some(section) = self.section(Section::Prices) else { return Vec::new() };
        let bad = models(section).filter(|(name, value)| parse_price(name, value).is_none());
        bad.map(|(name, _)| name.clone()).collect()
    }
}

fn models(section: &Value) -> impl Iterator<Item = (&String, &Value)> {
    section["models"].as_object().into_iter().flatten()
}

fn parse_price(model: &str, value: &Value) -> Option<Price> {
    let fields = value.as_object()?;
    let number = |name: &str| price_in(fields, name);
    let (input, output) = (number("input")??, number("output")??);
    let cache_read = number("cacheRead")?.unwrap_or(input);
    let cache_write = number("cacheWrite")?.unwrap_or(input);
    let cache_write_1h = number("cacheWrite1h")?.unwrap_or(cache_write);
    if model.trim().is_empty() {
        return None;
    }
    let model = Cow::Owned(model.to_owned());
    Some(Price { model, input, output, cache_read, cache_write, cache_write_1h })
}

/// `Some(None)` for a price that is not given, and `None` for one that is no price.
#[allow(clippy::option_option, reason = "missing and wrong are different")]
fn price_in(fields: &Map<String, Value>, name: &str) -> Option<Option<f64>> {
    match fields.get(name) {
        None | Some(Value::Null) => Some(None),
        Some(value) => match value.as_f64() {
            Some(price) if (0.0..=MAX_PRICE).contains(&price) => Some(Some(price)),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use overtone_core::economy::Tokens;
    use serde_json::json;

    use super::*;

    fn config(value: &Value) -> Config {
        Config { document: value.as_object().unwrap().clone() }
    }

    #[test]
    fn prices_of_the_user_are_in_force() {
        let config = config(&json!({ "prices": { "date": "2026-12-01", "models": {
            "glm": { "input": 2, "output": 4.5, "cacheRead": 0 },
            "opus-5": { "input": 1, "output": 1, "cacheWrite": 3, "cacheWrite1h": null },
        } } }));
        let table = config.prices();
        assert_eq!(
            (table.own_date(), table.own().len(), config.bad_prices().len()),
            (Some("2026-12-01"), 2, 0)
        );
        let million = 1_000_000;
        let tokens = Tokens {
            input: million,
            output: million,
            cache_read: million,
            cache_write: million,
            cache_write_1h: 0,
        };
        assert_eq!(table.cost("glm-4.6", &tokens), Some(8.5));
        assert_eq!(table.cost("claude-opus-5", &tokens), Some(6.0));
        assert_eq!(table.cost("claude-opus-5", &Tokens { cache_write_1h: million, ..tokens }), Some(6.0));
    }

    #[test]
    fn what_is_no_price_is_ignored_and_listed() {
        let config = config(&json!({ "prices": { "models": {
            "good": { "input": 1, "output": 1 }, "a": { "input": -1, "output": 1 }, "b": { "input": "x", "output": 1 },
            "c": { "input": 1 }, "d": 7, "e": { "input": 1, "output": 1, "cacheRead": 1e9 }, "": { "input": 1, "output": 1 },
        } } }));
        assert_eq!(config.prices().own().len(), 1);
        assert_eq!(config.bad_prices(), ["a", "b", "c", "d", "e", ""]);
    }

    #[test]
    fn a_section_of_another_form_changes_nothing() {
        for value in [json!({}), json!({ "prices": 7 }), json!({ "prices": { "models": [1] } })] {
            assert_eq!(config(&value).prices(), PriceTable::default(), "{value}");
        }
    }
}
