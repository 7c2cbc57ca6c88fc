//! `cargo xtask proof faults`: every hook and every command that writes, with an error and a kill at each of its system calls on
//! files, with writes that stop half-way, and in unusual environments.
//!
//! Each subject is traced once without a fault. Then, for each fault, it is run from the same files, what it left is
//! judged, and it is run again without the fault, which must succeed and end where runs without a fault do.

mod environment;
mod fault;
mod fixture;
mod judge;
mod run;
mod snapshot;
mod subject;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use crate::background::in_parallel;
use crate::error::{Error, Result};
use crate::{dist, shell, tools, tree};
use fault::Fault;
use fixture::{Fixture, SESSION};
use judge::{Expected, Tolerance};
use run::{Call, Ran};
use snapshot::Snapshot;
use subject::{Kind, Subject};

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// What CI runs: all kills and short writes, and a fixed part of the rest, on the dev binary
    #[arg(long, conflicts_with_all = ["only", "binary"])]
    ci: bool,
    /// Only faults whose label contains this, such as `on-stop`, `write#3` or `on-stop/ready write#3=EIO`
    #[arg(long, value_name = "LABEL")]
    only: Option<String>,
    /// Test this program, and the hook program beside it, instead of building them
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
}

/// Which faults are tried.
#[derive(Debug)]
enum Choice {
    All,
    Labels(String),
    /// The same part every time, which does not move when a program makes other calls.
    Part,
}

/// In CI, one in so many faults.
const ONE_IN: u64 = 24;

/// A fault that was tried, and what was wrong.
#[derive(Debug)]
struct Trial {
    label: String,
    group: &'static str,
    problems: Vec<String>,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    if options.ci {
        return run_ci();
    }
    let binary = dist::chosen(options.binary.as_deref())?;
    examine(&options.only.clone().map_or(Choice::All, Choice::Labels), &binary)
}

/// The short, fixed part.
pub(crate) fn run_ci() -> Result<()> {
    examine(&Choice::Part, &shell::dev_binary()?)
}

fn examine(choice: &Choice, binary: &Path) -> Result<()> {
    tools::require("strace")?;
    let scratch = scratch_folder()?;
    let mut waiting = Subject::all();
    waiting.retain(|subject| choice.has_subject(subject));
    waiting.reverse();
    let waiting = Mutex::new(waiting);
    let cores = thread::available_parallelism().map_or(2, usize::from);
    let trials = in_parallel(cores, |number| {
        let mut trials = Vec::new();
        while let Some(subject) = waiting.lock().ok().and_then(|mut waiting| waiting.pop()) {
            let root = scratch.path().join(number.to_string());
            tree::remove(&root)?;
            let tried = try_subject(choice, binary, &root, &subject)?;
            eprintln!("faults: {}: {}", subject.name, tried.len());
            trials.extend(tried);
        }
        Ok(trials)
    })?;
    let mut trials: Vec<_> = trials.into_iter().flatten().collect();
    trials.sort_by(|a, b| a.label.cmp(&b.label));
    report(&trials)
}

/// In memory if possible: `ccc` waits for the disk.
fn scratch_folder() -> Result<tempfile::TempDir> {
    let create = |folder: &Path| tempfile::Builder::new().prefix("overtone-faults-").tempdir_in(folder);
    let folder = create(Path::new("/dev/shm")).or_else(|_| create(&std::env::temp_dir()));
    folder.map_err(|e| Error::new(format!("cannot create a scratch folder: {e}")))
}

impl Choice {
    fn has_subject(&self, subject: &Subject) -> bool {
        match self {
            Self::All => true,
            // A label begins with the subject's name; a part of it may also be of a fault's name only.
            Self::Labels(text) => {
                let name = text.split(' ').next().unwrap_or_default();
                subject.name.contains(name) || !Subject::all().iter().any(|other| other.name.contains(name))
            }
            Self::Part => !subject.is_heavy(),
        }
    }

    fn has(&self, subject: &Subject, fault: &Fault) -> bool {
        let label = format!("{} {fault}", subject.name);
        match self {
            Self::All => true,
            Self::Labels(text) => label.contains(text.as_str()),
            Self::Part => {
                let one_in = match fault {
                    Fault::Kill { .. } | Fault::ShortWrite { .. } => 1,
                    // Nothing else shows that a lock is taken at all.
                    Fault::Environment(environment) if environment.0 == "no-locks" => 1,
                    _ => ONE_IN,
                };
                hash(&label).is_multiple_of(one_in)
            }
        }
    }
}

