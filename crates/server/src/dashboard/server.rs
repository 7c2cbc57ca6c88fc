//! Accepts connections within limits until the server is no longer needed.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use overtone_core::messages::Lang;
use overtone_store::Home;
use overtone_store::config::{Config, keys};
use tokio::net::{TcpListener, TcpStream};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Semaphore;

use crate::dashboard::access::Access;
use crate::dashboard::api;
use crate::dashboard::app::{App, AppSetup, Endpoint};
use crate::dashboard::change_listener::ChangeListener;
use crate::dashboard::fleet::Fleet;
use crate::dashboard::instance::{Instance, TokenError, load_or_create_token};
use crate::dashboard::services::start_remote;
use crate::dashboard::telemetry::start_telemetry;

/// Further connections wait until others are closed.
const MAX_CONNECTIONS: usize = 1024;
/// How long a client may take to send the headers of a request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client may accept no data before its connection is closed.
const SEND_TIMEOUT: Duration = Duration::from_secs(30);
/// If the configured port is in use, the next ones are tried.
const PORT_ATTEMPTS: u16 = 20;
const IDLE_CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The options of a server.
#[derive(Debug)]
pub struct Options {
    pub home: Home,
    pub version: &'static str,
    pub lang: Lang,
    pub address: IpAddr,
    /// `None` means the configured port, or the next one that is free.
    pub port: Option<u16>,
    /// Host names that other machines may use.
    pub host_names: Vec<String>,
    /// How long the server keeps running without being used; `None` means forever.
    pub idle: Option<Duration>,
    /// The home with the sessions that are shown, the server's address and its token. It differs from `home` if the
    /// sessions of all machines are shown.
    pub shown_home: Home,
    pub fleet: Arc<dyn Fleet>,
}

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Another process is the server of this home.
    #[error("a dashboard is running already")]
    Running,
    #[error("cannot listen on {0}: {1}")]
    Port(SocketAddr, #[source] io::Error),
    #[error(transparent)]
    Token(TokenError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Runs the server until it is stopped or idle. `ready` is called with the address.
pub fn serve(options: Options, ready: impl FnOnce(SocketAddr)) -> Result<(), ServeError> {
    let token = load_or_create_token(&options.shown_home).map_err(ServeError::Token)?;
    let instance = Instance::claim(&options.shown_home)?.ok_or(ServeError::Running)?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(8).build()?;
    runtime.block_on(run(options, instance, token, ready))?;
    // Requests that still read a file must not keep the process running.
    runtime.shutdown_background();
    Ok(())
}

async fn run(
    options: Options,
    instance: Instance,
    token: String,
    ready: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    let home = options.shown_home.clone();
    let fleet = Arc::clone(&options.fleet);
    if fleet.shows_all_machines() {
        fleet.start()?;
    }
    let changes = ChangeListener::start(&home);
    let listener = listen(&options).await?;
    let address = listener.local_addr()?;
    let endpoint = Endpoint {
        access: Access::new(token, address.port()),
        is_open: !address.ip().is_loopback(),
        port: address.port(),
        host_names: options.host_names,
    };
    let settings = Config::load_or_default(&options.home).settings();
    let app = Arc::new(App::new(AppSetup {
        home,
        version: options.version,
        settings,
        lang: options.lang,
        endpoint,
        instance: instance.id.clone(),
        is_watching: changes.is_watching(),
        fleet,
    }));
    if !app.fleet.shows_all_machines() {
        start_services(&app);
    }
    changes.spawn(Arc::clone(&app));
    // Before the server is announced: whoever finds it may stop it at once.
    let mut shutdown = ShutdownSignals::register()?;
    instance.announce(address, options.version)?;
    ready(address);
    let router = api::router(Arc::clone(&app));
    tokio::select! {
        () = accept(listener, router) => {}
        () = shutdown.received() => {}
        () = idle_timeout(&app, options.idle) => {}
    }
    app.stop_services();
    app.fleet.stop();
    Ok(())
}

/// Starts the services of a machine's own server. The server runs even if one of them cannot start.
fn start_services(app: &Arc<App>) {
    start_remote(app);
    start_telemetry(app);
    if let Err(error) = app.fleet.start() {
        eprintln!("[overtone/fleet] cannot start: {error}");
    }
}

async fn listen(options: &Options) -> Result<TcpListener, ServeError> {
    let config = Config::load_or_default(&options.home);
    let first = options.port.unwrap_or_else(|| config.get(keys::DASHBOARD_PORT));
    let ports = if options.port.is_some() { 1 } else { PORT_ATTEMPTS };
    let mut last_error = None;
    for port in (0..ports).filter_map(|step| first.checked_add(step)) {
        let address = SocketAddr::new(options.address, port);
        match TcpListener::bind(address).await {
            Ok(listener) => return Ok(listener),
            Err(error) => last_error = Some(ServeError::Port(address, error)),
        }
    }
    Err(last_error.unwrap_or_else(|| {
        let address = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), first);
        ServeError::Port(address, io::ErrorKind::AddrInUse.into())
    }))
}

async fn accept(listener: TcpListener, router: Router) {
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        // The semaphore is never closed.
        let Ok(permit) = Arc::clone(&permits).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let router = router.clone();
                tokio::spawn(async move {
                    serve_connection(stream, router).await;
                    drop(permit);
                });
            }
            // Too many open files: wait until other connections are closed.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

/// Serves one connection until it is closed.
async fn serve_connection(stream: TcpStream, router: Router) {
    configure_socket(&stream);
    let service = TowerToHyperService::new(router);
    let mut server = hyper::server::conn::http1::Builder::new();
    server.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT).max_headers(64);
    // Errors mean that the client has closed the connection.
    let _ = server.serve_connection(TokioIo::new(stream), service).await;
}

/// Lets the kernel close the connection to a client that accepts no data, and sends events without delay.
fn configure_socket(stream: &TcpStream) {
    let socket = socket2::SockRef::from(stream);
    let _ = socket.set_tcp_user_timeout(Some(SEND_TIMEOUT));
    let _ = socket.set_tcp_nodelay(true);
}

/// The signals that ask the process to end. They do not end it by themselves any more.
struct ShutdownSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl ShutdownSignals {
    fn register() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for one of them. One that came since they were registered counts.
    async fn received(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Waits until the server has not been used for this time.
async fn idle_timeout(app: &App, limit: Option<Duration>) {
    let Some(limit) = limit else { return std::future::pending().await };
    loop {
        tokio::time::sleep(IDLE_CHECK_INTERVAL.min(limit)).await;
        if app.idle_for() >= limit && !app.has_background_work() {
            return;
        }
    }
}
