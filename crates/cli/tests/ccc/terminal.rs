//! A pseudo-terminal, so that the program finds a user at it.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::thread;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// Runs a command with stdin and stderr in a terminal, types `input`, and returns the exit code and what was seen.
pub(crate) fn at_terminal(command: &mut Command, input: &str) -> (Option<i32>, String) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&person).unwrap();
    unlockpt(&person).unwrap();
    let name = ptsname(&person, Vec::new()).unwrap();
    let program = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    command.stdin(Stdio::from(program.try_clone().unwrap())).stderr(Stdio::from(program));
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    // What the command holds of the terminal would keep it open.
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let mut person = File::from(person);
    person.write_all(input.as_bytes()).unwrap();
    let reader = thread::spawn(move || {
        let (mut seen, mut block) = (Vec::new(), [0; 1024]);
        // Reading from a terminal that no process holds open ends with an error.
        while let Ok(count @ 1..) = person.read(&mut block) {
            seen.extend_from_slice(&block[..count]);
        }
        String::from_utf8_lossy(&seen).into_owned()
    });
    let code = child.wait().unwrap().code();
    (code, reader.join().unwrap())
}
