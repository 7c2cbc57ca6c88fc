//! One run of a subject: with a fault, traced only, or as everybody would run it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::strace::{self, Call, Fault};
use super::subject::Subject;
use super::world::Site;
use crate::error::{Error, Result};
use crate::sandbox::feed_text;

/// Whatever takes longer hangs. A run takes a second, but a busy machine may need a while for it.
const LIMIT_SECONDS: &str = "1200";
const KILL_AFTER: &str = "--kill-after=2";

/// What came of it.
#[derive(Debug, Clone)]
pub(crate) struct Ran {
    /// None for a program that was killed.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub calls: Vec<Call>,
}

impl Ran {
    fn of(output: &Output, calls: Vec<Call>) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr), calls }
    }

    /// `timeout` ends with 124 when it had to end the program, with 137 when it had to kill it.
    pub(crate) fn hung(&self) -> bool {
        matches!(self.code, None | Some(124 | 137))
    }

    pub(crate) fn injected(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| call.injected)
    }
}

/// Under `strace`, with or without a fault.
pub(crate) fn traced(site: &Site, subject: &Subject, fault: Option<&Fault>) -> Result<Ran> {
    let log = site.root.join("strace.log");
    let mut command = limited(site, Path::new("strace"));
    command.args(["-qq", "-y", "-s", "0", "-e", "signal=none", "-e", strace::WATCHED]);
    if let Some(fault) = fault {
        command.args(["-e", &fault.rule()]);
    }
    command.arg("-o").arg(&log).arg("--").arg(site.sandbox.binary()).args(subject.arguments(site));
    let output = finish(&mut command, subject.stdin(site))?;
    let text = fs::read(&log).map_err(|e| Error::io("cannot read the trace", &log, &e))?;
    Ok(Ran::of(&output, strace::parse(&String::from_utf8_lossy(&text), &site.root)))
}

/// As everybody would run it.
pub(crate) fn plain(site: &Site, subject: &Subject) -> Result<Ran> {
    let arguments = subject.arguments(site);
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    words_with(site, &words, subject.stdin(site))
}

/// As another user, with a copy of the program that everybody may run.
pub(crate) fn through(site: &Site, wrapper: &[&str], program: &Path, subject: &Subject) -> Result<Ran> {
    let (first, rest) = wrapper.split_first().unwrap_or((&"env", &[]));
    let mut command = limited(site, Path::new(first));
    command.args(rest).arg(program).args(subject.arguments(site));
    let output = finish(&mut command, subject.stdin(site))?;
    Ok(Ran::of(&output, Vec::new()))
}

/// Any other command of the program.
pub(crate) fn words(site: &Site, words: &[&str]) -> Result<Ran> {
    words_with(site, words, None)
}

fn words_with(site: &Site, words: &[&str], stdin: Option<String>) -> Result<Ran> {
    let mut command = limited(site, site.sandbox.binary());
    let output = finish(command.args(words), stdin)?;
    Ok(Ran::of(&output, Vec::new()))
}

fn limited(site: &Site, program: &Path) -> Command {
    let mut command = site.sandbox.command_of(Path::new("timeout"), &[KILL_AFTER, LIMIT_SECONDS]);
    site.furnish(&mut command).arg(program);
    command
}

fn finish(command: &mut Command, stdin: Option<String>) -> Result<Output> {
    let lost = |e: std::io::Error| Error::new(format!("a program under test is lost: {e}"));
    match stdin {
        Some(text) => feed_text(command, &text)?.wait_with_output().map_err(lost),
        None => command.stdin(Stdio::null()).output().map_err(lost),
    }
}
