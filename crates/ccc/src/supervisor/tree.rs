//! Fingerprints of the working tree, by git, which show whether anything has changed between two stops.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::SystemTime;

use overtone_core::engine::state::Millis;

/// How many untracked files are included in a fingerprint.
const MAX_UNTRACKED: usize = 10_000;
/// The rest of larger output is ignored.
const MAX_GIT_OUTPUT: u64 = 64 * 1024 * 1024;

/// A fingerprint of the commit, the difference to it and the untracked files. `None` without git or a repository.
pub(crate) fn fingerprint(project: &Path) -> Option<String> {
    let status = git(project, &["status", "--porcelain=v2", "--branch", "--untracked-files=all", "-z"])?;
    let mut hasher = DefaultHasher::new();
    status.hash(&mut hasher);
    // This fails if there is no commit yet; then the status alone is used.
    git(project, &["diff", "HEAD", "--no-ext-diff", "--no-textconv"]).unwrap_or_default().hash(&mut hasher);
    for path in untracked(&status).take(MAX_UNTRACKED) {
        size_and_time(&project.join(path)).hash(&mut hasher);
    }
    Some(format!("{:016x}", hasher.finish()))
}

/// Whether there are uncommitted changes, or a commit that is not older than the given time.
pub(crate) fn changed_since(project: &Path, at: Millis) -> Option<bool> {
    if !git(project, &["status", "--porcelain", "-z"])?.is_empty() {
        return Some(true);
    }
    let committed = git(project, &["log", "-1", "--format=%ct"]).unwrap_or_default();
    let seconds: i64 = String::from_utf8_lossy(&committed).trim().parse().unwrap_or(0);
    // Commit times have a resolution of seconds.
    Some(seconds >= at.0 / 1000)
}

fn untracked(status: &[u8]) -> impl Iterator<Item = &Path> {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let entries = status.split(|byte| *byte == 0).filter_map(|entry| entry.strip_prefix(b"? "));
    entries.map(|name| Path::new(OsStr::from_bytes(name)))
}

fn size_and_time(path: &Path) -> Option<(u64, SystemTime)> {
    let metadata = path.symlink_metadata().ok()?;
    Some((metadata.len(), metadata.modified().ok()?))
}

fn git(project: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let mut command = Command::new("git");
    // Reading must not block other git commands in the same tree.
    command.env("GIT_OPTIONAL_LOCKS", "0").current_dir(project).args(arguments);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut bytes = Vec::new();
    let read = child.stdout.take()?.take(MAX_GIT_OUTPUT).read_to_end(&mut bytes);
    // git fails if its output is cut off.
    let is_cut = bytes.len() as u64 == MAX_GIT_OUTPUT;
    match (read, child.wait()) {
        (Ok(_), Ok(status)) if status.success() => Some(bytes),
        (Ok(_), _) if is_cut => Some(bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use overtone_store::files::{PRIVATE, write_atomic};

    use super::*;

    #[test]
    fn every_kind_of_change_alters_the_fingerprint() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path();
        assert_eq!(fingerprint(path), None);
        assert!(git(path, &["init", "-q"]).is_some());
        let commit = |name: &str| {
            let who = ["-c", "user.name=n", "-c", "user.email=e"];
            git(path, &["add", "-A"]).unwrap();
            git(path, &[&who[..], &["commit", "-qm", name]].concat()).unwrap();
        };
        let put = |name: &str, text: &str| write_atomic(&path.join(name), text.as_bytes(), PRIVATE);
        let mut seen = vec![fingerprint(path).unwrap()];
        let mut differs = || {
            let now = fingerprint(path).unwrap();
            assert!(!seen.contains(&now));
            assert_eq!(fingerprint(path).unwrap(), now, "the fingerprint is stable");
            seen.push(now);
        };
        put("a", "1").unwrap();
        differs();
        put("a", "12").unwrap();
        differs();
        commit("one");
        differs();
        put("a", "3").unwrap();
        differs();
        put("a", "45").unwrap();
        differs();
        commit("two");
        differs();
        assert_eq!(changed_since(path, Millis(0)), Some(true));
        assert_eq!(changed_since(path, Millis(i64::MAX)), Some(false));
        put("b", "").unwrap();
        assert_eq!(changed_since(path, Millis(i64::MAX)), Some(true));
    }
}
