//! The file that a path leads to after all links: reads it up to a size limit and checks whether it may be replaced.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, OFlags};
use rustix::io::Errno;

use crate::{MAX_BYTES, SettingsErrorKind};

/// The number of links that the kernel follows.
const MAX_LINKS: usize = 40;

/// A file that is not a link. It may be missing.
#[derive(Debug)]
pub(crate) struct Target {
    file: PathBuf,
}

/// The content of a file, and its mode and owner.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) bytes: Vec<u8>,
    pub(crate) metadata: Metadata,
}

impl Target {
    /// Follows links, so that the file is replaced and not the link.
    pub(crate) fn resolve(path: &Path) -> Result<Self, SettingsErrorKind> {
        let mut file = path.to_owned();
        for _ in 0..MAX_LINKS {
            match fs::read_link(&file) {
                Ok(next) => file = folder_of(&file).join(next),
                // Not a link. If it is not accessible either, reading reports that.
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
        // Opening a pipe must not block.
        let no_wait = OFlags::NONBLOCK.bits().cast_signed();
        match OpenOptions::new().read(true).custom_flags(no_wait).open(&self.file) {
            Ok(file) => read_bounded(file).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(SettingsErrorKind::Read(error)),
        }
    }

    /// Fails if the file or its folder is write-protected. A rename alone would replace a protected file.
    pub(crate) fn check_writable(&self, current: Option<&Content>) -> Result<(), SettingsErrorKind> {
        let folder = self.folder();
        let folder_metadata = fs::metadata(folder).map_err(SettingsErrorKind::Write)?;
        if let Some(content) = current
            && is_protected(&self.file, &content.metadata)
        {
            return Err(SettingsErrorKind::ReadOnlyFile(self.file.clone()));
        }
        if is_protected(folder, &folder_metadata) {
            return Err(SettingsErrorKind::ReadOnlyFolder(folder.to_owned()));
        }
        Ok(())
    }
}

fn read_bounded(file: File) -> Result<Content, SettingsErrorKind> {
    let metadata = file.metadata().map_err(SettingsErrorKind::Read)?;
    if metadata.is_dir() {
        return Err(SettingsErrorKind::IsFolder);
    }
    if !metadata.is_file() {
        return Err(SettingsErrorKind::NotAFile);
    }
    let limit = MAX_BYTES as u64;
    if metadata.len() > limit {
        return Err(SettingsErrorKind::TooLarge);
    }
    // One byte more than the file has, so that one read sees its end.
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
    // The file may grow while it is read.
    file.take(limit + 1).read_to_end(&mut bytes).map_err(SettingsErrorKind::Read)?;
    if bytes.len() > MAX_BYTES { Err(SettingsErrorKind::TooLarge) } else { Ok(Content { bytes, metadata }) }
}

/// Whether the mode forbids everybody to write, or the system forbids this process. The superuser may write to any file,
/// but the mode says what the owner wants.
fn is_protected(path: &Path, metadata: &Metadata) -> bool {
    metadata.permissions().readonly()
        || matches!(
            rustix::fs::access(path, Access::WRITE_OK),
            Err(Errno::ACCESS | Errno::ROFS | Errno::PERM)
        )
}

/// The folder that contains the file, or would contain it.
pub(crate) fn folder_of(file: &Path) -> &Path {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
