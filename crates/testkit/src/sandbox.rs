//! The private folders of one scenario: home, project, plugin and state. They are deleted when it is dropped.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use overtone_core::registry::{HOOK_PROGRAM, PROGRAM};
use tempfile::TempDir;

use crate::child::{self, Ended};
use crate::{Client, Invocation, Run, Script};

/// Where the `overtone` program is.
const BINARY_VARIABLE: &str = "OVERTONE_BIN";

/// The only key that is ever used.
const DUMMY_KEY: &str = "dummy";

/// Set to anything, it leaves the folders of failed scenarios in place.
const KEEP_VARIABLE: &str = "OVERTONE_E2E_KEEP";

/// The folders of one scenario, and the client that runs in them. May be used from several threads at once.
#[derive(Debug)]
pub struct Sandbox {
    client: Client,
    root: TempDir,
    next: AtomicU32,
}

impl Sandbox {
    /// A sandbox with the program that `OVERTONE_BIN` names.
    pub fn new(client: &Client) -> Self {
        let binary = env::var_os(BINARY_VARIABLE)
            .unwrap_or_else(|| panic!("{BINARY_VARIABLE} is not set\nhint: run `cargo xtask e2e`"));
        Self::with_binary(client, Path::new(&binary))
    }

    /// A sandbox whose plugin has `binary` as its `bin/overtone`, and the hook program beside it.
    pub fn with_binary(client: &Client, binary: &Path) -> Self {
        // Shown with a failure: the same test runs against several clients.
        println!("sandbox for Claude Code {}", client.version());
        let root = tempfile::Builder::new().prefix("overtone-e2e-").tempdir().expect("a temporary folder");
        let sandbox = Self { client: client.clone(), root, next: AtomicU32::new(1) };
        sandbox.set_up(binary).expect("the sandbox can be set up");
        sandbox
    }

    /// A sandbox in which neither a client nor a program of ours is ever started.
    #[cfg(test)]
    pub(crate) fn for_tests() -> Self {
        let programs = tempfile::tempdir().expect("a temporary folder");
        for name in [PROGRAM, HOOK_PROGRAM] {
            fs::copy("/bin/true", programs.path().join(name)).expect("a program can be copied");
        }
        Self::with_binary(&Client::for_tests(), &programs.path().join(PROGRAM))
    }

    fn set_up(&self, binary: &Path) -> io::Result<()> {
        for folder in [self.home(), self.project(), self.state(), self.temporary(), self.plugin().join("bin")]
        {
            fs::create_dir_all(folder)?;
        }
        overtone_claude::plugin::write_to(&self.plugin())?;
        for (program, name) in
            [(binary.to_owned(), PROGRAM), (binary.with_file_name(HOOK_PROGRAM), HOOK_PROGRAM)]
        {
            put_program(&program, &self.plugin().join("bin").join(name))
                .map_err(|cause| io::Error::new(cause.kind(), format!("{}: {cause}", program.display())))?;
        }
        self.install_ccc()
    }

    pub fn client(&self) -> &Client {
        &self.client
    }

    /// `HOME`.
    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// The working directory.
    pub fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    /// `--plugin-dir`.
    pub fn plugin(&self) -> PathBuf {
        self.root.path().join("plugin")
    }

    /// `OVERTONE_HOME`.
    pub fn state(&self) -> PathBuf {
        self.root.path().join("overtone")
    }

    /// The first folder of the search path of a [`Launch`](crate::Launch).
    pub fn bin(&self) -> PathBuf {
        self.root.path().join("bin")
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    fn temporary(&self) -> PathBuf {
        self.root.path().join("tmp")
    }

    /// Begins a run: the script first, then options, then [`Invocation::run`].
    pub fn script(&self, write: impl FnOnce(Script) -> Script) -> Invocation<'_> {
        Invocation::new(self, write(Script::default()))
    }

    /// Runs a prompt that everybody answers with "ok".
    pub fn run(&self, prompt: &str) -> Run {
        self.script(|script| script).run(prompt)
    }

    /// The id of a session that does not exist yet, for [`Invocation::session`].
    pub fn new_session(&self) -> String {
        format!("00000000-0000-4000-8000-{:012x}", self.number())
    }

    /// Writes a file of the project and the folders above it.
    pub fn put_file(&self, path: &str, contents: &str) {
        self.write(&self.project().join(path), contents);
    }

