//! The multi-call binary. Hooks are answered before anything else is even looked at.

use std::env;
use std::process::ExitCode;

use overtone_hooks::Environment;

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == "hook") {
        let name = arguments.next().unwrap_or_default();
        overtone_hooks::run_hook(
            &name.to_string_lossy(),
            &Environment::from_process(env!("CARGO_PKG_VERSION")),
        );
    }
    ExitCode::SUCCESS
}
