//! The programs that are measured, each with its fixture, and how one of them is started.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use overtone_registry::Hook;

use super::cases::{CASES, Case, State};
use super::fixture::{self, OVERTONE_HOME, Phase, Place, SESSION};
use super::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::shell::write_file;

/// The yardstick: the smallest program that a system has.
const BASELINE: &str = "/bin/true";

/// A hook in a state; without a case it is the baseline.
#[derive(Debug)]
pub(crate) struct Subject {
    pub case: Option<&'static Case>,
    pub state: State,
    program: PathBuf,
    place: Place,
    stdin: Option<PathBuf>,
    snapshot: usize,
}

#[derive(Debug)]
pub(crate) struct Subjects {
    subjects: Vec<Subject>,
    snapshots: Vec<Snapshot>,
}

impl Subjects {
    /// Creates all fixtures and payloads below a scratch folder. The baseline comes first.
    pub(crate) fn create(binary: &Path, scratch: &Path) -> Result<Self> {
        let mut all = Self { subjects: Vec::new(), snapshots: Vec::new() };
        for state in State::ALL {
            for phase in [Phase::Ready, Phase::Active] {
                all.add_fixture(binary, scratch, state, phase)?;
            }
        }
        // It gets a fixture too, so that the same work precedes its start.
        let place = all.subjects[0].place.clone();
        all.subjects.insert(0, Subject::baseline(place));
        Ok(all)
    }

    fn add_fixture(&mut self, binary: &Path, scratch: &Path, state: State, phase: Phase) -> Result<()> {
        let folder = scratch.join(format!("{}-{phase:?}", state.name()).to_lowercase());
        let place = Place::new(folder.join("live"), state);
        fixture::create(&place, phase)?;
        self.snapshots.push(Snapshot::take(place.path(""), folder.join("pristine"))?);
        let snapshot = self.snapshots.len() - 1;
        for case in CASES.iter().filter(|case| case.phase == phase) {
            let payload = folder.join(format!("{}.json", case.name()));
            write_file(&payload, (case.payload)(&place).to_string().as_bytes())?;
            self.subjects.push(Subject::hook(case, binary, place.clone(), payload, snapshot));
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.subjects.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Subject> {
        self.subjects.iter()
    }

    /// Undoes what earlier starts wrote, then returns the subject, ready to start. The second part names the
    /// files that had been changed.
    pub(crate) fn prepare(&mut self, index: usize) -> Result<(&Subject, Vec<PathBuf>)> {
        let subject = &self.subjects[index];
        let changed = self.snapshots[subject.snapshot].restore()?;
        Ok((subject, changed))
    }
}

impl Subject {
    fn baseline(place: Place) -> Self {
        Self { case: None, state: place.state, program: BASELINE.into(), place, stdin: None, snapshot: 0 }
    }

    fn hook(case: &'static Case, binary: &Path, place: Place, payload: PathBuf, snapshot: usize) -> Self {
        Self {
            case: Some(case),
            state: place.state,
            program: binary.to_owned(),
            place,
            stdin: Some(payload),
            snapshot,
        }
    }

    /// The name of the case and the state: `on-stop, huge`.
    pub(crate) fn label(&self) -> String {
        match self.case {
            Some(case) => format!("{}, {}", case.name(), self.state.name()),
            None => BASELINE.to_owned(),
        }
    }

    pub(crate) fn payload(&self) -> Option<&Path> {
        self.stdin.as_deref()
    }

    /// The command as the client would start it: payload on stdin, a private home, nothing inherited.
    pub(crate) fn command(&self) -> Result<Command> {
        self.command_under(&[])
    }

    /// The same, run by another program.
    pub(crate) fn command_under(&self, wrapper: &[&str]) -> Result<Command> {
        let mut command = match wrapper {
            [] => Command::new(&self.program),
            [program, arguments @ ..] => {
                let mut command = Command::new(program);
                command.args(arguments).arg(&self.program);
                command
            }
        };
        if let Some(case) = self.case {
            command.args(["hook", case.hook.name()]);
        }
        self.set_environment(&mut command);
        command.stdin(self.open_stdin()?).stdout(Stdio::null());
        Ok(command)
    }

    fn set_environment(&self, command: &mut Command) {
        let project = self.place.path("project");
        command
            .current_dir(&project)
            .env_clear()
            .env("OVERTONE_NO_DASHBOARD", "1")
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.place.path("home"))
            .env("OVERTONE_HOME", self.place.path(OVERTONE_HOME))
            .env("CLAUDE_PROJECT_DIR", &project)
            .env("CLAUDE_CODE_SESSION_ID", SESSION);
        if self.case.is_some_and(|case| case.hook == Hook::OnStart) {
            command.env("CLAUDE_ENV_FILE", self.place.path("env.sh"));
        }
    }

    fn open_stdin(&self) -> Result<Stdio> {
        let Some(path) = &self.stdin else {
            return Ok(Stdio::null());
        };
        let file = File::open(path).map_err(|e| Error::io("cannot read payload", path, &e))?;
        Ok(file.into())
    }
}
