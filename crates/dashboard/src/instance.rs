//! One server for a home: who runs it, where, and the token for changes.

use std::fs::{self, File};
use std::io::{self, Read};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use overtone_store::{Home, clock, create_private_dir, files};
use serde_json::{Value, json};

/// Somebody who only looks whether there is a server may hold the lock for a moment.
const TRIES: u32 = 10;
const BETWEEN: Duration = Duration::from_millis(20);
const TOKEN_BYTES: usize = 24;

fn folder(home: &Home) -> PathBuf {
    home.root().join("dashboard")
}

fn lock_file(home: &Home) -> PathBuf {
    folder(home).join("lock")
}

pub(crate) fn actions_file(home: &Home) -> PathBuf {
    folder(home).join("actions.jsonl")
}

/// The right to be the server of a home. It goes with the process, however that ends.
#[derive(Debug)]
pub(crate) struct Instance {
    home: Home,
    _lock: File,
}

/// The server that runs now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Running {
    pub pid: u32,
    pub address: SocketAddr,
    pub version: String,
}

impl Instance {
    /// `None` when another process has the place.
    pub(crate) fn claim(home: &Home) -> io::Result<Option<Self>> {
        create_private_dir(&folder(home))?;
        for _ in 0..TRIES {
            if let Some(lock) = files::try_lock_file(&lock_file(home))? {
                return Ok(Some(Self { home: home.clone(), _lock: lock }));
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
        let about = json!({
            "pid": std::process::id(), "address": address.to_string(), "version": version,
            "startedAt": clock::to_iso(clock::now()),
        });
        let path = folder(&self.home).join("server.json");
        files::write_atomic(&path, format!("{about:#}\n").as_bytes(), files::PRIVATE)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // Whoever looks for a server sees by the lock whether there is one.
        let _ = fs::remove_file(folder(&self.home).join("server.json"));
    }
}

/// Whether some process is the server of a home, or is about to be.
pub fn is_claimed(home: &Home) -> bool {
    files::is_locked(&lock_file(home))
}

/// The server of a home, if there is one. A file that a crash left behind is told from a server by the lock.
pub fn running(home: &Home) -> Option<Running> {
    let text = files::read_small(&folder(home).join("server.json")).ok().flatten();
    let about: Value = serde_json::from_str(&text.filter(|_| is_claimed(home))?).ok()?;
    Some(Running {
        pid: about["pid"].as_u64()?.try_into().ok()?,
        address: about["address"].as_str()?.parse().ok()?,
        version: about["version"].as_str().unwrap_or_default().to_owned(),
    })
}

/// The token for changes; made when it is first needed.
pub fn token(home: &Home) -> io::Result<String> {
    create_private_dir(&folder(home))?;
    let path = folder(home).join("token");
    let _lock = files::lock_file(&folder(home).join("token.lock"), files::lock_wait())?;
    let present = files::read_small(&path)?.map(|text| text.trim().to_owned());
    if let Some(token) = present.filter(|token| token.len() >= TOKEN_BYTES) {
        return Ok(token);
    }
    let token = random_token()?;
    files::write_atomic(&path, format!("{token}\n").as_bytes(), files::PRIVATE)?;
    Ok(token)
}

fn random_token() -> io::Result<String> {
    let mut bytes = [0; TOKEN_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}")))
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
            let wanted = Running { pid: std::process::id(), address, version };
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
}
