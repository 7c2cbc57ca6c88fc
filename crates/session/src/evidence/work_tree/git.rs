//! What git knows about the project's files. Every call has a time limit; an answer that does not come counts as none.

use std::collections::BTreeMap;
use std::env;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::evidence::command::read_output;

/// A hook that waits longer for git would be in the user's way.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// The longest list of paths and the largest set of contents that are read.
const MAX_OUTPUT: u64 = 64 * 1024 * 1024;

/// The commit of a repository without one.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// The current commit, or the empty tree for a repository without a commit. `None` if the folder is not in a repository.
pub(crate) fn head(project: &Path) -> Option<String> {
    let inside = read_output(git(project).args(["rev-parse", "--is-inside-work-tree"]), TIME_LIMIT, 64)?;
    if inside.trim_ascii() != b"true" {
        return None;
    }
    let head = read_output(
        git(project).args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]),
        TIME_LIMIT,
        256,
    );
    let base = match head {
        Some(id) => String::from_utf8(id).ok()?.trim().to_owned(),
        None => EMPTY_TREE.to_owned(),
    };
    is_object_id(&base).then_some(base)
}

/// The files of the project that differ from a commit, and those that git does not know and does not ignore. Paths are
/// relative to the project.
pub(crate) fn changed_files(project: &Path, base: &str) -> Option<Vec<String>> {
    let mut diff = git(project);
    diff.args(["diff", "--name-only", "--no-renames", "--no-ext-diff", "--relative", "-z", base, "--", "."]);
    let mut untracked = git(project);
    untracked.args(["ls-files", "--others", "--exclude-standard", "-z", "--", "."]);
    let mut paths = Vec::new();
    for command in [&mut diff, &mut untracked] {
        let output = read_output(command, TIME_LIMIT, MAX_OUTPUT)?;
        let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        paths.extend(names.map(|name| String::from_utf8_lossy(name).into_owned()));
    }
    Some(paths)
}

/// The texts of files in a commit. Files that are not in it or are not text are left out.
pub(crate) fn files_at(project: &Path, base: &str, paths: &[&str]) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    // The protocol has one request per line, so a path with a line break cannot be asked for.
    let paths: Vec<&str> = paths.iter().copied().filter(|path| !path.contains('\n')).collect();
    if paths.is_empty() {
        return texts;
    }
    let mut requests = String::new();
    for path in &paths {
        requests.extend([base, ":./", path, "\n"]);
    }
    let Some(output) = read_batch(project, requests) else { return texts };
    let mut rest = &output[..];
    for path in paths {
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else { break };
        let header = String::from_utf8_lossy(&rest[..end]).into_owned();
        rest = &rest[end + 1..];
        let size = match header.rsplit_once(' ') {
            Some((_, size)) if !header.ends_with(" missing") => size.parse::<usize>().ok(),
            _ => None,
        };
        let Some(size) = size else { continue };
        let Some((content, after)) = rest.split_at_checked(size) else { break };
        rest = after.get(1..).unwrap_or_default();
        if let Ok(text) = std::str::from_utf8(content) {
            texts.insert(path.to_owned(), text.to_owned());
        }
    }
    texts
}

fn read_batch(project: &Path, requests: String) -> Option<Vec<u8>> {
    // The requests go through a file-like pipe of another thread, because git answers while it reads.
    let (reader, mut writer) = std::io::pipe().ok()?;
    let sender = thread::spawn(move || writer.write_all(requests.as_bytes()));
    let mut command = git(project);
    command.args(["cat-file", "--batch"]).stdin(Stdio::from(reader));
    let output = read_output(&mut command, TIME_LIMIT, MAX_OUTPUT);
    // If git ended early, the rest of the requests has no reader.
    let _ = sender.join();
    output
}

/// git in the project, without variables that would direct it to another repository, without a file monitor that the
/// repository could name, and without locks that would disturb the user's own git.
fn git(project: &Path) -> Command {
    let mut command = Command::new("git");
    command.stdin(Stdio::null()).arg("-C").arg(project);
    command.args(["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"]);
    for (name, _) in env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"GIT_") {
            command.env_remove(&name);
        }
    }
    command
}

fn is_object_id(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
