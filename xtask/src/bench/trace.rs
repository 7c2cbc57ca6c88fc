//! One start under observation (ptrace): system calls, processes, memory.
//!
//! The peak of all memory is read in the moment of the exit. `wait4` and `getrusage` would not do: Linux counts the
//! memory of the parent that called exec into the child's maximum, so every small program seems as large as its starter.
//! Most of it is the program's file, which all starts share; how much of it is seen at once is up to the system, and to
//! how the file came into memory. What a program takes for itself is looked up at every system call, since it needs one
//! to give anything back.
//!
//! To see a program from its first call, a shell waits for a line on stdin and then becomes the program. What comes
//! after that line is the program's own input.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::process::{Child, Command, Stdio};

use nix::sys::ptrace::{self, Options};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::subject::Subject;
use super::subjects::Subjects;
use crate::error::{Error, Result};

const WAIT_THEN_RUN: [&str; 4] = ["/bin/sh", "-c", r#"read -r _ && exec "$@""#, "sh"];

/// What one start did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Trace {
    /// Calls of all its processes and threads, from its first to its last.
    pub calls: u64,
    pub processes: u64,
    /// Of the program itself, without those that it starts, as the next one.
    pub peak_kib: u64,
    /// The most that it had for itself.
    pub own_kib: u64,
}

pub(crate) fn measure(subjects: &mut Subjects) -> Result<Vec<Trace>> {
    subjects.each(|subject| {
        let mut command = subject.command_under(&WAIT_THEN_RUN)?;
        trace(&mut command, &subject.payload()?).map_err(|e| failed(subject, &e))
    })
}

fn failed(subject: &Subject, cause: &io::Error) -> Error {
    Error::new(format!("cannot trace {}: {cause}", subject.label()))
        .hint("this needs ptrace, which some containers forbid")
}

/// The command is one that waits for a line. The child is not left behind, whatever happens.
fn trace(command: &mut Command, payload: &[u8]) -> io::Result<Trace> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let outcome = observe(&mut child, payload);
    if outcome.is_err() {
        child.kill()?;
        child.wait()?;
    }
    outcome
}

fn observe(child: &mut Child, payload: &[u8]) -> io::Result<Trace> {
    let pid = Pid::from_raw(i32::try_from(child.id()).map_err(io::Error::other)?);
    let events = Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_TRACEEXIT
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACECLONE;
    ptrace::seize(pid, events)?;
    if let Some(mut stdin) = child.stdin.take() {
        // In one piece, and well below what a pipe holds: nobody is waited for.
        stdin.write_all(&[b"\n", payload].concat())?;
    }
    Observer::new(pid).run()
}

struct Observer {
    program: Pid,
    /// Whether the shell has become the program.
    begun: bool,
    /// Every process or thread that is alive.
    alive: BTreeSet<Pid>,
    /// Those of them that are inside of a system call.
    inside: BTreeSet<Pid>,
    seen: Trace,
}

impl Observer {
    fn new(program: Pid) -> Self {
        let seen = Trace { processes: 1, ..Trace::default() };
        Self { program, begun: false, alive: BTreeSet::from([program]), inside: BTreeSet::new(), seen }
    }

    fn run(mut self) -> io::Result<Trace> {
        // Only this thread's children: others may be waited for elsewhere.
        let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
        while !self.alive.is_empty() {
            self.note(waitpid(None, Some(flags))?)?;
        }
        if self.begun { Ok(self.seen) } else { Err(io::Error::other("it never started")) }
    }

    /// Takes in what happened, and lets go on whom it happened to.
    fn note(&mut self, status: WaitStatus) -> io::Result<()> {
        match status {
            WaitStatus::PtraceSyscall(pid) => {
                self.note_call(pid)?;
                resume(pid, None)
            }
            WaitStatus::PtraceEvent(pid, _, event) => {
                self.note_event(pid, event)?;
                resume(pid, None)
            }
            WaitStatus::Stopped(pid, signal) => resume(pid, Some(signal)),
            WaitStatus::Exited(pid, code) => self.note_end(pid, code == 0),
            WaitStatus::Signaled(pid, ..) => self.note_end(pid, false),
            _ => Ok(()),
        }
    }

    /// Each call stops twice, at its beginning and at its end.
    fn note_call(&mut self, pid: Pid) -> io::Result<()> {
        self.alive.insert(pid);
        if !self.inside.remove(&pid) {
            self.inside.insert(pid);
            self.seen.calls += u64::from(self.begun);
            self.note_memory(pid)?;
        }
        Ok(())
    }