/// FNV-1a: the same in every version of the compiler and of its libraries.
fn hash(label: &str) -> u64 {
    label
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// A subject in its fixture.
#[derive(Debug)]
struct Case {
    fixture: Fixture,
    expected: Expected,
}

impl Case {
    /// Runs the subject twice. Also returns the calls of the first run.
    fn observe(subject: &Subject, fixture: Fixture) -> Result<(Self, Vec<Call>)> {
        let before = Snapshot::take(&fixture.root)?;
        before.restore(&fixture.root)?;
        let mut case = Self { fixture, expected: Expected::new(subject, before) };
        let ran = run::traced(&case, None, &[])?;
        if ran.code != Some(0) {
            let what = format!("{} fails without a fault: {:?} {}", subject.name, ran.code, ran.stderr);
            return Err(Error::new(what));
        }
        case.expected.after = Snapshot::take(case.root())?;
        case.expected.is_repeatable = run::plain(&case)?.code == Some(0);
        case.expected.after_second = Snapshot::take(case.root())?;
        case.expected.stdout = ran.stdout;
        Ok((case, ran.calls))
    }

    fn root(&self) -> &Path {
        &self.fixture.root
    }

    /// The client's calls are answered by the hook program.
    fn program(&self) -> PathBuf {
        let overtone = self.fixture.sandbox.binary();
        if self.expected.subject.is_command() { overtone.to_owned() } else { dist::hook_program(overtone) }
    }

    fn arguments(&self) -> Vec<String> {
        self.expected.subject.arguments.iter().map(|argument| self.fixture.fill(argument)).collect()
    }

    fn input(&self) -> Option<String> {
        self.expected.subject.input.as_deref().map(|input| self.fixture.fill(input))
    }
}

fn try_subject(choice: &Choice, binary: &Path, root: &Path, subject: &Subject) -> Result<Vec<Trial>> {
    let (case, calls) = Case::observe(subject, Fixture::create(root, binary, subject.situation)?)?;
    let label = format!("{} unharmed", subject.name);
    let mut trials = vec![Trial { label, group: "unharmed", problems: judge::unsynced(&calls) }];
    for fault in Fault::all(&case.expected, &calls) {
        let label = format!("{} {fault}", subject.name);
        if choice.has(subject, &fault) {
            case.expected.before.restore(root)?;
            let problems = try_fault(&case, &fault)?;
            trials.push(Trial { label, group: fault.group(), problems });
        }
    }
    Ok(trials)
}

fn try_fault(case: &Case, fault: &Fault) -> Result<Vec<String>> {
    match fault {
        Fault::Environment(environment) => return environment.2(case),
        Fault::Deletion { .. } => return try_deletion(case, fault),
        _ => {}
    }
    let ran = run_with(case, fault)?;
    let left = Snapshot::take(case.root())?;
    let is_lookup = ran.injected().next().is_some() && ran.injected().all(|call| call.reads);
    let tolerance = Tolerance {
        crashed: ran.was_killed(),
        other_decision: is_lookup || case.expected.subject.kind == Kind::Review,
    };
    let mut problems = if tolerance.crashed {
        judge::damage(&case.expected, &left, tolerance)
    } else {
        judge::after_error(&case.expected, &ran, &left, tolerance)
    };
    let is_reached = match fault {
        Fault::Error { .. } => ran.injected().next().is_some(),
        Fault::Kill { .. } => tolerance.crashed,
        // A longer file may have reached the limit before.
        _ => true,
    };
    if !is_reached {
        problems.push("the fault was not reached: the run differs from the one without it".to_owned());
    }
    let next = run::plain(case)?;
    let end = Snapshot::take(case.root())?;
    problems.extend(judge::after_next_run(&case.expected, &next, &end, tolerance));
    problems.extend(growing_litter(case, fault, &end)?);
    Ok(problems)
}

fn run_with(case: &Case, fault: &Fault) -> Result<Ran> {
    let rule = fault.rule();
    let Fault::ShortWrite { limit, .. } = fault else { return run::traced(case, rule.as_deref(), &[]) };
    let limit = format!("--fsize={limit}");
    let wrapper = ["env", "--ignore-signal=XFSZ", "prlimit", "--core=0", &limit];
    match rule {
        Some(rule) => run::traced(case, Some(&rule), &wrapper),
        None => run::through(case, &wrapper, &case.program()),
    }
}

/// What a fault leaves behind has a fixed name or is cleared away by the next run, so a second time adds nothing.
fn growing_litter(case: &Case, fault: &Fault, end: &Snapshot) -> Result<Option<String>> {
    let count = |snapshot: &Snapshot| snapshot.files.keys().filter(|name| judge::is_litter(name)).count();
    if count(end) == 0 {
        return Ok(None);
    }
    run_with(case, fault)?;
    run::plain(case)?;
    let now = Snapshot::take(case.root())?;
    Ok((count(&now) > count(end))
        .then(|| format!("litter grows: {} files, then {}", count(end), count(&now))))
}

/// The hook answers, writes nothing elsewhere, and the session can start again with what is left.
fn try_deletion(case: &Case, fault: &Fault) -> Result<Vec<String>> {
    let Some(ran) = run::with_session_deleted(case, &fault.rule().unwrap_or_default())? else {
        return Ok(vec!["the fault was not reached".to_owned()]);
    };
    let mut problems = judge::answer_problems(&ran);
    for name in Snapshot::take(case.root())?.files.keys() {
        let is_known = case.expected.before.get(name).is_some() || case.expected.after.get(name).is_some();
        if !is_known && !name.to_string_lossy().contains(SESSION) && !judge::is_passing(name) {
            problems.push(format!("written elsewhere: {}", name.display()));
        }
    }
    for words in [&["init", "quick", "--force", "--session", SESSION][..], &["status", "--session", SESSION]]
    {
        let ran = run::command(case, words)?;
        if ran.code != Some(0) {
            problems.push(format!(
                "`overtone {}` fails afterwards: {}",
                words.join(" "),
                ran.stderr.trim_end()
            ));
        }
    }
    problems.extend(judge::answer_problems(&run::plain(case)?));
    problems.extend(judge::unreadable(&Snapshot::take(case.root())?, false));
    Ok(problems)
}

fn report(trials: &[Trial]) -> Result<()> {
    let mut groups = BTreeMap::<&str, (usize, usize)>::new();
    for trial in trials {
        let (all, failed) = groups.entry(trial.group).or_default();
        *all += 1;
        *failed += usize::from(!trial.problems.is_empty());
    }
    println!("{:<14} {:>7} {:>7}", "", "tried", "failed");
    for (group, (all, failed)) in groups {
        println!("{group:<14} {all:>7} {failed:>7}");
    }
    if !nix::unistd::geteuid().is_root() {
        println!("not tried: full-disk (only root may mount the small disk that it fills)");
    }
    let failed: Vec<_> = trials.iter().filter(|trial| !trial.problems.is_empty()).collect();
    for trial in &failed {
        println!("\nFAILED {}\n  {}", trial.label, trial.problems.join("\n  "));
        println!("  again: cargo xtask proof faults --only '{}'", trial.label);
    }
    match (trials.len(), failed.len()) {
        (0, _) => {
            Err(Error::new("no fault has this label").hint("labels look like `on-stop/ready write#3=EIO`"))
        }
        (_, 0) => Ok(()),
        (_, failed) => Err(Error::new(format!("{failed} faults did harm"))
            .hint("each is listed above with the command to run it again")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_can_be_run_again_by_its_label() {
        let only = |text: &str| Choice::Labels(text.to_owned());
        let subject = |name: &str| Subject::all().into_iter().find(|subject| subject.name == name).unwrap();
        let (stop, resume) = (subject("stop/active"), subject("resume/stopped"));
        assert!(only("stop/active write#1=EIO").has_subject(&stop));
        assert!(!only("stop/active write#1=EIO").has_subject(&resume));
        assert!(only("write#1").has_subject(&resume) && !only("stop/").has_subject(&resume));
    }

    #[test]
    fn the_part_for_ci_has_every_kill_and_the_same_errors_each_time() {
        let chosen = |name: &str, fault: fn(usize) -> Fault| {
            let subject = Subject::all().into_iter().find(|subject| subject.name == name).unwrap();
            (1..=40).filter(|nth| Choice::Part.has(&subject, &fault(*nth))).collect::<Vec<_>>()
        };
        let kill = |nth| Fault::Kill { call: "write".into(), nth };
        let error = |nth| Fault::Error { call: "write".into(), nth, error: "EIO", lasting: false };
        assert_eq!(chosen("stop/active", kill).len(), 40);
        assert_eq!(chosen("stop/active", error), [6]);
    }

    #[test]
    fn a_failure_decides() {
        let trial = |problem: Option<&str>| Trial {
            label: "stop write#1=EIO".into(),
            group: "errors",
            problems: problem.into_iter().map(str::to_owned).collect(),
        };
        assert!(report(&[trial(None)]).is_ok());
        assert!(report(&[trial(None), trial(Some("it hangs"))]).is_err() && report(&[]).is_err());
    }
}
