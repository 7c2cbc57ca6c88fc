//! The programs that are measured, each with a fixture that can be restored.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::cases::{Case, Class, REFUSED};
use super::fixture::{self, OVERTONE_HOME, Phase, Place, SESSION, State};
use super::restore;
use crate::error::{Error, Result};
use crate::shell::write_file;
use crate::{dist, shell, tools, tree};

pub(crate) const TRUE: &str = "/bin/true";
pub(crate) const NODE: &str = "Node hook";

/// One program in one session.
#[derive(Debug)]
pub(crate) struct Subject {
    pub name: &'static str,
    pub session: &'static str,
    /// Only our own programs have one.
    pub class: Option<Class>,
    program: PathBuf,
    arguments: Vec<String>,
    home: &'static str,
    place: Place,
    stdin: PathBuf,
}

/// Creates all fixtures below an empty folder. `memory` is one on a file system in memory, for a switch of `ccc`: it calls
/// fsync, and its time would be that of the disk.
pub(crate) fn create_all(binary: &Path, scratch: &Path, memory: &Path) -> Result<Vec<Subject>> {
    let cases = Case::all()?;
    let mut subjects = Vec::new();
    for state in State::ALL {
        for phase in [Phase::Ready, Phase::Active] {
            let place = create_place(scratch, state, phase)?;
            for case in cases.iter().filter(|case| case.phase == phase) {
                let Some(class) = case.class(state) else { continue };
                let subject = Subject::new(case.name, &place, &case.input(&place)?)?;
                let (class, program, home) = (Some(class), dist::hook_program(binary), case.home);
                subjects.push(Subject { class, program, arguments: case.arguments(), home, ..subject });
                if case.name == REFUSED && state == State::Typical {
                    subjects.extend(yardsticks(&place, &case.input(&place)?)?);
                }
            }
        }
    }
    subjects.push(switch(binary, memory)?);
    // By program, then by session, as the figures are read.
    subjects.sort_by_key(|subject| cases.iter().position(|case| case.name == subject.name));
    Ok(subjects)
}

fn create_place(scratch: &Path, state: State, phase: Phase) -> Result<Place> {
    let place = Place::new(scratch, state, phase);
    fixture::create(&place, phase)?;
    fixture::create_ccc_homes(&place)?;
    // A session has it since its first hook.
    write_file(&place.path(OVERTONE_HOME).join("sessions").join(SESSION).join(".lock"), b"")?;
    restore::keep(&place.beside(""))?;
    Ok(place)
}

/// What our programs are compared with. They find the same fixture and payload as the case that Node does too.
fn yardsticks(place: &Place, input: &Value) -> Result<[Subject; 2]> {
    tools::require("node")?;
    // The command on PATH may be a version manager's shim, which would make Node slower than it is.
    let node = shell::capture(Command::new("node").args(["-p", "process.execPath"]))?;
    let script = place.beside("gate.js");
    write_file(&script, include_bytes!("gate.js"))?;
    let nothing = Subject { program: TRUE.into(), ..Subject::new(TRUE, place, input)? };
    let arguments = vec![script.display().to_string()];
    let gate = Subject { program: node.trim().into(), arguments, ..Subject::new(NODE, place, input)? };
    Ok([nothing, gate].map(|subject| Subject { session: "", class: None, ..subject }))
}

/// `ccc` switches to the other provider and starts the client, which is `/bin/true`.
fn switch(binary: &Path, memory: &Path) -> Result<Subject> {
    let place = create_place(memory, State::None, Phase::Active)?;
    let client = place.beside("claude");
    symlink(TRUE, &client).map_err(|e| Error::io("cannot create", &client, &e))?;
    Ok(Subject {
        session: "",
        class: Some(Class::Switching),
        program: binary.to_owned(),
        arguments: vec!["ccc".to_owned(), "b".to_owned()],
        home: "home-on",
        ..Subject::new("ccc: switch and start", &place, &Value::Null)?
    })
}

