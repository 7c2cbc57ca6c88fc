//! The multi-call binary: `overtone` and `ccc`. Hooks are answered before anything else is parsed.

mod args;
mod ccc;
mod commands;
mod context;
mod project_checks;
mod run;
mod session;
mod tool_call;
mod ui;

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::ExitCode;

use dlmalloc::GlobalDlmalloc;
use overtone_claude::Environment;
use overtone_core::registry::HOOK_PROGRAM;
use overtone_hook::Call;

/// A hook needs some dozen kilobytes for a moment. This takes them from the kernel at once; musl's allocator would make
/// twenty calls of it.
#[global_allocator]
static ALLOCATOR: GlobalDlmalloc = GlobalDlmalloc;

fn main() -> ExitCode {
    let mut arguments: Vec<OsString> = env::args_os().collect();
    let program = if arguments.is_empty() { OsString::new() } else { arguments.remove(0) };
    let environment = Environment::from_process(env!("CARGO_PKG_VERSION"));
    if Path::new(&program).file_name() == Some(OsStr::new(HOOK_PROGRAM)) {
        return overtone_hook::run(&arguments, &environment);
    }
    let is_ccc = ccc::is_called(&program);
    let call = if is_ccc { Call::from_ccc_arguments(&arguments) } else { Call::from_arguments(&arguments) };
    if let Some(call) = call {
        call.answer(&environment);
        return ExitCode::SUCCESS;
    }
    if is_ccc {
        return ccc::run(arguments, &environment);
    }
    if let Err(refusal) = tool_call::check(&environment, &arguments) {
        return refusal;
    }
    if arguments.first().map(OsString::as_os_str) == Some(OsStr::new("ccc")) {
        return ccc::run(arguments.split_off(1), &environment);
    }
    run::run(environment)
}
