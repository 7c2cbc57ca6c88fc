//! `cargo xtask dist`: the static release binary.
//!
//! Static, because a hook is started on every tool call and the dynamic loader takes longer than the hook.

mod layout;
mod linker;
mod training;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::{elf, shell};
pub(crate) use linker::{is_called as is_called_as_linker, run as run_as_linker};

const BINARY: &str = "overtone";
const ADD_TARGET_LIMIT: Duration = Duration::from_mins(2);

/// A finished static binary.
#[derive(Debug)]
pub(crate) struct Built {
    pub path: PathBuf,
    target: String,
}

pub(crate) fn run() -> Result<()> {
    let built = build()?;
    let (path, size) = (built.path.display(), size_of(&built.path)?);
    println!("dist: {path} ({size}, {}, static)", built.target);
    Ok(())
}

/// The program that was asked for, or the one that is built here.
pub(crate) fn chosen(binary: Option<&Path>) -> Result<PathBuf> {
    match binary {
        Some(path) => fs::canonicalize(path).map_err(|e| Error::io("cannot find program", path, &e)),
        None => Ok(build()?.path),
    }
}

/// Builds the binary without a word on stdout, which may belong to another command's figures.
pub(crate) fn build() -> Result<Built> {
    let target = choose_target()?;
    let folder = shell::target_dir()?;
    let dist = folder.join("dist");
    fs::create_dir_all(&dist).map_err(|e| Error::io("cannot create folder", &dist, &e))?;
    compile(&target, &dist)?;
    let compiled = folder.join(&target).join("release").join(BINARY);
    let path = dist.join(BINARY);
    install(&compiled, &path)?;
    if let Some(report) = linker::report(&dist) {
        eprintln!("dist: {report}");
    }
    if elf::is_static(&path)? {
        return Ok(Built { path, target });
    }
    Err(Error::new(format!("the program needs a dynamic loader: {}", path.display()))
        .hint("a dependency links a shared C library; look for *-sys crates in `cargo tree`"))
}

/// musl when it can be had, else glibc: slightly larger and slower to start, but always installed.
pub(crate) fn choose_target() -> Result<String> {
    let architecture = std::env::consts::ARCH;
    let musl = format!("{architecture}-unknown-linux-musl");
    if has_target(&musl) || add_target(&musl) {
        return Ok(musl);
    }
    eprintln!("dist: no {musl}, falling back to glibc");
    match architecture {
        "x86_64" | "aarch64" => Ok(format!("{architecture}-unknown-linux-gnu")),
        other => Err(Error::new(format!("no static build is known for this machine: {other}"))),
    }
}

fn has_target(target: &str) -> bool {
    let mut list = Command::new("rustup");
    list.args(["target", "list", "--installed"]).stdin(Stdio::null());
    list.output()
        .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).lines().any(|line| line.trim() == target))
}

/// Without a network rustup retries for long, hence the limit; a failure only means the other target.
fn add_target(target: &str) -> bool {
    eprintln!("dist: adding the target {target}");
    let mut add = Command::new("rustup");
    add.args(["target", "add", target]).stdin(Stdio::null());
    shell::run_within(&mut add, ADD_TARGET_LIMIT).unwrap_or(false)
}

/// The target is always named: flags then do not reach build scripts and procedural macros, which cannot be
/// static.
fn compile(target: &str, dist: &Path) -> Result<()> {
    let this = std::env::current_exe().map_err(|e| Error::new(format!("cannot find this program: {e}")))?;
    let mut command = shell::cargo();
    command
        .args(["build", "--release", "--package", BINARY, "--bin", BINARY, "--target", target])
        .env(format!("CARGO_TARGET_{}_LINKER", target.to_uppercase().replace('-', "_")), this)
        .env(linker::FOLDER, dist);
    for (variable, value) in c_compiler(target) {
        if std::env::var_os(&variable).is_none() {
            command.env(variable, value);
        }
    }
    // This variable wins over every other source of flags, so that the result is the same everywhere.
    shell::run(command.env("CARGO_ENCODED_RUSTFLAGS", flags().join("\u{1f}")))
}

/// The cryptography (`ring`) has some C that calls nothing but `memcpy` and the like, so the compiler of this machine
/// will do, and no other need be installed; only its checked variants of these calls are glibc's own.
fn c_compiler(target: &str) -> [(String, &'static str); 2] {
    let target = target.replace('-', "_");
    [(format!("CC_{target}"), "cc"), (format!("CFLAGS_{target}"), "-U_FORTIFY_SOURCE")]
}

/// Not position-independent: a static-pie program relocates itself at every start, which was measured at 25 µs
/// of 520 µs for `on-submit` (the glibc build of the same takes 730 µs).
pub(crate) fn flags() -> [&'static str; 2] {
    ["-Ctarget-feature=+crt-static", "-Crelocation-model=static"]
}

/// Replaces by renaming: the old binary may be running, and cannot be written to then.
fn install(compiled: &Path, result: &Path) -> Result<()> {
    let beside = result.with_extension("new");
    fs::copy(compiled, &beside).map_err(|e| Error::io("cannot copy", compiled, &e))?;
    fs::rename(&beside, result).map_err(|e| Error::io("cannot replace", result, &e))
}

fn size_of(path: &Path) -> Result<String> {
    let metadata = fs::metadata(path).map_err(|e| Error::io("cannot read size", path, &e))?;
    Ok(format!("{} KiB", metadata.len().div_ceil(1024)))
}
