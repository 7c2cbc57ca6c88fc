//! Whether a finished stage is a good moment to suggest a compaction.

use crate::engine::settings::Settings;

/// How many stages were completed since the last compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SinceCompact {
    /// The timeline could not be read, so nothing is suggested.
    #[default]
    Unknown,
    Never,
    Stages(u32),
}

impl SinceCompact {
    /// From the session's count of completed stages, now and at the last compaction.
    pub fn counted(now: u32, at_last: Option<u32>) -> Self {
        match at_last {
            Some(then) => Self::Stages(now.saturating_sub(then)),
            None => Self::Never,
        }
    }

    /// The count after one more stage.
    #[must_use]
    pub fn after_stage(self) -> Self {
        match self {
            Self::Stages(count) => Self::Stages(count.saturating_add(1)),
            other => other,
        }
    }
}

/// Why a compaction is suggested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    Transcript,
    ContextWindow(u32),
}

/// Whether and why a compaction should be suggested. After the last stage, no more room is needed. `since` includes the
/// stage that was just completed.
pub fn suggest_compact(
    transcript_bytes: Option<u64>,
    context_percent: Option<u32>,
    last_stage: bool,
    since: SinceCompact,
    settings: &Settings,
) -> Option<Reason> {
    let is_due = match since {
        SinceCompact::Unknown => false,
        SinceCompact::Never => true,
        SinceCompact::Stages(count) => count >= settings.compact_cooldown_stages,
    };
    if last_stage || !is_due {
        return None;
    }
    if let Some(bytes) = transcript_bytes
        && bytes > settings.compact_threshold_bytes
    {
        return Some(Reason::Transcript);
    }
    match context_percent {
        Some(percent) if percent >= settings.compact_threshold_percent => {
            Some(Reason::ContextWindow(percent))
        }
        _ => None,
    }
}

/// `6.5MB`, `800KB`, `500B`.
pub fn format_size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes}B"),
        1_000..1_000_000 => format!("{}KB", bytes / 1_000),
        _ => {
            let tenths = bytes / 100_000;
            format!("{}.{}MB", tenths / 10, tenths % 10)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggests(bytes: u64, since: SinceCompact) -> bool {
        suggest_compact(Some(bytes), None, false, since, &Settings::default()).is_some()
    }

    #[test]
    fn only_above_the_threshold() {
        assert!(suggests(5_000_001, SinceCompact::Never));
        assert!(!suggests(5_000_000, SinceCompact::Never));
    }

    #[test]
    fn waits_after_a_compaction_and_suggests_nothing_when_unsure() {
        assert!(!suggests(7_000_000, SinceCompact::Stages(1)));
        assert!(suggests(7_000_000, SinceCompact::Stages(2)));
        assert!(!suggests(7_000_000, SinceCompact::Unknown));
    }

    #[test]
    fn never_after_the_last_stage() {
        let settings = Settings::default();
        assert_eq!(suggest_compact(Some(8_000_000), Some(99), true, SinceCompact::Never, &settings), None);
    }

    #[test]
    fn the_context_window_counts_where_it_is_known() {
        let settings = Settings::default();
        let at = |percent| suggest_compact(Some(1), Some(percent), false, SinceCompact::Never, &settings);
        assert_eq!(at(70), Some(Reason::ContextWindow(70)));
        assert_eq!(at(69), None);
    }

    #[test]
    fn sizes_are_shown_in_the_largest_fitting_unit() {
        assert_eq!(format_size(6_500_000), "6.5MB");
        assert_eq!(format_size(800_000), "800KB");
        assert_eq!(format_size(500), "500B");
        assert_eq!(format_size(0), "0B");
    }
}
