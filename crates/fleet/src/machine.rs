//! Who this machine is to the others: a number that it was given once, and a name for people.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::PathBuf;

use overtone_engine::text::printable;
use overtone_store::{Home, create_private_dir, files};
use serde_json::{Value, json};

use crate::hex;

/// This machine, or rather this home on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    pub id: String,
    pub name: String,
}

/// Longer names of machines are cut.
pub(crate) const MAX_NAME: usize = 64;

/// Everything that the fleet keeps on this machine.
pub fn folder(home: &Home) -> PathBuf {
    home.root().join("fleet")
}

impl Machine {
    /// As it was called before, or with a new number. `name`: what the settings say, else the host's.
    pub fn of(home: &Home, name: Option<&str>) -> io::Result<Self> {
        let name = name.map_or_else(host_name, str::to_owned);
        let id = known_id(home)?.map_or_else(|| new_id(home), Ok)?;
        Ok(Self { id, name: tidy(&name) })
    }
}

fn id_file(home: &Home) -> PathBuf {
    folder(home).join("machine.json")
}

fn known_id(home: &Home) -> io::Result<Option<String>> {
    let text = files::read_small(&id_file(home))?;
    let value = text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let id = value.and_then(|value| value["id"].as_str().map(str::to_owned));
    Ok(id.filter(|id| is_machine_id(id)))
}

/// Sixteen hexadecimal digits.
pub(crate) fn is_machine_id(text: &str) -> bool {
    text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Two processes that start at once agree on one number.
fn new_id(home: &Home) -> io::Result<String> {
    create_private_dir(&folder(home))?;
    let _lock = files::lock_file(&folder(home).join("machine.lock"), files::lock_wait())?;
    if let Some(id) = known_id(home)? {
        return Ok(id);
    }
    let id = random_hex(8)?;
    files::write_atomic(&id_file(home), json!({ "id": id }).to_string().as_bytes(), files::PRIVATE)?;
    Ok(id)
}

pub(crate) fn random_bytes(count: usize) -> io::Result<Vec<u8>> {
    let mut random = vec![0; count];
    File::open("/dev/urandom")?.read_exact(&mut random)?;
    Ok(random)
}

/// So many random bytes as hexadecimal digits.
pub(crate) fn random_hex(count: usize) -> io::Result<String> {
    random_bytes(count).map(|random| hex::encode(&random))
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// A name that can be shown on one line.
pub(crate) fn tidy(name: &str) -> String {
    let name: String = printable(name).trim().chars().take(MAX_NAME).collect();
    // A cut between the parts of an emoji may leave something that is not shown alone.
    let name = printable(&name).into_owned();
    if name.trim().is_empty() { "machine".to_owned() } else { name.trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_stays_who_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        let first = Machine::of(&home, Some("laptop\n")).unwrap();
        assert_eq!((first.id.len(), first.name.as_str()), (16, "laptop"));
        assert_eq!(Machine::of(&home, None).unwrap().id, first.id);
        let other = tempfile::tempdir().unwrap();
        assert_ne!(Machine::of(&Home::at(other.path().to_owned()), None).unwrap().id, first.id);
    }

    #[test]
    fn a_broken_file_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::at(dir.path().to_owned());
        create_private_dir(&folder(&home)).unwrap();
        files::write_atomic(&id_file(&home), b"{\"id\":\"../x\"}", files::PRIVATE).unwrap();
        assert_eq!(Machine::of(&home, Some(" ")).unwrap().name, "machine");
        assert_eq!(known_id(&home).unwrap().unwrap().len(), 16);
    }
}
