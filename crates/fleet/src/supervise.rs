//! Restarts a worker after failures and panics, with growing delays.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

/// Requests a worker to stop, both in blocking and in asynchronous code.
#[derive(Debug, Default)]
pub(crate) struct StopSignal {
    is_requested: Mutex<bool>,
    changed: Condvar,
    notify: Notify,
}

impl StopSignal {
    pub(crate) fn request(&self) {
        *self.is_requested.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
        self.notify.notify_one();
    }

    pub(crate) fn is_requested(&self) -> bool {
        *self.is_requested.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn requested(&self) {
        if !self.is_requested() {
            self.notify.notified().await;
        }
    }

    /// Waits for this time. Returns `false` as soon as the worker is requested to stop.
    pub(crate) fn pause(&self, time: Duration) -> bool {
        let requested = self.is_requested.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(requested, time, |is_requested| !*is_requested);
        !*waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A runtime of one thread. Dropping it does not wait for pending DNS lookups, not even after a panic.
#[derive(Debug)]
pub(crate) struct SingleThreadRuntime(Option<Runtime>);

impl SingleThreadRuntime {
    pub(crate) fn new() -> std::io::Result<Self> {
        Builder::new_current_thread().enable_all().max_blocking_threads(2).build().map(|r| Self(Some(r)))
    }

    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.0.as_ref().map(|runtime| runtime.block_on(work))
    }
}

impl Drop for SingleThreadRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Why a worker ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WorkerExit {
    /// It was requested to stop.
    Stopped,
    /// An error that a restart may fix.
    Failed(String),
}

/// The delays before the first, second, … restart. The last one repeats.
const RESTART_DELAYS: [Duration; 5] = [
    Duration::from_millis(200),
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(15),
    Duration::from_mins(1),
];

/// The delays before the first, second, … attempt to connect again. The last one repeats.
const RECONNECT_DELAYS: [Duration; 4] =
    [Duration::from_millis(200), Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(5)];

/// How long to wait before connecting again. `failures` is 0 if the connection worked before.
pub(crate) fn reconnect_delay(failures: usize) -> Duration {
    RECONNECT_DELAYS[failures.min(RECONNECT_DELAYS.len() - 1)]
}

/// After a worker ran for this long, its next failure counts as the first one.
const STABLE_AFTER: Duration = Duration::from_mins(10);

/// Runs `work` until it is stopped. `report` receives the reason of every other exit. `wait` waits for the delay and
/// returns whether to continue.
pub(crate) fn supervise(
    mut work: impl FnMut() -> WorkerExit,
    mut report: impl FnMut(&str),
    mut wait: impl FnMut(Duration) -> bool,
) {
    let mut failures = 0;
    loop {
        let started = Instant::now();
        // Unwind safe: state that outlives the worker is on disk or behind locks that tolerate poisoning.
        let problem = match catch_unwind(AssertUnwindSafe(&mut work)) {
            Ok(WorkerExit::Stopped) => return,
            Ok(WorkerExit::Failed(problem)) => problem,
            Err(panic) => format!("its worker ended unexpectedly: {}", panic_message(&*panic)),
        };
        if started.elapsed() >= STABLE_AFTER {
            failures = 0;
        }
        report(&problem);
        if !wait(RESTART_DELAYS[failures.min(RESTART_DELAYS.len() - 1)]) {
            return;
        }
        failures += 1;
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    if let Some(message) = panic.downcast_ref::<&str>() {
        (*message).to_owned()
    } else if let Some(message) = panic.downcast_ref::<String>() {
        message.clone()
    } else {
        "no reason".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_panics_or_fails_is_restarted_with_growing_delays() {
        let (mut starts, mut reported, mut pauses) = (0, Vec::new(), Vec::new());
        supervise(
            || {
                starts += 1;
                match starts {
                    1 => panic!("first"),
                    2 => panic!("{}", "second".to_owned()),
                    3..=7 => WorkerExit::Failed("no file".to_owned()),
                    _ => WorkerExit::Stopped,
                }
            },
            |problem| reported.push(problem.to_owned()),
            |pause| {
                pauses.push(pause);
                true
            },
        );
        assert_eq!(starts, 8);
        assert!(
            reported[0].ends_with("first") && reported[1].ends_with("second") && reported[2] == "no file"
        );
        assert!(pauses.is_sorted() && pauses.len() == 7 && pauses[6] == RESTART_DELAYS[4]);
    }

    #[test]
    fn a_stop_request_ends_the_delay() {
        let mut starts = 0;
        supervise(
            || {
                starts += 1;
                WorkerExit::Failed(String::new())
            },
            |_| {},
            |_| false,
        );
        assert_eq!(starts, 1);
    }
}
