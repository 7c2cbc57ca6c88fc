//! Budgets: what a workflow, and each of its stages, may use.

use std::fmt;

use crate::economy::dollars;
use crate::registry::BudgetKind;

/// Limits by kind. A kind without a limit is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Limits([Option<u64>; BudgetKind::ALL.len()]);

/// The limits of a workflow, and those of each of its stages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Budget {
    pub workflow: Limits,
    pub stage: Limits,
}

/// An amount cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no amount")]
pub struct NoAmount(pub String);

/// Dollars are counted in millionths, so that limits can be stored and compared exactly.
pub const MICRO_USD: u64 = 1_000_000;

/// No limit is larger than this in its own unit: a typing error should not look like a limit.
pub const MAX_AMOUNT: u64 = 1_000_000_000_000;

/// Dollars as the unit of limits. Amounts that are no limit are `None`.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "checked before"
)]
pub fn micro_usd(usd: f64) -> Option<u64> {
    let micro = (usd * 1e6).round();
    if micro >= 1.0 && micro <= MAX_AMOUNT as f64 { Some(micro as u64) } else { None }
}

impl Limits {
    pub const fn get(&self, kind: BudgetKind) -> Option<u64> {
        self.0[kind as usize]
    }

    pub const fn set(&mut self, kind: BudgetKind, limit: Option<u64>) {
        self.0[kind as usize] = limit;
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// The limits that are set, in the order of the registry.
    pub fn iter(&self) -> impl Iterator<Item = (BudgetKind, u64)> {
        BudgetKind::ALL.into_iter().filter_map(|kind| Some((kind, self.get(kind)?)))
    }

    /// The smaller limit of each kind.
    #[must_use]
    pub fn smaller(&self, other: &Self) -> Self {
        let mut smaller = *self;
        for (kind, limit) in other.iter() {
            let limit = match self.get(kind) {
                Some(own) => own.min(limit),
                None => limit,
            };
            smaller.set(kind, Some(limit));
        }
        smaller
    }

    /// The limits with these amounts added. Only what is limited already can be raised.
    fn raise(&mut self, amounts: &Self) {
        for (kind, amount) in amounts.iter() {
            if let Some(limit) = self.get(kind) {
                self.set(kind, Some(limit.saturating_add(amount).min(MAX_AMOUNT)));
            }
        }
    }

    /// Whether a limit depends on what the conversations of the agents say.
    fn is_counted(&self) -> bool {
        self.iter().any(|(kind, _)| kind != BudgetKind::Agents)
    }
}

impl Budget {
    #[must_use]
    pub fn smaller(&self, other: &Self) -> Self {
        Self { workflow: self.workflow.smaller(&other.workflow), stage: self.stage.smaller(&other.stage) }
    }

    pub fn raise(&mut self, amounts: &Self) {
        self.workflow.raise(&amounts.workflow);
        self.stage.raise(&amounts.stage);
    }

    pub fn is_empty(&self) -> bool {
        self.workflow.is_empty() && self.stage.is_empty()
    }

    /// Whether every tool call has to be checked. A limit on agents alone is checked when one is started.
    pub fn is_counted(&self) -> bool {
        self.workflow.is_counted() || self.stage.is_counted()
    }
}

/// Parses amounts such as `5usd`, `2.5M tokens` or `90min,20agents`. Each kind may occur once.
pub fn parse_limits(text: &str) -> Result<Limits, NoAmount> {
    let mut limits = Limits::default();
    for part in text.split(',') {
        let (kind, amount) = parse_amount(part.trim()).ok_or_else(|| NoAmount(part.trim().to_owned()))?;
        if limits.get(kind).is_some() {
            return Err(NoAmount(part.trim().to_owned()));
        }
        limits.set(kind, Some(amount));
    }
    Ok(limits)
}

fn parse_amount(text: &str) -> Option<(BudgetKind, u64)> {
    if let Some(usd) = text.strip_prefix('$') {
        return Some((BudgetKind::Usd, micro_usd(usd.parse().ok()?)?));
    }
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(unit_at);
    let number: f64 = number.parse().ok()?;
    let unit = unit.trim().to_ascii_lowercase();
    Some(match unit.as_str() {
        "usd" => (BudgetKind::Usd, micro_usd(number)?),
        "min" | "minute" | "minutes" => (BudgetKind::Minutes, whole(number)?),
        "h" | "hour" | "hours" => (BudgetKind::Minutes, whole(number * 60.0)?),
        "agent" | "agents" => (BudgetKind::Agents, whole(number)?),
        _ => {
            let scale = match unit.strip_suffix("tokens").or_else(|| unit.strip_suffix("token"))?.trim() {
                "" => 1.0,
                "k" => 1e3,
                "m" => 1e6,
                _ => return None,
            };
            (BudgetKind::Tokens, whole(number * scale)?)
        }
    })
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "checked before"
)]
fn whole(number: f64) -> Option<u64> {
    let rounded = number.round();
    let is_whole = (number - rounded).abs() < 1e-6;
    if is_whole && rounded >= 1.0 && rounded <= MAX_AMOUNT as f64 { Some(rounded as u64) } else { None }
}

