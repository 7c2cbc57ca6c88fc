//! What `ccc` costs: its hook when there is nothing to review, and a switch up to the start of the client.
//!
//! The client is `/bin/true`, so a switch's time is that of `ccc` itself and of one more start. A switch makes its
//! files last (fsync), which on a disk takes milliseconds that no code can save: the bar is for a home in memory, and
//! the figure on disk stands beside it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use super::cases::Class;
use super::fixture::{Place, SESSION};
use super::payload;
use crate::error::{Error, Result};
use crate::shell::write_file;

/// A file system in memory, on every Linux.
const MEMORY: &str = "/dev/shm";

/// What the client of a switch is.
const CLIENT: &str = "/bin/true";

/// One call of `ccc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    /// The hook of the reviewer's own session.
    Guard,
    /// The hook where the environment says no.
    OffHere,
    /// The hook where `ccc.json` says no.
    OffInConfig,
    /// The hook of a session that was switched off.
    OffInSession,
    /// From one provider to the other, with the home in memory or on disk.
    Switch(Medium),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Medium {
    Memory,
    Disk,
}

impl Call {
    pub(crate) const ALL: [Self; 6] = [
        Self::Guard,
        Self::OffHere,
        Self::OffInConfig,
        Self::OffInSession,
        Self::Switch(Medium::Memory),
        Self::Switch(Medium::Disk),
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Guard => "ccc hook (guard)",
            Self::OffHere => "ccc hook (off here)",
            Self::OffInConfig => "ccc hook (off in ccc.json)",
            Self::OffInSession => "ccc hook (session off)",
            Self::Switch(_) => "ccc switch, start",
        }
    }

    pub(crate) const fn is_switch(self) -> bool {
        matches!(self, Self::Switch(_))
    }

    pub(crate) const fn state(self) -> &'static str {
        match self {
            Self::Switch(Medium::Memory) => "memory",
            Self::Switch(Medium::Disk) => "disk",
            _ => "",
        }
    }

    pub(crate) const fn class(self) -> Class {
        match self {
            Self::Switch(Medium::Memory) => Class::Switching,
            Self::Switch(Medium::Disk) => Class::Synced,
            _ => Class::Idle,
        }
    }

    pub(crate) const fn variable(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Guard => Some(("CCC_SUPERVISOR_HOOK", "1")),
            Self::OffHere => Some(("CCC_SUPERVISOR", "0")),
            _ => None,
        }
    }

    /// What is printed; a switch is known by what it changed.
    pub(crate) const fn answer(self) -> &'static str {
        match self {
            Self::Guard => r#"{"decision":"","":""}"#,
            Self::Switch(_) => "",
            _ => "{}\n",
        }
    }
}

/// `ccc`, a client, and a home for each call.
#[derive(Debug)]
pub(crate) struct Scene {
    disk: PathBuf,
    /// Gone with the measurement.
    memory: Option<TempDir>,
}

impl Scene {
    pub(crate) fn create(binary: &Path, scratch: &Path) -> Result<Self> {
        let memory = tempfile::Builder::new().prefix("overtone-bench-").tempdir_in(MEMORY).ok();
        let scene = Self { disk: scratch.join("ccc"), memory };
        for call in Call::ALL {
            if let Some(root) = scene.root(call) {
                create_home(&root, call)?;
            }
        }
        scene.install(binary)?;
        Ok(scene)
    }

    /// The folder with the home of a call; `None` if this machine has no such file system.
    pub(crate) fn root(&self, call: Call) -> Option<PathBuf> {
        match call {
            Call::Switch(Medium::Memory) => self.memory.as_ref().map(|folder| folder.path().to_owned()),
            call => Some(self.disk.join(call.name())),
        }
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.bin().join("ccc")
    }

    fn bin(&self) -> PathBuf {
        self.disk.join("bin")
    }

    /// The payload of the hooks.
    pub(crate) fn stop(&self, place: &Place) -> Result<PathBuf> {
        let path = self.disk.join("stop.json");
        write_file(&path, payload::stop(place).to_string().as_bytes())?;
        Ok(path)
    }

    fn install(&self, binary: &Path) -> Result<()> {
        let (bin, program) = (self.bin(), self.program());
        fs::create_dir_all(&bin).map_err(|e| Error::io("cannot create folder", &bin, &e))?;
        fs::copy(binary, &program).map_err(|e| Error::io("cannot copy", binary, &e))?;
        let client = bin.join("claude");
        symlink(CLIENT, &client).map_err(|e| Error::io("cannot create", &client, &e))
    }
}

/// A person's files: settings of their own, and two providers.
fn create_home(root: &Path, call: Call) -> Result<()> {
    let provider = |name: &str| {
        json!({ "env": {
            "ANTHROPIC_BASE_URL": format!("https://{name}.example/anthropic"),
            "ANTHROPIC_AUTH_TOKEN": format!("sk-{name}-0123456789abcdef0123456789abcdef"),
            "ANTHROPIC_MODEL": format!("{name}-large"),
            "ANTHROPIC_SMALL_FAST_MODEL": format!("{name}-small"),
        } })
    };
    let mut config = json!({
        "settings": { "permissions": { "allow": ["Read"] } },
        "providers": { "a": provider("a"), "b": provider("b") },
        "current_provider": "a",
    });
    if !call.is_switch() {
        config["supervisor"] = json!({ "enabled": call != Call::OffInConfig });
    }
    let settings = json!({
        "model": "opus", "permissions": { "allow": ["Bash(ls)", "Bash(git status)"] },
        "env": { "HTTP_PROXY": "", "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "32000" },
    });
    for (name, content) in [("ccc.json", config), ("settings.json", settings)] {
        write_file(&root.join("home/.claude").join(name), format!("{content:#}\n").as_bytes())?;
    }
    if call == Call::OffInSession {
        let record = json!({ "session_id": SESSION, "count": 1, "enabled": false });
        let name = format!("home/.claude/ccc/supervisor-{SESSION}.json");
        write_file(&root.join(name), format!("{record:#}\n").as_bytes())?;
    }
    write_file(&root.join("project/README.md"), b"")
}
