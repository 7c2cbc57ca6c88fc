//! `overtone relay`: this home's relay in the foreground, until a signal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use overtone_fleet::{Relay, Settings, Setup, Status, is_running};
use overtone_messages::fleet as words;
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::desk::{machine, settings};
use super::export::Export;
use crate::args::RelayArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::out;

/// How soon a change is told and a signal obeyed.
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub(crate) fn run(context: &Context, args: &RelayArgs) -> Done {
    // Before anything is said: whoever has read it may end this.
    let end = watch_signals();
    let teller = Teller { is_json: args.output.json };
    let mut export = Export::start(context)?;
    let relay = begin(context, &teller, export.is_some())?;
    let told = follow(context, &teller, relay.as_ref(), export.as_mut(), &end);
    drop(relay);
    if let Some(export) = export {
        export.stop();
    }
    told?;
    teller.tell("end", None, &words::relay_ended(context.lang))
}

/// A machine may have a collector and no fleet, but not neither.
fn begin(context: &Context, teller: &Teller, exports: bool) -> Result<Option<Relay>, Failure> {
    let (home, lang) = (context.home()?, context.lang);
    if exports {
        teller.tell("exporting", None, &words::exporting(lang))?;
        if let (None, problems) = Settings::load(home)
            && problems.is_empty()
        {
            return Ok(None);
        }
    }
    let settings = settings(context)?;
    let machine = machine(context, &settings)?;
    let (urls, prefix) = (settings.shown_urls(), settings.names.prefix().to_owned());
    teller.tell("begin", None, &words::relaying(lang, &urls, &prefix, &machine.name))?;
    if is_running(home) {
        teller.tell("waiting", None, &words::relay_waits(lang))?;
    }
    let setup = Setup { home: home.clone(), version: context.environment.version, lang, settings };
    Relay::start(setup).map(Some).map_err(|error| Failure::io(lang, home.root(), &error))
}

fn watch_signals() -> Arc<AtomicBool> {
    let end = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Where it cannot be watched, a signal ends us as it ends any program.
        let _ = signal_hook::flag::register(signal, Arc::clone(&end));
    }
    end
}

/// Tells what changes, until it is to end.
fn follow(
    context: &Context,
    teller: &Teller,
    relay: Option<&Relay>,
    mut export: Option<&mut Export>,
    end: &AtomicBool,
) -> Done {
    let (home, lang, mut before) = (context.home()?, context.lang, Status::default());
    while !end.load(Ordering::Relaxed) {
        if let Some(export) = &mut export {
            export.look(home);
        }
        let now = relay.map(Relay::status).unwrap_or_default();
        let problem = now.problem.as_deref();
        if now.is_connected && !before.is_connected {
            teller.tell("connected", None, &words::relay_connected(lang))?;
        }
        if problem.is_some() && now.problem != before.problem {
            let why = problem.unwrap_or_default();
            let (event, text) = if now.is_connected {
                ("problem", words::relay_problem(lang, why))
            } else {
                ("disconnected", words::relay_lost(lang, why))
            };
            teller.tell(event, problem, &text)?;
        }
        before = now;
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}

struct Teller {
    is_json: bool,
}

impl Teller {
    fn tell(&self, event: &str, problem: Option<&str>, text: &str) -> Done {
        if self.is_json {
            return out::json_text(&json!({ "event": event, "problem": problem, "text": text }).to_string());
        }
        out::print(text)
    }
}
