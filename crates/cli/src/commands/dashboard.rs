//! `overtone dashboard`: starts the server if there is none, says where it is, ends it.

use std::env;
use std::io;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use overtone_dashboard::{
    Options, Running, ServeError, TokenError, fleet_home, fleet_problems, is_claimed, make_link, running,
    serve, token,
};
use overtone_messages::{Lang, dashboard as words};
use overtone_store::{Home, patience};
use serde_json::json;

use crate::args::DashboardArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure, say, warn};
use crate::ui::{out, terminal};

/// How long a server may take to be there, or to be gone.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(20);

pub(crate) fn run(context: &Context, args: &DashboardArgs) -> Done {
    let own = context.home()?;
    let home = &if args.fleet { fleet_home(own) } else { own.clone() };
    if args.fleet && !args.stop {
        check_fleet(context, own)?;
    }
    if args.token {
        return out::print(&own_token(context, home)?);
    }
    if args.stop {
        return stop(context, args, home);
    }
    if args.serve || args.foreground {
        return here(context, args, own, home);
    }
    // A server that starts in the background could not say what is wrong with it.
    own_token(context, home)?;
    let (server, is_new) = match running(home) {
        Some(server) => (server, false),
        None => (start(context, args, home)?, true),
    };
    show(context, args, home, &server, is_new)
}

/// Without a fleet there is nothing to show; better said here than by a server that nobody sees.
fn check_fleet(context: &Context, home: &Home) -> Done {
    let problems = fleet_problems(home, context.lang);
    if problems.is_empty() {
        return Ok(());
    }
    Err(Failure::new(problems.join("; ")).hint(words::no_fleet_hint(context.lang)))
}

/// In this process, until a signal or until nobody needs it.
fn here(context: &Context, args: &DashboardArgs, own: &Home, home: &Home) -> Done {
    let minutes = context.number("dashboard.idleMinutes").max(1);
    let options = Options {
        home: own.clone(),
        version: context.environment.version,
        lang: context.lang,
        address: args.host,
        port: args.port,
        host_names: args.host_names.clone(),
        idle: args.serve.then(|| Duration::from_mins(minutes)),
        is_fleet: args.fleet,
    };
    let lang = context.lang;
    let done = serve(options, |address| {
        if args.foreground {
            say(&words::listening(lang, &url(address)));
            say(&words::how_to_end(lang));
            tell_if_open(context, address);
        }
    });
    match done {
        Ok(()) => Ok(()),
        // Two were started at once; the other one is the server.
        Err(ServeError::Running) if args.serve => Ok(()),
        Err(ServeError::Running) => {
            let address = running(home).map(|server| url(server.address)).unwrap_or_default();
            Err(Failure::new(words::already_running(lang, &address)))
        }
        Err(ServeError::Port(address, error)) => {
            let message = words::cannot_listen(lang, &address.to_string(), &error.to_string());
            Err(Failure::new(message).hint(words::cannot_listen_hint(lang)))
        }
        Err(ServeError::Token(error)) => Err(token_failure(lang, home, &error)),
        Err(ServeError::Io(error)) => Err(Failure::io(lang, home.root(), &error)),
    }
}

fn tell_if_open(context: &Context, address: SocketAddr) {
    if !address.ip().is_loopback() {
        warn(&words::open_to_all(context.lang, &address.to_string()));
    }
}

/// In the background; returns when it can be asked.
fn start(context: &Context, args: &DashboardArgs, home: &Home) -> Result<Running, Failure> {
    let failed = |error: io::Error| Failure::io(context.lang, home.root(), &error);
    let mut child = launch(args).map_err(failed)?;
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if let Some(server) = running(home) {
            return Ok(server);
        }
        match child.try_wait() {
            Ok(Some(ended)) if !is_claimed(home) => {
                if !ended.success() {
                    break;
                }
                // It made way for a server that has ended since, for instance one that was being killed.
                child = launch(args).map_err(failed)?;
            }
            // Another one that started at the same time may be faster.
            _ => {}
        }
        thread::sleep(LOOK_EVERY);
    }
    let lang = context.lang;
    Err(Failure::new(words::did_not_start(lang)).hint(words::did_not_start_hint(lang)))
}

fn launch(args: &DashboardArgs) -> io::Result<Child> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["dashboard", "--serve", "--host", &args.host.to_string()]);
    command.args(args.fleet.then_some("--fleet"));
    command.args(args.port.iter().flat_map(|port| ["--port".to_owned(), port.to_string()]));
    command.args(args.host_names.iter().flat_map(|name| ["--host-name", name]));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn()
}

fn show(context: &Context, args: &DashboardArgs, home: &Home, server: &Running, is_new: bool) -> Done {
    let lang = context.lang;
    let address = url(server.address);
    if args.output.json {
        let (pid, version) = (server.pid, &server.version);
        out::json(&json!({ "url": address, "pid": pid, "version": version, "started": is_new }))?;
    } else if is_new {
        out::print(&words::started(lang, &address))?;
    } else {
        out::print(&words::already_running(lang, &address))?;
    }
    tell_if_open(context, server.address);
    if args.open { open(context, home, server, &address) } else { Ok(()) }
}

/// Opens the browser with a link that works once. The browser is told the name of a private file with the link in it:
/// every user of the machine sees what a program is started with.
fn open(context: &Context, home: &Home, server: &Running, address: &str) -> Done {
    let link =
        make_link(home, server, address).map_err(|error| Failure::io(context.lang, home.root(), &error))?;
    let openers = ["xdg-open", "open", "wslview"];
    let started = openers.iter().any(|program| {
        let mut command = Command::new(program);
        let quiet = command.arg(&link.page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    });
    if started {
        return Ok(());
    }
    // The link is for the user at this terminal, not for a log or for whoever else reads the output.
    if terminal::stderr_is_terminal() {
        say(&words::cannot_open(context.lang, &link.url));
    } else {
        say(&words::cannot_open_here(context.lang));
    }
    Ok(())
}

fn own_token(context: &Context, home: &Home) -> Result<String, Failure> {
    token(home).map_err(|error| token_failure(context.lang, home, &error))
}

/// A token that others could read may have been read, so a new one is made, not the old one hidden.
fn token_failure(lang: Lang, home: &Home, error: &TokenError) -> Failure {
    match error {
        TokenError::Exposed { path, mode } => {
            let path = path.display().to_string();
            Failure::new(words::token_exposed(lang, &path, &format!("{mode:o}")))
                .hint(words::token_exposed_hint(lang, &home.root().join("dashboard").display().to_string()))
        }
        TokenError::Foreign { path } => {
            let path = path.display().to_string();
            Failure::new(words::token_foreign(lang, &path)).hint(words::token_foreign_hint(lang, &path))
        }
        TokenError::Io(error) => Failure::io(lang, home.root(), error),
    }
}

fn stop(context: &Context, args: &DashboardArgs, home: &Home) -> Done {
    let lang = context.lang;
    let ended = end(home).map_err(|error| Failure::io(lang, home.root(), &error))?;
    let missing = || Failure::new(words::not_running(lang)).hint(words::not_running_hint(lang));
    let pid = ended.ok_or_else(missing)?;
    if args.output.json {
        return out::json(&json!({ "stopped": pid }));
    }
    out::print(&words::stopped(lang, pid))
}

/// Ends the server of a home, if there is one, and returns its process id.
pub(super) fn end(home: &Home) -> io::Result<Option<u32>> {
    overtone_dashboard::end(home, patience(PATIENCE))
}

/// From everywhere means from here, too.
fn url(address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        return format!("http://127.0.0.1:{}", address.port());
    }
    format!("http://{address}")
}
