//! `overtone fleet up` and `down`: a server on this machine, to try the fleet out. Its process id is recorded, and only a
//! process with that id and the expected arguments is ever stopped.

use std::env;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use overtone_core::messages::fleet as words;
use overtone_fleet::fleet_dir;
use overtone_store::{Home, create_private_dir, files};
use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::join;
use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::out;

const DEFAULT_PORT: u16 = 4222;
/// The one user of the server.
const USER: &str = "overtone";
/// Folders in which packages install the server, and that may not be on the path.
const EXTRA_PATHS: [&str; 4] = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"];
const TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The output of `overtone fleet up --json`.
#[derive(Serialize)]
struct UpJson<'a> {
    url: &'a str,
    pid: u32,
    started: bool,
}

/// The output of `overtone fleet down --json`.
#[derive(Serialize)]
struct DownJson {
    stopped: u32,
    data: PathBuf,
}

/// A server that `up` has started, as recorded in `server.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Running {
    pid: u32,
    port: u16,
}

/// The folder of the server.
struct ServerDir(PathBuf);

impl ServerDir {
    fn new(home: &Home) -> Self {
        Self(fleet_dir(home).join("server"))
    }

    fn data(&self) -> PathBuf {
        self.0.join("data")
    }

    fn log(&self) -> PathBuf {
        self.0.join("server.log")
    }

    fn config(&self) -> PathBuf {
        self.0.join("server.conf")
    }

    /// The file with `user:password`.
    fn login(&self) -> PathBuf {
        self.0.join("login")
    }

    fn record_file(&self) -> PathBuf {
        self.0.join("server.json")
    }

    /// The last recorded server, whether it still runs or not.
    fn recorded(&self) -> Option<Running> {
        let text = files::read_small(&self.record_file()).ok()??;
        serde_json::from_str(&text).ok()
    }

    fn record(&self, running: Running) -> io::Result<()> {
        files::write_atomic(&self.record_file(), &serde_json::to_vec(&running)?, files::PRIVATE)
    }

    /// The recorded server if it is running. Process ids are reused, so its arguments must contain our data folder.
    fn running(&self) -> Option<Running> {
        let data = self.data().display().to_string();
        let recorded = self.recorded()?;
        if arguments_of(recorded.pid)?.contains(&data) { Some(recorded) } else { None }
    }
}

/// The command line of a process.
fn arguments_of(pid: u32) -> Option<String> {
    if Path::new("/proc/self").exists() {
        let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        return Some(String::from_utf8_lossy(&bytes).replace('\0', " "));
    }
    let asked = Command::new("ps").args(["-o", "args=", "-p", &pid.to_string()]).output().ok()?;
    Some(String::from_utf8_lossy(&asked.stdout).into_owned())
}

pub(super) fn up(context: &Context, port: Option<u16>, output: &OutputArgs) -> CommandResult {
    let home = context.home()?;
    let dir = ServerDir::new(home);
    let before = dir.running();
    let port = port.or_else(|| dir.recorded().map(|recorded| recorded.port)).unwrap_or(DEFAULT_PORT);
    let port = match before {
        Some(running) => running.port,
        None => port,
    };
    let url = format!("nats://127.0.0.1:{port}");
    refuse_other_fleet(context, &url)?;
    let running = match before {
        Some(running) => running,
        None => start(context, &dir, port)?,
    };
    join(context, &url, &dir)?;
    report(context, &url, running, before.is_none(), output)
}

fn refuse_other_fleet(context: &Context, url: &str) -> CommandResult {
    let section = join::current_section(context)?;
    match section.get("url").and_then(Value::as_str) {
        Some(other) if other != url => {
            let lang = context.lang;
            Err(CommandError::new(words::joined_elsewhere(lang)).hint(words::joined_elsewhere_hint(lang)))
        }
        _ => Ok(()),
    }
}

fn join(context: &Context, url: &str, dir: &ServerDir) -> CommandResult {
    let mut section = join::current_section(context)?;
    section.insert("url".to_owned(), url.into());
    if dir.login().exists() {
        section.insert("login".to_owned(), json!(dir.login()));
    }
    join::join(context, Value::Object(section), false, None).map(drop)
}

