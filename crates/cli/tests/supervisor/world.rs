//! A private world: folders, a scripted `claude` on the PATH, and one way to run the hook in it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) const SESSION: &str = "abc123";

pub(crate) struct World {
    root: TempDir,
    env: BTreeMap<String, OsString>,
}

pub(crate) struct Output {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    pub(crate) fn new() -> Self {
        let root = TempDir::with_prefix("overtone-supervisor-").unwrap();
        for folder in ["home", "overtone", "project", "bin", "fake"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/supervisor/fake-claude.sh");
        symlink(script, root.path().join("bin/claude")).unwrap();
        let mut world = Self { root, env: BTreeMap::new() };
        let path = format!("{}:/usr/bin:/bin", world.path("bin").display());
        for (name, value) in [("HOME", "home"), ("OVERTONE_HOME", "overtone"), ("FAKE_CLAUDE", "fake")] {
            let value = world.path(value);
            world.set(name, value);
        }
        world.set("PATH", path);
        world.set("OVERTONE_TEST_PATIENCE", "600");
        world
    }

    pub(crate) fn set(&mut self, name: &str, value: impl AsRef<OsStr>) {
        self.env.insert(name.to_owned(), value.as_ref().to_owned());
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root.path().join(below)
    }

    pub(crate) fn state(&self, name: &str) -> PathBuf {
        self.path("home/.claude/ccc").join(name)
    }

    pub(crate) fn put(&self, below: &str, text: impl AsRef<[u8]>) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Lets the reviewer end with this result line.
    pub(crate) fn reviewer_ends(&self, result: &Value) {
        let init = json!({"type":"system","subtype":"init","session_id":"fork"});
        let text = json!({"type":"assistant","message":{"content":[{"type":"text","text":"looking at it"}]}});
        self.put("fake/lines.jsonl", format!("{init}\n{text}\n{result}\n"));
    }

    pub(crate) fn reviewer_says(&self, completed: bool, feedback: &str) {
        let verdict = json!({"completed": completed, "feedback": feedback});
        self.reviewer_ends(
            &json!({"type":"result","subtype":"success","is_error":false,"result":verdict.to_string(),"structured_output":verdict}),
        );
    }

    /// A verdict that cost something.
    pub(crate) fn reviewer_says_for(&self, completed: bool, feedback: &str, dollars: f64) {
        let verdict = json!({"completed": completed, "feedback": feedback});
        self.reviewer_ends(&json!({
            "type": "result", "subtype": "success", "is_error": false, "result": "", "structured_output": verdict,
            "total_cost_usd": dollars
        }));
    }

    pub(crate) fn reviewer_writes(&self, text: &str) {
        self.reviewer_ends(&json!({"type":"result","subtype":"success","is_error":false,"result":text}));
    }

    pub(crate) fn reviews(&self) -> usize {
        fs::read_to_string(self.path("fake/runs")).map_or(0, |text| text.lines().count())
    }

    pub(crate) fn arguments(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path("fake/arguments")).unwrap();
        text.split_terminator('\0').map(str::to_owned).collect()
    }

    /// What stands behind an option of the reviewer.
    pub(crate) fn option(&self, name: &str) -> Option<String> {
        let arguments = self.arguments();
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    }

    pub(crate) fn prompt(&self) -> String {
        fs::read_to_string(self.path("fake/prompt")).unwrap()
    }

    /// The environment that the reviewer was started with.
    pub(crate) fn environment(&self) -> String {
        fs::read_to_string(self.path("fake/environment")).unwrap()
    }

    pub(crate) fn config(&self, config: &Value) {
        self.put("home/.claude/ccc.json", config.to_string());
    }

    pub(crate) fn record(&self) -> Value {
        serde_json::from_slice(&fs::read(self.state("supervisor-abc123.json")).unwrap()).unwrap()
    }

    /// The audit trail, line by line.
    pub(crate) fn trail(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.state("supervisor-abc123-audit.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// A repository with one commit in the project folder.
    pub(crate) fn repository(&self) {
        self.put("project/file", "one");
        let git = |arguments: &[&str]| {
            let mut command = Command::new("git");
            command.args(["-c", "user.name=n", "-c", "user.email=e"]).args(arguments);
            let done = command.current_dir(self.path("project")).output().unwrap();
            assert!(done.status.success(), "{done:?}");
        };
        git(&["init", "-q"]);
        git(&["add", "."]);
        git(&["commit", "-qm", "one"]);
    }

    /// The command line of `ccc`: exit code, stdout, stderr.
    pub(crate) fn ccc(&self, arguments: &[&str]) -> (i32, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_overtone"));
        command.arg("ccc").args(arguments).env_clear().envs(&self.env);
        let done = command.current_dir(self.path("project")).stdin(Stdio::null()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
    }

    pub(crate) fn payload() -> Value {
        json!({"session_id": SESSION, "hook_event_name": "Stop", "stop_hook_active": false})
    }

    pub(crate) fn stop(&self) -> Output {
        self.run(Self::payload().to_string())
    }

    pub(crate) fn stop_with(&self, name: &str, value: Value) -> Output {
        let mut payload = Self::payload();
        payload[name] = value;
        self.run(payload.to_string())
    }

    pub(crate) fn run(&self, stdin: impl AsRef<[u8]>) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_overtone"));
        command.args(["ccc", "supervisor-hook"]);
        self.run_as(command, stdin.as_ref())
    }

    pub(crate) fn run_as(&self, mut command: Command, stdin: &[u8]) -> Output {
        command.env_clear().envs(&self.env).current_dir(self.path("project"));
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let (mut pipe, bytes) = (child.stdin.take().unwrap(), stdin.to_vec());
        // A child that refuses its input closes the pipe early.
        let feeding = thread::spawn(move || drop(pipe.write_all(&bytes)));
        let mut stderr_pipe = child.stderr.take().unwrap();
        let stderr = thread::spawn(move || {
            let mut text = String::new();
            stderr_pipe.read_to_string(&mut text).unwrap();
            text
        });
        let mut stdout = String::new();
        child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        feeding.join().unwrap();
        let stderr = stderr.join().unwrap();
        println!("stdout: {stdout}\nstderr: {stderr}");
        assert_eq!(child.wait().unwrap().code(), Some(0), "a hook always ends with 0");
        Output { stdout, stderr }
    }

    /// Every file below the root, but for what the scripted reviewer notes.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.root.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else {
                    let path = entry.path();
                    found.push(path.strip_prefix(self.root.path()).unwrap().display().to_string());
                }
            }
        }
        found.retain(|name| !name.starts_with("fake/") && !name.starts_with("bin/"));
        found.sort();
        found
    }
}

impl Output {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap()
    }

    #[track_caller]
    pub(crate) fn assert_block(&self, feedback: &str) {
        assert_eq!(self.json(), json!({"decision":"block","reason":feedback}));
    }

    /// Lets go, and tells the person why nobody looked.
    #[track_caller]
    pub(crate) fn assert_not_reviewed(&self, reason: &str) {
        let answer = self.json();
        assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
        let message = answer["systemMessage"].as_str().unwrap();
        assert!(message.contains("无法审查") && message.contains(reason), "{message}");
    }

    #[track_caller]
    pub(crate) fn assert_told(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in {}", self.stderr);
        }
    }
}
