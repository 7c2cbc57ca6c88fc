//! What the API's prompt cache would make of a conversation, and what that costs.
//!
//! A request marks breakpoints (`cache_control`). Everything up to a breakpoint is kept; a later request that begins with the same
//! content reads it for a tenth of the price, and what it adds up to its last breakpoint is written for a quarter more.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::Serialize;

use super::origin::Segment;
use super::size::Size;

/// So many blocks before a breakpoint the API looks for something that it has kept.
const LOOK_BACK: usize = 20;

/// Dollars per million input tokens: a part of the model's name, and the list price. A model without a price costs nothing.
const PRICES: [(&str, f64); 3] = [("opus", 5.0), ("sonnet", 3.0), ("haiku", 1.0)];

/// Of the price of input.
const READ: f64 = 0.1;
const WRITE: f64 = 1.25;

/// The input tokens of requests, by what the cache makes of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Cost {
    pub read: u64,
    pub written: u64,
    /// Neither read nor written.
    pub uncached: u64,
    pub dollars: f64,
}

impl Cost {
    pub(super) fn add(&mut self, other: Self) {
        self.read += other.read;
        self.written += other.written;
        self.uncached += other.uncached;
        self.dollars += other.dollars;
    }
}

/// What is kept of one conversation.
#[derive(Debug, Default)]
pub(super) struct Cache {
    kept: HashSet<u64>,
}

impl Cache {
    /// Answers the next request of the conversation.
    pub(super) fn answer(&mut self, segments: &[Segment], model: &str) -> Cost {
        let prefixes = prefixes(segments);
        let breakpoints: Vec<usize> = (0..segments.len()).filter(|at| segments[*at].is_breakpoint).collect();
        let is_in_reach = |at: &usize| breakpoints.iter().any(|end| *at <= *end && *end - *at < LOOK_BACK);
        let found =
            (0..segments.len()).rev().filter(is_in_reach).find(|at| self.kept.contains(&prefixes[*at]));
        let read_to = found.map_or(0, |at| at + 1);
        let written_to = breakpoints.last().map_or(0, |at| at + 1).max(read_to);
        self.kept.extend(breakpoints.iter().map(|at| prefixes[*at]));
        let tokens =
            |part: &[Segment]| part.iter().map(|segment| Size::of(&segment.text)).sum::<Size>().tokens();
        let (read, written) = (tokens(&segments[..read_to]), tokens(&segments[read_to..written_to]));
        let uncached = tokens(&segments[written_to..]);
        Cost { read, written, uncached, dollars: dollars(model, read, written, uncached) }
    }
}

/// A hash of everything up to and with each segment.
fn prefixes(segments: &[Segment]) -> Vec<u64> {
    let mut hasher = DefaultHasher::new();
    let mut hash_of = |segment: &Segment| {
        segment.text.hash(&mut hasher);
        hasher.finish()
    };
    segments.iter().map(&mut hash_of).collect()
}

#[allow(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^52")]
fn dollars(model: &str, read: u64, written: u64, uncached: u64) -> f64 {
    let Some((_, price)) = PRICES.iter().find(|(name, _)| model.contains(name)) else { return 0.0 };
    let tokens = read as f64 * READ + written as f64 * WRITE + uncached as f64;
    tokens * price / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::economy::Origin;

    /// Segments of four characters, which are one token each; `!` marks a breakpoint.
    fn segments(texts: &[&str]) -> Vec<Segment> {
        let segment = |text: &&str| Segment {
            origin: Origin::Work,
            text: text.trim_end_matches('!').to_owned(),
            is_breakpoint: text.ends_with('!'),
        };
        texts.iter().map(segment).collect()
    }

    fn counts(cost: Cost) -> (u64, u64, u64) {
        (cost.read, cost.written, cost.uncached)
    }

    #[test]
    fn what_was_written_is_read_by_the_next_request() {
        let mut cache = Cache::default();
        let first = cache.answer(&segments(&["tool", "syst!", "user!", "rest"]), "claude-sonnet-5-5");
        assert_eq!(counts(first), (0, 3, 1));
        let second =
            cache.answer(&segments(&["tool", "syst!", "user", "rest", "more!"]), "claude-sonnet-5-5");
        assert_eq!(counts(second), (3, 2, 0));
        assert!((second.dollars - (3.0 * 0.1 + 2.0 * 1.25) * 3.0 / 1e6).abs() < 1e-12, "{second:?}");
        let other = cache.answer(&segments(&["tool", "else!", "user!"]), "claude-sonnet-5-5");
        assert_eq!(counts(other), (0, 3, 0), "a change makes everything behind it new");
    }

    #[test]
    fn a_model_without_a_price_costs_nothing() {
        assert!(Cache::default().answer(&segments(&["text"]), "other").dollars.abs() < f64::EPSILON);
    }
}
