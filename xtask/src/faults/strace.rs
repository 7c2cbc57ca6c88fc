//! The fault layer: `strace` makes one system call of a program fail, and tells which calls there were.
//!
//! Only the program's first thread is traced. It does all the work on files; helpers such as a reviewer or `git` are
//! other people's programs.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

/// What is watched: every call through which a file is opened, changed, looked at or locked. The question marks are
/// for machines that lack the older forms.
pub(crate) const WATCHED: &str = "trace=execve,?open,openat,read,pread64,write,pwrite64,writev,?rename,renameat,\
                                  renameat2,fsync,fdatasync,ftruncate,?mkdir,mkdirat,?unlink,unlinkat,?rmdir,flock,\
                                  ?stat,?lstat,?fstat,?newfstatat,statx,getdents64,?chmod,fchmod,fchmodat,fchown,poll,\
                                  ?ppoll";

/// What a call is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    Stdin,
    Stdout,
    Stderr,
    /// Something in the sandbox.
    Sandbox,
    /// The program's start-up, libraries, the kernel's own files.
    Elsewhere,
}

/// One call as it was traced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub name: String,
    /// Its number among the calls of this name, from 1: what `when=` wants.
    pub nth: usize,
    pub target: Target,
    /// It looks something up; the others change something.
    pub reads: bool,
    pub injected: bool,
}

/// A call that is to fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub call: String,
    pub nth: usize,
    pub error: &'static str,
    /// Every later call of this name fails, too: a disk that stays full.
    pub lasting: bool,
}

impl Fault {
    pub(crate) fn rule(&self) -> String {
        let plus = if self.lasting { "+" } else { "" };
        format!("inject={}:error={}:when={}{plus}", self.call, self.error, self.nth)
    }
}

/// The name under which it can be run again.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plus = if self.lasting { "+" } else { "" };
        write!(f, "{}#{}{plus}={}", self.call, self.nth, self.error)
    }
}

/// The errors that a call is made to return.
pub(crate) fn errors(call: &str) -> &'static [&'static str] {
    match call {
        "flock" => &["ENOLCK", "EOPNOTSUPP", "ENOSYS", "EINTR"],
        "read" | "pread64" | "getdents64" | "poll" | "ppoll" => &["EIO", "EINTR"],
        "stat" | "lstat" | "fstat" | "newfstatat" | "statx" => &["EACCES", "EIO"],
        "fsync" | "fdatasync" | "ftruncate" => &["EIO", "ENOSPC", "EINTR"],
        _ => &["ENOSPC", "EACCES", "EIO", "EINTR"],
    }
}

/// The calls of the program itself: up to the moment in which it becomes another one.
pub(crate) fn parse(log: &str, sandbox: &Path) -> Vec<Call> {
    let sandbox = sandbox.to_string_lossy();
    let mut counts = BTreeMap::<&str, usize>::new();
    let mut calls = Vec::new();
    for line in log.lines() {
        let Some((name, rest)) = line.split_once('(') else { continue };
        let nth = counts.entry(name).and_modify(|count| *count += 1).or_insert(1);
        if name == "execve" && *nth > 1 && rest.ends_with(" = 0") {
            break;
        }
        calls.push(Call {
            name: name.to_owned(),
            nth: *nth,
            target: target(rest, &sandbox),
            reads: is_lookup(name, rest),
            injected: line.ends_with("(INJECTED)"),
        });
    }
    calls
}

fn target(arguments: &str, sandbox: &str) -> Target {
    match arguments.split(['<', '=']).next() {
        Some("0" | "[{fd") => Target::Stdin,
        Some("1") => Target::Stdout,
        Some("2") => Target::Stderr,
        _ if without_current_folder(arguments).contains(sandbox) => Target::Sandbox,
        _ => Target::Elsewhere,
    }
}

/// The current folder is in the sandbox, and is noted at every call that might be relative to it.
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
read(0<pipe:[123]>, ""..., 8192) = 96
openat(AT_FDCWD</box/project>, "/box/home/workflow.json", O_RDONLY|O_CLOEXEC) = 3</box/home/workflow.json>
openat(AT_FDCWD</box/project>, "/box/home/.workflow.json.tmp", O_WRONLY|O_CREAT, 0600) = 4</box/home/.w>
write(4</box/home/.w>, ""..., 47) = -1 ENOSPC (No space left on device) (INJECTED)
write(1<pipe:[7]>, ""..., 9) = 9
execve("/box/bin/claude", ["claude"], 0x0 /* 1 var */) = 0
write(1<pipe:[7]>, ""..., 9) = 9
"#;

    fn short(call: &Call) -> (&str, usize, Target, bool, bool) {
        (&call.name, call.nth, call.target, call.reads, call.injected)
    }

    #[test]
    fn calls_are_numbered_by_name_and_end_where_the_program_does() {
        let calls = parse(LOG, Path::new("/box"));
        let found: Vec<_> = calls.iter().map(short).collect();
        assert_eq!(
            found,
            [
                ("execve", 1, Target::Elsewhere, false, false),
                ("openat", 1, Target::Elsewhere, true, false),
                ("ppoll", 1, Target::Stdin, true, false),
                ("read", 1, Target::Stdin, true, false),
                ("openat", 2, Target::Sandbox, true, false),
                ("openat", 3, Target::Sandbox, false, false),
                ("write", 1, Target::Sandbox, false, true),
                ("write", 2, Target::Stdout, false, false),
            ]
        );
    }

    #[test]
    fn a_fault_is_told_as_strace_wants_it() {
        let fault = |lasting| Fault { call: "write".into(), nth: 3, error: "EIO", lasting };
        assert_eq!(fault(false).rule(), "inject=write:error=EIO:when=3");
        assert_eq!(fault(true).rule(), "inject=write:error=EIO:when=3+");
        assert_eq!(fault(true).to_string(), "write#3+=EIO");
    }
}
