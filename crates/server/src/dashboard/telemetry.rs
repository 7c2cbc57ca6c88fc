//! Starts the export to a collector.

use std::env;
use std::fs;

use crate::telemetry::{Exporter, Setup, backoff};

use crate::dashboard::app::App;

/// Starts the export if a collector is configured. An error is reported and the server runs without it.
pub(crate) fn start_telemetry(app: &App) {
    let setup = Setup {
        home: app.home.clone(),
        version: app.version,
        machine_name: machine_name(),
        lang: app.lang,
        backoff: backoff(),
    };
    match Exporter::start(setup) {
        Ok(Some(exporter)) => {
            // Setting it cannot fail: it is started once.
            let _ = app.telemetry.set(exporter);
        }
        Ok(None) => {}
        Err(error) => eprintln!("[overtone/telemetry] cannot start: {error}"),
    }
}

/// The host name of the kernel, else that of the shell.
fn machine_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| env::var("HOSTNAME"));
    match name.as_deref().map(str::trim) {
        Ok("") | Err(_) => "unknown".to_owned(),
        Ok(name) => name.to_owned(),
    }
}
