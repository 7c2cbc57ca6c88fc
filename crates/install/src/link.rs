//! Names on the search path, so that `overtone` and `ccc` can be typed.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Folders of the user's own, in the order of preference. Only one that is on the search path is of use.
const FOLDERS: [&str; 3] = [".local/bin", "bin", ".cargo/bin"];

/// The second face of the program; its name is put beside the first.
const SECOND_NAME: &str = "ccc";

/// What became of the name.
#[derive(Debug, PartialEq, Eq)]
pub enum Link {
    /// It is there now, or was already.
    At(PathBuf),
    /// Something else has the name; it was left alone.
    Taken(PathBuf),
    /// No folder of the user's is on the search path.
    NoFolder,
}

pub fn link_program(binary: &Path, home: &Path, search_path: Option<&OsStr>) -> io::Result<Link> {
    let Some(folder) = folder(home, search_path) else { return Ok(Link::NoFolder) };
    let link = folder.join("overtone");
    match fs::symlink_metadata(&link) {
        Ok(_) if points_to(&link, binary) => {}
        Ok(_) => return Ok(Link::Taken(link)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => symlink(binary, &link)?,
        Err(error) => return Err(error),
    }
    let second = link.with_file_name(SECOND_NAME);
    // Somebody else's `ccc` stays; `overtone ccc` does the same.
    if fs::symlink_metadata(&second).is_err() {
        symlink(binary, &second)?;
    }
    Ok(Link::At(link))
}

/// Takes the names away, those that are still ours.
pub fn unlink_program(link: &Path, binary: &Path) -> io::Result<()> {
    for name in [link.to_owned(), link.with_file_name(SECOND_NAME)] {
        if points_to(&name, binary) {
            fs::remove_file(&name)?;
        }
    }
    Ok(())
}

fn points_to(link: &Path, binary: &Path) -> bool {
    fs::read_link(link).is_ok_and(|target| target == binary)
}

fn folder(home: &Path, search_path: Option<&OsStr>) -> Option<PathBuf> {
    let on_path: Vec<_> = std::env::split_paths(search_path?).collect();
    let own = FOLDERS.iter().map(|name| home.join(name));
    own.into_iter().find(|folder| on_path.contains(folder) && folder.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_is_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".local/bin");
        let search_path = Some(folder.as_os_str());
        let binary = home.path().join("overtone-binary");
        assert_eq!(link_program(&binary, home.path(), search_path).unwrap(), Link::NoFolder);
        fs::create_dir_all(&folder).unwrap();
        let link = folder.join("overtone");
        for _ in 0..2 {
            assert_eq!(link_program(&binary, home.path(), search_path).unwrap(), Link::At(link.clone()));
        }
        assert!(points_to(&folder.join("ccc"), &binary));
        unlink_program(&link, &binary).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::create_dir(&link).unwrap();
        fs::create_dir(folder.join("ccc")).unwrap();
        assert_eq!(link_program(&binary, home.path(), search_path).unwrap(), Link::Taken(link.clone()));
        unlink_program(&link, &binary).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    }
}
