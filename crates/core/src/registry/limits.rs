//! The default limits. `config.json` may change them; nothing else does.

/// How many failed test-like verdicts a workflow may collect before the user is asked.
pub const MAX_FAILURES: u32 = 3;
/// How many rejected reviews a workflow may collect before the user is asked.
pub const MAX_REJECTIONS: u32 = 3;
/// How many retrospectives with issues may send the work back to development.
pub const MAX_RETROS: u32 = 3;
/// How many agents of other kinds may be started while a workflow runs.
pub const MAX_HELPERS: u32 = 20;
/// How many agents of any kind a workflow may start.
pub const MAX_AGENTS: u32 = 60;
/// At this part of a budget the user and the main agent are notified, in percent.
pub const BUDGET_NOTICE_PERCENT: u64 = 80;
/// How often the loop may send the main agent back to work.
pub const MAX_LOOP_ITERATIONS: u32 = 100;
/// How often in a row the loop may do so without any progress.
pub const MAX_CONSECUTIVE_ERRORS: u32 = 3;

/// A transcript larger than this makes a compaction worth suggesting.
pub const COMPACT_THRESHOLD_BYTES: u64 = 5_000_000;
/// A context window filled to this percentage makes a compaction worth suggesting, if the client reports it.
pub const COMPACT_THRESHOLD_PERCENT: u32 = 70;
/// How many stages must have finished since the last compaction before another is suggested.
pub const COMPACT_COOLDOWN_STAGES: u32 = 2;

/// The longest recovery text, in UTF-16 units.
pub const RECOVERY_TEXT_UNITS: usize = 2000;
/// The longest workflow context put before a sub-agent's prompt, in UTF-16 units.
pub const CONTEXT_TEXT_UNITS: usize = 1500;
/// How much of earlier reports is quoted to an agent, in UTF-16 units. With the reference skills it stays below
/// [`MODEL_CONTEXT_UNITS`].
pub const QUOTED_REPORT_UNITS: usize = 6000;
/// How many pending tasks a message lists.
pub const LISTED_TASKS: usize = 5;
/// The longest `additionalContext`, in UTF-16 units. The client replaces a longer one by a reference to a file.
pub const MODEL_CONTEXT_UNITS: usize = 10_000;

/// How long a check may run if its definition does not say it, in seconds.
pub const CHECK_SECONDS: u64 = 10 * 60;
/// The longest time limit that a check may have, in seconds.
pub const MAX_CHECK_SECONDS: u64 = 60 * 60;
/// How long all checks for one report may take together, in seconds. The client's time limit for the hooks that run them is
/// longer, since a killed hook has no answer.
pub const ALL_CHECKS_SECONDS: u64 = 2 * 60 * 60;
