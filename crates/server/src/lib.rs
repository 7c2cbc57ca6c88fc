//! The server that runs beside the sessions: dashboard, notifications and telemetry.

pub mod dashboard;
mod file_length;
pub mod remote;
pub mod telemetry;
