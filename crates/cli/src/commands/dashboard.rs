//! `overtone dashboard`: starts the server if none is running, prints its address, stops it.

mod fleet;

use std::env;
use std::io;
use std::net::SocketAddr;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use overtone_core::messages::{Lang, dashboard as words};
use overtone_fleet::Mirror;
use overtone_server::dashboard::{
    Fleet, Options, RunningServer, ServeError, TokenError, is_claimed, load_or_create_token, make_link,
    running_server, serve,
};
use overtone_store::config::keys;
use overtone_store::{Home, effective_timeout};
use serde::Serialize;

use self::fleet::{OwnMachine, WholeFleet};
use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult, note, warn};
use crate::ui::{out, terminal};

const EXAMPLES: &str = "\
Examples:
  overtone dashboard --open           start it if needed, and open the browser with a one-time link
  overtone dashboard --stop           stop it
  overtone dashboard --fleet --open   the sessions of every machine in the fleet, in a separate dashboard
  overtone dashboard --host 0.0.0.0   reachable from other machines too";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[allow(clippy::struct_excessive_bools, reason = "flags that exclude each other are the parser's business")]
pub(crate) struct DashboardArgs {
    /// The port [default: dashboard.port of the configuration]
    #[arg(long)]
    port: Option<u16>,
    /// Open the browser with a one-time link
    #[arg(long)]
    open: bool,
    /// Run in the foreground until Ctrl-C
    #[arg(long, conflicts_with = "stop")]
    foreground: bool,
    /// Stop the running dashboard
    #[arg(long, conflicts_with_all = ["open", "port"])]
    stop: bool,
    /// Print only the token, for programs
    #[arg(long, conflicts_with_all = ["open", "stop", "foreground"])]
    token: bool,
    /// Show every machine of the fleet, in a separate dashboard next to this machine's
    #[arg(long)]
    fleet: bool,
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    host: std::net::IpAddr,
    /// A host name that other machines use for it; may be repeated
    #[arg(long = "host-name", value_name = "NAME")]
    host_names: Vec<String>,
    /// Run the way hooks start it: quiet, and exiting when idle
    #[arg(long, hide = true)]
    serve: bool,
    #[command(flatten)]
    output: OutputArgs,
}

/// The JSON output of a start.
#[derive(Serialize)]
struct AddressJson<'a> {
    url: &'a str,
    pid: u32,
    version: &'a str,
    started: bool,
}

/// The JSON output of `--stop`.
#[derive(Serialize)]
struct StoppedJson {
    stopped: u32,
}

/// How long a server may take to start or to stop.
const START_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

pub(crate) fn run(context: &Context, args: &DashboardArgs) -> CommandResult {
    let own = context.home()?;
    let home = &if args.fleet { Mirror::home(own) } else { own.clone() };
    if args.fleet && !args.stop {
        check_fleet(context, own)?;
    }
    if args.token {
        return out::print(&read_token(context, home)?);
    }
    if args.stop {
        return stop(context, args, home);
    }
    if args.serve || args.foreground {
        return serve_here(context, args, own, home);
    }
    // Checked here, since a server in the background could not report an error.
    read_token(context, home)?;
    let (server, is_new) = match running_server(home) {
        Some(server) => (server, false),
        None => (start(context, args, home)?, true),
    };
    print_address(context, args, home, &server, is_new)
}

/// Returns an error if no fleet is configured: a server in the background could not report it.
fn check_fleet(context: &Context, home: &Home) -> CommandResult {
    let problems = fleet::config_errors(home, context.lang);
    if problems.is_empty() {
        return Ok(());
    }
    Err(CommandError::new(problems.join("; ")).hint(words::no_fleet_hint(context.lang)))
}

/// Serves in this process, until a signal or until the server is idle.
fn serve_here(context: &Context, args: &DashboardArgs, own: &Home, home: &Home) -> CommandResult {
    let minutes = u64::from(context.setting(keys::DASHBOARD_IDLE_MINUTES)).max(1);
    let version = context.environment.version;
    let fleet: Arc<dyn Fleet> = if args.fleet {
        Arc::new(WholeFleet::new(own.clone(), context.lang))
    } else {
        Arc::new(OwnMachine::new(own.clone(), version, context.lang))
    };
    let options = Options {
        home: own.clone(),
        version: context.environment.version,
        lang: context.lang,
        address: args.host,
        port: args.port,
        host_names: args.host_names.clone(),
        idle: args.serve.then(|| Duration::from_mins(minutes)),
        shown_home: home.clone(),
        fleet,
    };
    let lang = context.lang;
    let result = serve(options, |address| {
        if args.foreground {
            note(&words::listening(lang, &url(address)));
            note(&words::how_to_end(lang));
            warn_if_public(context, address);
        }
    });
    match result {
        Ok(()) => Ok(()),
        // Two were started at once and the other one is the server.
        Err(ServeError::Running) if args.serve => Ok(()),
        Err(ServeError::Running) => {
            let address = running_server(home).map(|server| url(server.address)).unwrap_or_default();
            Err(CommandError::new(words::already_running(lang, &address)))
        }
        Err(ServeError::Port(address, error)) => {
            let message = words::cannot_listen(lang, &address.to_string(), &error.to_string());
            Err(CommandError::new(message).hint(words::cannot_listen_hint(lang)))
        }
        Err(ServeError::Token(error)) => Err(token_error(lang, home, &error)),
        Err(ServeError::Io(error)) => Err(CommandError::io(lang, home.root(), &error)),
    }
}

