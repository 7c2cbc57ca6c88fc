//! Running a subject under `strace`, which lists its system calls, makes one of them fail, or kills it there.
//!
//! Only the program's first thread is traced. It does all the work on files; helpers such as a reviewer or `git` are
//! other programs.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::Case;
use super::fixture::SESSION;
use crate::error::{Error, Result};
use crate::sandbox::feed;
use crate::tree;

/// A run takes a second at most. This only ends one that hangs.
const TIMEOUT: [&str; 2] = ["--kill-after=2", "1200"];

/// Every call that opens, changes, inspects or locks a file. Calls with a question mark do not exist on every machine.
const WATCHED: &str = "trace=execve,?open,openat,read,pread64,write,pwrite64,writev,?rename,renameat,renameat2,\
                       fsync,fdatasync,ftruncate,?mkdir,mkdirat,?unlink,unlinkat,?rmdir,flock,?stat,?lstat,?fstat,\
                       ?newfstatat,statx,getdents64,?chmod,fchmod,fchmodat,fchown,poll,?ppoll";

/// What a call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    Stdin,
    Stdout,
    Stderr,
    Fixture,
    /// The program's start, libraries, files of the kernel.
    Elsewhere,
}

/// A call as it was traced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub name: String,
    /// Its number among the calls of this name, from 1, as `when=` counts.
    pub nth: usize,
    pub arguments: String,
    pub target: Target,
    /// It looks something up and changes nothing.
    pub reads: bool,
    pub injected: bool,
}

/// What came of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Ran {
    /// 128 and the signal's number for a program that was killed.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub calls: Vec<Call>,
}

impl Ran {
    fn new(output: &Output, calls: Vec<Call>) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let code = output.status.code().or_else(|| output.status.signal().map(|signal| 128 + signal));
        Self { code, stdout: text(&output.stdout), stderr: text(&output.stderr), calls }
    }

    pub(super) fn was_killed(&self) -> bool {
        self.code == Some(128 + Signal::SIGKILL as i32)
    }

    pub(super) fn injected(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| call.injected)
    }

    pub(super) fn hit(&self, target: Target) -> bool {
        self.injected().any(|call| call.target == target)
    }
}

/// As the client or a user runs it.
pub(super) fn plain(case: &Case) -> Result<Ran> {
    through(case, &[], &case.program())
}

/// Behind another program that changes something and then becomes the subject.
pub(super) fn through(case: &Case, wrapper: &[&str], program: &Path) -> Result<Ran> {
    let mut command = limited(case);
    command.args(wrapper).arg(program).args(case.arguments());
    Ok(Ran::new(&finish(start(&mut command, case)?)?, Vec::new()))
}

/// Any command of `overtone`.
pub(super) fn command(case: &Case, words: &[&str]) -> Result<Ran> {
    let output = limited(case).arg(case.fixture.sandbox.binary()).args(words).output();
    Ok(Ran::new(&output.map_err(|e| cannot_run(&e))?, Vec::new()))
}

/// Under `strace`, with a rule for what it injects.
pub(super) fn traced(case: &Case, rule: Option<&str>, wrapper: &[&str]) -> Result<Ran> {
    let mut command = tracing(case, rule, &["-e", "signal=none"]);
    command.args(wrapper).arg(case.program()).args(case.arguments());
    let output = finish(start(&mut command, case)?)?;
    Ok(Ran::new(&output, parse(&read_log(case)?, case.root())))
}

/// Stops the subject at a call, deletes its session's folder and lets it continue. Returns `None` if it ended before.
pub(super) fn with_session_deleted(case: &Case, rule: &str) -> Result<Option<Ran>> {
    let _ = fs::remove_file(case.root().join(LOG));
    // With -D the program itself is the child of `timeout`.
    let mut command = tracing(case, Some(rule), &["-e", "signal=SIGSTOP", "-D"]);
    command.arg(case.program()).args(case.arguments());
    let mut child = start(&mut command, case)?;
    while !read_log(case).unwrap_or_default().contains("stopped by SIGSTOP") {
        if child.try_wait().map_err(|e| cannot_run(&e))?.is_some() {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(2));
    }
    tree::remove(&case.fixture.sandbox.session(SESSION))?;
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let program = fs::read_to_string(children).map_err(|e| cannot_run(&e))?;
    let program = program.trim().parse().map_err(|e| Error::new(format!("no process id: {e}")))?;
    kill(Pid::from_raw(program), Signal::SIGCONT).map_err(|e| cannot_run(&e.into()))?;
    Ok(Some(Ran::new(&finish(child)?, Vec::new())))
}

const LOG: &str = "strace.log";

