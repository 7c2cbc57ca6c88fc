//! The multi-call binary. Hooks are answered before anything else is even looked at.

mod args;
mod commands;
mod context;
mod run;
mod ui;

use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use overtone_hooks::Environment;

fn main() -> ExitCode {
    let mut arguments = env::args_os();
    let program = arguments.next().unwrap_or_default();
    let (first, second) = (arguments.next().unwrap_or_default(), arguments.next());
    let environment = Environment::from_process(env!("CARGO_PKG_VERSION"));
    if first == "hook" {
        overtone_hooks::run_hook(&second.unwrap_or_default().to_string_lossy(), &environment);
        return ExitCode::SUCCESS;
    }
    if is_supervisor_hook(&program, &first, second.as_deref()) {
        overtone_supervisor::run_hook(&environment);
        return ExitCode::SUCCESS;
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
    run::run(&program, environment)
}

/// `ccc supervisor-hook`, or `overtone ccc supervisor-hook`.
fn is_supervisor_hook(program: &OsStr, first: &OsStr, second: Option<&OsStr>) -> bool {
    let called_ccc = Path::new(program).file_name().is_some_and(|name| name == "ccc");
    let name = if called_ccc { Some(first) } else { second.filter(|_| first == "ccc") };
    name.is_some_and(|name| name == "supervisor-hook")
}
