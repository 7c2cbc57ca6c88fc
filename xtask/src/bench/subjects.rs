//! All subjects of a run with their fixtures, and the way back after each start.

use std::path::{Path, PathBuf};

use super::cases::{CASES, Case, REFUSED};
use super::ccc::{Medium, Scene, Stop};
use super::fixture::{self, Phase, Place};
use super::rivals::Rival;
use super::role::{Baseline, Role};
use super::snapshot::Snapshot;
use super::state::State;
use super::subject::Subject;
use super::{floor, payload};
use crate::dist;
use crate::error::Result;
use crate::shell::write_file;

#[derive(Debug)]
pub(crate) struct Subjects {
    all: Vec<Subject>,
    snapshots: Vec<Snapshot>,
    binary: PathBuf,
    scratch: PathBuf,
    scene: Scene,
}

impl Subjects {
    /// Creates all fixtures and payloads below a scratch folder.
    pub(crate) fn create(binary: &Path, scratch: &Path) -> Result<Self> {
        let scene = Scene::create(binary, scratch)?;
        let (binary, scratch) = (binary.to_owned(), scratch.to_owned());
        let mut subjects = Self { all: Vec::new(), snapshots: Vec::new(), binary, scratch, scene };
        for state in State::ALL {
            for phase in [Phase::Ready, Phase::Active] {
                subjects.add_fixture(state, phase)?;
            }
        }
        subjects.add_switches();
        Ok(subjects)
    }

    fn add_fixture(&mut self, state: State, phase: Phase) -> Result<()> {
        let place = Place::new(&self.scratch, state, phase);
        fixture::create(&place, phase)?;
        self.snapshots.push(Snapshot::take(place.path(""), place.beside("pristine"))?);
        for case in CASES.iter().filter(|case| case.phase == phase) {
            self.add_case(case, &place)?;
        }
        match (state, phase) {
            (State::Typical, Phase::Ready) => self.add_others(&place),
            (state, Phase::Active) if state.has_workflow() => self.add_stops(&place),
            _ => Ok(()),
        }
    }

    /// Adds a subject of the fixture that was made last.
    fn add(&mut self, subject: Subject) {
        self.all.push(subject.undone_by(self.snapshots.len() - 1));
    }

    fn add_case(&mut self, case: &'static Case, place: &Place) -> Result<()> {
        let stdin = payload_file(place, &case.name());
        write_file(&stdin, (case.payload)(place).to_string().as_bytes())?;
        let role = Role::Case(case, place.state);
        let program = dist::hook_program(&self.binary);
        self.add(Subject::new(role, program, place.clone()).reading(stdin));
        Ok(())
    }

    /// The yardsticks, which get a fixture too so that the same work precedes their start, and other people's hooks.
    fn add_others(&mut self, place: &Place) -> Result<()> {
        for baseline in Baseline::ALL {
            let program = match baseline {
                Baseline::True => baseline.name().into(),
                Baseline::Floor => floor::build(&self.scratch)?,
            };
            self.add(Subject::new(Role::Baseline(baseline), program, place.clone()));
        }
        for rival in Rival::ALL {
            write_file(&place.beside(rival.file_name()), rival.source().as_bytes())?;
            let subject = Subject::new(Role::Rival(rival), rival.interpreter()?, place.clone());
            self.add(subject.reading(payload_file(place, &REFUSED.name())));
        }
        Ok(())
    }

    fn add_stops(&mut self, place: &Place) -> Result<()> {
        let stdin = payload_file(place, "stop");
        write_file(&stdin, payload::stop(place).to_string().as_bytes())?;
        for stop in Stop::ALL {
            let subject = Subject::new(Role::Stop(stop, place.state), self.scene.program(), place.clone());
            self.add(subject.reading(stdin.clone()).at_home(self.scene.stop_home(stop)));
        }
        Ok(())
    }

    fn add_switches(&mut self) {
        for medium in Medium::ALL {
            let Some(home) = self.scene.switch_home(medium) else { continue };
            let place = Place::new(&self.scratch, State::None, Phase::Active);
            let subject = Subject::new(Role::Switch(medium), self.scene.program(), place);
            self.all.push(subject.at_home(home));
        }
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

    pub(crate) fn get(&self, index: usize) -> &Subject {
        &self.all[index]
    }

    /// Undoes one start, if there is anything to undo.
    pub(crate) fn undo(&mut self, index: usize) -> Result<()> {
        if self.all[index].role.writes() { self.prepare(index).map(|_| ()) } else { Ok(()) }
    }

    /// Measures all of them one after the other.
    pub(crate) fn each<T>(&mut self, measure: impl Fn(&Subject) -> Result<T>) -> Result<Vec<T>> {
        (0..self.len()).map(|index| measure(self.prepare(index)?.0)).collect()
    }
}

fn payload_file(place: &Place, name: &str) -> PathBuf {
    place.beside(&format!("{name}.json"))
}
