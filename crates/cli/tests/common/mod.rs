//! What all tests of the binary share: a private home and project, one way to run the binary there, and its output.

#![allow(dead_code, unused_imports, reason = "each test crate uses its own part")]

mod context;
mod hook_call;
mod output;
mod session;

use std::fs;
use std::path::Path;

pub(crate) use context::{BINARY, TestContext, put, read, read_json, run_with_stdin};
pub(crate) use hook_call::HookCall;
pub(crate) use output::{NOTHING, Output};
pub(crate) use session::with_verdict;

/// Creates a folder where the program expects a file: an error that root gets, too.
pub(crate) fn put_folder_for_file(path: &Path) {
    if path.exists() {
        fs::remove_file(path).unwrap();
    }
    fs::create_dir_all(path).unwrap();
}

/// Creates a symbolic link that points to itself: reading it gives an error other than "not found".
pub(crate) fn put_link_loop(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(path, path).unwrap();
}
