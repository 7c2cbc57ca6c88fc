//! What `ccc` costs: its hook when there is nothing to review, and a switch up to the start of the client.
//!
//! The client is `/bin/true`, so a switch's time is that of `ccc` itself and of one more start. A switch makes its
//! files last (fsync), which on a disk takes milliseconds that no code can save: the bar is for a home in memory, and
//! the figure on disk stands beside it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::fixture::SESSION;
use super::state::Class;
use crate::error::{Error, Result};
use crate::shell::write_file;

/// A file system in memory, on every Linux.
const MEMORY: &str = "/dev/shm";

/// What the client of a switch is.
const CLIENT: &str = "/bin/true";

/// Why the hook of `ccc` has nothing to do at a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// It is the reviewer's own session.
    Guard,
    /// The environment says no.
    OffHere,
    /// `ccc.json` says no.
    OffInConfig,
    /// The session was switched off.
    OffInSession,
    /// Overtone's loop goes on, so there is nothing to review yet.
    LoopRuns,
}

impl Stop {
    pub(crate) const ALL: [Self; 5] =
        [Self::Guard, Self::OffHere, Self::OffInConfig, Self::OffInSession, Self::LoopRuns];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Guard => "ccc hook (guard)",
            Self::OffHere => "ccc hook (off here)",
            Self::OffInConfig => "ccc hook (off in ccc.json)",
            Self::OffInSession => "ccc hook (session off)",
            Self::LoopRuns => "ccc hook (loop runs)",
        }
    }

    pub(crate) const fn variable(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Guard => Some(("CCC_SUPERVISOR_HOOK", "1")),
            Self::OffHere => Some(("CCC_SUPERVISOR", "0")),
            _ => None,
        }
    }

    pub(crate) const fn answer(self) -> &'static str {
        match self {
            Self::Guard => r#"{"decision":"","":""}"#,
            _ => "{}\n",
        }
    }
}

/// Where the home of a switch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Medium {
    Memory,
    Disk,
}

impl Medium {
    pub(crate) const ALL: [Self; 2] = [Self::Memory, Self::Disk];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Disk => "disk",
        }
    }

    pub(crate) const fn class(self) -> Class {
        match self {
            Self::Memory => Class::Switching,
            Self::Disk => Class::Synced,
        }
    }
}

/// `ccc`, a client, and a home for each call.
#[derive(Debug)]
pub(crate) struct Scene {
    folder: PathBuf,
    /// Gone with the measurement; `None` if this machine has no such file system.
    memory: Option<TempDir>,
}

impl Scene {
    pub(crate) fn create(binary: &Path, scratch: &Path) -> Result<Self> {
        let memory = tempfile::Builder::new().prefix("overtone-bench-").tempdir_in(MEMORY).ok();
        let scene = Self { folder: scratch.join("ccc"), memory };
        for stop in Stop::ALL {
            create_stop_home(&scene.stop_home(stop), stop)?;
        }
        for home in Medium::ALL.into_iter().filter_map(|medium| scene.switch_home(medium)) {
            create_home(&home, config())?;
        }
        scene.install(binary)?;
        Ok(scene)
    }

    pub(crate) fn stop_home(&self, stop: Stop) -> PathBuf {
        self.folder.join(stop.name())
    }

    pub(crate) fn switch_home(&self, medium: Medium) -> Option<PathBuf> {
        match medium {
            Medium::Memory => self.memory.as_ref().map(|folder| folder.path().to_owned()),
            Medium::Disk => Some(self.folder.join("switch")),
        }
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.bin().join("ccc")
    }

    fn bin(&self) -> PathBuf {
        self.folder.join("bin")
    }

    fn install(&self, binary: &Path) -> Result<()> {
        let (bin, program) = (self.bin(), self.program());
        fs::create_dir_all(&bin).map_err(|e| Error::io("cannot create folder", &bin, &e))?;
        fs::copy(binary, &program).map_err(|e| Error::io("cannot copy", binary, &e))?;
        let client = bin.join("claude");
        symlink(CLIENT, &client).map_err(|e| Error::io("cannot create", &client, &e))
    }
}

/// Two providers.
fn config() -> Value {
    let provider = |name: &str| {
        json!({ "env": {
            "ANTHROPIC_BASE_URL": format!("https://{name}.example/anthropic"),
            "ANTHROPIC_AUTH_TOKEN": format!("sk-{name}-0123456789abcdef0123456789abcdef"),
            "ANTHROPIC_MODEL": format!("{name}-large"),
            "ANTHROPIC_SMALL_FAST_MODEL": format!("{name}-small"),
        } })
    };
    json!({
        "settings": { "permissions": { "allow": ["Read"] } },
        "providers": { "a": provider("a"), "b": provider("b") },
        "current_provider": "a",
    })
}

fn create_stop_home(home: &Path, stop: Stop) -> Result<()> {
    let mut config = config();
    config["supervisor"] = json!({ "enabled": stop != Stop::OffInConfig });
    if stop == Stop::OffInSession {
        let record = json!({ "session_id": SESSION, "count": 1, "enabled": false });
        let name = format!(".claude/ccc/supervisor-{SESSION}.json");
        write_file(&home.join(name), format!("{record:#}\n").as_bytes())?;
    }
    create_home(home, config)
}

/// A person's files, among them settings of their own.
fn create_home(home: &Path, config: Value) -> Result<()> {
    let settings = json!({
        "model": "opus", "permissions": { "allow": ["Bash(ls)", "Bash(git status)"] },
        "env": { "HTTP_PROXY": "", "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "32000" },
    });
    for (name, content) in [("ccc.json", config), ("settings.json", settings)] {
        write_file(&home.join(".claude").join(name), format!("{content:#}\n").as_bytes())?;
    }
    Ok(())
}
