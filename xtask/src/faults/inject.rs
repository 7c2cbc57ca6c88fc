//! Every subject with every fault: one run each, from the same start, on several threads with a sandbox each.

use std::path::Path;
use std::sync::Mutex;
use std::thread;

use super::judge::{self, Expected};
use super::picture::Picture;
use super::run::{self, Ran};
use super::strace::{Call, Fault, Target, errors};
use super::subject::{Kind, Subject};
use super::world::{Site, World};
use crate::error::{Error, Result};
use crate::tree;

/// Which faults are tried.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub breadth: Breadth,
    pub seed: usize,
    /// Only faults whose name contains this.
    pub only: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Breadth {
    /// Each call with each of its errors, once and for good.
    Everything,
    /// Each call of one in so many, with one of its errors.
    OneIn(usize),
}

/// A fault that was tried.
#[derive(Debug)]
pub(crate) struct Tried {
    pub subject: String,
    pub fault: Fault,
    /// What is wrong; nothing is good.
    pub wrong: Vec<String>,
}

impl Tried {
    pub(crate) fn label(&self) -> String {
        format!("{} {}", self.subject, self.fault)
    }
}

/// Beside them the surroundings are tried. A run mostly waits for `strace`, so two cores have work for three.
fn threads() -> usize {
    thread::available_parallelism().map_or(2, |cores| cores.get().clamp(2, 4))
}

/// Tries all faults of a plan. Progress goes to stderr.
pub(crate) fn run(plan: &Plan, binary: &Path, scratch: &Path) -> Result<Vec<Tried>> {
    let mut waiting = Subject::all();
    waiting.retain(|subject| plan.wants(subject));
    waiting.reverse();
    let all = waiting.len();
    let waiting = Mutex::new(waiting);
    let work = |number: usize| -> Result<Vec<Tried>> {
        let mut tried = Vec::new();
        while let Some((subject, left)) = next(&waiting) {
            let root = scratch.join(format!("{number}"));
            tree::remove(&root)?;
            let mut found = try_subject(plan, binary, &root, &subject)?;
            eprintln!("faults: {}/{all} {}: {} faults", all - left, subject.name, found.len());
            tried.append(&mut found);
        }
        Ok(tried)
    };
    let work = &work;
    let results = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads()).map(|number| scope.spawn(move || work(number))).collect();
        workers.into_iter().map(thread::ScopedJoinHandle::join).collect::<Vec<_>>()
    });
    let mut tried = Vec::new();
    for result in results {
        tried.append(&mut result.map_err(|_| Error::new("a worker of the fault layer panicked"))??);
    }
    tried.sort_by_key(Tried::label);
    Ok(tried)
}

fn next(waiting: &Mutex<Vec<Subject>>) -> Option<(Subject, usize)> {
    let mut waiting = waiting.lock().ok()?;
    let subject = waiting.pop()?;
    Some((subject, waiting.len()))
}

fn try_subject(plan: &Plan, binary: &Path, root: &Path, subject: &Subject) -> Result<Vec<Tried>> {
    let site = Site::build(root, binary, subject.world)?;
    let (expected, calls) = observe(&site, subject)?;
    let mut tried = Vec::new();
    for fault in plan.faults(subject, &calls) {
        expected.before.put(root)?;
        let ran = run::traced(&site, subject, Some(&fault))?;
        let left = Picture::take(root)?;
        let mut wrong = judge::judge(subject, &expected, &ran, &left);
        wrong.extend(afterwards(&site, subject, &ran)?);
        tried.push(Tried { subject: subject.name.clone(), fault, wrong });
    }
    Ok(tried)
}

/// What it does without a fault, and through which calls.
pub(crate) fn observe(site: &Site, subject: &Subject) -> Result<(Expected, Vec<Call>)> {
    let before = Picture::take(&site.root)?;
    // As every later run will find it: a picture has no empty folders.
    before.put(&site.root)?;
    let ran = run::traced(site, subject, None)?;
    if ran.code != Some(0) {
        let what = format!("{} fails without a fault: {:?} {}", subject.name, ran.code, ran.stderr);
        return Err(Error::new(what));
    }
    let after = Picture::take(&site.root)?;
    Ok((Expected { before, after, stdout: ran.stdout }, ran.calls))
}

