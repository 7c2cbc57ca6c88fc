//! A private home and project, and one way to run the binary there.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, thread};

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_overtone");

#[derive(Debug)]
pub(crate) struct World {
    root: TempDir,
    env: Vec<(&'static str, String)>,
}

impl World {
    /// With the session `s1` and texts in English.
    pub(crate) fn new() -> Self {
        let root = TempDir::with_prefix("overtone-cli-").unwrap();
        for folder in ["home", "project"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        Self { root, env: vec![("OVERTONE_SESSION_ID", "s1".into()), ("OVERTONE_LANG", "en".into())] }
    }

    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self = self.without(name);
        self.env.push((name, value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &'static str) -> Self {
        self.env.retain(|(other, _)| *other != name);
        self
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.root.path().join("home/.overtone")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    pub(crate) fn session(&self, id: &str) -> PathBuf {
        self.state().join("sessions").join(id)
    }

    pub(crate) fn feature(&self, path: &str) -> PathBuf {
        self.project().join("specs/features").join(path)
    }

    pub(crate) fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(BINARY);
        command
            .args(arguments)
            .env_clear()
            .env("OVERTONE_NO_DASHBOARD", "1")
            .env("OVERTONE_TEST_PATIENCE", "600")
            .env("HOME", self.root.path().join("home"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .current_dir(self.project())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, line: &str) -> Output {
        self.run_words(&line.split_whitespace().collect::<Vec<_>>())
    }

    pub(crate) fn run_words<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Output {
        Output::of(&self.command(arguments).output().unwrap())
    }

    pub(crate) fn run_with_stdin(&self, line: &str, stdin: &str) -> Output {
        let words: Vec<_> = line.split_whitespace().collect();
        let mut child = self.command(&words).stdin(Stdio::piped()).spawn().unwrap();
        let (mut pipe, bytes) = (child.stdin.take().unwrap(), stdin.as_bytes().to_vec());
        let writer = thread::spawn(move || {
            // The child may have all it needs before the end.
            let _ = pipe.write_all(&bytes);
        });
        let output = Output::of(&child.wait_with_output().unwrap());
        writer.join().unwrap();
        output
    }

    /// Runs a command that must work, and returns its object.
    #[track_caller]
    pub(crate) fn json(&self, line: &str) -> Value {
        self.run(line).ok().json()
    }

    pub(crate) fn hook(&self, name: &str, payload: &Value) {
        assert_eq!(self.run_with_stdin(&format!("hook {name}"), &payload.to_string()).code, Some(0));
    }

    /// What a hook answers.
    #[track_caller]
    pub(crate) fn answer(&self, name: &str, payload: &Value) -> Value {
        self.run_with_stdin(&format!("hook {name}"), &payload.to_string()).ok().json()
    }

    /// Sends an agent to work; with a verdict, it also comes back.
    pub(crate) fn agent(&self, session: &str, agent: &str, verdict: Option<&str>) {
        let kind = format!("ot:{agent}");
        self.hook(
            "pre-task",
            &json!({ "session_id": session, "cwd": self.project(), "tool_name": "Agent", "tool_use_id": agent,
                     "tool_input": { "subagent_type": kind, "description": "x", "prompt": "go" } }),
        );
        if let Some(verdict) = verdict {
            let message = format!("done\n<!-- VERDICT: {{\"result\":\"{verdict}\"}} -->");
            self.hook(
                "on-agent-stop",
                &json!({ "session_id": session, "cwd": self.project(), "agent_id": "", "agent_type": kind,
                         "last_assistant_message": message }),
            );
        }
    }
}

/// Puts a file where its folder may not exist yet.
pub(crate) fn put(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    pub(crate) fn of(output: &std::process::Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// It worked and had nothing to complain about.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!((self.code, self.stderr.as_str()), (Some(0), ""), "stdout: {}", self.stdout);
        self
    }

    /// It failed, said why in one line, and how to go on in another; nothing went to stdout.
    #[track_caller]
    pub(crate) fn fails(self, parts: &[&str]) -> Self {
        assert_eq!((self.code, self.stdout.as_str()), (Some(1), ""), "stderr: {}", self.stderr);
        let lines: Vec<_> = self.stderr.lines().collect();
        assert!(
            lines.len() == 2 && lines[0].starts_with("error: ") && lines[1].starts_with("hint: "),
            "{lines:?}"
        );
        self.stderr_has(parts)
    }

    /// The argument parser refused it.
    #[track_caller]
    pub(crate) fn refused_by_parser(self) -> Self {
        assert_eq!((self.code, self.stdout.as_str()), (Some(2), ""), "stderr: {}", self.stderr);
        assert!(self.stderr.contains("Usage:") || self.stderr.contains("--help"), "{}", self.stderr);
        self
    }

    #[track_caller]
    pub(crate) fn stderr_has(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in stderr: {}", self.stderr);
        }
        self
    }

    #[track_caller]
    pub(crate) fn has(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.stdout.contains(part), "no {part:?} in stdout: {}", self.stdout);
        }
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {:?}", self.stdout))
    }
}

/// The names of an object's fields, in order.
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}
