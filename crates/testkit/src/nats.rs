//! A `nats-server` process on loopback, for the tests of the fleet.

use std::env;
use std::fs::File;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::wait_until;

/// Where packages install the program, if PATH has none.
const PACKAGE_FOLDERS: [&str; 2] = ["/usr/sbin", "/usr/local/bin"];

/// A server with its data. Both are gone when it is dropped.
#[derive(Debug)]
pub struct NatsServer {
    pub port: u16,
    arguments: Vec<String>,
    child: Option<Child>,
    folder: TempDir,
}

impl NatsServer {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// With these lines in its configuration.
    pub fn start_with(lines: &[&str]) -> Self {
        let (folder, port) = (new_folder(), free_port());
        let config = write_config(folder.path(), port, lines).expect("the configuration can be written");
        Self::launch(folder, port, vec!["-c".to_owned(), config.display().to_string()])
    }

    /// With these arguments, which must let it listen on `port`.
    pub fn start_with_arguments(port: u16, arguments: Vec<String>) -> Self {
        Self::launch(new_folder(), port, arguments)
    }

    fn launch(folder: TempDir, port: u16, arguments: Vec<String>) -> Self {
        let mut server = Self { port, arguments, child: None, folder };
        server.restart();
        server
    }

    /// Restarts it with other lines in its configuration.
    pub fn reconfigure(&mut self, lines: &[&str]) {
        write_config(self.folder.path(), self.port, lines).expect("the configuration can be written");
        self.restart();
    }

    /// Returns when it accepts connections.
    pub fn restart(&mut self) {
        self.kill();
        let mut child = self.spawn();
        wait_until("the NATS server accepts connections", || {
            // Another program may have used the port while the server was down.
            if let Ok(Some(_ended)) = child.try_wait() {
                child = self.spawn();
            }
            self.accepts_connections()
        });
        self.child = Some(child);
    }

    fn spawn(&self) -> Child {
        let mut command = Command::new(program());
        command.args(&self.arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("nats-server starts")
    }

    fn accepts_connections(&self) -> bool {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let Ok(stream) = TcpStream::connect(address) else { return false };
        // Without a listener, the system may connect a socket to itself.
        matches!(stream.local_addr(), Ok(own) if own != address)
    }

    /// Kills it without a shutdown.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

impl Drop for NatsServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn new_folder() -> TempDir {
    TempDir::with_prefix("overtone-nats-").expect("a temporary folder")
}

fn write_config(folder: &Path, port: u16, lines: &[&str]) -> io::Result<PathBuf> {
    let (config, store) = (folder.join("server.conf"), folder.join("store").display().to_string());
    let mut file = File::create(&config)?;
    writeln!(file, "listen: 127.0.0.1:{port}\njetstream {{ store_dir: {store:?} }}\n{}", lines.join("\n"))?;
    Ok(config)
}

/// The path of `nats-server`. A test that needs it fails without it.
pub fn program() -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(PACKAGE_FOLDERS.map(PathBuf::from));
    let found = folders.map(|folder| folder.join("nats-server")).find(|program| program.is_file());
    found.expect("nats-server is missing\nhint: `cargo xtask ci --only test` fetches it for its own run")
}

/// A port on which nothing listens.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
    listener.local_addr().expect("it has an address").port()
}
