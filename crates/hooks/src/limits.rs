//! Limits that the system sets for this process.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{Resource, getrlimit};
use signal_hook::consts::SIGXFSZ;

/// A write beyond the limit on file sizes (`ulimit -f`) ends a process by a signal. With a handler for it, the write
/// fails like any other. Called before the first write; most processes have no such limit, and asking is one call.
pub(crate) fn survive_file_limit() {
    if getrlimit(Resource::Fsize).current.is_some() {
        // Without the handler the hook is as it would be without this function.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }
}
