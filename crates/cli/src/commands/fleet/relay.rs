//! `overtone relay`: this home's relay in the foreground, until a signal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use overtone_fleet::{Relay, Setup, Status, is_running};
use overtone_messages::fleet as words;
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::desk::{machine, settings};
use crate::args::RelayArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::out;

/// How soon a change is told and a signal obeyed.
const LOOK_EVERY: Duration = Duration::from_millis(50);

pub(crate) fn run(context: &Context, args: &RelayArgs) -> Done {
    let (home, lang) = (context.home()?, context.lang);
    let settings = settings(context)?;
    let machine = machine(context, &settings)?;
    // Before anything is said: whoever has read it may end this.
    let end = watch_signals();
    let teller = Teller { is_json: args.output.json };
    let (urls, prefix) = (settings.shown_urls(), settings.names.prefix().to_owned());
    teller.tell("begin", None, &words::relaying(lang, &urls, &prefix, &machine.name))?;
    if is_running(home) {
        teller.tell("waiting", None, &words::relay_waits(lang))?;
    }
    let setup = Setup { home: home.clone(), version: context.environment.version, lang, settings };
    let relay = Relay::start(setup).map_err(|error| Failure::io(lang, home.root(), &error))?;
    let told = follow(context, &teller, &relay, &end);
    drop(relay);
    told?;
    teller.tell("end", None, &words::relay_ended(lang))
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
fn follow(context: &Context, teller: &Teller, relay: &Relay, end: &AtomicBool) -> Done {
    let (lang, mut before) = (context.lang, Status::default());
    while !end.load(Ordering::Relaxed) {
        let now = relay.status();
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
            return out::print(&json!({ "event": event, "problem": problem, "text": text }).to_string());
        }
        out::print(text)
    }
}
