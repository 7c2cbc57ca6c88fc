//! A pseudo-terminal, so that the program finds a user at it.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Runs a command with stdin and stderr in a terminal, types `input`, and returns the exit code and what was seen.
pub(crate) fn at_terminal(command: &mut Command, input: &str) -> (Option<i32>, String) {
    let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&terminal).unwrap();
    unlockpt(&terminal).unwrap();
    let name = ptsname(&terminal, Vec::new()).unwrap();
    let program = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    command.stdin(Stdio::from(program.try_clone().unwrap())).stderr(Stdio::from(program));
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    // What the command holds of the terminal would keep it open.
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let mut terminal = File::from(terminal);
    terminal.write_all(input.as_bytes()).unwrap();
    let reader = thread::spawn(move || {
        let (mut seen, mut block) = (Vec::new(), [0; 1024]);
        // Reading from a terminal that no process holds open ends with an error.
        while let Ok(count @ 1..) = terminal.read(&mut block) {
            seen.extend_from_slice(&block[..count]);
        }
        String::from_utf8_lossy(&seen).into_owned()
    });
    let code = child.wait().unwrap().code();
    (code, reader.join().unwrap())
}