fn warn_if_public(context: &Context, address: SocketAddr) {
    if !address.ip().is_loopback() {
        warn(&words::open_to_all(context.lang, &address.to_string()));
    }
}

/// Starts the server in the background and returns when it answers.
fn start(context: &Context, args: &DashboardArgs, home: &Home) -> CommandResult<RunningServer> {
    let start_error = |error: io::Error| CommandError::io(context.lang, home.root(), &error);
    let mut child = launch(args).map_err(start_error)?;
    let started = Instant::now();
    while started.elapsed() < START_TIMEOUT {
        if let Some(server) = running_server(home) {
            return Ok(server);
        }
        match child.try_wait() {
            Ok(Some(ended)) if !is_claimed(home) => {
                if !ended.success() {
                    break;
                }
                // It ended in favour of a server that has stopped since, for instance one that was being killed.
                child = launch(args).map_err(start_error)?;
            }
            // Another one that started at the same time may be the server.
            _ => {}
        }
        thread::sleep(POLL_INTERVAL);
    }
    let lang = context.lang;
    Err(CommandError::new(words::did_not_start(lang)).hint(words::did_not_start_hint(lang)))
}

fn launch(args: &DashboardArgs) -> io::Result<Child> {
    let mut command = Command::new(env::current_exe()?);
    command.args(["dashboard", "--serve", "--host", &args.host.to_string()]);
    command.args(args.fleet.then_some("--fleet"));
    command.args(args.port.iter().flat_map(|port| ["--port".to_owned(), port.to_string()]));
    command.args(args.host_names.iter().flat_map(|name| ["--host-name", name]));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn()
}

fn print_address(
    context: &Context,
    args: &DashboardArgs,
    home: &Home,
    server: &RunningServer,
    is_new: bool,
) -> CommandResult {
    let lang = context.lang;
    let address = url(server.address);
    if args.output.json {
        let (pid, version) = (server.pid, &server.version);
        out::json(&AddressJson { url: &address, pid, version, started: is_new })?;
    } else if is_new {
        out::print(&words::started(lang, &address))?;
    } else {
        out::print(&words::already_running(lang, &address))?;
    }
    warn_if_public(context, server.address);
    if args.open { open_browser(context, home, server, &address) } else { Ok(()) }
}

/// Opens the browser with a link that works once. The browser is given the name of a private file that has the link:
/// every user of the machine can see the arguments of a process.
fn open_browser(context: &Context, home: &Home, server: &RunningServer, address: &str) -> CommandResult {
    let link = make_link(home, server, address)
        .map_err(|error| CommandError::io(context.lang, home.root(), &error))?;
    let openers = ["xdg-open", "open", "wslview"];
    let started = openers.iter().any(|program| {
        let mut command = Command::new(program);
        let quiet = command.arg(&link.page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok_and(|status| status.success())
    });
    if started {
        return Ok(());
    }
    // The link is only for the user at this terminal, not for a log.
    if terminal::stderr_is_terminal() {
        note(&words::cannot_open(context.lang, &link.url));
    } else {
        note(&words::cannot_open_here(context.lang));
    }
    Ok(())
}

fn read_token(context: &Context, home: &Home) -> CommandResult<String> {
    load_or_create_token(home).map_err(|error| token_error(context.lang, home, &error))
}

/// The hint for an exposed token is to replace it: it may have been read already.
fn token_error(lang: Lang, home: &Home, error: &TokenError) -> CommandError {
    match error {
        TokenError::Exposed { path, mode } => {
            let path = path.display().to_string();
            CommandError::new(words::token_exposed(lang, &path, &format!("{mode:o}")))
                .hint(words::token_exposed_hint(lang, &home.root().join("dashboard").display().to_string()))
        }
        TokenError::Foreign { path } => {
            let path = path.display().to_string();
            CommandError::new(words::token_foreign(lang, &path)).hint(words::token_foreign_hint(lang, &path))
        }
        TokenError::Io(error) => CommandError::io(lang, home.root(), error),
    }
}

fn stop(context: &Context, args: &DashboardArgs, home: &Home) -> CommandResult {
    let lang = context.lang;
    let stopped = stop_server(home).map_err(|error| CommandError::io(lang, home.root(), &error))?;
    let missing = || CommandError::new(words::not_running(lang)).hint(words::not_running_hint(lang));
    let pid = stopped.ok_or_else(missing)?;
    if args.output.json {
        return out::json(&StoppedJson { stopped: pid });
    }
    out::print(&words::stopped(lang, pid))
}

/// Stops the server of a home, if one is running, and returns its process id.
pub(super) fn stop_server(home: &Home) -> io::Result<Option<u32>> {
    overtone_server::dashboard::stop_server(home, effective_timeout(START_TIMEOUT))
}

/// A server that listens on all addresses is reached on the local one.
fn url(address: SocketAddr) -> String {
    if address.ip().is_unspecified() {
        return format!("http://127.0.0.1:{}", address.port());
    }
    format!("http://{address}")
}
