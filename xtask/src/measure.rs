//! Measurements of a proof, the limits that they are held to, and the report of a run.

use std::fs;
use std::thread;
use std::time::Instant;

use crate::error::{Error, Result};

/// How many errors are printed one by one.
const PRINTED_ERRORS: usize = 20;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    Max(f64),
    Min(f64),
    /// Only printed.
    None,
}

impl Limit {
    pub(crate) fn holds(self, value: f64) -> bool {
        match self {
            Self::Max(limit) => value <= limit,
            Self::Min(limit) => value >= limit,
            Self::None => true,
        }
    }

    /// The limit with its sign, as `number` prints it.
    pub(crate) fn text(self, number: fn(f64) -> String) -> String {
        match self {
            Self::Max(limit) => format!("≤ {}", number(limit)),
            Self::Min(limit) => format!("≥ {}", number(limit)),
            Self::None => String::new(),
        }
    }
}

#[derive(Debug)]
struct Measurement {
    name: String,
    value: f64,
    unit: &'static str,
    limit: Limit,
}

/// What a run measured, and what it found to be wrong.
#[derive(Debug, Default)]
pub(crate) struct Report {
    measurements: Vec<Measurement>,
    pub(crate) errors: Vec<String>,
}

impl Report {
    pub(crate) fn add(&mut self, name: impl Into<String>, value: f64, unit: &'static str, limit: Limit) {
        self.measurements.push(Measurement { name: name.into(), value, unit, limit });
    }

    /// Prints the report and returns the verdict. Errors always fail the run; missed limits only if `limits_decide`,
    /// because most of them depend on how busy the machine is.
    pub(crate) fn finish(&self, limits_decide: bool) -> Result<()> {
        println!("{:<46} {:>10} {:>11}", "", "measured", "limit");
        let mut missed = 0;
        for Measurement { name, value, unit, limit } in &self.measurements {
            let is_missed = !limit.holds(*value);
            missed += usize::from(is_missed);
            let (value, limit) = (number(*value), limit.text(number));
            println!(
                "{name:<46} {value:>10} {limit:>11} {unit:<4} {}",
                if is_missed { "MISSED" } else { "" }
            );
        }
        for error in self.errors.iter().take(PRINTED_ERRORS) {
            println!("WRONG  {error}");
        }
        if self.errors.is_empty() && (missed == 0 || !limits_decide) {
            return Ok(());
        }
        Err(Error::new(format!("{} errors, {missed} limits missed", self.errors.len())))
    }
}

/// Counts without decimals, times with two.
fn number(value: f64) -> String {
    if value.fract() == 0.0 || value >= 1000.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

/// The value that this share of all values is not above (nearest rank); zero for an empty list. Sorts the list.
pub(crate) fn percentile(values: &mut [f64], percent: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    let rank = (values.len() * percent).div_ceil(100);
    values.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

pub(crate) fn millis_since(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1000.0
}

/// Counts here are far below 2^52, where floats stop being exact.
#[expect(clippy::cast_precision_loss, reason = "see above")]
pub(crate) const fn to_float(count: usize) -> f64 {
    count as f64
}

/// `Linux 6.1 on x86_64, 2 cores, 24 GiB, virtual`. Nothing that identifies the machine.
pub(crate) fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let release = read("/proc/sys/kernel/osrelease");
    let kernel: Vec<&str> = release.trim().split(['.', '-']).take(2).collect();
    let cores = thread::available_parallelism().map_or(1, Into::into);
    let meminfo = read("/proc/meminfo");
    let kib: u64 = meminfo.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap_or_default();
    let gib = (kib + 512 * 1024) / (1024 * 1024);
    let is_virtual = read("/proc/cpuinfo").contains(" hypervisor");
    let (kernel, arch) = (kernel.join("."), std::env::consts::ARCH);
    format!("Linux {kernel} on {arch}, {cores} cores, {gib} GiB{}", if is_virtual { ", virtual" } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_limit_fails_only_where_limits_decide() {
        for (limit, is_ok) in [(Limit::Max(5.0), false), (Limit::Min(7.0), false), (Limit::None, true)] {
            let mut report = Report::default();
            report.add("x", 6.0, "ms", limit);
            assert!(report.finish(false).is_ok());
            assert_eq!(report.finish(true).is_ok(), is_ok, "{limit:?}");
        }
        assert!(Report { errors: vec!["torn".to_owned()], ..Report::default() }.finish(false).is_err());
    }

    #[test]
    fn percentiles_are_values_of_the_list() {
        let mut values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        for (percent, expected) in [(1, 2.0), (50, 100.0), (99, 198.0), (100, 200.0)] {
            assert!(percentile(&mut values, percent).total_cmp(&expected).is_eq(), "{percent}");
        }
        assert!(percentile(&mut [], 50).total_cmp(&0.0).is_eq());
    }
}