    fn note_memory(&mut self, pid: Pid) -> io::Result<()> {
        if self.begun && pid == self.program {
            self.seen.own_kib = self.seen.own_kib.max(own(pid)?);
        }
        Ok(())
    }

    fn note_event(&mut self, pid: Pid, event: i32) -> io::Result<()> {
        match event {
            // The shell's own exec may still be under way when it is first seen.
            EXEC if pid == self.program && !is_waiting_shell(pid)? => {
                self.begun = true;
                // The end of the exec is still to come.
                self.inside.insert(pid);
            }
            EXIT if pid == self.program => {
                self.note_memory(pid)?;
                self.seen.peak_kib = peak(pid)?;
            }
            FORK | VFORK | CLONE => {
                let new = Pid::from_raw(i32::try_from(ptrace::getevent(pid)?).map_err(io::Error::other)?);
                self.alive.insert(new);
                self.seen.processes += u64::from(is_process(new)?);
            }
            _ => {}
        }
        Ok(())
    }

    fn note_end(&mut self, pid: Pid, well: bool) -> io::Result<()> {
        self.alive.remove(&pid);
        self.inside.remove(&pid);
        if well || pid != self.program { Ok(()) } else { Err(io::Error::other("it failed")) }
    }
}

const FORK: i32 = ptrace::Event::PTRACE_EVENT_FORK as i32;
const VFORK: i32 = ptrace::Event::PTRACE_EVENT_VFORK as i32;
const CLONE: i32 = ptrace::Event::PTRACE_EVENT_CLONE as i32;
const EXEC: i32 = ptrace::Event::PTRACE_EVENT_EXEC as i32;
const EXIT: i32 = ptrace::Event::PTRACE_EVENT_EXIT as i32;

/// Up to the next system call. One that was killed meanwhile is reported by its end.
fn resume(pid: Pid, signal: Option<nix::sys::signal::Signal>) -> io::Result<()> {
    match ptrace::syscall(pid, signal) {
        Err(nix::errno::Errno::ESRCH) => Ok(()),
        outcome => outcome.map_err(io::Error::from),
    }
}

fn is_waiting_shell(pid: Pid) -> io::Result<bool> {
    let arguments = fs::read(format!("/proc/{pid}/cmdline"))?;
    Ok(arguments.split(|byte| *byte == 0).take(3).eq(WAIT_THEN_RUN[..3].iter().map(|part| part.as_bytes())))
}

/// A thread belongs to another one's group.
fn is_process(pid: Pid) -> io::Result<bool> {
    Ok(field(&status(pid)?, "Tgid:").is_some_and(|group| group == u64::from(pid.as_raw().unsigned_abs())))
}

fn peak(pid: Pid) -> io::Result<u64> {
    field(&status(pid)?, "VmHWM:").ok_or_else(|| io::Error::other("no VmHWM in its status"))
}

fn own(pid: Pid) -> io::Result<u64> {
    let memory = fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    field(&memory, "Anonymous:").ok_or_else(|| io::Error::other("its memory is not told"))
}

fn status(pid: Pid) -> io::Result<String> {
    fs::read_to_string(format!("/proc/{pid}/status"))
}

fn field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traced(program: &[&str], payload: &[u8]) -> io::Result<Trace> {
        let [shell, arguments @ ..] = WAIT_THEN_RUN;
        trace(Command::new(shell).args(arguments).args(program), payload)
    }

    #[test]
    fn calls_and_memory_of_a_real_program_are_seen() {
        let little = traced(&["cat"], b"x").unwrap();
        assert_eq!(little.processes, 1);
        assert!((10..500).contains(&little.calls), "{little:?}");
        assert!((100..50_000).contains(&little.peak_kib), "{little:?}");
        assert!((4..little.peak_kib).contains(&little.own_kib), "{little:?}");
        // The same again is the same count, and one more file costs some calls.
        assert_eq!(traced(&["cat"], b"x").unwrap().calls, little.calls);
        assert!(traced(&["cat", "-", "/dev/null"], b"x").unwrap().calls > little.calls);
    }

    #[test]
    fn processes_are_counted_and_failures_told() {
        assert_eq!(traced(&["/bin/sh", "-c", "/bin/true; /bin/true; :"], b"").unwrap().processes, 3);
        assert!(traced(&["/bin/false"], b"").is_err());
    }

    #[test]
    fn fields_of_a_status_are_found() {
        let status = "Name:\tcat\nTgid:\t17\nVmHWM:\t    1780 kB\n";
        assert_eq!((field(status, "VmHWM:"), field(status, "Tgid:")), (Some(1780), Some(17)));
        assert_eq!(field(status, "VmPeak:"), None);
    }
}
