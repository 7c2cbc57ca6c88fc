//! `overtone relay`: runs this home's relay in the foreground, until a signal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use overtone_core::engine::text::printable;
use overtone_core::messages::fleet as words;
use overtone_fleet::{Relay, RelaySetup, RelayStatus, Settings, is_relay_running};
use serde::Serialize;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::connection::{keyring, settings};
use super::export::Export;
use crate::args::RelayArgs;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::out;

/// How often changes and signals are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

pub(crate) fn run(context: &Context, args: &RelayArgs) -> CommandResult {
    // Before the first output, because a reader may send a signal as soon as it sees it.
    let end = watch_signals();
    let reporter = EventReporter { is_json: args.output.json };
    let mut export = Export::start(context)?;
    let relay = begin(context, &reporter, export.is_some())?;
    let followed = follow(context, &reporter, relay.as_ref(), export.as_mut(), &end);
    drop(relay);
    if let Some(export) = export {
        export.stop();
    }
    followed?;
    reporter.report("end", None, &words::relay_ended(context.lang))
}

/// Starts the relay. `None` if only a telemetry collector is configured; without both this fails.
fn begin(context: &Context, reporter: &EventReporter, exports: bool) -> CommandResult<Option<Relay>> {
    let (home, lang) = (context.home()?, context.lang);
    if exports {
        reporter.report("exporting", None, &words::exporting(lang))?;
        if let (None, problems) = Settings::load(home)
            && problems.is_empty()
        {
            return Ok(None);
        }
    }
    let settings = settings(context)?;
    let machine = keyring(context, &settings)?.machine();
    let (urls, prefix) = (settings.redacted_urls(), settings.names.prefix().to_owned());
    reporter.report("begin", None, &words::relaying(lang, &urls, &prefix, &machine.name))?;
    if is_relay_running(home) {
        reporter.report("waiting", None, &words::relay_waits(lang))?;
    }
    let setup = RelaySetup { home: home.clone(), version: context.environment.version, lang, settings };
    Relay::start(setup).map(Some).map_err(|error| CommandError::io(lang, home.root(), &error))
}

fn watch_signals() -> Arc<AtomicBool> {
    let end = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // If this fails, the signal ends the process by default.
        let _ = signal_hook::flag::register(signal, Arc::clone(&end));
    }
    end
}

/// Reports changes of the relay's status, until a signal arrives.
fn follow(
    context: &Context,
    reporter: &EventReporter,
    relay: Option<&Relay>,
    mut export: Option<&mut Export>,
    end: &AtomicBool,
) -> CommandResult {
    let (home, lang, mut before) = (context.home()?, context.lang, RelayStatus::default());
    while !end.load(Ordering::Relaxed) {
        if let Some(export) = &mut export {
            export.notify_changes(home);
        }
        let now = relay.map(Relay::status).unwrap_or_default();
        let problem = now.problem.as_deref().map(printable);
        let problem = problem.as_deref();
        if now.is_connected && !before.is_connected {
            reporter.report("connected", None, &words::relay_connected(lang))?;
        }
        if problem.is_some() && now.problem != before.problem {
            let why = problem.unwrap_or_default();
            let (event, text) = if now.is_connected {
                ("problem", words::relay_problem(lang, why))
            } else {
                ("disconnected", words::relay_lost(lang, why))
            };
            reporter.report(event, problem, &text)?;
        }
        before = now;
        thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}

/// One line of `overtone relay --json`.
#[derive(Serialize)]
struct EventJson<'a> {
    event: &'a str,
    problem: Option<&'a str>,
    text: &'a str,
}

struct EventReporter {
    is_json: bool,
}

impl EventReporter {
    fn report(&self, event: &str, problem: Option<&str>, text: &str) -> CommandResult {
        if self.is_json {
            return out::json_line(&EventJson { event, problem, text });
        }
        out::print(text)
    }
}
