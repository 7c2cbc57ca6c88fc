//! The programs that are measured, each with its fixture, and how one of them is started.

use std::cell::Cell;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use overtone_registry::Hook;

use super::cases::{CASES, Case, Class, State};
use super::ccc::{Call, Scene};
use super::fixture::{self, OVERTONE_HOME, Phase, Place, SESSION};
use super::snapshot::Snapshot;
use crate::error::{Error, Result};
use crate::shell::write_file;

/// The yardstick: the smallest program that a system has.
const BASELINE: &str = "/bin/true";

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Role {
    Baseline,
    Hook(&'static Case, State),
    Ccc(Call),
}

impl Role {
    pub(crate) fn name(self) -> String {
        match self {
            Self::Baseline => BASELINE.to_owned(),
            Self::Hook(case, _) => case.name(),
            Self::Ccc(call) => call.name().to_owned(),
        }
    }

    pub(crate) const fn state(self) -> &'static str {
        match self {
            Self::Baseline => "",
            Self::Hook(_, state) => state.name(),
            Self::Ccc(call) => call.state(),
        }
    }

    /// The baseline has none.
    pub(crate) const fn class(self) -> Option<Class> {
        match self {
            Self::Baseline => None,
            Self::Hook(case, state) => Some(case.class(state)),
            Self::Ccc(call) => Some(call.class()),
        }
    }

    /// The place in the table.
    pub(crate) fn order(self) -> usize {
        let hook = CASES.iter().position(|case| case.name() == self.name());
        let call = Call::ALL.iter().position(|call| call.name() == self.name());
        hook.or_else(|| call.map(|at| CASES.len() + at)).unwrap_or_default()
    }
}

/// A program with everything it needs.
#[derive(Debug)]
pub(crate) struct Subject {
    pub role: Role,
    program: PathBuf,
    place: Place,
    stdin: Option<PathBuf>,
    /// What its starts are undone by; a switch is undone by the next one.
    snapshot: Option<usize>,
    /// Which of the two providers the next switch is to.
    to_second: Cell<bool>,
}

#[derive(Debug)]
pub(crate) struct Subjects {
    all: Vec<Subject>,
    snapshots: Vec<Snapshot>,
    scene: Scene,
}

impl Subjects {
    /// Creates all fixtures and payloads below a scratch folder. The baseline comes first.
    pub(crate) fn create(binary: &Path, scratch: &Path) -> Result<Self> {
        let scene = Scene::create(binary, scratch)?;
        let mut subjects = Self { all: Vec::new(), snapshots: Vec::new(), scene };
        for state in State::ALL {
            for phase in [Phase::Ready, Phase::Active] {
                subjects.add_fixture(binary, scratch, state, phase)?;
            }
        }
        subjects.add_ccc()?;
        // It gets a fixture too, so that the same work precedes its start.
        let place = subjects.all[0].place.clone();
        subjects.all.insert(0, Subject::baseline(place));
        Ok(subjects)
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
            self.all.push(Subject::hook(case, binary, place.clone(), payload, snapshot));
        }
        Ok(())
    }

    fn add_ccc(&mut self) -> Result<()> {
        for call in Call::ALL {
            let Some(root) = self.scene.root(call) else { continue };
            let place = Place::new(root, State::None);
            let stdin = if call.is_switch() { None } else { Some(self.scene.stop(&place)?) };
            let program = self.scene.program();
            self.all.push(Subject { stdin, ..Subject::new(Role::Ccc(call), program, place) });
        }
        Ok(())
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Subject> {
        self.all.iter()
    }

    /// Undoes what earlier starts wrote, then returns the subject, ready to start. The second part names the
    /// files that had been changed.
    pub(crate) fn prepare(&mut self, index: usize) -> Result<(&Subject, Vec<PathBuf>)> {
        let subject = &self.all[index];
        let changed = subject.snapshot.map(|index| self.snapshots[index].restore()).transpose()?;
        Ok((subject, changed.unwrap_or_default()))
    }
}

impl Subject {
    fn baseline(place: Place) -> Self {
        Self { snapshot: Some(0), ..Self::new(Role::Baseline, BASELINE.into(), place) }
    }

    const fn new(role: Role, program: PathBuf, place: Place) -> Self {
        Self { role, program, place, stdin: None, snapshot: None, to_second: Cell::new(false) }
    }

    fn hook(case: &'static Case, binary: &Path, place: Place, payload: PathBuf, snapshot: usize) -> Self {
        let role = Role::Hook(case, place.state);
        let fixture = Self::new(role, binary.to_owned(), place);
        Self { stdin: Some(payload), snapshot: Some(snapshot), ..fixture }
    }

    /// The name of the case and the state: `on-stop, huge`.
    pub(crate) fn label(&self) -> String {
        let (name, state) = (self.role.name(), self.role.state());
        if state.is_empty() { name } else { format!("{name}, {state}") }
    }

    /// What a hook that waits for its stdin is given.
    pub(crate) fn payload(&self) -> Option<&Path> {
        self.stdin.as_deref().filter(|_| matches!(self.role, Role::Hook(..)))
    }

    /// The client's settings, as they are now.
    pub(crate) fn settings(&self) -> Option<String> {
        fs::read_to_string(self.place.path("home/.claude/settings.json")).ok()
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
        match self.role {
            Role::Baseline => {}
            Role::Hook(case, _) => _ = command.args(["hook", case.hook.name()]),
            Role::Ccc(Call::Switch(_)) => {
                // A tool loses sight of a program that becomes another one.
                command.args((!wrapper.is_empty()).then_some("use")).arg(self.next_provider());
            }
            Role::Ccc(_) => _ = command.arg("supervisor-hook"),
        }
        self.set_environment(&mut command);
        command.stdin(self.open_stdin()?).stdout(Stdio::null());
        Ok(command)
    }

    fn next_provider(&self) -> &'static str {
        self.to_second.set(!self.to_second.get());
        if self.to_second.get() { "b" } else { "a" }
    }

    fn set_environment(&self, command: &mut Command) {
        let project = self.place.path("project");
        command
            .current_dir(&project)
            .env_clear()
            .env("OVERTONE_NO_DASHBOARD", "1")
            .env("PATH", self.search_path())
            .env("HOME", self.place.path("home"))
            .env("OVERTONE_HOME", self.place.path(OVERTONE_HOME))
            .env("CLAUDE_PROJECT_DIR", &project)
            .env("CLAUDE_CODE_SESSION_ID", SESSION);
        match self.role {
            Role::Hook(case, _) if case.hook == Hook::OnStart => {
                command.env("CLAUDE_ENV_FILE", self.place.path("env.sh"));
            }
            Role::Ccc(call) => _ = command.envs(call.variable()),
            _ => {}
        }
    }

    /// For `ccc`, its own folder comes first: the client is there.
    fn search_path(&self) -> String {
        let system = "/usr/local/bin:/usr/bin:/bin";
        match (self.role, self.program.parent()) {
            (Role::Ccc(_), Some(bin)) => format!("{}:{system}", bin.display()),
            _ => system.to_owned(),
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
