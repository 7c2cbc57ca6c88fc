//! The one server of a home: its lock, its address and its token.

use std::fs::{self, File};
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use overtone_store::{Home, clock, create_private_dir, files};
use rustix::process::{Pid, PidfdFlags, Signal, getuid, pidfd_open, pidfd_send_signal};
use serde::Serialize;
use serde_json::Value;

use crate::dashboard::process::{ProcessIdentity, has_open};
use crate::dashboard::random;

/// The lock is tried several times, because a process that checks for a server holds it for a moment.
const LOCK_ATTEMPTS: u32 = 10;
const POLL_INTERVAL: Duration = Duration::from_millis(20);
const TOKEN_BYTES: usize = 24;
const INSTANCE_BYTES: usize = 8;

/// The folder of the server's own files in a home.
pub(crate) fn server_dir(home: &Home) -> PathBuf {
    home.root().join("dashboard")
}

fn lock_file(home: &Home) -> PathBuf {
    server_dir(home).join("lock")
}

fn server_file(home: &Home) -> PathBuf {
    server_dir(home).join("server.json")
}

pub(crate) fn actions_file(home: &Home) -> PathBuf {
    server_dir(home).join("actions.jsonl")
}

/// The exclusive right to be the server of a home. The lock is released when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct Instance {
    home: Home,
    /// Identifies this run of the server.
    pub(crate) id: String,
    _lock: File,
}

/// A server that is running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningServer {
    pub pid: u32,
    pub address: SocketAddr,
    pub version: String,
    /// Identifies the run of the server; empty if its version does not record it.
    pub(crate) instance: String,
}

impl Instance {
    /// Returns `None` if another process is the server.
    pub(crate) fn claim(home: &Home) -> io::Result<Option<Self>> {
        create_private_dir(&server_dir(home))?;
        for _ in 0..LOCK_ATTEMPTS {
            if let Some(lock) = files::try_lock_file(&lock_file(home))? {
                // The file of a killed server must not be taken for this one's.
                let _ = fs::remove_file(server_file(home));
                let id = random::hex(INSTANCE_BYTES)?;
                return Ok(Some(Self { home: home.clone(), id, _lock: lock }));
            }
            // Another server holds the lock. Waiting would mean taking over when it ends.
            if is_claimed(home) {
                return Ok(None);
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(None)
    }

    /// Writes the address to a file, where other processes find it.
    pub(crate) fn announce(&self, address: SocketAddr, version: &str) -> io::Result<()> {
        let pid = std::process::id();
        let info = ServerFile {
            pid,
            address: address.to_string(),
            version,
            started_at: clock::to_iso(clock::now()),
            instance: &self.id,
            process: ProcessIdentity::find(pid),
        };
        let mut text = serde_json::to_string_pretty(&info)?;
        text.push('\n');
        files::write_atomic(&server_file(&self.home), text.as_bytes(), files::PRIVATE)
    }
}

/// The content of `server.json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ServerFile<'a> {
    pid: u32,
    address: String,
    version: &'a str,
    started_at: String,
    instance: &'a str,
    process: Option<ProcessIdentity>,
}

impl Drop for Instance {
    fn drop(&mut self) {
        // Failing is harmless: whether a server runs is determined by the lock.
        let _ = fs::remove_file(server_file(&self.home));
    }
}

/// Whether a process is the server of a home, or is starting as one.
pub fn is_claimed(home: &Home) -> bool {
    files::is_locked(&lock_file(home))
}

/// The running server of a home. The file alone is not enough, because it survives a crash: the lock has to be held, and
/// the process that wrote the file has to be alive, which its start time shows.
pub fn running_server(home: &Home) -> Option<RunningServer> {
    let text = files::read_small(&server_file(home)).ok().flatten()?;
    let info: Value = serde_json::from_str(&text).ok()?;
    let pid = info["pid"].as_u64()?.try_into().ok()?;
    if !is_claimed(home) || !is_server(home, pid, &info) {
        return None;
    }
    Some(RunningServer {
        pid,
        address: info["address"].as_str()?.parse().ok()?,
        version: info["version"].as_str().unwrap_or_default().to_owned(),
        instance: info["instance"].as_str().unwrap_or_default().to_owned(),
    })
}

/// A version that does not record its start time is recognized by the lock file that it has open.
fn is_server(home: &Home, pid: u32, info: &Value) -> bool {
    match ProcessIdentity::from_json(&info["process"]) {
        Some(process) => process.pid == pid && process.is_alive(),
        None => has_open(pid, &lock_file(home)),
    }
}

/// Stops the server of a home and waits up to `timeout` for its end. Returns its process id, or `None` if no server was
/// running.
pub fn stop_server(home: &Home, timeout: Duration) -> io::Result<Option<u32>> {
    let Some(server) = running_server(home) else { return Ok(None) };
    let Some(pid) = i32::try_from(server.pid).ok().and_then(Pid::from_raw) else { return Ok(None) };
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    // The handle refers to the server's process if the server is still the same after opening it.
    if running_server(home).as_ref() != Some(&server) {
        return Ok(None);
    }
    pidfd_send_signal(&process, Signal::TERM)?;
    let started = Instant::now();
    while running_server(home).as_ref() == Some(&server) && started.elapsed() < timeout {
        thread::sleep(POLL_INTERVAL);
    }
    Ok(Some(server.pid))
}

/// Why the token cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// Other users may read or replace it, so it is not secret.
    #[error("others have access to {} ({mode:o})", path.display())]
    Exposed { path: PathBuf, mode: u32 },
    /// Another user created it.
    #[error("another user owns {}", path.display())]
    Foreign { path: PathBuf },
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// The token that authorizes requests. It is created when it is first needed, and rejected if other users could have
/// read it.
pub fn load_or_create_token(home: &Home) -> Result<String, TokenError> {
    create_private_dir(&server_dir(home))?;
    check_private(&server_dir(home), 0o022)?;
    let path = server_dir(home).join("token");
    let _lock = files::lock_file(&server_dir(home).join("token.lock"), files::lock_timeout())?;
    check_private(&path, 0o077)?;
    if let Some(text) = files::read_small(&path)?
        && text.trim().len() >= TOKEN_BYTES
    {
        return Ok(text.trim().to_owned());
    }
    let token = random::hex(TOKEN_BYTES)?;
    files::write_atomic(&path, format!("{token}\n").as_bytes(), files::PRIVATE)?;
    Ok(token)
}

/// Fails if a path belongs to another user or has one of the forbidden permissions. A missing path is fine.
fn check_private(path: &Path, forbidden: u32) -> Result<(), TokenError> {
    let metadata = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        metadata => metadata?,
    };
    let mode = metadata.mode() & 0o777;
    if metadata.uid() != getuid().as_raw() {
        return Err(TokenError::Foreign { path: path.to_owned() });
    }
    if mode & forbidden != 0 {
        return Err(TokenError::Exposed { path: path.to_owned(), mode });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use std::net::IpAddr;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Also if another version has added a field.
        #[test]
        fn an_announced_server_is_found(ip: IpAddr, port: u16, version in ".{0,9}", name in ".{0,6}", number: i64) {
            let address = SocketAddr::new(ip, port);
            let dir = tempfile::tempdir().unwrap();
            let home = Home::at(dir.path().to_owned());
            let instance = Instance::claim(&home).unwrap().unwrap();
            instance.announce(address, &version).unwrap();
            let expected = RunningServer { pid: std::process::id(), address, version, instance: instance.id.clone() };
            prop_assert_eq!(running_server(&home), Some(expected.clone()));
            let file = server_dir(&home).join("server.json");
            let mut info: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
            info[format!("\u{e000}{name}")] = json!([number]);
            files::write_atomic(&file, info.to_string().as_bytes(), files::PRIVATE).unwrap();
            prop_assert_eq!(running_server(&home), Some(expected));
        }
    }

