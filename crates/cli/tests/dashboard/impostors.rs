//! After a crash: the port has another owner, the process number has another process, and the files say the old things.

use std::fs::{self, File};
use std::io::Read;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};

use crate::context::TestContext;
use overtone_testkit::wait_for;

/// An innocent process, which ends with the test.
struct Innocent(Child);

impl Innocent {
    fn start() -> Self {
        Self(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Innocent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Somebody else's server on a port: it counts who comes and keeps what they say.
struct Foreign {
    visits: Arc<AtomicUsize>,
    heard: Arc<Mutex<String>>,
}

impl Foreign {
    fn listen(address: &str) -> Self {
        let listener = wait_for(|| TcpListener::bind(address).ok());
        let foreign = Self { visits: Arc::default(), heard: Arc::default() };
        let (visits, heard) = (Arc::clone(&foreign.visits), Arc::clone(&foreign.heard));
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                visits.fetch_add(1, Ordering::SeqCst);
                let mut bytes = [0; 4096];
                let count = stream.read(&mut bytes).unwrap_or(0);
                heard.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        });
        foreign
    }
}

fn server_file(context: &TestContext) -> std::path::PathBuf {
    context.path("overtone/dashboard/server.json")
}

/// The file of a killed server with the number of another process in it, as a version without a start time wrote it or
/// as this one does.
fn reuse_number(context: &TestContext, innocent: &Innocent, with_start: bool) {
    let mut about: Value = serde_json::from_slice(&fs::read(server_file(context)).unwrap()).unwrap();
    about["pid"] = json!(innocent.0.id());
    if with_start {
        about["process"]["pid"] = json!(innocent.0.id());
    } else {
        about.as_object_mut().unwrap().remove("process");
    }
    fs::write(server_file(context), about.to_string()).unwrap();
}

/// Somebody has the lock: a server that is just starting has it, before it says anything.
fn take_lock(context: &TestContext) -> File {
    let lock = File::options().write(true).open(context.path("overtone/dashboard/lock")).unwrap();
    lock.try_lock().unwrap();
    lock
}

#[test]
fn no_innocent_process_is_ended() {
    for with_start in [true, false] {
        let context = TestContext::for_dashboard();
        drop(context.serve());
        let mut innocent = Innocent::start();
        reuse_number(&context, &innocent, with_start);
        let lock = take_lock(&context);
        for arguments in [&["dashboard", "--stop"][..], &["uninstall"], &["up"]] {
            context.run_args(arguments);
            assert!(innocent.is_alive(), "{arguments:?}");
        }
        let stopped = context.run_args(&["dashboard", "--stop"]);
        assert_ne!(stopped.code, Some(0), "{stopped:?}");
        drop(lock);
        context.run_args(&["dashboard", "--stop"]);
        assert!(innocent.is_alive());
    }
}

#[test]
fn a_foreign_port_receives_nothing() {
    let context = TestContext::for_dashboard();
    let mut server = context.serve();
    let (address, token) = (server.address.clone(), server.token.clone());
    server.kill();
    let foreign = Foreign::listen(&address);
    let innocent = Innocent::start();
    reuse_number(&context, &innocent, true);
    context.write("bin/xdg-open", "#!/bin/sh\ncat \"$1\" >> \"$HOME/opened\"\n");
    let script = context.path("bin/xdg-open");
    fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", context.path("bin").display());
    for round in 0..5 {
        let opened = context.command(&["dashboard", "--open", "--json"]).env("PATH", &path).output().unwrap();
        assert!(opened.status.success(), "{opened:?}");
        let about: Value = serde_json::from_slice(&opened.stdout).unwrap();
        assert_ne!(about["url"], format!("http://{address}"), "round {round}");
        // Killed, so that the next round finds what it left behind.
        let pid = about["pid"].as_u64().unwrap();
        assert_ne!(pid, u64::from(innocent.0.id()));
        assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
    }
    let opened_page = fs::read_to_string(context.path("home/opened")).unwrap();
    assert!(
        !opened_page.contains(&token) && !opened_page.contains(&format!("http://{address}/")),
        "{opened_page}"
    );
    assert_eq!(foreign.visits.load(Ordering::SeqCst), 0, "{:?}", foreign.heard.lock().unwrap());
}

/// While the lock is held, the old file must not be believed either.
#[test]
fn a_server_that_is_only_starting_is_not_the_one_that_was_killed() {
    let context = TestContext::for_dashboard();
    let mut server = context.serve();
    let address = server.address.clone();
    server.kill();
    let foreign = Foreign::listen(&address);
    let lock = take_lock(&context);
    // It gives up on a server that never says where it is.
    let opened = context
        .command(&["dashboard", "--open", "--json"])
        .env_remove("OVERTONE_TEST_PATIENCE")
        .output()
        .unwrap();
    assert!(!opened.status.success() && opened.stdout.is_empty(), "{opened:?}");
    assert_eq!(foreign.visits.load(Ordering::SeqCst), 0);
    drop(lock);
}
