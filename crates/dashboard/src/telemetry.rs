//! The export to a collector, as part of this server.

use std::env;
use std::fs;

use overtone_telemetry::{Exporter, Pace, Setup};

use crate::app::App;

const UNKNOWN: &str = "unknown";

/// Begins, if a collector is configured. A server without telemetry is better than none.
pub(crate) fn start(app: &App) {
    let setup = Setup {
        home: app.home.clone(),
        version: app.version,
        machine_name: machine_name(),
        lang: app.lang,
        pace: Pace::from_process(),
    };
    match Exporter::start(setup) {
        Ok(Some(exporter)) => {
            // It is started once.
            let _ = app.telemetry.set(exporter);
        }
        Ok(None) => {}
        Err(error) => eprintln!("[overtone/telemetry] cannot start: {error}"),
    }
}

/// As the kernel says; where that is hidden, as the shell does.
fn machine_name() -> String {
    let said = fs::read_to_string("/proc/sys/kernel/hostname").ok().or_else(|| env::var("HOSTNAME").ok());
    let name = said.as_deref().map(str::trim).filter(|name| !name.is_empty());
    name.unwrap_or(UNKNOWN).to_owned()
}
