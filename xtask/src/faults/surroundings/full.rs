//! A small disk with no room left, or so little that a write stops half-way.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{Stage, Verdict, named};
use crate::error::{Error, Result};
use crate::faults::judge;
use crate::faults::picture::Picture;
use crate::faults::run;
use crate::faults::subject::Subject;
use crate::faults::world::Site;

/// How many pages are left. With one or two, some files can still be written and others cannot.
const PAGES_LEFT: [usize; 4] = [0, 1, 2, 3];
const PAGE: usize = 4096;

pub(super) fn examine(stage: &Stage) -> Result<Verdict> {
    if !nix::unistd::geteuid().is_root() {
        return Ok(Verdict::Skipped("only root may mount the small disk that this fills up".to_owned()));
    }
    let (mut wrong, mut runs) = (Vec::new(), 0);
    for subject in Subject::started_by_the_client() {
        let (site, expected) = stage.expected(&subject)?;
        for pages in PAGES_LEFT {
            let disk = match SmallDisk::mount(&site.sandbox.home()) {
                Ok(disk) => disk,
                Err(why) => return Ok(Verdict::Skipped(format!("no small disk can be mounted: {why}"))),
            };
            wrong.extend(named(&subject, on_disk(site, &subject, &expected, pages, &disk)?));
            runs += 1;
        }
    }
    Ok(Verdict::of(&wrong, format!("{runs} starts with 0 to 3 pages of disk left")))
}

fn on_disk(
    site: &Site,
    subject: &Subject,
    expected: &judge::Expected,
    pages: usize,
    disk: &SmallDisk,
) -> Result<Vec<String>> {
    expected.before.add(&site.root, "home")?;
    disk.fill_up_to(pages)?;
    let ran = run::plain(site, subject)?;
    let mut left = Picture::take(&site.root)?;
    left.files.retain(|name, _| !name.ends_with(FILLER));
    let mut wrong = judge::in_surroundings(subject, expected, &ran, &left);
    wrong.extend(judge::unreadable(&left));
    Ok(wrong)
}

const FILLER: &str = "filler";

/// A file system of its own, unmounted when dropped.
struct SmallDisk {
    at: PathBuf,
}

impl SmallDisk {
    fn mount(at: &Path) -> std::result::Result<Self, String> {
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]).arg(at).output();
        let why = |output: Output| String::from_utf8_lossy(&output.stderr).trim().to_owned();
        match mounted {
            Ok(output) if output.status.success() => Ok(Self { at: at.to_owned() }),
            Ok(output) => Err(why(output)),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Takes every page that is left, but for some.
    fn fill_up_to(&self, pages: usize) -> Result<()> {
        let path = self.at.join(FILLER);
        let failed = |e: std::io::Error| Error::io("cannot fill", &path, &e);
        let mut file = OpenOptions::new().create(true).append(true).open(&path).map_err(failed)?;
        while file.write_all(&[0; PAGE]).is_ok() {}
        let length = file.metadata().map_err(failed)?.len();
        let room = u64::try_from(pages * PAGE).unwrap_or_default();
        file.set_len(length.saturating_sub(room)).map_err(failed)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, so that nothing that still looks at it keeps the folder from being removed.
        let _ = Command::new("umount").arg("-l").arg(&self.at).status();
    }
}
