//! Ctrl-C and its relatives: noted at once, obeyed when the temporary folder is gone.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

const SIGNALS: [i32; 3] = [SIGINT, SIGTERM, SIGHUP];

/// How soon a pause notices a signal.
const SLICE: Duration = Duration::from_millis(20);

#[derive(Debug, Clone)]
pub(super) struct Interrupt {
    /// One more than the place in [`SIGNALS`]; 0 when there was none.
    seen: Arc<AtomicUsize>,
}

impl Interrupt {
    pub(super) fn watch() -> Self {
        let seen = Arc::new(AtomicUsize::new(0));
        for (number, signal) in (1..).zip(SIGNALS) {
            // Where it cannot be watched, a signal ends us as it ends any program.
            let _ = flag::register_usize(signal, Arc::clone(&seen), number);
        }
        Self { seen }
    }

    pub(super) fn is_seen(&self) -> bool {
        self.seen.load(Ordering::Relaxed) > 0
    }

    /// Sleeps, unless a signal comes.
    pub(super) fn sleep(&self, time: Duration) {
        let end = Instant::now() + time;
        while !self.is_seen() && Instant::now() < end {
            thread::sleep(SLICE.min(end - Instant::now()));
        }
    }

    /// Does what the signal, if there was one, does by default: whoever started us learns that it was one.
    pub(super) fn obey(&self) {
        let signal = self.seen.load(Ordering::Relaxed).checked_sub(1).and_then(|at| SIGNALS.get(at));
        if let Some(signal) = signal {
            // Without it, the exit code still says that it went wrong.
            let _ = low_level::emulate_default_handler(*signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_ends_with_a_signal() {
        let interrupt = Interrupt { seen: Arc::new(AtomicUsize::new(0)) };
        interrupt.sleep(Duration::from_millis(1));
        assert!(!interrupt.is_seen());
        interrupt.seen.store(1, Ordering::Relaxed);
        let start = Instant::now();
        interrupt.sleep(Duration::from_mins(1));
        assert!(interrupt.is_seen() && start.elapsed() < Duration::from_secs(5));
    }
}