    /// Begins a feature as a user does, and gives it these tasks. What is only put into the project is the repository's.
    pub fn begin_feature(&self, name: &str, tasks: &str) {
        let mut command = self.command_of(&self.plugin().join("bin/overtone"));
        let begun = command.args(["specs", "new", name]).output().expect("overtone starts");
        assert!(begun.status.success(), "{begun:?}");
        self.put_file(&format!("specs/features/in-progress/{name}/tasks.md"), tasks);
    }

    /// Runs a command of ours as the user does in a terminal, for this session, and returns what it printed.
    #[track_caller]
    pub fn overtone(&self, session: &str, arguments: &[&str]) -> String {
        let mut command = self.command_of(&self.plugin().join("bin/overtone"));
        let ended = command.args(arguments).env("OVERTONE_SESSION_ID", session).output();
        let ended = ended.expect("overtone starts");
        assert!(ended.status.success(), "{arguments:?}: {ended:?}");
        String::from_utf8_lossy(&ended.stdout).into_owned()
    }

    /// Replaces a file of the plugin, to see what the client makes of it. A program stays executable.
    pub fn put_plugin_file(&self, path: &str, contents: &str) {
        let path = self.plugin().join(path);
        let replaced = fs::metadata(&path).expect("the plugin has this file").permissions();
        // A program is a link to the one that was built, which must not be written to.
        fs::remove_file(&path).expect("a file of the plugin can be removed");
        self.write(&path, contents);
        fs::set_permissions(&path, replaced).expect("a file of one's own can be changed");
    }

    pub(crate) fn write(&self, path: &Path, contents: &str) {
        let folder = path.parent().unwrap_or(self.root.path());
        let written = fs::create_dir_all(folder)
            .and_then(|()| File::create(path))
            .and_then(|mut file| file.write_all(contents.as_bytes()));
        written.unwrap_or_else(|cause| panic!("cannot write {}: {cause}", path.display()));
    }

    /// The client with a clean environment: no variable of the user who runs the tests is passed on.
    pub(crate) fn command(&self) -> Command {
        let mut command = self.command_of(self.client.program());
        command.env("ANTHROPIC_API_KEY", DUMMY_KEY);
        command
    }

    /// Any program in the same environment, but without a key.
    pub(crate) fn command_of(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.project()).env_clear().env("OVERTONE_NO_DASHBOARD", "1");
        command.env("HOME", self.home()).env("OVERTONE_HOME", self.state()).env("TMPDIR", self.temporary());
        // Hooks of the development binary wait for locks and input however busy the machine is.
        command.env("PATH", path()).env("OVERTONE_TEST_PATIENCE", "600");
        command.env("LANG", "C.UTF-8").env("SHELL", "/bin/bash");
        for switch in ["DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING"] {
            command.env(switch, "1");
        }
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        // The client lives for seconds, in which its optimising compiler does not pay for itself.
        command.env("BUN_JSC_useDFGJIT", "0");
        command
    }

    /// Runs one of the client's own commands, such as `plugin validate`, and returns its exit code and output.
    pub fn claude(&self, arguments: &[&str]) -> (crate::Exit, String) {
        let ended = self.wait_for(self.command().args(arguments), Duration::from_mins(10));
        (ended.exit, ended.stdout + &ended.stderr)
    }

    pub(crate) fn wait_for(&self, command: &mut Command, limit: Duration) -> Ended {
        let folder = self.root.path().join(format!("run-{}", self.number()));
        let ended = fs::create_dir(&folder).and_then(|()| child::run(command, limit, &folder));
        ended.unwrap_or_else(|cause| panic!("cannot run {}: {cause}", self.client.program().display()))
    }

    fn number(&self) -> u32 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }
}

/// Links a program, or copies it where a link is impossible: development builds are large.
fn put_program(program: &Path, place: &Path) -> io::Result<()> {
    if fs::hard_link(program, place).is_ok() {
        return Ok(());
    }
    fs::copy(program, place)?;
    Ok(())
}

/// The key as the client records it when a user has approved it: its last 20 characters.
pub(crate) fn approved_key() -> &'static str {
    &DUMMY_KEY[DUMMY_KEY.len().saturating_sub(20)..]
}

/// The PATH of the tests without folders that hold an installed `overtone`: the plugin's must be the only one.
pub(crate) fn path() -> OsString {
    let inherited = env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let folders = env::split_paths(&inherited).filter(|folder| !folder.join("overtone").exists());
    env::join_paths(folders).expect("parts of a PATH make a PATH")
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if std::thread::panicking() && env::var_os(KEEP_VARIABLE).is_some() {
            self.root.disable_cleanup(true);
            println!("kept: {}", self.root.path().display());
        }
    }
}
