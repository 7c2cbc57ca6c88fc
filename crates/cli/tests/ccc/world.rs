//! A private home with a stand-in for the client that writes down what it was started with.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_overtone");

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

#[derive(Debug)]
pub(crate) struct World {
    root: TempDir,
    env: Vec<(&'static str, String)>,
}

impl World {
    /// With the providers `alpha` and `beta`, and texts in English.
    pub(crate) fn new() -> Self {
        let world = Self::empty();
        put(&world.config(), &format!("{:#}\n", providers()));
        world
    }

    pub(crate) fn empty() -> Self {
        let root = TempDir::with_prefix("overtone-ccc-").unwrap();
        for folder in ["home/.claude", "project/.git", "bin", "record"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        let client = root.path().join("bin/claude");
        put(&client, CLIENT);
        fs::set_permissions(&client, Permissions::from_mode(0o755)).unwrap();
        Self { root, env: vec![("OVERTONE_LANG", "en".into())] }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.env.retain(|(other, _)| *other != name);
        self.env.push((name, value.to_owned()));
        self
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
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

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = self.program(Path::new(BINARY));
        command.arg0("ccc").args(words);
        command
    }

    /// Any program in this world.
    pub(crate) fn program(&self, program: &Path) -> Command {
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.path("home"))
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .env("RECORD", self.path("record"))
            .env("OVERTONE_TEST_PATIENCE", "600")
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(self.path("project"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, line: &str) -> Output {
        Output::of(&self.command(&line.split_whitespace().collect::<Vec<_>>()).output().unwrap())
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

pub(crate) fn put(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

pub(crate) fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    pub(crate) fn of(output: &std::process::Output) -> Self {
        let output = Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
        };
        // Whatever a test is about: nothing that is said holds a token.
        for token in [TOKEN_A, TOKEN_B] {
            assert!(!output.stdout.contains(token) && !output.stderr.contains(token), "{output:?}");
        }
        output
    }

    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{self:?}");
        self
    }

    /// One line says what is wrong, one how to go on, and nothing goes to stdout.
    #[track_caller]
    pub(crate) fn fails(self, parts: &[&str]) -> Self {
        assert_eq!((self.code, self.stdout.as_str()), (Some(1), ""), "{self:?}");
        let lines: Vec<_> = self.stderr.lines().collect();
        assert!(
            lines.len() == 2 && lines[0].starts_with("error: ") && lines[1].starts_with("hint: "),
            "{self:?}"
        );
        self.stderr_has(parts)
    }

    #[track_caller]
    pub(crate) fn stderr_has(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in {}", self.stderr);
        }
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}