/// `$5.00`, `2.0M`, `90`: an amount of a kind, without its unit except for dollars.
#[allow(clippy::cast_precision_loss, reason = "shown with two decimals")]
pub fn amount_text(kind: BudgetKind, amount: u64) -> String {
    match kind {
        BudgetKind::Usd => dollars(amount as f64 / 1e6),
        BudgetKind::Tokens => crate::economy::short_count(amount),
        BudgetKind::Minutes | BudgetKind::Agents => amount.to_string(),
    }
}

/// The limits as [`parse_limits`] reads them, for records and command lines.
impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (kind, limit)) in self.iter().enumerate() {
            let separator = if at == 0 { "" } else { "," };
            match kind {
                BudgetKind::Usd => {
                    let (whole, rest) = (limit / MICRO_USD, limit % MICRO_USD);
                    let fraction = format!("{rest:06}");
                    let fraction = fraction.trim_end_matches('0');
                    let point = if fraction.is_empty() { "" } else { "." };
                    write!(f, "{separator}{whole}{point}{fraction}usd")?;
                }
                BudgetKind::Tokens => write!(f, "{separator}{limit}tokens")?,
                BudgetKind::Minutes => write!(f, "{separator}{limit}min")?,
                BudgetKind::Agents => write!(f, "{separator}{limit}agents")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(text: &str) -> Limits {
        parse_limits(text).unwrap()
    }

    #[test]
    fn amounts_are_parsed_and_written() {
        for (given, written) in [
            ("5usd", "5usd"),
            ("$2.5", "2.5usd"),
            ("0.000001usd", "0.000001usd"),
            ("500k tokens", "500000tokens"),
            ("2.5Mtokens", "2500000tokens"),
            ("90min", "90min"),
            ("1.5 hours", "90min"),
            ("1 agent", "1agents"),
            ("20agents, 5 USD", "5usd,20agents"),
        ] {
            assert_eq!(limits(given).to_string(), written, "{given}");
            assert_eq!(limits(written), limits(given), "{given}");
        }
    }

    #[test]
    fn what_is_no_amount_is_an_error() {
        for text in [
            "",
            "5",
            "usd",
            "0usd",
            "-1usd",
            "1.5agents",
            "5eur",
            "5usd,5usd",
            "1e30tokens",
            "NaNusd",
            "5usd,,",
            "9999999999999tokens",
            "5 k",
            "infusd",
            "..usd",
        ] {
            assert!(parse_limits(text).is_err(), "{text}");
        }
    }

    #[test]
    fn of_two_limits_the_smaller_one_holds() {
        let smaller = limits("5usd,10agents").smaller(&limits("3usd,90min"));
        assert_eq!(smaller, limits("3usd,90min,10agents"));
        assert_eq!(Limits::default().smaller(&limits("1usd")), limits("1usd"));
    }

    #[test]
    fn only_what_is_limited_can_be_raised() {
        let mut budget = Budget { workflow: limits("5usd"), stage: limits("1usd") };
        budget.raise(&Budget { workflow: limits("2usd,3agents"), stage: Limits::default() });
        assert_eq!(budget, Budget { workflow: limits("7usd"), stage: limits("1usd") });
    }

    #[test]
    fn a_limit_on_agents_alone_needs_no_counting() {
        assert!(!Budget { workflow: limits("5agents"), stage: Limits::default() }.is_counted());
        assert!(Budget { workflow: Limits::default(), stage: limits("5min") }.is_counted());
    }
}
