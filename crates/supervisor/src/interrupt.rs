//! A person or the client that does not want to wait any longer: the review ends with all that it has started.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// How soon somebody who waits should look.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(100);

static SEEN: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on, a signal is noted instead of ending us at once.
pub(crate) fn watch() {
    let seen = SEEN.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Where it cannot be watched, it ends us as it ends any program.
        let _ = flag::register(signal, Arc::clone(seen));
    }
}

pub(crate) fn is_seen() -> bool {
    SEEN.get().is_some_and(|seen| seen.load(Ordering::Relaxed))
}
