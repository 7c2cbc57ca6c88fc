//! Resource limits of this process.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{Resource, getrlimit};
use signal_hook::consts::SIGXFSZ;

/// Makes a write beyond the limit on file sizes (`ulimit -f`) fail like any other write. Without a handler, SIGXFSZ kills
/// the process. Call it before the first write. Without such a limit, which is the usual case, it costs one system call.
pub(crate) fn handle_file_size_signal() {
    if getrlimit(Resource::Fsize).current.is_some() {
        // If the handler cannot be installed, the default behaviour remains.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }
}
