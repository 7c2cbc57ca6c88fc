//! A pseudo-terminal for the program under test: takes keys and returns what a user would see.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

/// Only there so that a screen that never comes fails its own test.
const WATCHDOG: Duration = Duration::from_mins(10);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

pub(crate) struct Pty {
    keyboard: File,
    /// Held, so that the terminal stays when the program has ended.
    terminal: OwnedFd,
    before: Termios,
    child: Child,
    shown: Arc<Mutex<Shown>>,
}

struct Shown {
    parser: vt100::Parser,
    raw: Vec<u8>,
}

impl Pty {
    pub(crate) fn start(command: &Command, columns: u16, rows: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let terminal: OwnedFd = OpenOptions::new().read(true).write(true).open(name).unwrap().into();
        tcsetwinsize(&terminal, size(columns, rows)).unwrap();
        let before = tcgetattr(&terminal).unwrap();
        let child = in_terminal(command, &terminal).spawn().unwrap();
        let parser = vt100::Parser::new(rows, columns, 0);
        let shown = Arc::new(Mutex::new(Shown { parser, raw: Vec::new() }));
        let keyboard = File::from(master);
        follow(keyboard.try_clone().unwrap(), Arc::clone(&shown));
        Self { keyboard, terminal, before, child, shown }
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        self.shown.lock().unwrap().parser.screen_mut().set_size(rows, columns);
        tcsetwinsize(&self.terminal, size(columns, rows)).unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    pub(crate) fn screen(&self) -> String {
        self.shown.lock().unwrap().parser.screen().contents()
    }

    /// Waits until all of it is on the screen.
    #[track_caller]
    pub(crate) fn sees(&self, parts: &[&str]) {
        let all = || {
            let screen = self.screen();
            parts.iter().all(|part| screen.contains(part))
        };
        assert!(eventually(all), "no {parts:?} on the screen:\n{}", self.screen());
    }

    /// Waits for the end. The terminal must be as it was before.
    #[track_caller]
    pub(crate) fn ends(&mut self) -> ExitStatus {
        let mut ended = None;
        let has_ended = eventually(|| {
            ended = self.child.try_wait().unwrap();
            ended.is_some()
        });
        assert!(has_ended, "it goes on:\n{}", self.screen());
        self.wait_for_output();
        let is_ours =
            |shown: &Shown| shown.parser.screen().alternate_screen() || shown.parser.screen().hide_cursor();
        assert!(eventually(|| !is_ours(&self.shown.lock().unwrap())), "the terminal is not given back");
        let now = tcgetattr(&self.terminal).unwrap();
        let modes = |of: &Termios| (of.local_modes, of.input_modes, of.output_modes);
        assert_eq!(modes(&now), modes(&self.before));
        ended.unwrap()
    }

    /// Waits until everything that the program wrote has arrived: whatever is read after this byte came later.
    fn wait_for_output(&self) {
        const END: u8 = 0;
        rustix::io::write(&self.terminal, &[END]).unwrap();
        let has_arrived = || {
            let mut shown = self.shown.lock().unwrap();
            let is_end = shown.raw.last() == Some(&END);
            if is_end {
                shown.raw.pop();
            }
            is_end
        };
        assert!(eventually(has_arrived), "the end of the output does not arrive:\n{}", self.screen());
    }

    pub(crate) fn raw(&self) -> String {
        String::from_utf8_lossy(&self.shown.lock().unwrap().raw).into_owned()
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        // A test that failed leaves nothing behind.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The program gets the terminal as its own, so that a change of size reaches it.
fn in_terminal(command: &Command, terminal: &OwnedFd) -> Command {
    let mut wrapped = Command::new("setsid");
    wrapped.args(["--ctty"]).arg(command.get_program()).args(command.get_args()).env_clear();
    wrapped.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    wrapped.env("TERM", "xterm-256color").current_dir(command.get_current_dir().unwrap());
    let end = || terminal.try_clone().unwrap();
    wrapped.stdin(end()).stdout(end()).stderr(end());
    wrapped
}

fn follow(mut output: File, shown: Arc<Mutex<Shown>>) {
    thread::spawn(move || {
        let mut bytes = [0; 4096];
        while let Ok(count @ 1..) = output.read(&mut bytes) {
            let mut shown = shown.lock().unwrap();
            shown.parser.process(&bytes[..count]);
            shown.raw.extend_from_slice(&bytes[..count]);
        }
    });
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

pub(crate) fn eventually(mut is_so: impl FnMut() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < WATCHDOG {
        if is_so() {
            return true;
        }
        thread::sleep(POLL_INTERVAL);
    }
    false
}
