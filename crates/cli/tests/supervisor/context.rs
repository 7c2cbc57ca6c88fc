//! The helpers of the supervisor tests: a scripted `claude` on the PATH, and one way to run the hook.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::common::{BINARY, run_with_stdin};
pub(crate) use crate::common::{Output, TestContext};

pub(crate) const SESSION: &str = "abc123";

impl TestContext {
    /// With a scripted `claude` on the PATH.
    pub(crate) fn for_supervisor() -> Self {
        let context = Self::new().without_env("OVERTONE_LANG").without_env("OVERTONE_NO_DASHBOARD");
        context.create_folders(&["overtone", "bin", "fake"]);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/supervisor/fake-claude.sh");
        symlink(script, context.path("bin/claude")).unwrap();
        let (home, fake) = (context.path("overtone"), context.path("fake"));
        let path = format!("{}:/usr/bin:/bin", context.path("bin").display());
        context.with_env("OVERTONE_HOME", home).with_env("FAKE_CLAUDE", fake).with_env("PATH", path)
    }

    pub(crate) fn supervisor_file(&self, name: &str) -> PathBuf {
        self.path("home/.claude/ccc").join(name)
    }

    /// Lets the reviewer end with this result line.
    pub(crate) fn reviewer_ends(&self, result: &Value) {
        let init = json!({"type":"system","subtype":"init","session_id":"fork"});
        let text = json!({"type":"assistant","message":{"content":[{"type":"text","text":"looking at it"}]}});
        self.write("fake/lines.jsonl", format!("{init}\n{text}\n{result}\n"));
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

    /// The value of an option that the reviewer was started with.
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
        self.write("home/.claude/ccc.json", config.to_string());
    }

    pub(crate) fn record(&self) -> Value {
        serde_json::from_slice(&fs::read(self.supervisor_file("supervisor-abc123.json")).unwrap()).unwrap()
    }

    /// The audit trail, line by line.
    pub(crate) fn trail(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.supervisor_file("supervisor-abc123-audit.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// A repository with one commit in the project folder.
    pub(crate) fn repository(&self) {
        self.write("project/file", "one");
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
        let Output { code, stdout, stderr } = self.run_args(&[&["ccc"], arguments].concat());
        (code.unwrap(), stdout, stderr)
    }

    pub(crate) fn stop(&self) -> Output {
        self.run_supervisor(stop_event().to_string())
    }

    pub(crate) fn stop_with(&self, name: &str, value: Value) -> Output {
        let mut payload = stop_event();
        payload[name] = value;
        self.run_supervisor(payload.to_string())
    }

    pub(crate) fn run_supervisor(&self, stdin: impl AsRef<[u8]>) -> Output {
        let mut command = Command::new(BINARY);
        command.args(["ccc", "supervisor-hook"]);
        self.run_as(command, stdin.as_ref())
    }

    /// Runs a prepared command in this environment. A hook always ends with 0.
    pub(crate) fn run_as(&self, mut command: Command, stdin: &[u8]) -> Output {
        let environment = self.program(BINARY);
        command.env_clear().envs(environment.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(self.project()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = run_with_stdin(command, stdin).succeeds();
        println!("stdout: {}\nstderr: {}", output.stdout, output.stderr);
        output
    }

    /// Every file below the root, except those of the scripted reviewer.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.root().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else {
                    let path = entry.path();
                    found.push(path.strip_prefix(self.root()).unwrap().display().to_string());
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
    pub(crate) fn assert_block(&self, feedback: &str) {
        assert_eq!(self.json(), json!({"decision":"block","reason":feedback}));
    }

    /// The session may stop, and the user sees why there was no review.
    #[track_caller]
    pub(crate) fn assert_not_reviewed(&self, reason: &str) {
        let answer = self.json();
        assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
        let message = answer["systemMessage"].as_str().unwrap();
        assert!(message.contains("无法审查") && message.contains(reason), "{message}");
    }

    #[track_caller]
    pub(crate) fn assert_stderr_has(&self, parts: &[&str]) {
        for part in parts {
            assert!(self.stderr.contains(part), "no {part:?} in {}", self.stderr);
        }
    }
}

/// The event with which the client calls the hook.
pub(crate) fn stop_event() -> Value {
    json!({"session_id": SESSION, "hook_event_name": "Stop", "stop_hook_active": false})
}
