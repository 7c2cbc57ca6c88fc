//! The outermost layer of a hook: on any error or panic inside, the client still gets one answer and exit code 0.

use std::fmt::Display;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

use overtone_claude::wire::{DEFAULT_OUTPUT, HookInput};
use overtone_claude::{Environment, stdin};
use overtone_core::engine::text::printable_lines;
use overtone_core::registry::Hook;

use crate::hooks::limits::handle_file_size_signal;
use crate::hooks::run;

/// Prints the answer of a hook, at most once.
#[derive(Default)]
pub(crate) struct Printer {
    printed: bool,
}

impl Printer {
    /// Writes the answer as one line and waits until the client has read it.
    pub(crate) fn print(&mut self, answer: &str) -> io::Result<()> {
        // Set before writing: a partly written answer must not be followed by another one.
        self.printed = true;
        let mut line = String::with_capacity(answer.len() + 1);
        line.push_str(answer);
        line.push('\n');
        let mut stdout = io::stdout().lock();
        stdout.write_all(line.as_bytes())?;
        stdout.flush()
    }

    fn print_default(&mut self) {
        if !self.printed {
            // If the client has closed the pipe, there is nobody to report it to.
            let _ = self.print(DEFAULT_OUTPUT);
        }
    }
}

/// Runs the named hook with the payload on stdin.
pub fn run_hook(name: &str, environment: &Environment) {
    run_guarded(|printer| {
        let Some(hook) = Hook::from_name(name) else {
            let names = Hook::ALL.map(Hook::name).join(" | ");
            report_error("hook", format_args!("unknown hook `{name}`\nhint: overtone hook {names}"));
            return;
        };
        match stdin::read(input_timeout(hook)) {
            Ok(bytes) => run_and_report(hook, environment, &bytes, printer),
            Err(error) => report_error(hook.name(), error),
        }
    });
}

/// Runs the hook that the payload's `hook_event_name` asks for, for a client that passes no arguments.
/// Returns false when stdin holds no such payload.
pub fn run_event(environment: &Environment) -> bool {
    let Ok(bytes) = stdin::read(stdin::TIMEOUT) else { return false };
    let Ok(input) = HookInput::parse(&bytes) else { return false };
    let Some(hook) = Hook::for_event(&input.hook_event_name(), &input.tool_name()) else { return false };
    run_guarded(|printer| run_and_report(hook, environment, &bytes, printer));
    true
}

/// At the end of a session the client allows 1.5 s for all hooks together, so the payload has to arrive sooner.
fn input_timeout(hook: Hook) -> Duration {
    if hook == Hook::OnSessionEnd { Duration::from_millis(800) } else { stdin::TIMEOUT }
}

/// How long a hook waits for all of its locks together.
pub(crate) const fn lock_timeout(hook: Hook) -> Duration {
    match hook {
        Hook::OnSessionEnd => Duration::from_secs(1),
        _ => Duration::from_secs(3),
    }
}

fn run_and_report(hook: Hook, environment: &Environment, bytes: &[u8], printer: &mut Printer) {
    overtone_store::files::set_lock_budget(lock_timeout(hook));
    match run::run(hook, environment, bytes, printer) {
        Ok(warnings) if warnings.is_empty() => {}
        Ok(warnings) => report_error(hook.name(), warnings.join("; ")),
        Err(error) => report_error("safeRun", format_args!("{}: {error}", hook.name())),
    }
}

/// Catches panics, and prints the default answer if `run` has printed none.
fn run_guarded(run: impl FnOnce(&mut Printer)) {
    // Report a panic in one line instead of the several lines of the default hook.
    panic::set_hook(Box::new(|info| report_error("safeRun", info.to_string().replace('\n', " "))));
    let mut printer = Printer::default();
    // The printer holds one flag, which is valid after a panic too.
    let _ = panic::catch_unwind(AssertUnwindSafe(|| run(&mut printer)));
    printer.print_default();
}

/// Writes one line to stderr, with the prefix by which logs are searched.
fn report_error(source: &str, message: impl Display) {
    // Stderr may be a file that has reached its size limit, and the answer may not be printed yet.
    handle_file_size_signal();
    // If stderr is closed, there is nowhere to report it.
    let _ = writeln!(io::stderr(), "[overtone/{source}] {}", printable_lines(&message.to_string()));
}
