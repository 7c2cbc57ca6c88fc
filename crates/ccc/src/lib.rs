//! `ccc`: providers, the probe that tests them, and the supervisor that reviews the work before a session may stop.

#[cfg(feature = "probe")]
pub mod probe;
pub mod providers;
pub mod supervisor;
