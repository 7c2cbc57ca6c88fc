//! Keeps a worker going: whatever ends it, even a panic, is noted, and it is started again after a pause that grows.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Runtime};
use tokio::sync::Notify;

/// Asks a worker to end, wherever it is.
#[derive(Debug, Default)]
pub(crate) struct End {
    is_asked: Mutex<bool>,
    changed: Condvar,
    notify: Notify,
}

impl End {
    pub(crate) fn ask(&self) {
        *self.is_asked.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
        self.notify.notify_one();
    }

    pub(crate) fn is_asked(&self) -> bool {
        *self.is_asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) async fn asked(&self) {
        if !self.is_asked() {
            self.notify.notified().await;
        }
    }

    /// Waits; `false` if the worker is to end.
    pub(crate) fn pause(&self, time: Duration) -> bool {
        let asked = self.is_asked.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(asked, time, |is_asked| !*is_asked);
        !*waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A runtime of one thread. It does not wait for look-ups of names that nobody needs any more, also after a panic.
#[derive(Debug)]
pub(crate) struct OneThread(Option<Runtime>);

impl OneThread {
    pub(crate) fn new() -> std::io::Result<Self> {
        Builder::new_current_thread().enable_all().max_blocking_threads(2).build().map(|r| Self(Some(r)))
    }

    pub(crate) fn block_on<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.0.as_ref().map(|runtime| runtime.block_on(work))
    }
}

impl Drop for OneThread {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// How a worker has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It was asked to.
    Asked,
    /// It cannot go on.
    Failed(String),
}

/// How long to wait before the next start: longer and longer, up to the last.
const PAUSES: [Duration; 5] = [
    Duration::from_millis(200),
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(15),
    Duration::from_mins(1),
];

/// A worker that has worked for so long is started again without delay.
const WORKED: Duration = Duration::from_mins(10);

/// Runs `work` until it was asked to end. `note` hears of every other end; `pause` waits and says whether to go on.
pub(crate) fn supervise(
    mut work: impl FnMut() -> Ended,
    mut note: impl FnMut(&str),
    mut pause: impl FnMut(Duration) -> bool,
) {
    let mut failures = 0;
    loop {
        let begun = Instant::now();
        // What the worker leaves behind is on disk or behind locks that survive a panic.
        let problem = match catch_unwind(AssertUnwindSafe(&mut work)) {
            Ok(Ended::Asked) => return,
            Ok(Ended::Failed(problem)) => problem,
            Err(panic) => format!("its worker ended unexpectedly: {}", words_of(&*panic)),
        };
        if begun.elapsed() >= WORKED {
            failures = 0;
        }
        note(&problem);
        if !pause(PAUSES[failures.min(PAUSES.len() - 1)]) {
            return;
        }
        failures += 1;
    }
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<&str>().map(|words| (*words).to_owned());
    words.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no reason".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_that_panics_or_fails_is_started_again_after_longer_and_longer_pauses() {
        let (mut starts, mut noted, mut pauses) = (0, Vec::new(), Vec::new());
        supervise(
            || {
                starts += 1;
                match starts {
                    1 => panic!("first"),
                    2 => panic!("{}", "second".to_owned()),
                    3..=7 => Ended::Failed("no file".to_owned()),
                    _ => Ended::Asked,
                }
            },
            |problem| noted.push(problem.to_owned()),
            |pause| {
                pauses.push(pause);
                true
            },
        );
        assert_eq!(starts, 8);
        assert!(noted[0].ends_with("first") && noted[1].ends_with("second") && noted[2] == "no file");
        assert!(pauses.is_sorted() && pauses.len() == 7 && pauses[6] == PAUSES[4]);
    }

    #[test]
    fn whoever_ends_it_need_not_wait() {
        let mut starts = 0;
        supervise(
            || {
                starts += 1;
                Ended::Failed(String::new())
            },
            |_| {},
            |_| false,
        );
        assert_eq!(starts, 1);
    }
}
