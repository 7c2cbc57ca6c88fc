//! What can happen to a subject: an error or a kill at each of its system calls, a write that stops half-way, its
//! session deleted meanwhile, or an unusual environment.

use std::fmt;
use std::path::Path;

use super::environment::{ENVIRONMENTS, Environment};
use super::judge::{Expected, is_log};
use super::run::{Call, Target};
use super::snapshot::Snapshot;
use super::subject::Kind;

#[derive(Debug, Clone)]
pub(super) enum Fault {
    /// A call fails; a lasting error makes every later call of this name fail, too, like a disk that stays full.
    Error {
        call: String,
        nth: usize,
        error: &'static str,
        lasting: bool,
    },
    /// The process is killed just before a call, which is then not made.
    Kill {
        call: String,
        nth: usize,
    },
    /// Somebody deletes the session's folder just after a call.
    Deletion {
        call: String,
        nth: usize,
    },
    /// A write is cut short by a limit on file sizes, and then the rest fails, or the process is killed.
    ShortWrite {
        nth: usize,
        limit: usize,
        kills: bool,
    },
    Environment(Environment),
}

impl Fault {
    /// Everything that is tried with a subject that makes these calls.
    pub(super) fn all(expected: &Expected, calls: &[Call]) -> Vec<Self> {
        let subject = &expected.subject;
        let is_ours = |call: &&Call| call.target != Target::Elsewhere && call.name != "execve";
        let mut faults = Vec::new();
        for call in calls.iter().filter(is_ours) {
            let (name, nth) = (call.name.clone(), call.nth);
            for error in errors(&name) {
                faults.push(Self::Error { call: name.clone(), nth, error, lasting: false });
                // The client would inherit a lasting error. An interruption for ever is no failure of a disk.
                if !call.reads && subject.kind != Kind::Launch && *error != "EINTR" {
                    faults.push(Self::Error { call: name.clone(), nth, error, lasting: true });
                }
            }
            if let Some(limit) = limit_within(call, &expected.before) {
                faults.extend([true, false].map(|kills| Self::ShortWrite { nth, limit, kills }));
            }
            // A kill before a call that changes no file leaves the same files as one before the next that does.
            let is_change = !call.reads && !["flock", "fsync", "fdatasync"].contains(&name.as_str());
            if is_change && call.target == Target::Fixture {
                faults.push(Self::Kill { call: name.clone(), nth });
                if subject.kind == Kind::Hook && subject.situation != "none" {
                    faults.push(Self::Deletion { call: name, nth });
                }
            }
        }
        faults.extend(ENVIRONMENTS.into_iter().filter(|it| it.1(subject)).map(Self::Environment));
        faults
    }

    /// The `strace` option that injects it.
    pub(super) fn rule(&self) -> Option<String> {
        match self {
            Self::Error { call, nth, error, lasting } => {
                let plus = if *lasting { "+" } else { "" };
                Some(format!("inject={call}:error={error}:when={nth}{plus}"))
            }
            Self::Kill { call, nth } => Some(format!("inject={call}:signal=SIGKILL:when={nth}")),
            Self::Deletion { call, nth } => Some(format!("inject={call}:signal=SIGSTOP:when={nth}")),
            // The first write is cut short, the second one would write the rest.
            Self::ShortWrite { nth, kills: true, .. } => {
                Some(format!("inject=write:signal=SIGKILL:when={}", nth + 1))
            }
            Self::ShortWrite { .. } | Self::Environment(_) => None,
        }
    }

    /// What it is counted as.
    pub(super) fn group(&self) -> &'static str {
        match self {
            Self::Error { .. } => "errors",
            Self::Kill { .. } => "kills",
            Self::Deletion { .. } => "deletions",
            Self::ShortWrite { .. } => "short writes",
            Self::Environment(_) => "environments",
        }
    }
}

/// The name under which it can be run again.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error { call, nth, error, lasting } => {
                write!(f, "{call}#{nth}{}={error}", if *lasting { "+" } else { "" })
            }
            Self::Kill { call, nth } => write!(f, "{call}#{nth}=killed"),
            Self::Deletion { call, nth } => write!(f, "{call}#{nth}=deleted"),
            Self::ShortWrite { nth, kills: true, .. } => write!(f, "write#{nth}=torn"),
            Self::ShortWrite { nth, kills: false, .. } => write!(f, "write#{nth}=short"),
            Self::Environment(environment) => f.write_str(environment.0),
        }
    }
}

/// The errors that a call is made to return.
fn errors(call: &str) -> &'static [&'static str] {
    match call {
        "flock" => &["ENOLCK", "EOPNOTSUPP", "EINTR"],
        "read" | "pread64" | "getdents64" | "poll" | "ppoll" => &["EIO", "EINTR"],
        "stat" | "lstat" | "fstat" | "newfstatat" | "statx" => &["EACCES", "EIO"],
        "fsync" | "fdatasync" | "ftruncate" => &["EIO", "ENOSPC", "EINTR"],
        _ => &["ENOSPC", "EACCES", "EIO", "EINTR"],
    }
}

/// The length of a file when half of a write is done. A write to a log comes after what is in it, any other at the start.
fn limit_within(call: &Call, before: &Snapshot) -> Option<usize> {
    let (_, rest) = call.arguments.split_once('<').filter(|_| call.name == "write")?;
    let (path, rest) = rest.split_once('>')?;
    let length: usize = rest.rsplit(" = ").next()?.parse().ok()?;
    let log = before.files.iter().find(|(name, _)| is_log(name) && Path::new(path).ends_with(name));
    let is_ours = call.target == Target::Fixture && length > 1;
    is_ours.then(|| log.map_or(0, |(_, file)| file.bytes.len()) + length / 2)
}

#[cfg(test)]
mod tests {
    use super::super::run::parse;
    use super::super::snapshot::File;
    use super::super::subject::Subject;
    use super::*;

    #[test]
    fn every_call_of_ours_fails_and_is_killed_where_it_changes_something() {
        let log =
            "read(3</lib/a>) = 1\nread(3</box/home/a>) = 1\nwrite(4</box/home/a.jsonl>, \"\"..., 6) = 6\n";
        let file = File { bytes: b"1\n".into(), mode: 0o600 };
        let before = Snapshot { files: [("home/a.jsonl".into(), file)].into() };
        let up = Subject::all().into_iter().find(|subject| subject.name == "up/none").unwrap();
        let faults = Fault::all(&Expected::new(&up, before), &parse(log, Path::new("/box")));
        let labels: Vec<_> = faults.iter().map(Fault::to_string).collect();
        assert_eq!(
            labels.join(" "),
            "read#2=EIO read#2=EINTR write#1=ENOSPC write#1+=ENOSPC write#1=EACCES write#1+=EACCES write#1=EIO \
             write#1+=EIO write#1=EINTR write#1=torn write#1=short write#1=killed"
        );
        let is_in_the_middle = |fault: &&Fault| matches!(fault, Fault::ShortWrite { limit: 5, .. });
        assert_eq!(faults.iter().filter(is_in_the_middle).count(), 2);
    }
}
