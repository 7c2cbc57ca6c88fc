//! Ctrl-C and similar signals: recorded at once, acted on after the temporary folder is removed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// How often a pause checks for a signal.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Debug, Clone)]
pub(super) struct Interrupt {
    /// One more than the index in [`SIGNALS`]; 0 without a signal.
    received: Arc<AtomicUsize>,
}

impl Interrupt {
    pub(super) fn watch() -> Self {
        let received = Arc::new(AtomicUsize::new(0));
        for (number, signal) in (1..).zip(SIGNALS) {
            // Without a handler, a signal ends this program as it ends any other.
            let _ = flag::register_usize(signal, Arc::clone(&received), number);
        }
        Self { received }
    }

    pub(super) fn is_received(&self) -> bool {
        self.received.load(Ordering::Relaxed) > 0
    }

    /// Sleeps until the time has passed or a signal arrives.
    pub(super) fn sleep(&self, time: Duration) {
        let end = Instant::now() + time;
        while !self.is_received() && Instant::now() < end {
            thread::sleep(POLL_INTERVAL.min(end - Instant::now()));
        }
    }

    /// Ends the process by the received signal, if there was one, so that the parent process sees the signal.
    pub(super) fn end_process(&self) {
        let signal = self.received.load(Ordering::Relaxed).checked_sub(1).and_then(|at| SIGNALS.get(at));
        if let Some(signal) = signal {
            // If this fails, the exit code still reports an error.
            let _ = low_level::emulate_default_handler(*signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_with_a_signal() {
        let interrupt = Interrupt { received: Arc::new(AtomicUsize::new(0)) };
        interrupt.sleep(Duration::from_millis(1));
        assert!(!interrupt.is_received());
        interrupt.received.store(1, Ordering::Relaxed);
        let start = Instant::now();
        interrupt.sleep(Duration::from_mins(1));
        assert!(interrupt.is_received() && start.elapsed() < Duration::from_secs(5));
    }
}
