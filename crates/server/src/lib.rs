//! The server that runs beside the sessions: dashboard, notifications and telemetry.

pub mod dashboard;
pub mod remote;
pub mod telemetry;
