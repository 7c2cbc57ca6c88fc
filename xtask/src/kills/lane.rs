//! One home, worked on by one command after the other.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::judge::{self, Progress, Views};
use super::scene::Scene;
use super::snapshot::{self, Snapshot};
use super::victims::{self, Again, Victim};
use crate::error::{Error, Result};
use crate::random::Random;
use crate::sandbox::feed;

/// How often progress is told.
const TELL_EVERY: usize = 100;

/// How often a command is run that ends before it is killed.
const ATTEMPTS: usize = 10;

/// What came of one kill.
#[derive(Debug)]
pub(super) struct Told {
    pub(super) name: String,
    /// Or it had ended by itself.
    pub(super) was_killed: bool,
    pub(super) progress: Progress,
    pub(super) failed_again: bool,
    pub(super) litter: usize,
    pub(super) findings: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Lane {
    scene: Scene,
    random: Random,
}

impl Lane {
    pub(super) fn open(root: PathBuf, binary: &Path, random: Random) -> Result<Self> {
        Ok(Self { scene: Scene::create(root, binary)?, random })
    }

    pub(super) fn work(mut self, go_on: impl Fn() -> bool, killed: &AtomicUsize) -> Result<Vec<Told>> {
        let mut all = Vec::new();
        while go_on() {
            let victim = victims::next(&mut self.random);
            let told = self.kill(&victim)?;
            if told.was_killed {
                let number = killed.fetch_add(1, Ordering::Relaxed) + 1;
                if number.is_multiple_of(TELL_EVERY) {
                    eprintln!("kills: {number}");
                }
            }
            all.push(told);
        }
        Ok(all)
    }

    fn kill(&mut self, victim: &Victim) -> Result<Told> {
        let root = self.scene.root().to_owned();
        let old = snapshot::take(&root)?;
        let begun = Instant::now();
        let whole = self.run(victim, None)?;
        let typical = begun.elapsed();
        let new = snapshot::take(&root)?;
        let output = self.run_and_kill(victim, &old, typical)?;
        let killed = snapshot::take(&root)?;
        let again = self.run(victim, None)?;
        let now = snapshot::take(&root)?;
        Ok(Self::tell(
            victim,
            &Views { old: &old, new: &new, killed: &killed },
            &now,
            &Outputs { whole, output, again },
        ))
    }

    /// Runs it on the old files and kills it. One that ends before the kill is run again and killed earlier, so that every
    /// command is killed, however the machine's speed changes. The last attempt counts, whatever came of it.
    fn run_and_kill(&mut self, victim: &Victim, old: &Snapshot, mut typical: Duration) -> Result<Output> {
        for _ in 1..ATTEMPTS {
            snapshot::restore(self.scene.root(), old)?;
            let instant = self.instant(typical);
            let output = self.run(victim, Some(instant))?;
            if was_killed(&output) {
                return Ok(output);
            }
            // It took no longer than this.
            typical = instant;
        }
        snapshot::restore(self.scene.root(), old)?;
        self.run(victim, Some(Duration::ZERO))
    }

    fn tell(victim: &Victim, views: &Views, now: &Snapshot, outputs: &Outputs) -> Told {
        let progress = views.progress();
        let mut findings = views.findings();
        findings.extend(judge::after_next_run(views.killed, now));
        let whole = problem(victim, &outputs.whole);
        findings.extend(
            whole
                .clone()
                .filter(|_| victim.again == Again::Always)
                .map(|why| format!("whole run failed: {why}")),
        );
        let refused = problem(victim, &outputs.again);
        // Whoever was refused at once may be refused again, and so may whoever had come to the end.
        let may_refuse = victim.again == Again::Once && (progress == Progress::Everything || whole.is_some());
        let failed_again = refused.is_some() && !may_refuse;
        findings.extend(
            refused.filter(|_| failed_again).map(|why| format!("next run failed ({progress:?}): {why}")),
        );
        Told {
            name: victim.name.clone(),
            was_killed: was_killed(&outputs.output),
            progress,
            failed_again,
            litter: judge::litter(now),
            findings: findings.into_iter().map(|finding| format!("{}: {finding}", victim.name)).collect(),
        }
    }

    /// Between the start and the end; more often in the second half, where the writing is.
    fn instant(&mut self, typical: Duration) -> Duration {
        let part = self.random.below(1000);
        let part = if self.random.below(2) == 0 { part } else { 500 + part / 2 };
        typical.mul_f64(crate::figures::to_float(part) / 1000.0)
    }

    /// Runs to the end, or up to an instant after the start.
    fn run(&self, victim: &Victim, until: Option<Duration>) -> Result<Output> {
        let (mut command, payload) = victim.command(&self.scene);
        let begun = Instant::now();
        let mut child = feed(&mut command, &payload)?;
        if let Some(instant) = until {
            thread::sleep(instant.saturating_sub(begun.elapsed()));
            // It may have ended in this very moment; its status will tell.
            let _ = child.kill();
        }
        child.wait_with_output().map_err(|e| Error::new(format!("{} is lost: {e}", victim.name)))
    }
}

fn was_killed(output: &Output) -> bool {
    output.status.signal() == Some(nix::libc::SIGKILL)
}

/// What the three runs said.
struct Outputs {
    whole: Output,
    output: Output,
    again: Output,
}

/// Why a run was not a success.
fn problem(victim: &Victim, output: &Output) -> Option<String> {
    let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    if !output.status.success() {
        return Some(format!("{}: {complaint}", output.status));
    }
    if !victim.is_hook() {
        return None;
    }
    let is_answer = serde_json::from_slice::<Value>(&output.stdout).is_ok();
    (!is_answer || !complaint.is_empty()).then(|| format!("answer {:?}: {complaint}", output.stdout))
}
