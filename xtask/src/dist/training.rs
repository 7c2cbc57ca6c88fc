//! Which functions the hooks use: a whole workflow is played under callgrind.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::{Error, Result};

/// What the demo does not start. The session is unknown, which most of them are in everyday use, too.
const OTHERS: [&[&str]; 4] = [
    &["hook", "post-use-failure"],
    &["hook", "pre-write"],
    &["statusline"],
    &overtone_registry::SUPERVISOR_HOOK,
];
const PAYLOAD: &[u8] =
    br#"{"session_id":"training","cwd":"/","tool_name":"Write","tool_input":{},"error":"x"}"#;

/// The names of the functions, those that most starts use first.
pub(super) fn functions_of_hooks(program: &Path) -> Result<Vec<String>> {
    let place = tempfile::tempdir().map_err(|e| Error::new(format!("no temporary folder: {e}")))?;
    let profiles = place.path().join("profiles");
    fs::create_dir(&profiles).map_err(|e| Error::io("cannot create folder", &profiles, &e))?;
    let watched = Watched { program, home: place.path(), profiles: &profiles };
    watched.start(&["demo", "--fast"], b"")?;
    OTHERS.iter().try_for_each(|arguments| watched.start(arguments, PAYLOAD))?;
    let names = by_use(&read_all(&profiles)?);
    if names.is_empty() { Err(Error::new("no hook was seen at work")) } else { Ok(names) }
}

struct Watched<'a> {
    program: &'a Path,
    home: &'a Path,
    profiles: &'a Path,
}

impl Watched<'_> {
    fn start(&self, arguments: &[&str], payload: &[u8]) -> Result<()> {
        let failed = |why: &str| Error::new(format!("{} under valgrind: {why}", arguments.join(" ")));
        let mut child = Command::new("valgrind")
            .args([
                "-q",
                "--tool=callgrind",
                "--trace-children=yes",
                "--demangle=no",
                "--compress-strings=no",
            ])
            .arg(format!("--callgrind-out-file={}/%p", self.profiles.display()))
            .arg(self.program)
            .args(arguments)
            .env("HOME", self.home)
            .current_dir(self.home)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| failed(&e.to_string()))?;
        if let Some(mut stdin) = child.stdin.take() {
            // Who does not read it has ended by itself, and its exit code tells.
            let _ = stdin.write_all(payload);
        }
        let status = child.wait().map_err(|e| failed(&e.to_string()))?;
        if status.success() { Ok(()) } else { Err(failed(&status.to_string())) }
    }
}

fn read_all(folder: &Path) -> Result<Vec<String>> {
    let files = crate::tree::files(folder)?;
    let read = |path| fs::read_to_string(folder.join(path)).map_err(|e| Error::io("cannot read", folder, &e));
    files.keys().map(read).collect()
}

fn by_use(profiles: &[String]) -> Vec<String> {
    let mut starts = BTreeMap::<&str, usize>::new();
    for profile in profiles.iter().filter(|profile| is_of_a_hook(profile)) {
        let functions = profile.lines().filter_map(function);
        functions.collect::<std::collections::BTreeSet<_>>().into_iter().for_each(|name| {
            *starts.entry(name).or_default() += 1;
        });
    }
    let mut names: Vec<_> = starts.into_iter().collect();
    names.sort_by_key(|(name, starts)| (std::cmp::Reverse(*starts), *name));
    names.into_iter().map(|(name, _)| name.to_owned()).collect()
}

/// Not the demo that started it.
fn is_of_a_hook(profile: &str) -> bool {
    let command = profile.lines().find_map(|line| line.strip_prefix("cmd:")).unwrap_or_default();
    command.split(' ').any(|word| matches!(word, "hook" | "statusline" | "supervisor-hook"))
}

/// `fn=name` is a function that ran, `cfn=name` one that was called; `'2` marks a second round of itself.
fn function(line: &str) -> Option<&str> {
    let name = line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn="))?;
    let name = name.split('\'').next().filter(|name| !name.is_empty())?;
    // What has no name, and what valgrind calls its caller.
    (!name.starts_with("0x") && !name.starts_with('(')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_most_hooks_use_comes_first_and_what_is_no_hook_does_not_count() {
        let profiles = [
            "cmd: /t/unsorted hook on-stop\nfn=(below main)\nfn=main\n1 2\ncfn=read'2\nfn=read\nfn=0x401020\n",
            "cmd: /t/unsorted statusline\nfn=main\nfn=align\n",
            "cmd: /t/unsorted demo --fast\nfn=clap\nfn=read\nfn=read\n",
        ]
        .map(str::to_owned);
        assert_eq!(by_use(&profiles), ["main", "align", "read"]);
    }
}
