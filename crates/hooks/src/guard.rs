//! The outer guard: whatever happens inside, the client gets one answer and exit code 0.

use std::fmt::Display;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

use overtone_engine::text::printable_lines;
use overtone_registry::Hook;
use overtone_store::patience;
use overtone_wire::{DEFAULT_OUTPUT, HookInput};

use crate::environment::Environment;
use crate::limits::survive_file_limit;
use crate::{run, stdin};

/// Prints the one answer.
#[derive(Default)]
pub(crate) struct Printer {
    printed: bool,
}

impl Printer {
    /// Writes the whole line, however slowly the client reads it.
    pub(crate) fn print(&mut self, answer: &str) -> io::Result<()> {
        // Even half an answer must not be followed by another one.
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
            // A client that does not listen cannot be helped.
            let _ = self.print(DEFAULT_OUTPUT);
        }
    }
}

/// Runs the named hook on stdin.
pub fn run_hook(name: &str, environment: &Environment) {
    guarded(|printer| match Hook::from_name(name) {
        Some(hook) => match read(input_deadline(hook)) {
            Ok(bytes) => run_on(hook, environment, &bytes, printer),
            Err(error) => complain(hook.name(), error),
        },
        None => complain(
            "hook",
            format_args!("unknown hook `{name}`\nhint: overtone hook {}", names().join(" | ")),
        ),
    });
}

/// Runs the hook that the payload's `hook_event_name` asks for, for a client that passes no arguments.
/// Returns false when there is no such payload.
pub fn run_event(environment: &Environment) -> bool {
    let Ok(bytes) = read(PATIENCE) else { return false };
    let Some(hook) =
        HookInput::parse(&bytes).ok().and_then(|i| Hook::for_event(&i.hook_event_name(), &i.tool_name()))
    else {
        return false;
    };
    guarded(|printer| run_on(hook, environment, &bytes, printer));
    true
}

/// The JSON value on stdin, for commands that the client feeds like a hook. Never waits for the end of input.
pub fn read_stdin() -> Option<Vec<u8>> {
    read(PATIENCE).ok()
}

/// How long to wait for the payload, which a client writes at once.
const PATIENCE: Duration = Duration::from_secs(5);

/// At the end of a session the client gives all hooks together 1.5 s.
fn input_deadline(hook: Hook) -> Duration {
    if hook == Hook::OnSessionEnd { Duration::from_millis(800) } else { PATIENCE }
}

/// How long a hook waits for locks, all of them together.
const fn lock_budget(hook: Hook) -> Duration {
    match hook {
        Hook::OnSessionEnd => Duration::from_secs(1),
        _ => Duration::from_secs(3),
    }
}

fn names() -> Vec<&'static str> {
    Hook::ALL.map(Hook::name).to_vec()
}

fn read(deadline: Duration) -> Result<Vec<u8>, stdin::ReadError> {
    #[allow(clippy::disallowed_methods, reason = "only the descriptor is taken; the bounded reader reads it")]
    let stdin = io::stdin();
    stdin::read_payload(stdin.as_fd(), patience(deadline))
}

fn run_on(hook: Hook, environment: &Environment, bytes: &[u8], printer: &mut Printer) {
    overtone_store::files::limit_waiting(lock_budget(hook));
    match run::run(hook, environment, bytes, printer) {
        Ok(problems) if problems.is_empty() => {}
        Ok(problems) => complain(hook.name(), problems.join("; ")),
        Err(error) => complain("safeRun", format_args!("{}: {error}", hook.name())),
    }
}

/// Catches panics and makes sure that something is printed.
fn guarded(act: impl FnOnce(&mut Printer)) {
    // The guard reports a panic itself, in one line.
    panic::set_hook(Box::new(|info| complain("safeRun", info.to_string().replace('\n', " "))));
    let mut printer = Printer::default();
    // The printer only remembers that it printed, which is true whatever happened after.
    let _ = panic::catch_unwind(AssertUnwindSafe(|| act(&mut printer)));
    printer.print_default();
}

/// One line on stderr, in the form that the logs look for.
fn complain(place: &str, what: impl Display) {
    // It may be a file, and the answer is not given yet.
    survive_file_limit();
    // There is nowhere to report that stderr is closed.
    let _ = writeln!(io::stderr(), "[overtone/{place}] {}", printable_lines(&what.to_string()));
}
