//! Exports sessions to an OpenTelemetry collector (OTLP over HTTP): a workflow is a trace, its stages and agents are
//! spans, and counts are metrics.
//!
//! This runs inside a server, never in a hook. [`Exporter::start`] spawns one thread. The timelines hold what happened,
//! so nothing has to be buffered in memory; a file records how far each timeline was exported ([`progress`]). After a
//! crash the last batch may be sent again, with the same ids. Names, verdicts, times and amounts are sent, never
//! prompts, code, answers or paths. The server reports which sessions have changed.

mod config;
mod encode;
mod exporter;
mod http;
mod ids;
mod progress;
mod safe_name;
mod stage_evidence;
mod totals;
mod tracker;
mod usage;
mod work_queue;
mod worker;

pub use config::{ConfigError, Settings};
use overtone_net::Backoff;

pub use exporter::{Exporter, Setup};

/// The longest delay between two attempts is this many times the first one: about five minutes.
const MAX_BACKOFF_FACTOR: u32 = 150;

/// The delays between attempts to reach the collector.
pub fn backoff() -> Backoff {
    Backoff::from_env("OVERTONE_TELEMETRY_BACKOFF_MS", MAX_BACKOFF_FACTOR)
}
