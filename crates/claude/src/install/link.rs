//! Links the program into a folder on the search path, so that the user can type `overtone` and `ccc`.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Folders of the user in order of preference. The first one that is on the search path is used.
const FOLDERS: [&str; 3] = [".local/bin", "bin", ".cargo/bin"];

/// The second name of the program. It is linked in the same folder.
const SECOND_NAME: &str = "ccc";

/// The outcome of linking the program.
#[derive(Debug, PartialEq, Eq)]
pub enum Link {
    /// The link exists, from now or from before.
    At(PathBuf),
    /// There is another file with this name, which was left unchanged.
    Taken(PathBuf),
    /// None of the user's folders is on the search path.
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
    // Another program named `ccc` is not replaced. `overtone ccc` does the same as `ccc`.
    if fs::symlink_metadata(&second).is_err() {
        symlink(binary, &second)?;
    }
    Ok(Link::At(link))
}

/// Removes the links that still point to the program.
pub fn unlink_program(link: &Path, binary: &Path) -> io::Result<()> {
    for name in [link.to_owned(), link.with_file_name(SECOND_NAME)] {
        if points_to(&name, binary) {
            fs::remove_file(&name)?;
        }
    }
    Ok(())
}

fn points_to(link: &Path, binary: &Path) -> bool {
    matches!(fs::read_link(link), Ok(target) if target == binary)
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
    fn a_file_with_the_same_name_is_left_unchanged() {
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
