//! Wall time from the spawn to the exit, all subjects in turn.
//!
//! In turn, because a machine's speed drifts: measured one after the other, subjects would be compared across
//! minutes. The order changes with every round, so that nobody always follows the same neighbour. Who waits for the
//! disk is measured afterwards: it would hold up the others.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::cases::Class;
use super::subject::{Subject, Subjects};
use crate::error::{Error, Result};

const WARM_UP_ROUNDS: usize = 5;

/// The middle of all starts, and what nine of ten stay below.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub median: Duration,
    pub p90: Duration,
}

pub(crate) fn measure(subjects: &mut Subjects, rounds: usize) -> Result<Vec<Times>> {
    let mut samples = vec![Vec::with_capacity(rounds); subjects.len()];
    let waits = |class: Option<Class>| class == Some(Class::Synced);
    let classes: Vec<_> = subjects.iter().map(|subject| subject.role.class()).collect();
    let (last, first): (Vec<_>, Vec<_>) = (0..subjects.len()).partition(|index| waits(classes[*index]));
    for group in [first, last] {
        measure_group(subjects, group, rounds, &mut samples)?;
    }
    Ok(samples.into_iter().map(summarize).collect())
}

fn measure_group(
    subjects: &mut Subjects,
    mut order: Vec<usize>,
    rounds: usize,
    samples: &mut [Vec<Duration>],
) -> Result<()> {
    let mut random = Random(0x5eed);
    for round in 0..WARM_UP_ROUNDS + rounds {
        random.shuffle(&mut order);
        for &index in &order {
            let (subject, _) = subjects.prepare(index)?;
            let took = time(subject)?;
            if round >= WARM_UP_ROUNDS {
                samples[index].push(took);
            }
        }
    }
    Ok(())
}

/// std starts a child with `posix_spawn` as long as no hook between fork and exec is asked for.
fn time(subject: &Subject) -> Result<Duration> {
    let mut command = subject.command()?;
    command.stderr(Stdio::null());
    let begun = Instant::now();
    let status = command.spawn().and_then(|mut child| child.wait());
    let took = begun.elapsed();
    match status {
        Ok(status) if status.success() => Ok(took),
        Ok(status) => Err(Error::new(format!("{} failed: {status}", subject.label()))),
        Err(cause) => Err(Error::new(format!("cannot start {}: {cause}", subject.label()))),
    }
}

fn summarize(mut samples: Vec<Duration>) -> Times {
    samples.sort_unstable();
    Times { median: percentile(&samples, 50), p90: percentile(&samples, 90) }
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let index = sorted.len() * percent / 100;
    sorted.get(index.min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}

/// A linear congruential generator (Knuth's constants): the same order in every run, and no dependency.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // The high bits are the random ones.
        usize::try_from(self.0 >> 33).unwrap_or(0) % limit
    }

    fn shuffle(&mut self, order: &mut [usize]) {
        for last in (1..order.len()).rev() {
            order.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_a_known_row() {
        let times = summarize((1..=100).rev().map(Duration::from_millis).collect());
        assert_eq!(times.median, Duration::from_millis(51));
        assert_eq!(times.p90, Duration::from_millis(91));
        assert_eq!(percentile(&[], 50), Duration::ZERO);
    }

    #[test]
    fn shuffling_keeps_everyone_and_changes_the_order() {
        let mut order: Vec<_> = (0..40).collect();
        Random(1).shuffle(&mut order);
        assert!(!order.is_sorted());
        order.sort_unstable();
        assert!(order.into_iter().eq(0..40));
    }
}