    #[test]
    fn only_one_process_can_be_the_server() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        assert_eq!(running_server(&home), None);
        let first = Instance::claim(&home).unwrap().unwrap();
        assert!(Instance::claim(&home).unwrap().is_none());
        first.announce("127.0.0.1:7777".parse().unwrap(), "1").unwrap();
        assert_eq!(running_server(&home).unwrap().pid, std::process::id());
        drop(first);
        assert_eq!(running_server(&home), None);
        assert!(Instance::claim(&home).unwrap().is_some());
    }

    #[test]
    fn the_token_is_private_and_does_not_change() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let first = load_or_create_token(&home).unwrap();
        assert_eq!((first.len(), load_or_create_token(&home).unwrap() == first), (2 * TOKEN_BYTES, true));
        let mode = fs::metadata(dir.path().join("dashboard/token")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_token_that_other_users_could_read_is_rejected() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        load_or_create_token(&home).unwrap();
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        for mode in [0o644, 0o640, 0o604, 0o620, 0o601] {
            set(&server_dir(&home).join("token"), mode);
            assert!(
                matches!(load_or_create_token(&home), Err(TokenError::Exposed { mode: found, .. }) if found == mode)
            );
        }
        set(&server_dir(&home).join("token"), 0o600);
        set(&server_dir(&home), 0o777);
        assert!(matches!(load_or_create_token(&home), Err(TokenError::Exposed { .. })));
        set(&server_dir(&home), 0o700);
        load_or_create_token(&home).unwrap();
    }

    /// As after a kill: the file exists, another process holds the lock, and yet another may have the id.
    #[test]
    fn the_file_of_a_killed_server_is_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let instance = Instance::claim(&home).unwrap().unwrap();
        instance.announce("127.0.0.1:7777".parse().unwrap(), "1").unwrap();
        let text = fs::read_to_string(server_file(&home)).unwrap();
        let mut info: Value = serde_json::from_str(&text).unwrap();
        let ticks = info["process"]["startTicks"].as_u64().unwrap();
        info["process"]["startTicks"] = json!(ticks - 1);
        files::write_atomic(&server_file(&home), info.to_string().as_bytes(), files::PRIVATE).unwrap();
        assert_eq!(running_server(&home), None);
        // A version that does not record it is recognized by the lock file that it has open.
        info["process"] = Value::Null;
        files::write_atomic(&server_file(&home), info.to_string().as_bytes(), files::PRIVATE).unwrap();
        assert!(running_server(&home).is_some());
        info["pid"] = json!(1);
        files::write_atomic(&server_file(&home), info.to_string().as_bytes(), files::PRIVATE).unwrap();
        assert_eq!(running_server(&home), None);
    }
}
