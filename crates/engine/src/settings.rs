//! The values a user may change in `config.json`, with the registry's defaults.

use overtone_registry::limits;

/// Limits and switches that decisions depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub max_failures: u32,
    pub max_rejections: u32,
    pub max_retros: u32,
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
            max_iterations: limits::MAX_LOOP_ITERATIONS,
            max_consecutive_errors: limits::MAX_CONSECUTIVE_ERRORS,
            compact_threshold_bytes: limits::COMPACT_THRESHOLD_BYTES,
            compact_threshold_percent: limits::COMPACT_THRESHOLD_PERCENT,
            compact_cooldown_stages: limits::COMPACT_COOLDOWN_STAGES,
            foreground_agents: true,
        }
    }
}
