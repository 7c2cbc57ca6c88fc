//! `cargo xtask dist`: the static release programs.
//!
//! Static, because a hook is started on every tool call and the dynamic loader takes longer than the hook.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use overtone_core::registry::{HOOK_PROGRAM, PROGRAM};

use crate::error::{Error, Result};
use crate::{elf, shell};

const PROGRAMS: [&str; 2] = [PROGRAM, HOOK_PROGRAM];
const ADD_TARGET_LIMIT: Duration = Duration::from_mins(2);

/// The finished static programs.
#[derive(Debug)]
pub(crate) struct Built {
    /// `overtone`; the hook program is beside it.
    pub path: PathBuf,
    target: String,
}

pub(crate) fn run() -> Result<()> {
    let built = build()?;
    for program in PROGRAMS {
        let path = built.path.with_file_name(program);
        println!("dist: {} ({}, {}, static)", path.display(), size_of(&path)?, built.target);
    }
    Ok(())
}

/// `cargo xtask up`: builds both programs and lets them install themselves.
pub(crate) fn up(arguments: &[String]) -> Result<()> {
    let built = build()?;
    shell::run(Command::new(built.path).arg("up").args(arguments))
}

/// The hook program that belongs to an `overtone`.
pub(crate) fn hook_program(binary: &Path) -> PathBuf {
    binary.with_file_name(HOOK_PROGRAM)
}

/// The program that was asked for, or the one that is built here.
pub(crate) fn chosen(binary: Option<&Path>) -> Result<PathBuf> {
    match binary {
        Some(path) => fs::canonicalize(path).map_err(|e| Error::io("cannot find program", path, &e)),
        None => Ok(build()?.path),
    }
}

/// Builds both programs without a word on stdout, which may belong to another command's figures.
pub(crate) fn build() -> Result<Built> {
    let target = choose_target()?;
    let folder = shell::target_dir()?;
    let dist = folder.join("dist");
    fs::create_dir_all(&dist).map_err(|e| Error::io("cannot create folder", &dist, &e))?;
    for program in PROGRAMS {
        compile(&target, program)?;
        let path = dist.join(program);
        install(&folder.join(&target).join("release").join(program), &path)?;
        if !elf::is_static(&path)? {
            return Err(Error::new(format!("the program needs a dynamic loader: {}", path.display()))
                .hint("a dependency links a shared C library; look for *-sys crates in `cargo tree`"));
        }
    }
    Ok(Built { path: dist.join(PROGRAM), target })
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
///
/// Each program is compiled by itself: built together they would share features, and the hook program would carry what
/// only the other one needs.
fn compile(target: &str, program: &str) -> Result<()> {
    let mut command = shell::cargo();
    command.args(["build", "--release", "--package", program, "--bin", program, "--target", target]);
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
