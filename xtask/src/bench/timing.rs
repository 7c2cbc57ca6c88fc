//! Wall time from the spawn to the exit, all subjects in turn.
//!
//! In turn, because a machine's speed drifts: measured one after the other, subjects would be compared across
//! minutes. The order changes with every round, so that nobody always follows the same neighbour. What a start wrote is
//! undone after it, not before the next one of the same program: a large session takes longer to look through, and that
//! would be seen in the times of its own programs. Who waits for the disk is measured at the end: it would hold up the
//! others.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::state::Class;
use super::subject::Subject;
use super::subjects::Subjects;
use crate::error::{Error, Result};
use crate::random::Random;

const WARM_UP_ROUNDS: usize = 5;

/// What one of ten starts stays below, the middle one, and what nine of ten stay below.
///
/// The first is what a program takes when nobody else gets in its way: it is what comparisons are made of, since on a busy
/// machine the others tell more of the neighbours than of the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub p10: Duration,
    pub median: Duration,
    pub p90: Duration,
}

pub(crate) fn measure(subjects: &mut Subjects, rounds: usize) -> Result<Vec<Times>> {
    subjects.each(|_| Ok(()))?;
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
    let mut random = Random::new(0x5eed);
    for round in 0..WARM_UP_ROUNDS + rounds {
        random.shuffle(&mut order);
        for &index in &order {
            let took = time(subjects.get(index))?;
            subjects.undo(index)?;
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
    let [p10, median, p90] = [10, 50, 90].map(|percent| percentile(&samples, percent));
    Times { p10, median, p90 }
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    let index = sorted.len() * percent / 100;
    sorted.get(index.min(sorted.len().saturating_sub(1))).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_a_known_row() {
        let times = summarize((1..=100).rev().map(Duration::from_millis).collect());
        assert_eq!(times.p10, Duration::from_millis(11));
        assert_eq!(times.median, Duration::from_millis(51));
        assert_eq!(times.p90, Duration::from_millis(91));
        assert_eq!(percentile(&[], 50), Duration::ZERO);
    }
}
