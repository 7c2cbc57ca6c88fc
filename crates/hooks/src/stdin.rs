//! Reads one JSON value from stdin without waiting for its end.
//!
//! A client may keep the pipe open, so reading stops when the outermost object is complete. A size cap and a
//! deadline bound everything else.

use std::fmt;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Larger payloads are refused.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// From this size on it is checked that the work on a payload fits into memory: running out of it ends the process
/// without an answer.
const LARGE: usize = 256 * 1024;

/// The work on a payload takes at most so many times its size: the texts in it, the answer, and their growing buffers.
const WORKING_COPIES: usize = 10;

/// Why there is no payload.
#[derive(Debug)]
pub(crate) enum ReadError {
    TooLarge,
    TooLate,
    NoMemory,
    Io(io::Error),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(f, "hook input over {} MB refused", MAX_BYTES / 1024 / 1024),
            Self::TooLate => f.write_str("hook input did not end in time"),
            Self::NoMemory => f.write_str("not enough memory for the hook input"),
            Self::Io(error) => write!(f, "cannot read stdin: {error}"),
        }
    }
}

/// The bytes of the payload: up to the end of the outermost object, or up to the end of input.
pub(crate) fn read_payload(stdin: BorrowedFd<'_>, deadline: Duration) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::with_capacity(8 * 1024);
    let mut scanner = Scanner::default();
    let start = Instant::now();
    loop {
        wait_readable(stdin, deadline.saturating_sub(start.elapsed()))?;
        let seen = bytes.len();
        bytes.try_reserve(8 * 1024).map_err(|_| ReadError::NoMemory)?;
        let count = match rustix::io::read(stdin, rustix::buffer::spare_capacity(&mut bytes)) {
            Ok(count) => count,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
            Err(error) => return Err(ReadError::Io(error.into())),
        };
        if count == 0 || scanner.is_complete_after(&bytes[seen..]) {
            check_memory(bytes.len())?;
            return Ok(bytes);
        }
        if bytes.len() > MAX_BYTES {
            return Err(ReadError::TooLarge);
        }
    }
}

/// Asks for the memory that a large payload may take, and gives it back at once.
fn check_memory(length: usize) -> Result<(), ReadError> {
    if length < LARGE {
        return Ok(());
    }
    Vec::<u8>::new().try_reserve_exact(length * WORKING_COPIES).map_err(|_| ReadError::NoMemory)
}

fn wait_readable(stdin: BorrowedFd<'_>, left: Duration) -> Result<(), ReadError> {
    let timeout = Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() };
    let mut fds = [PollFd::from_borrowed_fd(stdin, PollFlags::IN)];
    match poll(&mut fds, Some(&timeout)) {
        Ok(0) => Err(ReadError::TooLate),
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(ReadError::Io(error.into())),
    }
}

/// Finds the end of the outermost object: braces outside of strings.
#[derive(Default)]
struct Scanner {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Scanner {
    fn is_complete_after(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            if self.escaped {
                self.escaped = false;
                continue;
            }
            match byte {
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return true;
                    }
                }
                _ => {}
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(chunks: &[&str]) -> bool {
        let mut scanner = Scanner::default();
        chunks.iter().any(|chunk| scanner.is_complete_after(chunk.as_bytes()))
    }

    #[test]
    fn the_end_of_the_object_is_found_across_chunks() {
        assert!(complete(&["{}"]));
        assert!(complete(&["{\"a\":\"}", "\\", "\"}\"", "}"]));
        assert!(complete(&["{\"a\":[{\"b\":", "1}]", "}\n"]));
        assert!(!complete(&["{\"a\":\"}\\\"}"]));
        assert!(!complete(&["{broken"]));
        assert!(!complete(&[""]));
    }
}
