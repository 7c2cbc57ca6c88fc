//! The file at the end of the links: reading it within bounds, and asking whether it may be replaced.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, OFlags};
use rustix::io::Errno;

use crate::{MAX_BYTES, SettingsErrorKind};

/// As many links as the kernel follows.
const MAX_LINKS: usize = 40;

/// A file that is not a link. It need not exist.
#[derive(Debug)]
pub(crate) struct Target {
    file: PathBuf,
}

/// What a file held, and its mode and owner.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    pub(crate) about: Metadata,
}

impl Target {
    /// Follows links, so that the file they lead to is replaced and not they.
    pub(crate) fn resolve(path: &Path) -> Result<Self, SettingsErrorKind> {
        let mut file = path.to_owned();
        for _ in 0..MAX_LINKS {
            match fs::read_link(&file) {
                Ok(next) => file = folder_of(&file).join(next),
                // Not a link, or nothing that can be looked at: reading will tell.
                Err(_) => return Ok(Self { file }),
            }
        }
        Err(SettingsErrorKind::Read(Errno::LOOP.into()))
    }

    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    pub(crate) fn folder(&self) -> &Path {
        folder_of(&self.file)
    }

    /// The content, or `None` if there is no such file.
    pub(crate) fn read(&self) -> Result<Option<Content>, SettingsErrorKind> {
        // Opening a pipe must not hang.
        let no_wait = OFlags::NONBLOCK.bits().cast_signed();
        match OpenOptions::new().read(true).custom_flags(no_wait).open(&self.file) {
            Ok(file) => read_bounded(file).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(SettingsErrorKind::Read(error)),
        }
    }

    /// A rename would replace even a file that is write-protected, so this is asked first.
    pub(crate) fn check_writable(&self, current: Option<&Content>) -> Result<(), SettingsErrorKind> {
        let folder = self.folder();
        let about = fs::metadata(folder).map_err(SettingsErrorKind::Write)?;
        if current.is_some_and(|content| is_protected(&self.file, &content.about)) {
            return Err(SettingsErrorKind::ReadOnlyFile(self.file.clone()));
        }
        if is_protected(folder, &about) {
            return Err(SettingsErrorKind::ReadOnlyFolder(folder.to_owned()));
        }
        Ok(())
    }
}

fn read_bounded(file: File) -> Result<Content, SettingsErrorKind> {
    let about = file.metadata().map_err(SettingsErrorKind::Read)?;
    if about.is_dir() {
        return Err(SettingsErrorKind::IsFolder);
    }
    if !about.is_file() {
        return Err(SettingsErrorKind::NotAFile);
    }
    let limit = MAX_BYTES as u64;
    if about.len() > limit {
        return Err(SettingsErrorKind::TooLarge);
    }
    // With room for all of it, and to see its end, it is read at once.
    let mut bytes = Vec::with_capacity(usize::try_from(about.len()).unwrap_or(0) + 1);
    // It may be growing while it is read.
    file.take(limit + 1).read_to_end(&mut bytes).map_err(SettingsErrorKind::Read)?;
    if bytes.len() > MAX_BYTES { Err(SettingsErrorKind::TooLarge) } else { Ok(Content { bytes, about }) }
}

/// Whether nobody may write it, or we may not. The superuser could, but the mode says what the owner wants.
fn is_protected(path: &Path, about: &Metadata) -> bool {
    about.permissions().readonly()
        || matches!(
            rustix::fs::access(path, Access::WRITE_OK),
            Err(Errno::ACCESS | Errno::ROFS | Errno::PERM)
        )
}

/// The folder a file is in, or would be.
pub(crate) fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
