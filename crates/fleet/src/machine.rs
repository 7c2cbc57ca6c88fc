//! The identity of this machine in the fleet: an id that is generated once, and a display name.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::PathBuf;

use overtone_core::engine::text::printable;
use overtone_store::{Home, create_private_dir, files};
use serde::{Deserialize, Serialize};

use crate::hex;

/// A machine of the fleet. Two homes on one computer are two machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    pub id: String,
    pub name: String,
}

/// Longer names are truncated to this many characters.
pub(crate) const MAX_NAME: usize = 64;

/// The folder for the fleet's files in a home.
pub fn fleet_dir(home: &Home) -> PathBuf {
    home.root().join("fleet")
}

impl Machine {
    /// Loads the machine's id, or generates one. The name is the given one, or else the host name.
    pub fn load_or_create(home: &Home, name: Option<&str>) -> io::Result<Self> {
        let name = match name {
            Some(name) => name.to_owned(),
            None => host_name(),
        };
        let id = match read_id(home)? {
            Some(id) => id,
            None => create_id(home)?,
        };
        Ok(Self { id, name: clean_name(&name) })
    }
}

/// The content of `machine.json`.
#[derive(Serialize, Deserialize)]
struct IdFile {
    id: String,
}

fn id_file(home: &Home) -> PathBuf {
    fleet_dir(home).join("machine.json")
}

fn read_id(home: &Home) -> io::Result<Option<String>> {
    let Some(text) = files::read_small(&id_file(home))? else { return Ok(None) };
    match serde_json::from_str(&text) {
        Ok(IdFile { id }) if is_machine_id(&id) => Ok(Some(id)),
        _ => Ok(None),
    }
}

/// Whether a text has the form of a machine id: sixteen hexadecimal digits.
pub(crate) fn is_machine_id(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Generates an id under a lock, so that two processes that start at the same time get the same one.
fn create_id(home: &Home) -> io::Result<String> {
    create_private_dir(&fleet_dir(home))?;
    let _lock = files::lock_file(&fleet_dir(home).join("machine.lock"), files::lock_timeout())?;
    if let Some(id) = read_id(home)? {
        return Ok(id);
    }
    let id = random_hex(8)?;
    let text = serde_json::to_vec(&IdFile { id: id.clone() })?;
    files::write_atomic(&id_file(home), &text, files::PRIVATE)?;
    Ok(id)
}

pub(crate) fn random_bytes(count: usize) -> io::Result<Vec<u8>> {
    let mut random = vec![0; count];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    Ok(random)
}

/// `count` random bytes as hexadecimal digits.
pub(crate) fn random_hex(count: usize) -> io::Result<String> {
    random_bytes(count).map(|random| hex::encode(&random))
}

/// How many threads this machine runs at the same time.
pub(crate) fn processor_count() -> usize {
    match std::thread::available_parallelism() {
        Ok(count) => count.get(),
        Err(_) => 1,
    }
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Makes a name printable on one line.
pub(crate) fn clean_name(name: &str) -> String {
    let name: String = printable(name).trim().chars().take(MAX_NAME).collect();
    // Truncation inside an emoji sequence may leave an invisible character at the end.
    let name = printable(&name).into_owned();
    if name.trim().is_empty() { "machine".to_owned() } else { name.trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_keeps_its_id() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let first = Machine::load_or_create(&home, Some("laptop\n")).unwrap();
        assert_eq!((first.id.len(), first.name.as_str()), (16, "laptop"));
        assert_eq!(Machine::load_or_create(&home, None).unwrap().id, first.id);
        let other = tempfile::tempdir().unwrap();
        assert_ne!(Machine::load_or_create(&Home::at(other.path().to_owned()), None).unwrap().id, first.id);
    }

    #[test]
    fn a_broken_file_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        create_private_dir(&fleet_dir(&home)).unwrap();
        files::write_atomic(&id_file(&home), b"{\"id\":\"../x\"}", files::PRIVATE).unwrap();
        assert_eq!(Machine::load_or_create(&home, Some(" ")).unwrap().name, "machine");
        assert_eq!(read_id(&home).unwrap().unwrap().len(), 16);
    }
}