/// Writes the configuration. The login is in the file, not in an argument, and is kept across starts.
fn configure(dir: &ServerDir) -> io::Result<()> {
    let login = match files::read_small(&dir.login())? {
        Some(login) => login.trim().to_owned(),
        None => format!("{USER}:{}", overtone_fleet::new_password()?),
    };
    files::write_atomic(&dir.login(), format!("{login}\n").as_bytes(), files::PRIVATE)?;
    let (user, password) = login.split_once(':').unwrap_or((USER, &login));
    let text =
        format!("jetstream: enabled\nauthorization {{ user: \"{user}\", password: \"{password}\" }}\n");
    files::write_atomic(&dir.config(), text.as_bytes(), files::PRIVATE)
}

fn start(context: &Context, dir: &ServerDir, port: u16) -> CommandResult<Running> {
    let lang = context.lang;
    let program = program()
        .ok_or_else(|| CommandError::new(words::no_program(lang)).hint(words::no_program_hint(lang)))?;
    if answers(port) {
        let hint = words::port_taken_hint(lang, &format!("nats://127.0.0.1:{port}"));
        return Err(CommandError::new(words::port_taken(lang, u32::from(port))).hint(hint));
    }
    let failed = |error: io::Error| CommandError::io(lang, &dir.0, &error);
    create_private_dir(&dir.0).map_err(failed)?;
    configure(dir).map_err(failed)?;
    let mut child = spawn(&program, dir, port).map_err(failed)?;
    let running = Running { pid: child.id(), port };
    dir.record(running).map_err(failed)?;
    if wait(&mut child, port) {
        return Ok(running);
    }
    // Do not leave a server running that does not work.
    let _ = child.kill();
    let _ = child.wait();
    let hint = words::see_log_hint(lang, &dir.log().display().to_string());
    Err(CommandError::new(words::server_did_not_start(lang)).hint(hint))
}

fn program() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(EXTRA_PATHS.map(PathBuf::from));
    folders.map(|folder| folder.join("nats-server")).find(|program| program.is_file())
}

/// Starts the server in its own process group, so that it outlives this command.
fn spawn(program: &Path, dir: &ServerDir, port: u16) -> io::Result<Child> {
    let mut command = Command::new(program);
    command.arg("-c").arg(dir.config()).args(["-a", "127.0.0.1", "-p", &port.to_string()]);
    command.arg("-sd").arg(dir.data()).arg("-l").arg(dir.log());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command.spawn()
}

fn wait(child: &mut Child, port: u16) -> bool {
    let started = Instant::now();
    while started.elapsed() < TIMEOUT {
        if let Ok(Some(_ended)) = child.try_wait() {
            return false;
        }
        if answers(port) {
            return true;
        }
        thread::sleep(POLL_INTERVAL);
    }
    false
}

fn answers(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
}

fn report(
    context: &Context,
    url: &str,
    running: Running,
    is_new: bool,
    output: &OutputArgs,
) -> CommandResult {
    if output.json {
        return out::json(&UpJson { url, pid: running.pid, started: is_new });
    }
    let lang = context.lang;
    out::print(&if is_new { words::server_started(lang, url) } else { words::server_runs(lang, url) })?;
    out::print(&format!("→ {}\n→ {}\n", words::start_relay(lang), words::invite_others(lang)))
}

pub(super) fn down(context: &Context, output: &OutputArgs) -> CommandResult {
    let (home, lang) = (context.home()?, context.lang);
    let dir = ServerDir::new(home);
    let Some(running) = dir.running() else {
        return Err(CommandError::new(words::no_server(lang)).hint(words::no_server_hint(lang)));
    };
    stop(&dir, running).map_err(|error| CommandError::io(lang, &dir.0, &error))?;
    if output.json {
        return out::json(&DownJson { stopped: running.pid, data: dir.data() });
    }
    out::print(&words::server_stopped(lang, running.pid, &dir.data().display().to_string()))
}

fn stop(dir: &ServerDir, running: Running) -> io::Result<()> {
    let pid = i32::try_from(running.pid).ok().and_then(Pid::from_raw);
    kill_process(pid.ok_or_else(|| io::Error::other("no process"))?, Signal::TERM)?;
    let started = Instant::now();
    while dir.running() == Some(running) && started.elapsed() < TIMEOUT {
        thread::sleep(POLL_INTERVAL);
    }
    if dir.running() == Some(running) { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
}
