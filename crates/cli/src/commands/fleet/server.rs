//! `overtone fleet up` and `down`: a server on this machine, for trying the fleet out. What it is started with and its
//! process id are noted; only a process that still runs with just that is ever ended.

use std::env;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use overtone_fleet::folder;
use overtone_messages::fleet as words;
use overtone_store::{Home, create_private_dir, files};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::join;
use crate::args::OutputArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::out;

const DEFAULT_PORT: u16 = 4222;
/// The one user of the server.
const USER: &str = "overtone";
/// Where packages put it that are not on everybody's path.
const PLACES: [&str; 4] = ["/usr/sbin", "/usr/local/sbin", "/usr/local/bin", "/opt/homebrew/bin"];
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A server that we have started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Running {
    pid: u32,
    port: u16,
}

/// The folder of the server.
struct Place(PathBuf);

impl Place {
    fn of(home: &Home) -> Self {
        Self(folder(home).join("server"))
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

    /// `user:password`, for whoever may read this home.
    fn login(&self) -> PathBuf {
        self.0.join("login")
    }

    fn note(&self) -> PathBuf {
        self.0.join("server.json")
    }

    /// What was noted last, whether it still runs or not.
    fn noted(&self) -> Option<Running> {
        let text = files::read_small(&self.note()).ok()??;
        let note: Value = serde_json::from_str(&text).ok()?;
        let number = |name: &str| note[name].as_u64();
        Some(Running { pid: number("pid")?.try_into().ok()?, port: number("port")?.try_into().ok()? })
    }

    /// The process of that number must be ours by what it was started with: numbers are used again.
    fn running(&self) -> Option<Running> {
        let data = self.data().display().to_string();
        self.noted().filter(|noted| arguments_of(noted.pid).is_some_and(|line| line.contains(&data)))
    }
}

/// With what a process was started.
fn arguments_of(pid: u32) -> Option<String> {
    if Path::new("/proc/self").exists() {
        let bytes = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        return Some(String::from_utf8_lossy(&bytes).replace('\0', " "));
    }
    let asked = Command::new("ps").args(["-o", "args=", "-p", &pid.to_string()]).output().ok()?;
    Some(String::from_utf8_lossy(&asked.stdout).into_owned())
}

pub(super) fn up(context: &Context, port: Option<u16>, output: &OutputArgs) -> Done {
    let home = context.home()?;
    let place = Place::of(home);
    let before = place.running();
    let port = port.or_else(|| place.noted().map(|noted| noted.port)).unwrap_or(DEFAULT_PORT);
    let url = format!("nats://127.0.0.1:{}", before.map_or(port, |running| running.port));
    refuse_other_fleet(context, &url)?;
    let running = match before {
        Some(running) => running,
        None => start(context, &place, port)?,
    };
    join(context, &url, &place)?;
    report(context, &url, running, before.is_none(), output)
}

fn refuse_other_fleet(context: &Context, url: &str) -> Done {
    let section = join::known(context)?;
    match section.get("url").and_then(Value::as_str) {
        Some(other) if other != url => {
            let lang = context.lang;
            Err(Failure::new(words::joined_elsewhere(lang)).hint(words::joined_elsewhere_hint(lang)))
        }
        _ => Ok(()),
    }
}

fn join(context: &Context, url: &str, place: &Place) -> Done {
    let mut section = join::known(context)?;
    section.insert("url".to_owned(), json!(url));
    if place.login().exists() {
        section.insert("login".to_owned(), json!(place.login()));
    }
    join::join(context, Value::Object(section), false, None).map(drop)
}

/// The configuration has the login, so that no argument has it. It stays the same from one start to the next.
fn configure(place: &Place) -> io::Result<()> {
    let login = match files::read_small(&place.login())? {
        Some(login) => login.trim().to_owned(),
        None => format!("{USER}:{}", overtone_fleet::new_password()?),
    };
    files::write_atomic(&place.login(), format!("{login}\n").as_bytes(), files::PRIVATE)?;
    let (user, password) = login.split_once(':').unwrap_or((USER, &login));
    let text =
        format!("jetstream: enabled\nauthorization {{ user: \"{user}\", password: \"{password}\" }}\n");
    files::write_atomic(&place.config(), text.as_bytes(), files::PRIVATE)
}

fn start(context: &Context, place: &Place, port: u16) -> Result<Running, Failure> {
    let lang = context.lang;
    let program =
        program().ok_or_else(|| Failure::new(words::no_program(lang)).hint(words::no_program_hint(lang)))?;
    if answers(port) {
        let hint = words::port_taken_hint(lang, &format!("nats://127.0.0.1:{port}"));
        return Err(Failure::new(words::port_taken(lang, u32::from(port))).hint(hint));
    }
    let failed = |error: io::Error| Failure::io(lang, &place.0, &error);
    create_private_dir(&place.0).map_err(failed)?;
    configure(place).map_err(failed)?;
    let mut child = spawn(&program, place, port).map_err(failed)?;
    let running = Running { pid: child.id(), port };
    let note = json!({ "pid": running.pid, "port": port });
    files::write_atomic(&place.note(), note.to_string().as_bytes(), files::PRIVATE).map_err(failed)?;
    if wait(&mut child, port) {
        return Ok(running);
    }
    // It does not work; nobody would know of it.
    let _ = child.kill();
    let _ = child.wait();
    let hint = words::see_log_hint(lang, &place.log().display().to_string());
    Err(Failure::new(words::server_did_not_start(lang)).hint(hint))
}

fn program() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(PLACES.map(PathBuf::from));
    folders.map(|folder| folder.join("nats-server")).find(|program| program.is_file())
}

