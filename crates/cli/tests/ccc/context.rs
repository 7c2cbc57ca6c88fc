//! The helpers of the `ccc` tests: a stand-in for the client that records what it was started with.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

pub(crate) use crate::common::{BINARY, Output, TestContext, put, read};

pub(crate) const TOKEN_A: &str = "sk-a-0123456789-aaaaaaaaaaaaaaaa";
pub(crate) const TOKEN_B: &str = "sk-b-0123456789-bbbbbbbbbbbbbbbb";

const CLIENT: &str = r#"#!/bin/sh
for argument in "$@"; do printf '%s\n' "$argument"; done > "$RECORD/argv"
env > "$RECORD/env"
echo $$ > "$RECORD/pid"
while [ $# -gt 0 ]; do
  if [ "$1" = --settings ]; then cp -p "$2" "$RECORD/private.json"; fi
  shift
done
echo from-claude
exit "${CLIENT_EXIT:-0}"
"#;

impl TestContext {
    /// With the providers `alpha` and `beta`.
    pub(crate) fn with_providers() -> Self {
        let context = Self::without_providers();
        put(&context.config(), format!("{:#}\n", providers()));
        context
    }

    /// With a stand-in for the client that records how it was started.
    pub(crate) fn without_providers() -> Self {
        let context = Self::new().without_env("OVERTONE_NO_DASHBOARD");
        context.create_folders(&["home/.claude", "project/.git", "bin", "record"]);
        let client = context.path("bin/claude");
        put(&client, CLIENT);
        fs::set_permissions(&client, Permissions::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", context.path("bin").display(), std::env::var("PATH").unwrap());
        let record = context.path("record");
        context.with_env("PATH", path).with_env("RECORD", record)
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.path("home/.claude/ccc.json")
    }

    pub(crate) fn settings(&self) -> PathBuf {
        self.path("home/.claude/settings.json")
    }

    pub(crate) fn settings_value(&self) -> Value {
        serde_json::from_str(&read(&self.settings())).unwrap()
    }

    /// The program under the name `ccc`, as a file of its own.
    pub(crate) fn install(&self, below: &str) -> PathBuf {
        let ccc = self.path(below);
        fs::create_dir_all(ccc.parent().unwrap()).unwrap();
        if fs::hard_link(BINARY, &ccc).is_err() {
            // Another file system. `cp` is a process of its own, so that no other test's child inherits a file
            // that is open for writing: the kernel would refuse to start it.
            assert!(Command::new("cp").arg(BINARY).arg(&ccc).status().unwrap().success());
        }
        ccc
    }

    /// The binary under the name `ccc`.
    pub(crate) fn ccc_command(&self, words: &[&str]) -> Command {
        let mut command = self.program(BINARY);
        command.arg0("ccc").args(words);
        command
    }

    pub(crate) fn run_ccc(&self, line: &str) -> Output {
        ccc_output(&self.ccc_command(&line.split_whitespace().collect::<Vec<_>>()).output().unwrap())
    }

    /// A variable of the environment that the client was started with.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        let env = read(&self.path("record/env"));
        let value = env.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        value.map(str::to_owned)
    }

    /// The private settings that the client was started with, if it was.
    pub(crate) fn private(&self) -> Option<Value> {
        let text = fs::read_to_string(self.path("record/private.json")).ok()?;
        Some(serde_json::from_str(&text).unwrap())
    }

    /// Forgets what the last client was started with.
    pub(crate) fn forget(&self) {
        for name in ["argv", "env", "pid", "private.json"] {
            let _ = fs::remove_file(self.path("record").join(name));
        }
    }

    /// What the client was started with, if it was.
    pub(crate) fn arguments(&self) -> Option<Vec<String>> {
        let text = fs::read_to_string(self.path("record/argv")).ok()?;
        Some(text.lines().map(str::to_owned).collect())
    }
}

pub(crate) fn providers() -> Value {
    json!({
        "settings": { "permissions": { "allow": ["Read"] } },
        "providers": {
            "alpha": { "env": {
                "ANTHROPIC_BASE_URL": "https://alpha.example", "ANTHROPIC_AUTH_TOKEN": TOKEN_A,
                "ANTHROPIC_MODEL": "alpha-1"
            } },
            "beta": { "env": { "ANTHROPIC_BASE_URL": "https://beta.example", "ANTHROPIC_AUTH_TOKEN": TOKEN_B } }
        },
        "current_provider": "alpha",
        "claude_args": ["--verbose"]
    })
}

pub(crate) fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// The output of a run. Whatever a test is about, no output contains a token.
pub(crate) fn ccc_output(output: &std::process::Output) -> Output {
    let output = Output::new(output);
    for token in [TOKEN_A, TOKEN_B] {
        assert!(!output.stdout.contains(token) && !output.stderr.contains(token), "{output:?}");
    }
    output
}
