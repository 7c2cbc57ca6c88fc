//! Figures as people read them.

use std::time::Duration;

/// `1.234`, for milliseconds.
pub(crate) fn milliseconds(duration: Duration) -> String {
    format!("{:.3}", duration.as_secs_f64() * 1000.0)
}

/// Large ones without decimals and in groups, small ones with two if they are not whole.
pub(crate) fn number(value: f64) -> String {
    if value >= 1000.0 {
        return group(&format!("{value:.0}"));
    }
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.2}") }
}

pub(crate) fn ratio(value: f64) -> String {
    format!("{value:.2}")
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(count: u64) -> String {
    group(&count.to_string())
}

pub(crate) fn mebibytes(kib: u64) -> String {
    format!("{:.1}", super::rows::to_float(kib) / 1024.0)
}

fn group(digits: &str) -> String {
    let first = digits.len() % 3;
    let mut parts = vec![&digits[..first]];
    parts.extend((first..digits.len()).step_by(3).map(|at| &digits[at..at + 3]));
    parts.retain(|part| !part.is_empty());
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_readable() {
        assert_eq!([grouped(7), grouped(123_456), grouped(1_234_567)], ["7", "123,456", "1,234,567"]);
        assert_eq!([number(250_000.0), number(40.0), number(1.2)], ["250,000", "40", "1.20"]);
        assert_eq!(milliseconds(Duration::from_micros(1234)), "1.234");
        assert_eq!(mebibytes(3_277), "3.2");
    }
}
