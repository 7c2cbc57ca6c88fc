//! A program in a pseudo-terminal of its own, which leaves nothing behind when it is dropped.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::process::{Child, Command};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::{self, Pty};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

use crate::child::{Exit, exit_of};
use crate::screen::{COLUMNS, ROWS, Screen};

/// How long killed processes may take to disappear.
const KILL_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A child that leads its own session, with a terminal as its standard streams.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    keyboard: Keyboard,
    screen: Screen,
}

/// The user's end of the terminal.
struct Keyboard(Arc<Pty>);

impl Process {
    pub(crate) fn start(command: Command) -> io::Result<Self> {
        let (terminal, programs_end) = blocking::open().map_err(io::Error::other)?;
        terminal.resize(Size::new(ROWS, COLUMNS)).map_err(io::Error::other)?;
        let child = blocking::Command::from(command).spawn(programs_end).map_err(io::Error::other)?;
        let terminal = Arc::new(terminal);
        let screen = Screen::follow(Output(Arc::clone(&terminal)));
        Ok(Self { child, keyboard: Keyboard(terminal), screen })
    }

    pub(crate) fn screen(&self) -> &Screen {
        &self.screen
    }

    /// Types these bytes.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<()> {
        (&*self.keyboard.0).write_all(bytes)
    }

    /// How it ended, once it has.
    pub(crate) fn ended(&mut self) -> io::Result<Option<Exit>> {
        Ok(self.child.try_wait()?.map(exit_of))
    }

    /// Ends it and all that it has started, by their process ids, and waits until they are gone.
    pub(crate) fn kill(&mut self) -> io::Result<()> {
        if self.child.try_wait()?.is_some() {
            // Its id may belong to another process by now.
            return Ok(());
        }
        let leader = Pid::from_child(&self.child);
        signal(self.child.id(), Signal::STOP);
        // Some tools of the client run in process groups of their own, so its group alone is not enough.
        let started = stop_descendants(self.child.id());
        for id in &started {
            signal(*id, Signal::KILL);
        }
        let _ = kill_process_group(leader, Signal::KILL);
        self.child.wait()?;
        let end = Instant::now() + KILL_TIMEOUT;
        while !started.iter().all(|id| has_ended(*id)) && Instant::now() < end {
            thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The child can only be gone already.
        let _ = self.kill();
    }
}

/// Stops all processes below this one, so that none starts another while they are ended, and returns them. The ancestor is
/// stopped already.
fn stop_descendants(ancestor: u32) -> BTreeSet<u32> {
    let mut stopped = BTreeSet::new();
    loop {
        let found = descendants(ancestor).into_iter().filter(|id| !stopped.contains(id));
        let found: Vec<_> = found.collect();
        if found.is_empty() {
            return stopped;
        }
        for id in &found {
            signal(*id, Signal::STOP);
        }
        stopped.extend(found);
    }
}

/// Sends a signal. One that cannot be delivered was for a process that has ended by itself.
fn signal(id: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// All processes below this one.
fn descendants(ancestor: u32) -> Vec<u32> {
    let parents = parents();
    let is_below = |mut id: u32| {
        while let Some(&parent) = parents.get(&id) {
            if parent == ancestor {
                return true;
            }
            id = parent;
        }
        false
    };
    parents.keys().copied().filter(|&id| is_below(id)).collect()
}

/// The parent of every process.
fn parents() -> BTreeMap<u32, u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter_map(|id| Some((id, parent_of(id)?))).collect()
}

/// The second field after the program's name, which is in parentheses and may itself contain anything.
fn parent_of(id: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok()
}

/// Whether a process is gone, or only waits to be collected by its parent.
fn has_ended(id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    match stat.rsplit_once(')') {
        Some((_, fields)) => fields.trim_start().starts_with('Z'),
        None => true,
    }
}

/// What the program writes to its terminal.
struct Output(Arc<Pty>);

impl io::Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

impl std::fmt::Debug for Keyboard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keyboard")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str) -> Process {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", line]);
        Process::start(command).unwrap()
    }

    fn eventually(mut condition: impl FnMut() -> bool) {
        let end = Instant::now() + Duration::from_mins(1);
        while !condition() {
            assert!(Instant::now() < end, "it did not happen");
            thread::sleep(POLL_INTERVAL);
        }
    }

    #[test]
    fn what_is_typed_is_read_and_what_is_written_is_shown() {
        let mut process = shell("test -t 0 && read line && echo \"got $line\" && exit 3");
        process.write(b"hello\n").unwrap();
        eventually(|| process.screen().text().contains("got hello"));
        let mut exit = None;
        eventually(|| {
            exit = process.ended().unwrap();
            exit.is_some()
        });
        assert_eq!(exit, Some(Exit::Code(3)));
    }

    #[test]
    fn nothing_is_left_of_a_dropped_process() {
        // The inner shell leaves the group, as the client's tools do.
        // It goes on with the next command when one of them is ended.
        let process = shell("setsid sh -c 'sleep 600; sleep 600; true' & sleep 600; sleep 600; true");
        let mut started = Vec::new();
        eventually(|| {
            started = descendants(process.child.id());
            started.len() >= 3
        });
        drop(process);
        assert!(started.iter().all(|id| has_ended(*id)), "{started:?}");
    }
}
