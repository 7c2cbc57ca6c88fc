//! The values that the user may change in `config.json`, with the defaults of the registry.

use crate::registry::limits;

/// Limits and switches that decisions depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub max_failures: u32,
    pub max_rejections: u32,
    pub max_retros: u32,
    pub max_helpers: u32,
    pub max_iterations: u32,
    pub max_consecutive_errors: u32,
    pub compact_threshold_bytes: u64,
    pub compact_threshold_percent: u32,
    pub compact_cooldown_stages: u32,
    /// Stages run in the foreground, so that one is finished before the next is delegated.
    pub foreground_agents: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            max_failures: limits::MAX_FAILURES,
            max_rejections: limits::MAX_REJECTIONS,
            max_retros: limits::MAX_RETROS,
            max_helpers: limits::MAX_HELPERS,
            max_iterations: limits::MAX_LOOP_ITERATIONS,
            max_consecutive_errors: limits::MAX_CONSECUTIVE_ERRORS,
            compact_threshold_bytes: limits::COMPACT_THRESHOLD_BYTES,
            compact_threshold_percent: limits::COMPACT_THRESHOLD_PERCENT,
            compact_cooldown_stages: limits::COMPACT_COOLDOWN_STAGES,
            foreground_agents: true,
        }
    }
}

impl Settings {
    /// The limits that decide what is recorded, in the form in which they are part of a record. `None` for the defaults.
    pub fn changed_limits(&self) -> Option<String> {
        let changed = self.deciding_limits() != Self::default().deciding_limits();
        changed.then(|| self.deciding_limits().map(|limit| limit.to_string()).join("/"))
    }

    /// Parses the limits that [`changed_limits`](Self::changed_limits) wrote. Any other text means the defaults.
    pub fn with_limits(text: &str) -> Self {
        let numbers: Vec<u32> = text.split('/').map_while(|number| number.parse().ok()).collect();
        let [max_failures, max_rejections, max_iterations, max_consecutive_errors, compact_cooldown_stages] =
            numbers[..]
        else {
            return Self::default();
        };
        Self {
            max_failures,
            max_rejections,
            max_iterations,
            max_consecutive_errors,
            compact_cooldown_stages,
            ..Self::default()
        }
    }

    const fn deciding_limits(&self) -> [u32; 5] {
        [
            self.max_failures,
            self.max_rejections,
            self.max_iterations,
            self.max_consecutive_errors,
            self.compact_cooldown_stages,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_limits_are_written_and_read_back() {
        let changed = Settings { max_failures: 7, max_iterations: 0, ..Settings::default() };
        let text = changed.changed_limits().unwrap();
        assert_eq!((text.as_str(), Settings::with_limits(&text)), ("7/3/0/3/2", changed));
        assert_eq!(Settings::default().changed_limits(), None);
        for foreign in ["", "7", "1/2/3/4/x", "1/2/3/4/5/6", "-1/2/3/4/5"] {
            assert_eq!(Settings::with_limits(foreign), Settings::default(), "{foreign}");
        }
    }
}
