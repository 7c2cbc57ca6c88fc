//! The multi-call binary. Hooks are answered before anything else is even looked at.

mod args;
mod ccc;
mod commands;
mod context;
mod run;
mod session;
mod ui;

use std::env;
use std::ffi::OsStr;
use std::process::ExitCode;

use dlmalloc::GlobalDlmalloc;
use overtone_hooks::Environment;
use overtone_supervisor::Caller;

/// A hook needs some dozen kilobytes for a moment. This takes them from the kernel at once; musl's allocator would make
/// twenty calls of it.
#[global_allocator]
static ALLOCATOR: GlobalDlmalloc = GlobalDlmalloc;

fn main() -> ExitCode {
    let mut arguments = env::args_os();
    let program = arguments.next().unwrap_or_default();
    let (first, second) = (arguments.next().unwrap_or_default(), arguments.next());
    let environment = Environment::from_process(env!("CARGO_PKG_VERSION"));
    if first == "hook" && !ccc::is_called(&program) {
        overtone_hooks::run_hook(&second.unwrap_or_default().to_string_lossy(), &environment);
        return ExitCode::SUCCESS;
    }
    if is_supervisor_hook(&program, &first, second.as_deref()) {
        let is_plugin = env::args_os().next_back().is_some_and(|last| last == ccc::OF_PLUGIN);
        let caller = if is_plugin { Caller::Plugin } else { Caller::Settings };
        overtone_supervisor::run_hook(&environment, caller);
        return ExitCode::SUCCESS;
    }
    if ccc::is_called(&program) {
        return ccc::run(env::args_os().skip(1).collect(), &environment);
    }
    if first == "ccc" {
        return ccc::run(env::args_os().skip(2).collect(), &environment);
    }
    // The client starts these several times a second; with more arguments it is a person asking for help.
    if first == "statusline" && second.is_none() {
        commands::statusline::run(&environment);
        return ExitCode::SUCCESS;
    }
    if first == "subagent-statusline" && second.is_none() {
        commands::statusline::rows::run(&environment);
        return ExitCode::SUCCESS;
    }
    run::run(environment)
}

/// `ccc supervisor-hook`, or `overtone ccc supervisor-hook`.
fn is_supervisor_hook(program: &OsStr, first: &OsStr, second: Option<&OsStr>) -> bool {
    let name = if ccc::is_called(program) { Some(first) } else { second.filter(|_| first == "ccc") };
    name.is_some_and(|name| name == "supervisor-hook")
}