/// Without the fault everything works again: what failed can be repeated, and the state can be read.
fn afterwards(site: &Site, subject: &Subject, faulty: &Ran) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    if !subject.kind.is_for_people() || faulty.code != Some(0) {
        let again = run::plain(site, subject)?;
        let is_told = subject.kind.is_for_people() && again.stderr.contains("hint: ");
        if (again.code != Some(0) && !is_told) || (subject.kind == Kind::Hook && !again.stderr.is_empty()) {
            wrong.push(format!("the next run fails: {:?} {}", again.code, again.stderr.trim_end()));
        }
    }
    for words in [&["status", "--json"][..], &["ccc", "list", "--json"]] {
        if words[0] == "status" && subject.world == World::NoWorkflow {
            continue;
        }
        let look = run::words(site, words)?;
        if look.code != Some(0) {
            wrong.push(format!(
                "`overtone {}` fails afterwards: {}",
                words.join(" "),
                look.stderr.trim_end()
            ));
        }
    }
    wrong.extend(judge::unreadable(&Picture::take(&site.root)?));
    Ok(wrong)
}

impl Plan {
    fn wants(&self, subject: &Subject) -> bool {
        let has_time = matches!(self.breadth, Breadth::Everything | Breadth::OneIn(1));
        self.wants_subject(&subject.name) && (has_time || !subject.is_heavy())
    }

    /// A label begins with the subject's name, so a subject can be passed over before it is looked at.
    fn wants_subject(&self, name: &str) -> bool {
        let begins = |only: &str| only.split(' ').next().is_some_and(|subject| name.contains(subject));
        self.only.as_deref().is_none_or(|only| only.contains('#') && !only.contains(' ') || begins(only))
    }

    /// The faults of a subject that makes these calls.
    fn faults(&self, subject: &Subject, calls: &[Call]) -> Vec<Fault> {
        let ours = calls.iter().filter(|call| call.target != Target::Elsewhere && call.name != "execve");
        let faults = ours.enumerate().flat_map(|(index, call)| self.faults_of(subject, call, index));
        let wanted = |fault: &Fault| {
            let label = format!("{} {fault}", subject.name);
            self.only.as_deref().is_none_or(|only| label.contains(only))
        };
        faults.filter(wanted).collect()
    }

    fn faults_of(&self, subject: &Subject, call: &Call, index: usize) -> Vec<Fault> {
        let turn = self.seed + index;
        let can_last = !call.reads && subject.kind != Kind::Launch;
        let fault = |error, lasting| Fault { call: call.name.clone(), nth: call.nth, error, lasting };
        let errors = errors(&call.name);
        match self.breadth {
            Breadth::Everything => {
                let once = errors.iter().map(|error| fault(error, false));
                let lasting = errors.iter().filter(|error| can_last && lasts(error));
                once.chain(lasting.map(|error| fault(error, true))).collect()
            }
            Breadth::OneIn(part) if turn.is_multiple_of(part) => {
                let error = errors[turn / part % errors.len()];
                vec![fault(error, can_last && lasts(error) && (turn / part).is_multiple_of(5))]
            }
            Breadth::OneIn(_) => Vec::new(),
        }
    }
}

/// An interrupted call that is interrupted for ever is no fault of a disk.
fn lasts(error: &str) -> bool {
    matches!(error, "ENOSPC" | "EIO" | "EACCES")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &str, nth: usize, target: Target) -> Call {
        Call { name: name.into(), nth, target, reads: name == "read", injected: false }
    }

    fn labels(plan: &Plan) -> Vec<String> {
        let subject = Subject::all().into_iter().find(|subject| subject.name == "stop").unwrap();
        let calls = [
            call("read", 1, Target::Elsewhere),
            call("read", 2, Target::Sandbox),
            call("write", 1, Target::Stdout),
        ];
        plan.faults(&subject, &calls).iter().map(Fault::to_string).collect()
    }

    #[test]
    fn every_call_of_ours_fails_with_every_error() {
        let plan = Plan { breadth: Breadth::Everything, seed: 0, only: None };
        assert_eq!(
            labels(&plan).join(" "),
            "read#2=EIO read#2=EINTR write#1=ENOSPC write#1=EACCES write#1=EIO write#1=EINTR write#1+=ENOSPC \
             write#1+=EACCES write#1+=EIO"
        );
    }

    #[test]
    fn a_part_takes_turns() {
        let part = |seed| labels(&Plan { breadth: Breadth::OneIn(1), seed, only: None }).join(" ");
        assert_eq!(part(1), "read#2=EINTR write#1=EIO");
        assert_eq!(part(2), "read#2=EIO write#1=EINTR");
        let half = Plan { breadth: Breadth::OneIn(2), seed: 0, only: None };
        assert_eq!(labels(&half), ["read#2=EIO"]);
    }

    #[test]
    fn one_fault_can_be_run_again() {
        let only = |text: &str| Plan { breadth: Breadth::Everything, seed: 0, only: Some(text.into()) };
        assert_eq!(labels(&only("stop write#1=EIO")), ["write#1=EIO"]);
        assert!(only("stop write#1=EIO").wants_subject("stop"));
        assert!(!only("stop write#1=EIO").wants_subject("resume"));
        assert!(only("write#1").wants_subject("resume"));
    }
}
