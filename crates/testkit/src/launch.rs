//! The client as `ccc` starts it: on a provider of `ccc.json`, by the real launcher.

use std::env;
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::{Map, json};

use crate::sandbox::path;
use crate::{Exit, Mock, Run, Sandbox, Terminal};

const LIMIT: Duration = Duration::from_mins(10);

impl Sandbox {
    /// Writes `ccc.json` with providers that are mocks, each with its token; the first one is the current one.
    pub fn put_providers(&self, providers: &[(&str, &Mock, &str)]) {
        let entry = |(name, mock, token): &(&str, &Mock, &str)| {
            let env = json!({ "ANTHROPIC_BASE_URL": mock.url(), "ANTHROPIC_AUTH_TOKEN": token });
            ((*name).to_owned(), json!({ "env": env }))
        };
        let entries: Map<_, _> = providers.iter().map(entry).collect();
        let document = json!({ "providers": entries, "current_provider": providers.first().map(|p| p.0) });
        self.write(&self.home().join(".claude/ccc.json"), &format!("{document:#}\n"));
    }

    /// The settings of the user.
    pub fn settings_file(&self) -> PathBuf {
        self.home().join(".claude/settings.json")
    }

    /// Begins a start by `ccc` with these words before the client's own.
    pub fn ccc<'a>(&'a self, words: &[&str]) -> Launch<'a> {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        Launch { sandbox: self, words, environment: Vec::new(), arguments: Vec::new(), limit: LIMIT }
    }

    /// Runs one of `ccc`'s own commands and says whether it succeeded.
    pub fn ccc_command(&self, words: &[&str]) -> bool {
        self.ccc_output(words).0 == Exit::Code(0)
    }

    /// The same, with its output.
    pub fn ccc_output(&self, words: &[&str]) -> (Exit, String) {
        let ended = self.wait_for(&mut self.ccc(words).command(), LIMIT);
        (ended.exit, ended.stdout + &ended.stderr)
    }

    /// Every process of the client that was started by its name, as `process-id is-a-reviewer`.
    pub fn clients_started(&self) -> Vec<(u32, bool)> {
        let text = fs::read_to_string(self.bin().join("started")).unwrap_or_default();
        let line = |line: &str| {
            let (process, flag) = line.split_once(' ')?;
            Some((process.parse().ok()?, flag == "1"))
        };
        text.lines().filter_map(line).collect()
    }

    /// Shell commands that run before each client that is started by its name; its arguments are `$@`.
    pub fn before_client(&self, commands: &str) {
        self.write(&self.bin().join("before.sh"), commands);
    }

    /// `ccc`, and a `claude` that notes its start and becomes the client.
    pub(crate) fn install_ccc(&self) -> io::Result<()> {
        let (ccc, claude) = (self.bin().join("ccc"), self.bin().join("claude"));
        let (bin, client) = (self.bin(), self.client().program().to_owned());
        let script = format!(
            "#!/bin/sh\necho \"$$ ${{CCC_SUPERVISOR_HOOK:-0}}\" >>'{bin}/started'\n[ -f '{bin}/before.sh' ] && . \
             '{bin}/before.sh'\nexec '{client}' \"$@\"\n",
            bin = bin.display(),
            client = client.display(),
        );
        self.write(&claude, &script);
        fs::hard_link(self.plugin().join("bin/overtone"), &ccc)?;
        fs::set_permissions(&claude, Permissions::from_mode(0o755))
    }
}

/// A start that is being prepared.
#[derive(Debug)]
#[must_use = "nothing happens before `run`"]
pub struct Launch<'a> {
    sandbox: &'a Sandbox,
    words: Vec<String>,
    environment: Vec<(String, OsString)>,
    arguments: Vec<String>,
    limit: Duration,
}

impl<'a> Launch<'a> {
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// An argument of the client.
    pub fn arg(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Runs the prompt to its end. The run has what `mock` was asked meanwhile; the mock goes on.
    #[track_caller]
    pub fn run(self, prompt: &str, mock: &Mock) -> Run {
        let mut command = self.command();
        command.args(["-p", "--output-format", "stream-json", "--verbose", "--include-hook-events"]);
        command.args(&self.arguments).args(["--", prompt]);
        let ended = self.sandbox.wait_for(&mut command, self.limit);
        let run = Run::new(ended, mock.take_log());
        run.assert_no_panics();
        assert!(run.exit != Exit::TimedOut, "the client did not end within {:?}", self.limit);
        run
    }

    /// Starts the interactive client in a terminal and waits until it takes input.
    #[track_caller]
    pub fn terminal(self, mock: Mock) -> Terminal<'a> {
        let mut command = self.command();
        command.args(&self.arguments);
        Terminal::start(self.sandbox, String::new(), mock, command, self.limit)
    }

    /// `ccc` and its words, with `ccc` and `claude` on the search path.
    fn command(&self) -> Command {
        let bin = self.sandbox.bin();
        let mut command = self.sandbox.command_of(&bin.join("ccc"));
        let mut folders = vec![bin];
        folders.extend(env::split_paths(&path()));
        command.env("PATH", env::join_paths(folders).expect("parts of a PATH make a PATH"));
        command.envs(self.environment.iter().map(|(name, value)| (name, value))).args(&self.words);
        command
    }
}
