//! One server for a home: who runs it, where, and the token for whoever asks.

use std::fmt;
use std::fs::{self, File, Metadata};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use overtone_store::{Home, clock, create_private_dir, files};
use rustix::process::{Pid, PidfdFlags, Signal, getuid, pidfd_open, pidfd_send_signal};
use serde_json::{Value, json};

use crate::process::{ProcessIdentity, has_open};
use crate::random;

/// Somebody who only looks whether there is a server may hold the lock for a moment.
const TRIES: u32 = 10;
const BETWEEN: Duration = Duration::from_millis(20);
const TOKEN_BYTES: usize = 24;
const INSTANCE_BYTES: usize = 8;

/// The server's own files in a home.
pub(crate) fn folder(home: &Home) -> PathBuf {
    home.root().join("dashboard")
}

fn lock_file(home: &Home) -> PathBuf {
    folder(home).join("lock")
}

fn server_file(home: &Home) -> PathBuf {
    folder(home).join("server.json")
}

pub(crate) fn actions_file(home: &Home) -> PathBuf {
    folder(home).join("actions.jsonl")
}

/// The right to be the server of a home. It goes with the process, however that ends.
#[derive(Debug)]
pub(crate) struct Instance {
    home: Home,
    /// Tells this start of the server from every other one.
    pub(crate) id: String,
    _lock: File,
}

/// The server that runs now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    pub pid: u32,
    pub address: SocketAddr,
    pub version: String,
    /// Which start of the server it is; empty for one of a version that does not say.
    pub(crate) instance: String,
}

impl Instance {
    /// `None` when another process has the place.
    pub(crate) fn claim(home: &Home) -> io::Result<Option<Self>> {
        create_private_dir(&folder(home))?;
        for _ in 0..TRIES {
            if let Some(lock) = files::try_lock_file(&lock_file(home))? {
                // What a killed server left behind is not to be taken for this one.
                let _ = fs::remove_file(server_file(home));
                let id = random::hex(INSTANCE_BYTES)?;
                return Ok(Some(Self { home: home.clone(), id, _lock: lock }));
            }
            // Not only somebody who looks: waiting would mean to take over when that server ends.
            if is_claimed(home) {
                return Ok(None);
            }
            thread::sleep(BETWEEN);
        }
        Ok(None)
    }

    /// Says where the server is, for those who look for it.
    pub(crate) fn announce(&self, address: SocketAddr, version: &str) -> io::Result<()> {
        let pid = std::process::id();
        let process = ProcessIdentity::of(pid).map(|process| process.to_json());
        let about = json!({
            "pid": pid, "address": address.to_string(), "version": version,
            "startedAt": clock::to_iso(clock::now()), "instance": self.id, "process": process,
        });
        files::write_atomic(&server_file(&self.home), format!("{about:#}\n").as_bytes(), files::PRIVATE)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // Whoever looks for a server sees by the lock whether there is one.
        let _ = fs::remove_file(server_file(&self.home));
    }
}

/// Whether some process is the server of a home, or is about to be.
pub fn is_claimed(home: &Home) -> bool {
    files::is_locked(&lock_file(home))
}

/// The server of a home, if there is one. A file that a crash left behind says nothing: the lock must be held, and the
/// process that wrote the file must be alive, which the time of its start tells.
pub fn running(home: &Home) -> Option<Running> {
    let text = files::read_small(&server_file(home)).ok().flatten()?;
    let about: Value = serde_json::from_str(&text).ok()?;
    let pid = about["pid"].as_u64()?.try_into().ok()?;
    if !is_claimed(home) || !is_server(home, pid, &about) {
        return None;
    }
    Some(Running {
        pid,
        address: about["address"].as_str()?.parse().ok()?,
        version: about["version"].as_str().unwrap_or_default().to_owned(),
        instance: about["instance"].as_str().unwrap_or_default().to_owned(),
    })
}

/// A server of a version that does not say when it began is known by the lock that it holds open.
fn is_server(home: &Home, pid: u32, about: &Value) -> bool {
    match ProcessIdentity::from_json(&about["process"]) {
        Some(process) => process.pid == pid && process.is_alive(),
        None => has_open(pid, &lock_file(home)),
    }
}

/// Ends the server of a home, if there is one, and returns its process id when it has gone, or after `patience`.
pub fn end(home: &Home, patience: Duration) -> io::Result<Option<u32>> {
    let Some(server) = running(home) else { return Ok(None) };
    let Some(pid) = i32::try_from(server.pid).ok().and_then(Pid::from_raw) else { return Ok(None) };
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    // The handle stays with the process. It is the server's if the server is still there now.
    if running(home).as_ref() != Some(&server) {
        return Ok(None);
    }
    pidfd_send_signal(&process, Signal::TERM)?;
    let begun = Instant::now();
    while running(home).is_some_and(|other| other == server) && begun.elapsed() < patience {
        thread::sleep(BETWEEN);
    }
    Ok(Some(server.pid))
}

