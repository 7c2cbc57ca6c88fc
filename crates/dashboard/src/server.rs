//! Takes connections, within limits, until nobody needs the server any more.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use overtone_fleet::{Mirror, Relay};
use overtone_messages::Lang;
use overtone_store::Home;
use overtone_store::config::{Config, Key};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use crate::access::Access;
use crate::api;
use crate::app::{App, Door, Watched};
use crate::fleet::{self, Fleet, fleet_home};
use crate::follow::Following;
use crate::instance::{Instance, TokenError, token};
use crate::{remote, telemetry};

/// More at once wait until others have gone.
const MAX_CONNECTIONS: usize = 1024;
/// How long a client may take to say what it wants.
const HEADER_TIME: Duration = Duration::from_secs(10);
/// How long a client may take no data before it is given up.
const STUCK_TIME: Duration = Duration::from_secs(30);
/// When the port is taken by something else, the next ones are tried.
const PORTS_TRIED: u16 = 20;
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// How the server is to run.
#[derive(Debug)]
pub struct Options {
    pub home: Home,
    pub version: &'static str,
    pub lang: Lang,
    pub address: IpAddr,
    /// `None` is the configured one, or the next that is free.
    pub port: Option<u16>,
    /// Names under which other machines may ask for it.
    pub host_names: Vec<String>,
    /// Ends when it was not needed for so long; `None` is never.
    pub idle: Option<Duration>,
    /// Shows the sessions of all machines of the fleet, not only those of this home.
    pub is_fleet: bool,
}

impl Options {
    /// Where its sessions, its place and its token are.
    fn shown_home(&self) -> Home {
        if self.is_fleet { fleet_home(&self.home) } else { self.home.clone() }
    }
}

#[derive(Debug)]
pub enum ServeError {
    /// Another process is the server of this home.
    Running,
    Port(SocketAddr, io::Error),
    Token(TokenError),
    Io(io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Running => f.write_str("a dashboard is running already"),
            Self::Port(address, error) => write!(f, "cannot listen on {address}: {error}"),
            Self::Token(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ServeError {}

impl From<io::Error> for ServeError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Runs the server until it is ended or idle. `ready` is told the address.
pub fn serve(options: Options, ready: impl FnOnce(SocketAddr)) -> Result<(), ServeError> {
    let token = token(&options.shown_home()).map_err(ServeError::Token)?;
    let instance = Instance::claim(&options.shown_home())?.ok_or(ServeError::Running)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(8).build()?;
    runtime.block_on(run(options, instance, token, ready))?;
    // Requests that still read a file must not keep the process.
    runtime.shutdown_background();
    Ok(())
}

async fn run(
    options: Options,
    instance: Instance,
    token: String,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    let home = options.shown_home();
    let (mirror, fleet) = open_fleet(&options)?;
    let following = Following::begin(&home);
    let listener = listen(&options).await?;
    let address = listener.local_addr()?;
    let door = Door {
        access: Access::new(token, address.port()),
        is_open: !address.ip().is_loopback(),
        port: address.port(),
        host_names: options.host_names,
    };
    let settings = Config::load_or_default(&options.home).settings();
    let watched = Watched { settings, is_told: following.is_told(), fleet, instance: instance.id.clone() };
    let app = Arc::new(App::new(home, options.version, options.lang, door, watched));
    let relay = if mirror.is_none() { begin_own(&app) } else { None };
    following.follow(Arc::clone(&app));
    instance.announce(address, options.version)?;
    ready(address);
    let router = api::router(Arc::clone(&app));
    tokio::select! {
        () = accept(listener, router) => {}
        () = ended() => {}
        () = unused(&app, options.idle) => {}
    }
    app.stop_telling();
    drop((relay, mirror));
    Ok(())
}

fn open_fleet(options: &Options) -> io::Result<(Option<Arc<Mirror>>, Fleet)> {
    if !options.is_fleet {
        return Ok((None, Fleet::default()));
    }
    let (mirror, fleet) = fleet::open_mirror(&options.home, options.lang)?;
    Ok((Some(mirror), fleet))
}

/// What a machine's own server does beside showing its sessions.
fn begin_own(app: &Arc<App>) -> Option<Arc<Relay>> {
    remote::start(app);
    telemetry::start(app);
    fleet::start_relay(app)
}

async fn listen(options: &Options) -> Result<TcpListener, ServeError> {
    let config = Config::load_or_default(&options.home);
    let configured = Key::find("dashboard.port").and_then(|key| config.value(key).as_u64());
    let first = options.port.or(configured.and_then(|port| port.try_into().ok())).unwrap_or(0);
    let ports = if options.port.is_some() { 1 } else { PORTS_TRIED };
    let mut last = None;
    for port in (0..ports).filter_map(|step| first.checked_add(step)) {
        let address = SocketAddr::new(options.address, port);
        match TcpListener::bind(address).await {
            Ok(listener) => return Ok(listener),
            Err(error) => last = Some(ServeError::Port(address, error)),
        }
    }
    let nowhere = || SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), first);
    Err(last.unwrap_or_else(|| ServeError::Port(nowhere(), io::ErrorKind::AddrInUse.into())))
}

async fn accept(listener: TcpListener, router: Router) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        // The semaphore is never closed.
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let router = router.clone();
                tokio::spawn(async move {
                    answer(stream, router).await;
                    drop(place);
                });
            }
            // Too many open files; others will go.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

/// One connection to its end.
async fn answer(stream: TcpStream, router: Router) {
    limit(&stream);
    let service = TowerToHyperService::new(router);
    let mut server = hyper::server::conn::http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEADER_TIME).max_headers(64);
    // A client that goes away in the middle is no concern of ours.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

/// A client that takes no data is given up by the kernel, and an event is not held back for a fuller packet.
fn limit(stream: &TcpStream) {
    let socket = socket2::SockRef::from(stream);
    let _ = socket.set_tcp_user_timeout(Some(STUCK_TIME));
    let _ = socket.set_tcp_nodelay(true);
}

/// A signal that asks the process to end.
async fn ended() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

async fn unused(app: &App, limit: Option<Duration>) {
    let Some(limit) = limit else { return std::future::pending().await };
    loop {
        tokio::time::sleep(LOOK_EVERY.min(limit)).await;
        if app.idle_for() >= limit && !app.is_needed_afar() {
            return;
        }
    }
}
