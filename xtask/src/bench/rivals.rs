//! What people write hooks in today, doing the same small job as our `pre-task` when it refuses: read the payload,
//! read the workflow, decide, print one JSON object.
//!
//! They are written to be fast, and run without a version manager's shim and with an empty environment: nothing may
//! make them slower than they are.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Error, Result};
use crate::{shell, tools};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rival {
    Shell,
    Python,
    Node,
}

impl Rival {
    pub(crate) const ALL: [Self; 3] = [Self::Shell, Self::Python, Self::Node];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Shell => "sh hook with jq",
            Self::Python => "Python hook",
            Self::Node => "Node hook",
        }
    }

    pub(crate) const fn file_name(self) -> &'static str {
        match self {
            Self::Shell => "gate.sh",
            Self::Python => "gate.py",
            Self::Node => "gate.js",
        }
    }

    pub(crate) const fn source(self) -> &'static str {
        match self {
            Self::Shell => include_str!("rivals/gate.sh"),
            Self::Python => include_str!("rivals/gate.py"),
            Self::Node => include_str!("rivals/gate.js"),
        }
    }

    /// What stands before the script. `-I`: nothing of the person's own is loaded.
    pub(crate) const fn options(self) -> &'static [&'static str] {
        match self {
            Self::Python => &["-I"],
            Self::Shell | Self::Node => &[],
        }
    }

    /// The interpreter itself.
    pub(crate) fn interpreter(self) -> Result<PathBuf> {
        match self {
            Self::Shell => {
                tools::require("jq")?;
                Ok("/bin/sh".into())
            }
            Self::Python => {
                tools::require("python3")?;
                real("python3", &["-c", "import os, sys; print(os.path.realpath(sys.executable))"])
            }
            Self::Node => {
                tools::require("node")?;
                real("node", &["-p", "process.execPath"])
            }
        }
    }
}

/// The system's own, which is built for speed; one that a version manager compiled may be several times slower. Without
/// it, the one on PATH, which is asked where it is: the command may be a shim.
fn real(program: &str, question: &[&str]) -> Result<PathBuf> {
    let system = Path::new("/usr/bin").join(program);
    if shell::probe(Command::new(&system).arg("--version")) {
        return Ok(system);
    }
    let answer = shell::capture(Command::new(program).args(question).stdin(Stdio::null()))?;
    let path = PathBuf::from(answer.trim());
    if path.is_absolute() {
        return Ok(path);
    }
    Err(Error::new(format!("{program} does not say where it is: {answer:?}")))
}
