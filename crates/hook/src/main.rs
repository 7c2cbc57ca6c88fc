//! The program that `hooks.json` and the status line start.

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use dlmalloc::GlobalDlmalloc;
use overtone_claude::Environment;

/// A hook needs a few dozen kilobytes for a moment. This allocator requests them from the kernel at once, while the one of
/// musl makes twenty system calls.
#[global_allocator]
static ALLOCATOR: GlobalDlmalloc = GlobalDlmalloc;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    overtone_hook::run(&arguments, &Environment::from_process(env!("CARGO_PKG_VERSION")))
}
