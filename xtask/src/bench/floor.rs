//! The floor: a program that does nothing, built as the release binary is. What it takes is what the kernel and Rust's
//! own start take; no hook can be faster.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Error, Result};
use crate::shell::{self, write_file};
use crate::{dist, elf};

const SOURCE: &[u8] = b"fn main() {}\n";

/// The release profile's settings, as rustc names them.
const PROFILE: [&str; 5] =
    ["--edition=2024", "-Copt-level=3", "-Clto=fat", "-Ccodegen-units=1", "-Cstrip=symbols"];

/// Compiles it into a folder.
pub(crate) fn build(folder: &Path) -> Result<PathBuf> {
    let (source, program) = (folder.join("floor.rs"), folder.join("floor"));
    write_file(&source, SOURCE)?;
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(compiler);
    command.args(PROFILE).args(dist::flags()).arg("--target").arg(dist::choose_target()?);
    shell::run(command.arg("-o").arg(&program).arg(&source).stdin(Stdio::null()))?;
    if elf::is_static(&program)? {
        return Ok(program);
    }
    Err(Error::new(format!("the floor needs a dynamic loader: {}", program.display())))
}
