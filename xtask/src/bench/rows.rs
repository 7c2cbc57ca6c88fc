//! Joins all measurements into one row per subject.

use std::time::Duration;

use super::cases::REFUSED;
use super::rivals::Rival;
use super::role::{Baseline, Role};
use super::state::State;
use super::subjects::Subjects;
use super::timing::Times;
use super::trace::Trace;

/// Everything known of one subject.
#[derive(Debug)]
pub(crate) struct Row {
    pub role: Role,
    /// `None` when only counts were asked for.
    pub time: Option<Time>,
    pub trace: Trace,
    pub instructions: Option<u64>,
    /// The long session against the short one; only on rows of the long one.
    pub instruction_growth: Option<f64>,
    pub surprise: Option<String>,
}

/// How long it took, and against whom: all comparisons are of the 10th percentile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Time {
    pub measured: Times,
    pub to_true: f64,
    pub to_floor: f64,
    /// As for instructions.
    pub growth: Option<f64>,
    /// How much longer the Node hook takes; only on the row that does the same job.
    pub node_takes: Option<f64>,
}

/// All that was measured, each list in the order of the subjects.
#[derive(Debug)]
pub(crate) struct Measured {
    pub surprises: Vec<Option<String>>,
    pub times: Option<Vec<Times>>,
    pub traces: Vec<Trace>,
    pub instructions: Vec<Option<u64>>,
}

pub(crate) fn assemble(subjects: &Subjects, measured: Measured) -> Vec<Row> {
    let roles: Vec<_> = subjects.iter().map(|subject| subject.role).collect();
    let mut rows = join(&roles, measured);
    // The sort is stable, so states stay in order.
    rows.sort_by_key(|row| row.role.order());
    rows
}

fn join(roles: &[Role], measured: Measured) -> Vec<Row> {
    let times = measured.times.map(|times| compare(roles, &times));
    let growths = growths(roles, &measured.instructions);
    let counted = measured.traces.into_iter().zip(measured.instructions).zip(measured.surprises);
    counted
        .enumerate()
        .map(|(index, ((trace, instructions), surprise))| Row {
            role: roles[index],
            time: times.as_ref().map(|times| times[index]),
            trace,
            instructions,
            instruction_growth: growths[index],
            surprise,
        })
        .collect()
}

fn growths(roles: &[Role], instructions: &[Option<u64>]) -> Vec<Option<f64>> {
    let growth = |(index, role): (usize, &Role)| {
        let short = short_session(roles, *role)?;
        Some(to_float(instructions[index]?) / to_float(instructions[short]?))
    };
    roles.iter().enumerate().map(growth).collect()
}

fn compare(roles: &[Role], times: &[Times]) -> Vec<Time> {
    let seconds = |index: usize| times[index].p10.as_secs_f64();
    let of = |wanted: &dyn Fn(Role) -> bool| roles.iter().position(|role| wanted(*role)).map(seconds);
    let baseline = |wanted: Baseline| of(&|role| role.is(wanted)).unwrap_or(f64::NAN);
    let (smallest, floor) = (baseline(Baseline::True), baseline(Baseline::Floor));
    let node = roles.iter().position(|role| matches!(role, Role::Rival(Rival::Node)));
    let time = |(index, role): (usize, &Role)| Time {
        measured: times[index],
        to_true: seconds(index) / smallest,
        to_floor: seconds(index) / floor,
        growth: short_session(roles, *role).map(|short| seconds(index) / seconds(short)),
        node_takes: node.filter(|_| does_the_same(*role)).map(|node| at_least(times[node], times[index])),
    };
    roles.iter().enumerate().map(time).collect()
}

/// How much longer the first takes, by whatever tells less. On a busy machine a long program never runs undisturbed, not
/// even once in ten times, so the 10th percentile would be unfair to it.
fn at_least(long: Times, short: Times) -> f64 {
    let ratio = |of: fn(Times) -> Duration| of(long).as_secs_f64() / of(short).as_secs_f64();
    ratio(|times| times.p10).min(ratio(|times| times.median))
}

/// Where the same call is in the short session, for one in the long session.
fn short_session(roles: &[Role], role: Role) -> Option<usize> {
    role.state().filter(|state| *state == State::Huge)?;
    roles.iter().position(|other| other.state() == Some(State::Empty) && other.name() == role.name())
}

/// Whether it is our hook for the job, in the session, that other languages' hooks do.
fn does_the_same(role: Role) -> bool {
    role.state() == Some(State::Typical) && role.name() == REFUSED.name()
}

/// Counts here are far below 2^52, where floats stop being exact.
#[expect(clippy::cast_precision_loss, reason = "see above")]
pub(crate) fn to_float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Rows of a small run: both yardsticks, Node, and one hook in three sessions.
    pub(crate) fn example() -> Vec<Row> {
        let roles = [
            Role::Baseline(Baseline::True),
            Role::Baseline(Baseline::Floor),
            Role::Rival(Rival::Node),
            Role::Case(&REFUSED, State::Empty),
            Role::Case(&REFUSED, State::Typical),
            Role::Case(&REFUSED, State::Huge),
        ];
        let times = [1000, 400, 60_000, 500, 500, 550].map(|micros| {
            let p10 = Duration::from_micros(micros);
            Times { p10, median: p10 * 2, p90: p10 * 3 }
        });
        let trace = Trace { calls: 38, processes: 1, peak_kib: 2048, own_kib: 512 };
        let measured = Measured {
            surprises: vec![None; roles.len()],
            times: Some(times.to_vec()),
            traces: vec![trace; roles.len()],
            instructions: vec![None, Some(9_000), None, Some(100_000), Some(100_000), Some(130_000)],
        };
        join(&roles, measured)
    }

    pub(crate) fn without_times() -> Vec<Row> {
        example().into_iter().map(|row| Row { time: None, ..row }).collect()
    }

    fn close(value: Option<f64>, expected: f64) -> bool {
        value.is_some_and(|value| (value - expected).abs() < 1e-9)
    }

    #[test]
    fn ratios_are_to_both_yardsticks_and_to_the_short_session() {
        let rows = example();
        let time = |index: usize| rows[index].time.unwrap();
        assert!(close(Some(time(5).to_true), 0.55) && close(Some(time(5).to_floor), 1.375));
        assert!(close(time(5).growth, 1.1) && close(rows[5].instruction_growth, 1.3));
        assert!(time(3).growth.is_none() && time(4).growth.is_none() && time(2).growth.is_none());
    }

    #[test]
    fn node_is_compared_with_the_hook_that_does_its_job() {
        let takes: Vec<_> = example().iter().map(|row| row.time.unwrap().node_takes).collect();
        assert!(close(takes[4], 120.0));
        assert_eq!(takes.iter().flatten().count(), 1);
    }

    #[test]
    fn a_disturbed_program_is_given_the_benefit_of_the_doubt() {
        let times = |p10, median| {
            let [p10, median] = [p10, median].map(Duration::from_millis);
            Times { p10, median, p90: median }
        };
        assert!(close(Some(at_least(times(80, 140), times(1, 2))), 70.0));
        assert!(close(Some(at_least(times(40, 45), times(1, 1))), 40.0));
    }
}
