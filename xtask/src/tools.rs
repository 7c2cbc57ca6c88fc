//! Programs that a fresh machine lacks. One table says what they are, where they come from and what needs them.
//!
//! A program that is there is used. A missing one is installed, by name and with a word about it, unless
//! `cargo xtask ci --no-install` forbids that.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};
use crate::{browser, e2e, shell};

/// A program, where it comes from, and what needs it.
#[derive(Debug)]
struct Tool {
    program: &'static str,
    source: Source,
    why: &'static str,
}

/// Where a missing program comes from.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// A component of the Rust toolchain, which rustup's minimal profile leaves out.
    Component,
    /// This Debian package, installed.
    Debian(&'static str),
    /// This Debian package, only unpacked below the target folder. Installing it would change the machine: `nats-server`
    /// creates a user and starts a service.
    Unpacked(&'static str),
    /// Not installed from here: there are too many ways to do so.
    Person(&'static str),
}

const TOOLS: [Tool; 11] = [
    Tool { program: "rustfmt", source: Source::Component, why: "the format" },
    Tool { program: "clippy", source: Source::Component, why: "the lints" },
    Tool {
        program: "node",
        source: Source::Debian("nodejs"),
        why: "the browser tests; a hook to compare with in bench",
    },
    Tool {
        program: "npm",
        source: Source::Person("install Node.js with npm"),
        why: "fetches Claude Code and Playwright",
    },
    Tool {
        program: "python3",
        source: Source::Debian("python3"),
        why: "the projects of `discipline` and `tokens` have tests in Python",
    },
    Tool {
        program: "nats-server",
        source: Source::Unpacked("nats-server"),
        why: "the fleet's tests start real servers",
    },
    Tool { program: "chromium", source: Source::Debian("chromium"), why: "runs the dashboard's page" },
    Tool {
        program: "strace",
        source: Source::Debian("strace"),
        why: "makes system calls fail, and counts them",
    },
    Tool { program: "g++", source: Source::Debian("g++"), why: "builds libFuzzer" },
    Tool { program: "valgrind", source: Source::Debian("valgrind"), why: "counts instructions in bench" },
    Tool { program: "/usr/bin/time", source: Source::Debian("time"), why: "measures memory in bench" },
];

/// What a step of `cargo xtask ci` cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// A program of the table.
    Program(&'static str),
    /// The pinned versions of Claude Code.
    Clients,
    /// The npm packages of the browser tests.
    BrowserPackages,
}

impl Need {
    pub(crate) fn missing(self) -> Result<Vec<Missing>> {
        match self {
            Self::Program(program) => Ok(missing(program)?.into_iter().collect()),
            Self::Clients => e2e::missing_clients(),
            Self::BrowserPackages => browser::missing_packages(),
        }
    }

    /// Installs or downloads it, unless it is there.
    pub(crate) fn get(self) -> Result<()> {
        match self {
            Self::Program(program) => require(program),
            Self::Clients => e2e::fetch_clients(),
            Self::BrowserPackages => browser::packages().map(drop),
        }
    }
}

/// Something that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing {
    pub(crate) what: String,
    pub(crate) why: &'static str,
    /// A command that gets it.
    pub(crate) command: String,
}

/// Whether missing programs may be installed.
static MAY_INSTALL: AtomicBool = AtomicBool::new(true);

/// From now on a missing program is an error.
pub(crate) fn forbid_installing() {
    MAY_INSTALL.store(false, Ordering::Relaxed);
}

/// Whatever downloads or installs something asks first.
pub(crate) fn may_install(what: &str) -> Result<()> {
    if MAY_INSTALL.load(Ordering::Relaxed) {
        return Ok(());
    }
    Err(Error::new(format!("{what} is missing")).hint("run it again without --no-install"))
}

fn missing(program: &str) -> Result<Option<Missing>> {
    let tool = tool(program)?;
    if tool.is_there()? {
        return Ok(None);
    }
    Ok(Some(Missing { what: tool.program.to_owned(), why: tool.why, command: tool.command() }))
}

/// Makes sure that a program of the table is there.
pub(crate) fn require(program: &str) -> Result<()> {
    let tool = tool(program)?;
    if tool.is_there()? {
        return Ok(());
    }
    let hint = format!("it is needed for this: {}; by hand: {}", tool.why, tool.command());
    may_install(tool.program).map_err(|e| e.hint(hint.clone()))?;
    tool.install().map_err(|e| e.hint(hint.clone()))?;
    if tool.is_there()? {
        return Ok(());
    }
    Err(Error::new(format!("{} does not run after its installation", tool.program)).hint(hint))
}

/// The search path, and where programs were unpacked or are kept from ordinary users.
pub(crate) fn path() -> Result<OsString> {
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    let more = [PathBuf::from("/usr/sbin"), folder()?.join("bin")];
    std::env::join_paths(std::env::split_paths(&inherited).chain(more))
        .map_err(|e| Error::new(format!("cannot extend PATH: {e}")))
}

/// Whether the tests can be run by nextest, which keeps all processors busy until the end. It is not installed,
/// because it would have to be built from source.
pub(crate) fn has_nextest() -> bool {
    shell::probe(shell::cargo().args(["nextest", "--version"]))
}

/// A program of crates.io: the one on PATH if `is_usable` accepts it, else a copy of this version that is built once below the
/// target folder. The version is fixed, because the newest one may need a newer compiler than ours.
pub(crate) fn crate_program(name: &str, version: &str, is_usable: impl Fn(&Path) -> bool) -> Result<PathBuf> {
    let on_path = PathBuf::from(name);
    if is_usable(&on_path) {
        return Ok(on_path);
    }
    let private = folder()?.join("bin").join(name);
    if !is_usable(&private) {
        may_install(name)?;
        eprintln!("building {name} with cargo (once, some minutes)");
        let mut install = shell::cargo();
        let package = format!("{name}@{version}");
        install.args(["install", &package, "--locked", "--quiet", "--root"]).arg(folder()?);
        shell::run(&mut install).map_err(|e| e.hint(format!("by hand: cargo install {package} --locked")))?;
    }
    Ok(private)
}

fn tool(program: &str) -> Result<&'static Tool> {
    let found = TOOLS.iter().find(|tool| tool.program == program);
    found.ok_or_else(|| Error::new(format!("{program} is not in the table of xtask/src/tools.rs")))
}

