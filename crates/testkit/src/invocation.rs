//! One start of the client: its options, then the run.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use crate::{Exit, Mock, Run, Sandbox, Script, Terminal};

const DEFAULT_LIMIT: Duration = Duration::from_mins(10);

/// The client runs one prompt and prints each event as a line of JSON.
const WITHOUT_TERMINAL: [&str; 5] =
    ["-p", "--output-format", "stream-json", "--verbose", "--include-hook-events"];

/// A run that is being prepared.
#[derive(Debug)]
#[must_use = "nothing happens before `run` or `terminal`"]
pub struct Invocation<'a> {
    sandbox: &'a Sandbox,
    script: Script,
    plugin: Option<PathBuf>,
    permission_mode: String,
    allowed_tools: Vec<String>,
    session: Option<[String; 2]>,
    environment: Vec<(String, OsString)>,
    arguments: Vec<String>,
    limit: Duration,
}

impl<'a> Invocation<'a> {
    pub(crate) fn new(sandbox: &'a Sandbox, script: Script) -> Self {
        Self {
            sandbox,
            script,
            plugin: Some(sandbox.plugin()),
            permission_mode: "default".to_owned(),
            allowed_tools: vec!["Agent".to_owned()],
            session: None,
            environment: Vec::new(),
            arguments: Vec::new(),
            limit: DEFAULT_LIMIT,
        }
    }

    /// `--plugin-dir`; our plugin unless set, and no plugin at all for `None`.
    pub fn plugin(mut self, folder: Option<PathBuf>) -> Self {
        self.plugin = folder;
        self
    }

    /// `--permission-mode`; `default` unless set, in which the client denies whatever it would ask about.
    pub fn permission_mode(mut self, mode: &str) -> Self {
        mode.clone_into(&mut self.permission_mode);
        self
    }

    /// `--allowedTools`; only `Agent` unless set.
    pub fn allow<'t>(mut self, tools: impl IntoIterator<Item = &'t str>) -> Self {
        self.allowed_tools = tools.into_iter().map(str::to_owned).collect();
        self
    }

    /// Begins a session with this id, so that its state can be put in place before.
    pub fn session(mut self, id: &str) -> Self {
        self.session = Some(["--session-id".to_owned(), id.to_owned()]);
        self
    }

    /// Continues a session of an earlier run in the same sandbox.
    pub fn resume(mut self, id: &str) -> Self {
        self.session = Some(["--resume".to_owned(), id.to_owned()]);
        self
    }

    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    pub fn arg(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// How long the client may take; ten minutes unless set.
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Runs the prompt to its end. Panics when the client does not end in time, or a responder has panicked.
    #[track_caller]
    pub fn run(self, prompt: &str) -> Run {
        let limit = self.limit;
        let run = self.run_or_kill(prompt);
        assert!(run.exit != Exit::TimedOut, "the client did not end within {limit:?}");
        run
    }

    /// Like [`run`](Self::run), but a client that is killed when its time is up is a result like any other.
    #[track_caller]
    pub fn run_or_kill(mut self, prompt: &str) -> Run {
        let mock = Mock::start(std::mem::take(&mut self.script));
        let mut command = self.command(&mock, &WITHOUT_TERMINAL);
        command.args(["--", prompt]);
        let ended = self.sandbox.wait_for(&mut command, self.limit);
        let run = Run::new(ended, mock.finish_log());
        run.assert_no_panics();
        run
    }

    /// Starts the interactive client in a terminal and waits until it takes input. Each later wait has the time
    /// limit of this invocation.
    #[track_caller]
    pub fn terminal(mut self) -> Terminal<'a> {
        let mock = Mock::start(std::mem::take(&mut self.script));
        let mut command = self.command(&mock, &[]);
        if self.permission_mode == "bypassPermissions" {
            // Without it the client refuses this mode to root, which tests in containers often are.
            command.env("IS_SANDBOX", "1");
        }
        let session = self.session.map(|[_, id]| id).unwrap_or_default();
        Terminal::start(self.sandbox, session, mock, command, self.limit)
    }

    /// The client with the options of this kind of start, then those of the test, which take precedence.
    fn command(&self, mock: &Mock, options: &[&str]) -> Command {
        let mut command = self.sandbox.command();
        command.env("ANTHROPIC_BASE_URL", mock.url()).envs(self.environment.iter().map(|(n, v)| (n, v)));
        command.args(options);
        if let Some(folder) = &self.plugin {
            command.arg("--plugin-dir").arg(folder);
        }
        command.args(["--permission-mode", &self.permission_mode]);
        if !self.allowed_tools.is_empty() {
            command.args(["--allowedTools", &self.allowed_tools.join(",")]);
        }
        command.args(self.session.iter().flatten()).args(&self.arguments);
        command
    }
}