/// Why there is no token.
#[derive(Debug)]
pub enum TokenError {
    /// Others may read or replace it, so it is no secret.
    Exposed {
        path: PathBuf,
        mode: u32,
    },
    /// Somebody else made it.
    Foreign {
        path: PathBuf,
    },
    Io(io::Error),
}

impl fmt::Display for TokenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exposed { path, mode } => write!(f, "others have access to {} ({mode:o})", path.display()),
            Self::Foreign { path } => write!(f, "another user owns {}", path.display()),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TokenError {}

impl From<io::Error> for TokenError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The token for whoever asks; made when it is first needed. One that others could have read is refused.
pub fn token(home: &Home) -> Result<String, TokenError> {
    create_private_dir(&folder(home))?;
    check_private(&folder(home), 0o022)?;
    let path = folder(home).join("token");
    let _lock = files::lock_file(&folder(home).join("token.lock"), files::lock_wait())?;
    check_private(&path, 0o077)?;
    let present = files::read_small(&path)?.map(|text| text.trim().to_owned());
    if let Some(token) = present.filter(|token| token.len() >= TOKEN_BYTES) {
        return Ok(token);
    }
    let token = random::hex(TOKEN_BYTES)?;
    files::write_atomic(&path, format!("{token}\n").as_bytes(), files::PRIVATE)?;
    Ok(token)
}

/// Whether something belongs to this user and none of these permissions is given. What is missing is no danger.
fn check_private(path: &Path, forbidden: u32) -> Result<(), TokenError> {
    let about: Metadata = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        about => about?,
    };
    let mode = about.mode() & 0o777;
    if about.uid() != getuid().as_raw() {
        return Err(TokenError::Foreign { path: path.to_owned() });
    }
    if mode & forbidden != 0 {
        return Err(TokenError::Exposed { path: path.to_owned(), mode });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Also when another version has written more into it.
        #[test]
        fn what_is_announced_is_found(ip: IpAddr, port: u16, version in ".{0,9}", name in ".{0,6}", number: i64) {
            let address = SocketAddr::new(ip, port);
            let dir = tempfile::tempdir().unwrap();
            let home = Home::at(dir.path().to_owned());
            let instance = Instance::claim(&home).unwrap().unwrap();
            instance.announce(address, &version).unwrap();
            let wanted = Running { pid: std::process::id(), address, version, instance: instance.id.clone() };
            prop_assert_eq!(running(&home), Some(wanted.clone()));
            let file = folder(&home).join("server.json");
            let mut about: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
            about[format!("\u{e000}{name}")] = json!([number]);
            files::write_atomic(&file, about.to_string().as_bytes(), files::PRIVATE).unwrap();
            prop_assert_eq!(running(&home), Some(wanted));
        }
    }

    #[test]
    fn there_is_one_server() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        assert_eq!(running(&home), None);
        let first = Instance::claim(&home).unwrap().unwrap();
        assert!(Instance::claim(&home).unwrap().is_none());
        first.announce("127.0.0.1:7777".parse().unwrap(), "1").unwrap();
        assert_eq!(running(&home).unwrap().pid, std::process::id());
        drop(first);
        assert_eq!(running(&home), None);
        assert!(Instance::claim(&home).unwrap().is_some());
    }

    #[test]
    fn the_token_stays_and_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let first = token(&home).unwrap();
        assert_eq!((first.len(), token(&home).unwrap() == first), (2 * TOKEN_BYTES, true));
        let mode = fs::metadata(dir.path().join("dashboard/token")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_token_that_others_could_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        token(&home).unwrap();
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        for mode in [0o644, 0o640, 0o604, 0o620, 0o601] {
            set(&folder(&home).join("token"), mode);
            assert!(matches!(token(&home), Err(TokenError::Exposed { mode: found, .. }) if found == mode));
        }
        set(&folder(&home).join("token"), 0o600);
        set(&folder(&home), 0o777);
        assert!(matches!(token(&home), Err(TokenError::Exposed { .. })));
        set(&folder(&home), 0o700);
        token(&home).unwrap();
    }

    /// As after a kill: the file is there, somebody else has the lock, and another process may have the number.
    #[test]
    fn a_file_that_a_killed_server_left_is_not_believed() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let instance = Instance::claim(&home).unwrap().unwrap();
        instance.announce("127.0.0.1:7777".parse().unwrap(), "1").unwrap();
        let text = fs::read_to_string(server_file(&home)).unwrap();
        let mut about: Value = serde_json::from_str(&text).unwrap();
        let ticks = about["process"]["startTicks"].as_u64().unwrap();
        about["process"]["startTicks"] = json!(ticks - 1);
        files::write_atomic(&server_file(&home), about.to_string().as_bytes(), files::PRIVATE).unwrap();
        assert_eq!(running(&home), None);
        // A version without that is known by the lock that it holds open.
        about["process"] = Value::Null;
        files::write_atomic(&server_file(&home), about.to_string().as_bytes(), files::PRIVATE).unwrap();
        assert!(running(&home).is_some());
        about["pid"] = json!(1);
        files::write_atomic(&server_file(&home), about.to_string().as_bytes(), files::PRIVATE).unwrap();
        assert_eq!(running(&home), None);
    }
}