/// As the dashboard: on its own, whoever started it ends.
fn spawn(program: &Path, place: &Place, port: u16) -> io::Result<Child> {
    let mut command = Command::new(program);
    command.arg("-c").arg(place.config()).args(["-a", "127.0.0.1", "-p", &port.to_string()]);
    command.arg("-sd").arg(place.data()).arg("-l").arg(place.log());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    command.spawn()
}

fn wait(child: &mut Child, port: u16) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE && !child.try_wait().is_ok_and(|ended| ended.is_some()) {
        if answers(port) {
            return true;
        }
        thread::sleep(LOOK_EVERY);
    }
    false
}

fn answers(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
}

fn report(context: &Context, url: &str, running: Running, is_new: bool, output: &OutputArgs) -> Done {
    if output.json {
        return out::json(&json!({ "url": url, "pid": running.pid, "started": is_new }));
    }
    let lang = context.lang;
    out::print(&if is_new { words::server_started(lang, url) } else { words::server_runs(lang, url) })?;
    out::print(&format!("→ {}\n→ {}\n", words::start_relay(lang), words::invite_others(lang)))
}

pub(super) fn down(context: &Context, output: &OutputArgs) -> Done {
    let (home, lang) = (context.home()?, context.lang);
    let place = Place::of(home);
    let Some(running) = place.running() else {
        return Err(Failure::new(words::no_server(lang)).hint(words::no_server_hint(lang)));
    };
    end(&place, running).map_err(|error| Failure::io(lang, &place.0, &error))?;
    if output.json {
        return out::json(&json!({ "stopped": running.pid, "data": place.data() }));
    }
    out::print(&words::server_stopped(lang, running.pid, &place.data().display().to_string()))
}

fn end(place: &Place, running: Running) -> io::Result<()> {
    let pid = i32::try_from(running.pid).ok().and_then(Pid::from_raw);
    kill_process(pid.ok_or_else(|| io::Error::other("no process"))?, Signal::TERM)?;
    let begun = Instant::now();
    while place.running() == Some(running) && begun.elapsed() < PATIENCE {
        thread::sleep(LOOK_EVERY);
    }
    if place.running() == Some(running) { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
}
