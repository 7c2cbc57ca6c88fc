//! Runs the `claude` program of this machine.

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

/// The oldest client that Overtone was tested with.
pub const OLDEST_CLIENT: Version = Version([2, 1, 197]);

/// The client usually answers within a second, but its first start may take longer.
const TIMEOUT: Duration = Duration::from_mins(1);
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// A version of the client: `2.1.325`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub [u32; 3]);

impl Version {
    /// Parses the beginning of a text such as `2.1.325 (Claude Code)`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split_whitespace().next()?.split('.').map(|part| part.parse().ok());
        Some(Self([numbers.next()??, numbers.next()??, numbers.next()??]))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(f, "{major}.{minor}.{patch}")
    }
}

/// Why a command of the client failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error("cannot start claude: {0}")]
    Start(#[source] io::Error),
    #[error("claude did not answer in time")]
    TimedOut,
    /// The last line of its output.
    #[error("claude refused: {0}")]
    Refused(String),
}

/// The client that the user would start.
#[derive(Debug, Clone)]
pub struct Client {
    program: PathBuf,
}

impl Client {
    /// The first `claude` on the search path.
    pub fn find(search_path: Option<&OsStr>) -> Option<Self> {
        Self::look_up(search_path).ok().flatten()
    }

    /// The first `claude` on the search path. If there is none, the first one that cannot be inspected is an error.
    pub fn look_up(search_path: Option<&OsStr>) -> Result<Option<Self>, (PathBuf, io::Error)> {
        let Some(search_path) = search_path else { return Ok(None) };
        let mut failure = None;
        for folder in std::env::split_paths(search_path).filter(|folder| folder.is_absolute()) {
            let program = folder.join("claude");
            match is_executable(&program) {
                Ok(true) => return Ok(Some(Self { program })),
                Ok(false) => {}
                Err(error) => failure = failure.or(Some((program, error))),
            }
        }
        match failure {
            Some(failure) => Err(failure),
            None => Ok(None),
        }
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    pub fn version(&self) -> Result<Option<Version>, ClientError> {
        self.run(&["--version"]).map(|text| Version::parse(&text))
    }

    /// Runs `claude plugin …` and returns its output.
    pub fn plugin(&self, arguments: &[&str]) -> Result<String, ClientError> {
        self.run(&[&["plugin"], arguments].concat())
    }

    /// The installed plugins, as the client lists them.
    pub fn plugins(&self) -> Result<Vec<Value>, ClientError> {
        let text = self.plugin(&["list", "--json"])?;
        serde_json::from_str(&text).map_err(|error| ClientError::Refused(error.to_string()))
    }

    fn run(&self, arguments: &[&str]) -> Result<String, ClientError> {
        let mut child = Command::new(&self.program)
            .args(arguments)
            .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
            .env("DISABLE_AUTOUPDATER", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(ClientError::Start)?;
        // Both pipes are read while the client runs, because it would block on a full one.
        let (stdout, stderr) = (read_in_thread(child.stdout.take()), read_in_thread(child.stderr.take()));
        let success = wait(&mut child)?;
        let (stdout, stderr) = (stdout.join().unwrap_or_default(), stderr.join().unwrap_or_default());
        if success { Ok(stdout) } else { Err(ClientError::Refused(last_line(&stderr, &stdout))) }
    }
}

/// Whether there is an executable file. A missing one is not an error.
fn is_executable(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    match path.metadata() {
        Ok(metadata) => Ok(metadata.is_file() && metadata.permissions().mode() & 0o111 != 0),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

fn read_in_thread(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // After an error, what was read before it is used.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn wait(child: &mut Child) -> Result<bool, ClientError> {
    let start = Instant::now();
    while start.elapsed() < TIMEOUT {
        if let Some(status) = child.try_wait().map_err(ClientError::Start)? {
            return Ok(status.success());
        }
        thread::sleep(POLL_INTERVAL);
    }
    // If it cannot be killed, the timeout is still reported.
    if child.kill().is_ok() {
        let _ = child.wait();
    }
    Err(ClientError::TimedOut)
}

fn last_line(stderr: &str, stdout: &str) -> String {
    let line =
        |text: &str| text.lines().rev().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned);
    line(stderr).or_else(|| line(stdout)).unwrap_or_else(|| "no reason given".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_parsed_and_compared_by_number() {
        assert_eq!(Version::parse("2.1.325 (Claude Code)\n"), Some(Version([2, 1, 325])));
        assert!(Version([2, 1, 99]) < OLDEST_CLIENT);
        assert_eq!(Version::parse("claude"), None);
    }

    #[test]
    fn a_client_is_an_executable_file_on_an_absolute_path() {
        let dir = tempfile::tempdir().unwrap();
        let search_path = dir.path().as_os_str();
        assert!(Client::find(Some(search_path)).is_none());
        std::fs::create_dir(dir.path().join("claude")).unwrap();
        assert!(Client::find(Some(search_path)).is_none());
        assert!(Client::find(Some(OsStr::new("relative"))).is_none());
        assert!(Client::find(None).is_none());
        assert!(Client::look_up(Some(search_path)).is_ok());
    }

    #[test]
    fn a_client_that_cannot_be_inspected_is_reported_unless_there_is_another() {
        let dir = tempfile::tempdir().unwrap();
        let (first, second) = (dir.path().join("first"), dir.path().join("second"));
        for folder in [&first, &second] {
            std::fs::create_dir(folder).unwrap();
        }
        std::os::unix::fs::symlink("claude", first.join("claude")).unwrap();
        let search_path = std::env::join_paths([&first, &second]).unwrap();
        assert_eq!(Client::look_up(Some(&search_path)).unwrap_err().0, first.join("claude"));
        std::os::unix::fs::symlink("/bin/true", second.join("claude")).unwrap();
        let client = Client::look_up(Some(&search_path)).unwrap().unwrap();
        assert_eq!(client.program(), second.join("claude"));
    }
}
