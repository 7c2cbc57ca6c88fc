//! How long the hook processes took.

use std::time::Duration;

use overtone_core::registry::Hook;

/// Every call that was made, in order.
#[derive(Debug, Default)]
pub(super) struct Timings {
    calls: Vec<(Hook, Duration)>,
}

impl Timings {
    pub(super) fn add(&mut self, hook: Hook, took: Duration) {
        self.calls.push((hook, took));
    }

    pub(super) fn count(&self) -> usize {
        self.calls.len()
    }

    /// The median; of two middle values, the longer.
    pub(super) fn median(&self) -> Duration {
        let mut times: Vec<_> = self.calls.iter().map(|(_, took)| *took).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    }

    pub(super) fn slowest(&self) -> Option<(Hook, Duration)> {
        self.calls.iter().copied().max_by_key(|(_, took)| *took)
    }
}

/// `0.7 ms`.
pub(super) fn format_millis(took: Duration) -> String {
    format!("{:.1} ms", took.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_slowest() {
        let mut timings = Timings::default();
        assert_eq!((timings.median(), timings.slowest()), (Duration::ZERO, None));
        for micros in [900, 100, 300] {
            timings.add(Hook::OnStop, Duration::from_micros(micros));
        }
        timings.add(Hook::PreTask, Duration::from_millis(2));
        assert_eq!(format_millis(timings.median()), "0.9 ms");
        assert_eq!(timings.slowest(), Some((Hook::PreTask, Duration::from_millis(2))));
    }
}
