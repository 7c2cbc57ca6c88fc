//! Exports what sessions did to an OpenTelemetry collector: a workflow is a trace, its stages and agents are spans,
//! and what is counted are metrics (OTLP over HTTP).
//!
//! It runs inside a server, never in a hook: [`Exporter::start`] begins one thread. What happened is in the timelines,
//! so nothing waits in memory; a file says how far each timeline was exported ([`ledger`]). After a crash the last
//! batch may be sent again, with the same ids. Sent are names, verdicts, times and amounts; never prompts, code,
//! answers or paths. Not here: who sees that a session has changed (the server tells), and texts for people.

mod config;
mod encode;
mod exporter;
mod http;
mod ids;
mod inbox;
mod ledger;
mod pace;
mod plain;
mod totals;
mod trail;
mod worker;

pub use config::{Problem, Settings};
pub use exporter::{Exporter, Setup};
pub use pace::Pace;
