//! Development commands. `cargo xtask ci` is everything that CI checks.

use std::process::{Command, ExitCode};

const CHECKS: [&[&str]; 3] = [
    &["fmt", "--all", "--check"],
    &[
        "clippy",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ],
    &["test", "--workspace", "--quiet"],
];

fn main() -> ExitCode {
    for arguments in CHECKS {
        eprintln!("$ cargo {}", arguments.join(" "));
        match Command::new("cargo").args(arguments).status() {
            Ok(status) if status.success() => {}
            _ => return ExitCode::FAILURE,
        }
    }
    ExitCode::SUCCESS
}
