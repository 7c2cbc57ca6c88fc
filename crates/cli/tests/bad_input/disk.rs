//! A disk without room.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use overtone_core::registry::Hook;

use crate::common::TestContext;
use crate::fixture::{Fixture, assert_clean_log, each_hook};

/// A small file system of its own, unmounted when dropped.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path) -> Result<Self, String> {
        let output = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(at).output();
        match output {
            Ok(output) if output.status.success() => Ok(Self(at.to_owned())),
            Ok(output) => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Takes every byte that is left.
    fn fill(&self) {
        let mut file = OpenOptions::new().create(true).append(true).open(self.0.join("filler")).unwrap();
        while file.write_all(&[0; 4096]).is_ok() {}
        while file.write_all(&[0]).is_ok() {}
    }

    /// The hook did not make room for itself.
    #[track_caller]
    fn assert_full(&self) {
        let mut file = OpenOptions::new().append(true).open(self.0.join("filler")).unwrap();
        assert!(file.write_all(&[0]).is_err(), "there is room on the disk again");
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Lazily, so that nothing that still looks at it keeps the temporary folder from being removed.
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// A fixture whose state is on a disk without room. The disk is dropped first: a mounted folder cannot be removed.
struct FullDisk {
    disk: SmallDisk,
    fixture: Fixture,
}

impl FullDisk {
    fn new() -> Self {
        let context = TestContext::for_hooks();
        let disk = SmallDisk::mount(&context.state())
            .unwrap_or_else(|error| panic!("root, but no tmpfs could be mounted for the test: {error}"));
        let fixture = Fixture::in_context(context, |_| disk.fill());
        Self { disk, fixture }
    }
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().unwrap();
    output.stdout.trim_ascii() == b"0"
}

#[test]
fn a_full_disk() {
    if !is_root() {
        println!("skipped: only root may mount the small disk that this test fills up");
        return;
    }
    each_hook(|hook| {
        let FullDisk { fixture, disk } = &FullDisk::new();
        let output = fixture.run(hook);
        output.answer();
        assert_clean_log(&output);
        // These two have to store the workflow, and cannot.
        if matches!(hook, Hook::PreTask | Hook::OnAgentStop) {
            output.assert_says_nothing();
            output.assert_logged("");
        }
        fixture.assert_nothing_lost();
        for name in ["workflow.json", "loop.json"] {
            fixture.assert_same(&fixture.file(name));
        }

        // A folder that the first runs could still make is no litter; a file more with each run would be.
        fixture.run(hook).answer();
        let paths = fixture.paths();
        fixture.run(hook).answer();
        assert_eq!(fixture.paths(), paths, "each failure leaves something behind");
        disk.assert_full();
    });
}
