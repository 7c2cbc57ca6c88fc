//! Waiting for events. No test depends on how long something takes.

use std::thread;
use std::time::{Duration, Instant};

/// Ends a test whose condition never becomes true. It is much longer than any of them takes.
const WATCHDOG: Duration = Duration::from_mins(10);

const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Polls until the condition is true.
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < WATCHDOG, "never happened: {what}");
        thread::sleep(POLL_INTERVAL);
    }
}

/// Polls until there is a value.
#[track_caller]
pub fn wait_for<T>(mut poll: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(value) = poll() {
            return value;
        }
        assert!(started.elapsed() < WATCHDOG, "there was never a value");
        thread::sleep(POLL_INTERVAL);
    }
}
