//! Reads one JSON value from stdin without waiting for the end of input.
//!
//! A client may keep the pipe open, so reading stops when the outermost object is complete. A size limit and a timeout
//! bound everything else.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use overtone_store::effective_timeout;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Larger payloads are rejected.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// For payloads from this size on, the available memory is checked first: a process that runs out of memory dies without
/// an answer.
const MEMORY_CHECK_BYTES: usize = 256 * 1024;

/// Processing a payload takes at most this many times its size: its texts, the answer, and their growing buffers.
const WORKING_COPIES: usize = 10;

/// How long to wait for a payload. The client writes it at once.
pub const TIMEOUT: Duration = Duration::from_secs(5);

/// Reads the JSON value on stdin.
pub fn read(timeout: Duration) -> Result<Vec<u8>, ReadError> {
    #[allow(clippy::disallowed_methods, reason = "only its descriptor is used, by the bounded reader")]
    let stdin = io::stdin();
    read_payload(stdin.as_fd(), effective_timeout(timeout))
}

/// Why the payload could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("hook input over {} MB refused", MAX_BYTES / 1024 / 1024)]
    TooLarge,
    #[error("hook input did not end in time")]
    TimedOut,
    #[error("not enough memory for the hook input")]
    NoMemory,
    #[error("cannot read stdin: {0}")]
    Io(#[source] io::Error),
}

/// Reads the payload: up to the end of the outermost object, or to the end of input.
pub fn read_payload(stdin: BorrowedFd<'_>, timeout: Duration) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::with_capacity(8 * 1024);
    let mut scanner = Scanner::default();
    let start = Instant::now();
    loop {
        wait_readable(stdin, timeout.saturating_sub(start.elapsed()))?;
        let received = bytes.len();
        bytes.try_reserve(8 * 1024).map_err(|_| ReadError::NoMemory)?;
        let count = match rustix::io::read(stdin, rustix::buffer::spare_capacity(&mut bytes)) {
            Ok(count) => count,
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => continue,
            Err(error) => return Err(ReadError::Io(error.into())),
        };
        if count == 0 || scanner.is_complete_after(&bytes[received..]) {
            check_memory(bytes.len())?;
            return Ok(bytes);
        }
        if bytes.len() > MAX_BYTES {
            return Err(ReadError::TooLarge);
        }
    }
}

/// Allocates the memory that a large payload may need and frees it at once, to find out whether there is enough.
fn check_memory(length: usize) -> Result<(), ReadError> {
    if length < MEMORY_CHECK_BYTES {
        return Ok(());
    }
    Vec::<u8>::new().try_reserve_exact(length * WORKING_COPIES).map_err(|_| ReadError::NoMemory)
}

fn wait_readable(stdin: BorrowedFd<'_>, remaining: Duration) -> Result<(), ReadError> {
    let timeout =
        Timespec { tv_sec: remaining.as_secs().cast_signed(), tv_nsec: remaining.subsec_nanos().into() };
    let mut fds = [PollFd::from_borrowed_fd(stdin, PollFlags::IN)];
    match poll(&mut fds, Some(&timeout)) {
        Ok(0) => Err(ReadError::TimedOut),
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(ReadError::Io(error.into())),
    }
}

/// Finds the end of the outermost object by counting brackets outside of strings.
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
