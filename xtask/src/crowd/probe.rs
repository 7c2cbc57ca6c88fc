//! How long one waits for a lock: a few more contenders, who take it by the hooks' own function, note the time and give
//! it back at once.
//!
//! What is measured is the time from asking to having it, with the wait for a processor in it: with more runnable
//! processes than processors, that is a part of what a hook waits, too. The contenders make the crowd a little larger
//! than it would be without them, so the figure is rather too high than too low.

use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use overtone_store::files::lock_file;

use crate::figures::percentile;

/// How many ask at a time.
const CONTENDERS: usize = 4;
/// As a session does, which asks again only after its next tool call.
const PAUSE: Duration = Duration::from_millis(3);

/// Longer than any hook waits, so that the longest waits are seen, too.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waiting times in milliseconds, the shortest first.
#[derive(Debug, Default)]
pub(super) struct Waits(Vec<f64>);

impl Waits {
    pub(super) fn percentile(&self, per_mille: usize) -> f64 {
        percentile(&self.0, per_mille)
    }

    pub(super) const fn count(&self) -> usize {
        self.0.len()
    }
}

/// Asks for a lock again and again while `act` goes on.
pub(super) fn during<T>(lock: &Path, act: impl FnOnce() -> T) -> (T, Waits) {
    let (waits, ended) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    let result = thread::scope(|scope| {
        for _ in 0..CONTENDERS {
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    let wait = ask(lock);
                    waits.lock().unwrap_or_else(PoisonError::into_inner).extend(wait);
                    thread::sleep(PAUSE);
                }
            });
        }
        let result = act();
        ended.store(true, Ordering::Relaxed);
        result
    });
    let mut waits = waits.into_inner().unwrap_or_else(PoisonError::into_inner);
    waits.sort_by(f64::total_cmp);
    (result, Waits(waits))
}

/// `None` if it could not be had in time.
fn ask(lock: &Path) -> Option<f64> {
    let begun = Instant::now();
    let _held = lock_file(lock, PATIENCE).ok()?;
    Some(begun.elapsed().as_secs_f64() * 1000.0)
}