impl Subject {
    fn new(name: &'static str, place: &Place, input: &Value) -> Result<Self> {
        let stdin = place.beside(&format!("{name}.json").replace('/', "-"));
        write_file(&stdin, input.to_string().as_bytes())?;
        let (session, place) = (place.state.name(), place.clone());
        let (program, arguments) = (PathBuf::new(), Vec::new());
        Ok(Self { name, session, class: None, program, arguments, home: "home", place, stdin })
    }

    pub(crate) fn label(&self) -> String {
        if self.session.is_empty() {
            self.name.to_owned()
        } else {
            format!("{}, {}", self.name, self.session)
        }
    }

    pub(crate) fn stdin(&self) -> &Path {
        &self.stdin
    }

    pub(crate) fn command_line(&self) -> Vec<String> {
        let mut line = vec![self.program.display().to_string()];
        line.extend(self.arguments.iter().cloned());
        line
    }

    /// The folder of the fixture.
    pub(crate) fn fixture(&self) -> PathBuf {
        self.place.beside("")
    }

    pub(crate) fn restore(&self) -> Result<()> {
        restore::restore(&self.fixture())
    }

    /// Another program in the surroundings of this one, as the client would start it: nothing is inherited.
    pub(crate) fn surround(&self, program: &str) -> Result<Command> {
        let project = self.place.path("project");
        let stdin = File::open(&self.stdin).map_err(|e| Error::io("cannot read", &self.stdin, &e))?;
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.place.beside("").display());
        let mut command = Command::new(program);
        command
            .current_dir(&project)
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.place.path(self.home))
            .env("OVERTONE_HOME", self.place.path(OVERTONE_HOME))
            .env("OVERTONE_NO_DASHBOARD", "1")
            .env("CLAUDE_PROJECT_DIR", &project)
            .env("CLAUDE_CODE_SESSION_ID", SESSION)
            .env("CLAUDE_ENV_FILE", self.place.path("env.sh"))
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        Ok(command)
    }

    /// Runs the program once under a tool, and restores the fixture. Anything but success is an error.
    pub(crate) fn run_under(&self, tool: &str, arguments: &[&str]) -> Result<Output> {
        let output = self.start_under(tool, arguments);
        if self.writes() {
            self.restore()?;
        }
        output
    }

    fn start_under(&self, tool: &str, arguments: &[&str]) -> Result<Output> {
        let output = self.surround(tool)?.args(arguments).args(self.command_line()).output();
        let output = output.map_err(|e| Error::new(format!("cannot run {tool}: {e}")))?;
        if output.status.success() {
            return Ok(output);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(Error::new(format!("{} failed: {}: {said}", self.label(), output.status)))
    }

    /// Like [`run_under`](Self::run_under), and fails unless the program does what it is measured for: a fast error path
    /// would have the best figures. Returns what it printed.
    pub(crate) fn check_under(&self, tool: &str, arguments: &[&str]) -> Result<String> {
        let before = self.stamps()?;
        let output = self.start_under(tool, arguments)?;
        let has_written = self.stamps()? != before;
        self.restore()?;
        if !output.stderr.is_empty() && self.class != Some(Class::Switching) {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(Error::new(format!("{} complained: {said}", self.label())));
        }
        if has_written != self.writes() {
            let should = if has_written { "should write nothing" } else { "should write" };
            return Err(Error::new(format!("{} {should}", self.label())));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    pub(crate) fn writes(&self) -> bool {
        matches!(self.class, Some(Class::Writing | Class::Switching))
    }

    /// Differs after a change, which replaces a file or appends to it. Empty files are locks, which do not count.
    fn stamps(&self) -> Result<BTreeMap<PathBuf, (u64, u64)>> {
        let mut files = tree::files(&self.place.path(""))?;
        files.retain(|_, metadata| metadata.len() > 0);
        Ok(files.into_iter().map(|(path, metadata)| (path, (metadata.ino(), metadata.len()))).collect())
    }
}
