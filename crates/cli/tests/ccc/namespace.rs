//! A start with other folders in the places that belong to the machine, which itself stays as it is.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use crate::context::{Output, TestContext, ccc_output};

/// Whether this system lets a process have mounts of its own.
static IS_ALLOWED: LazyLock<bool> = LazyLock::new(|| {
    let mut command = Command::new("unshare");
    command.args(UNSHARE).arg("true").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
});

const UNSHARE: [&str; 3] = ["--mount", "--map-root-user", "--"];

/// Lays `ours` over the folder `place`, then starts the program.
const SCRIPT: &str = r#"mount --bind "$1" "$2" && shift 2 && exec "$@""#;

/// Runs a program while the machine's folder `place` shows `ours` instead; `None`, and a line that says so, where
/// the system does not allow it.
pub(crate) fn run(context: &TestContext, ours: &Path, place: &str, program: &[&str]) -> Option<Output> {
    if !*IS_ALLOWED {
        skipped("no user namespaces here");
        return None;
    }
    let mut command = context.program(Path::new("unshare"));
    command.args(UNSHARE).args(["sh", "-c", SCRIPT, "sh"]).arg(ours).arg(place).args(program);
    Some(ccc_output(&command.output().unwrap()))
}

/// Says that a part of a test did not run. Written past the test runner, which shows nothing of tests that pass.
pub(crate) fn skipped(why: &str) {
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    let _ = writeln!(io::stderr(), "SKIPPED {test}: {why}");
}
