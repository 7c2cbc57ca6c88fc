//! Handles signals of a user or a client that does not want to wait: the review and all its processes are ended.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// How often code that waits should check [`is_requested`].
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(100);

static REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on, a signal is recorded instead of ending the process at once.
pub(crate) fn install_handlers() {
    let requested = REQUESTED.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Without a handler, the signal ends the process as usual.
        let _ = flag::register(signal, Arc::clone(requested));
    }
}

pub(crate) fn is_requested() -> bool {
    match REQUESTED.get() {
        Some(requested) => requested.load(Ordering::Relaxed),
        None => false,
    }
}
