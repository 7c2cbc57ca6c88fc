//! Where the program `nats-server` is.

use std::env;
use std::path::PathBuf;

/// The first one on PATH or where packages install it. The tests fail without it.
pub(crate) fn program() -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin", "/usr/local/bin"].map(PathBuf::from));
    let found = folders.map(|folder| folder.join("nats-server")).find(|program| program.is_file());
    found.expect("nats-server is missing\nhint: `cargo xtask ci --only test` fetches it for its own run")
}
