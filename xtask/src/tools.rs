//! Tools that a fresh machine lacks: found when they are there, installed when they are not.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Error, Result};
use crate::shell;

/// `cargo-deny`: the one on PATH, else a private copy that is built once below the target folder.
pub(crate) fn cargo_deny() -> Result<PathBuf> {
    let on_path = PathBuf::from("cargo-deny");
    if shell::probe(Command::new(&on_path).arg("--version")) {
        return Ok(on_path);
    }
    let tools = shell::target_dir()?.join("tools");
    let private = tools.join("bin/cargo-deny");
    if !shell::probe(Command::new(&private).arg("--version")) {
        install_cargo_deny(&tools)?;
    }
    Ok(private)
}

fn install_cargo_deny(tools: &Path) -> Result<()> {
    eprintln!("installing cargo-deny (once, some minutes)");
    // Not optimised: it runs for a second, and would take minutes longer to build.
    shell::run(
        shell::cargo().args(["install", "cargo-deny", "--locked", "--quiet", "--debug", "--root"]).arg(tools),
    )
    .map_err(|e| e.hint("install it by hand: cargo install cargo-deny --locked"))
}

/// `cargo-fuzz`: the one on PATH, else a private copy that is built once below the target folder.
pub(crate) fn cargo_fuzz() -> Result<PathBuf> {
    let on_path = PathBuf::from("cargo-fuzz");
    if shell::probe(Command::new(&on_path).arg("--version")) {
        return Ok(on_path);
    }
    let tools = shell::target_dir()?.join("tools");
    let private = tools.join("bin/cargo-fuzz");
    if !shell::probe(Command::new(&private).arg("--version")) {
        eprintln!("installing cargo-fuzz (once, some minutes)");
        let mut install = shell::cargo();
        install.args(["install", "cargo-fuzz", "--locked", "--quiet", "--debug", "--root"]).arg(&tools);
        shell::run(&mut install)
            .map_err(|e| e.hint("install it by hand: cargo install cargo-fuzz --locked"))?;
    }
    Ok(private)
}

/// A component of the Rust toolchain, which rustup's minimal profile leaves out.
pub(crate) fn component(name: &str, subcommand: &str) -> Result<()> {
    if shell::probe(shell::cargo().args([subcommand, "--version"])) {
        return Ok(());
    }
    eprintln!("installing the {name} component");
    shell::run(Command::new("rustup").args(["component", "add", name]))
        .map_err(|e| e.hint(format!("`cargo {subcommand}` must work: install {name}")))
}

/// A program of a Debian package of the same name.
pub(crate) fn debian_package(name: &str) -> Result<()> {
    debian_program(name, name)
}

/// A program of a Debian package.
pub(crate) fn debian_program(program: &str, package: &str) -> Result<()> {
    if shell::probe(Command::new(program).arg("--version")) {
        return Ok(());
    }
    eprintln!("installing the Debian package {package}");
    let hint = format!("install it by hand: apt-get install {package}");
    apt_get(&["update", "--quiet"])
        .and_then(|()| apt_get(&["install", "--yes", "--quiet", "--no-install-recommends", package]))
        .map_err(|e| e.hint(hint.clone()))?;
    if shell::probe(Command::new(program).arg("--version")) {
        return Ok(());
    }
    Err(Error::new(format!("{program} does not run after its installation")).hint(hint))
}

/// As root directly, else through sudo, which must not ask for a password: nobody may be there to answer.
fn apt_get(arguments: &[&str]) -> Result<()> {
    let mut command = if is_root() {
        Command::new("apt-get")
    } else {
        let mut sudo = Command::new("sudo");
        sudo.args(["--non-interactive", "apt-get"]);
        sudo
    };
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
    shell::run(&mut command)
}

fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}