/// Where unpacked programs are.
fn folder() -> Result<PathBuf> {
    Ok(shell::target_dir()?.join("tools"))
}

impl Tool {
    fn is_there(&self) -> Result<bool> {
        let mut command = match self.source {
            Source::Component => {
                let mut cargo = shell::cargo();
                cargo.arg(self.subcommand());
                cargo
            }
            Source::Debian(_) | Source::Unpacked(_) | Source::Person(_) => {
                let mut command = Command::new(self.program);
                command.env("PATH", path()?);
                command
            }
        };
        Ok(shell::probe(command.arg("--version")))
    }

    /// The subcommand of cargo that a component brings.
    fn subcommand(&self) -> &'static str {
        if self.program == "rustfmt" { "fmt" } else { self.program }
    }

    /// How a person gets it.
    fn command(&self) -> String {
        match self.source {
            Source::Component => format!("rustup component add {}", self.program),
            Source::Debian(package) | Source::Unpacked(package) => format!("apt-get install {package}"),
            Source::Person(how) => how.to_owned(),
        }
    }

    fn install(&self) -> Result<()> {
        match self.source {
            Source::Component => {
                eprintln!("installing {} with rustup: {}", self.program, self.why);
                shell::run(Command::new("rustup").args(["component", "add", self.program]))
            }
            Source::Debian(package) => {
                eprintln!("installing the Debian package {package}: {}", self.why);
                apt_get(&["update", "--quiet"])?;
                apt_get(&["install", "--yes", "--quiet", "--no-install-recommends", package])
            }
            Source::Unpacked(package) => self.unpack(package),
            Source::Person(how) => Err(Error::new(format!("{} is missing", self.program)).hint(how)),
        }
    }

    /// Downloads a package and unpacks it below the target folder, and puts its program into `tools/bin`.
    fn unpack(&self, package: &str) -> Result<()> {
        let folder = folder()?;
        eprintln!("unpacking the Debian package {package} into {}: {}", folder.display(), self.why);
        let (unpacked, bin) = (folder.join(package), folder.join("bin"));
        for folder in [&unpacked, &bin] {
            fs::create_dir_all(folder).map_err(|e| Error::io("cannot create folder", folder, &e))?;
        }
        // A fresh container has no list of packages yet.
        if download(package, &folder).is_err() {
            apt_get(&["update", "--quiet"])?;
            download(package, &folder)?;
        }
        let archive = archive(package, &folder)?;
        shell::run(Command::new("dpkg-deb").arg("-x").args([&archive, &unpacked]).stdin(Stdio::null()))?;
        let program = ["usr/sbin", "usr/bin"].map(|place| unpacked.join(place).join(self.program));
        let program = program.iter().find(|program| program.is_file());
        let program = program.ok_or_else(|| Error::new(format!("{package} has no {}", self.program)))?;
        let link = bin.join(self.program);
        // The link of an installation that broke off.
        let _ = fs::remove_file(&link);
        symlink(program, &link).map_err(|e| Error::io("cannot link", &link, &e))
    }
}

/// Needs no root permissions, because it only writes into the folder.
fn download(package: &str, folder: &Path) -> Result<()> {
    let mut command = Command::new("apt-get");
    command.args(["download", "--quiet", package]).current_dir(folder).stdin(Stdio::null());
    shell::run(&mut command)
}

/// `apt-get download` names the file after the package, its version and the architecture.
fn archive(package: &str, folder: &Path) -> Result<PathBuf> {
    let entries = fs::read_dir(folder).map_err(|e| Error::io("cannot read folder", folder, &e))?;
    let prefix = format!("{package}_");
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_package = path.extension().is_some_and(|extension| extension == "deb");
        if is_package && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix)) {
            return Ok(path);
        }
    }
    Err(Error::new(format!("apt-get downloaded no package {package}")))
}

/// As root directly, else through sudo, which must not ask for a password: nobody may be there to answer.
fn apt_get(arguments: &[&str]) -> Result<()> {
    let mut command = if nix::unistd::geteuid().is_root() {
        Command::new("apt-get")
    } else {
        let mut sudo = Command::new("sudo");
        sudo.args(["--non-interactive", "apt-get"]);
        sudo
    };
    command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
    shell::run(&mut command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_in_the_table_is_an_error() {
        let error = require("no-such-program").unwrap_err();
        assert_eq!(error.to_string(), "no-such-program is not in the table of xtask/src/tools.rs");
    }

    #[test]
    fn a_program_that_is_there_is_not_missing() {
        // Cargo runs these tests, so its component is there if anything is.
        assert_eq!(missing("rustfmt").unwrap(), None);
    }

    #[test]
    fn every_program_says_how_a_person_gets_it() {
        let commands: Vec<_> = TOOLS.iter().map(Tool::command).collect();
        assert!(commands.contains(&"rustup component add clippy".to_owned()), "{commands:?}");
        assert!(commands.contains(&"apt-get install nodejs".to_owned()), "{commands:?}");
    }
}