fn read_log(case: &Case) -> Result<String> {
    let path = case.root().join(LOG);
    let bytes = fs::read(&path).map_err(|e| Error::io("cannot read the trace", &path, &e))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn tracing(case: &Case, rule: Option<&str>, options: &[&str]) -> Command {
    let mut command = limited(case);
    command.args(["strace", "-qq", "-y", "-s", "0", "-e", WATCHED]).args(options);
    if let Some(rule) = rule {
        command.args(["-e", rule]);
    }
    command.arg("-o").arg(case.root().join(LOG)).arg("--");
    command
}

fn limited(case: &Case) -> Command {
    let mut command = case.fixture.sandbox.command_of(Path::new("timeout"), &TIMEOUT);
    case.fixture.add_environment(&mut command);
    command
}

fn start(command: &mut Command, case: &Case) -> Result<Child> {
    match case.input() {
        Some(text) => feed(command, &text),
        None => command.stdin(Stdio::null()).spawn().map_err(|e| cannot_run(&e)),
    }
}

fn finish(child: Child) -> Result<Output> {
    child.wait_with_output().map_err(|e| cannot_run(&e))
}

fn cannot_run(error: &std::io::Error) -> Error {
    Error::new(format!("cannot run a program under test: {error}"))
}

/// The calls of the program itself, up to the moment in which it becomes another one.
pub(super) fn parse(log: &str, root: &Path) -> Vec<Call> {
    let root = root.to_string_lossy();
    let mut counts = BTreeMap::<&str, usize>::new();
    let mut calls = Vec::new();
    for line in log.lines() {
        let Some((name, arguments)) = line.split_once('(') else { continue };
        let nth = counts.entry(name).and_modify(|count| *count += 1).or_insert(1);
        if name == "execve" && *nth > 1 && arguments.ends_with(" = 0") {
            break;
        }
        calls.push(Call {
            name: name.to_owned(),
            nth: *nth,
            arguments: arguments.to_owned(),
            target: target(arguments, &root),
            reads: is_lookup(name, arguments),
            injected: line.ends_with("(INJECTED)"),
        });
    }
    calls
}

fn target(arguments: &str, root: &str) -> Target {
    match arguments.split(['<', '=']).next() {
        Some("0" | "[{fd") => Target::Stdin,
        Some("1") => Target::Stdout,
        Some("2") => Target::Stderr,
        _ if without_current_folder(arguments).contains(root) => Target::Fixture,
        _ => Target::Elsewhere,
    }
}

/// The current folder, which is in the fixture, is printed with every path that may be relative to it.
fn without_current_folder(arguments: &str) -> String {
    let mut parts = arguments.split("AT_FDCWD<");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('>').map_or("", |(_, rest)| rest))
}

fn is_lookup(name: &str, arguments: &str) -> bool {
    match name {
        "open" | "openat" => !["O_WRONLY", "O_RDWR", "O_CREAT"].iter().any(|flag| arguments.contains(flag)),
        "read" | "pread64" | "getdents64" | "stat" | "lstat" | "fstat" | "newfstatat" | "statx" | "poll"
        | "ppoll" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = r#"execve("/bin/overtone", ["overtone", "hook"], 0x7ffc1760bb18 /* 4 vars */) = 0
openat(AT_FDCWD</box/project>, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 3</etc/ld.so.cache>
ppoll([{fd=0<pipe:[123]>, events=POLLIN}], 1, {tv_sec=4, tv_nsec=9}, NULL, 8) = 1 ([{fd=0, revents=POLLIN}])
openat(AT_FDCWD</box/project>, "/box/home/workflow.json", O_RDONLY|O_CLOEXEC) = 3</box/home/workflow.json>
openat(AT_FDCWD</box/project>, "/box/home/.workflow.json.tmp", O_WRONLY|O_CREAT, 0600) = 4</box/home/.w>
write(4</box/home/.w>, ""..., 47) = -1 ENOSPC (No space left on device) (INJECTED)
write(1<pipe:[7]>, ""..., 9) = 9
execve("/box/bin/claude", ["claude"], 0x0 /* 1 var */) = 0
write(1<pipe:[7]>, ""..., 9) = 9
"#;

    #[test]
    fn calls_are_numbered_by_name_and_end_where_the_program_does() {
        let calls = parse(LOG, Path::new("/box")).into_iter().map(|call| {
            let Call { name, nth, target, reads, injected, .. } = call;
            format!(
                "{name}#{nth} {target:?} {}{}",
                if reads { "r" } else { "w" },
                if injected { "!" } else { "" }
            )
        });
        assert_eq!(
            calls.collect::<Vec<_>>().join(", "),
            "execve#1 Elsewhere w, openat#1 Elsewhere r, ppoll#1 Stdin r, openat#2 Fixture r, openat#3 Fixture w, \
             write#1 Fixture w!, write#2 Stdout w"
        );
    }
}
