//! What must hold after a fault: an answer or a clear error, and every file old or new, never anything else.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::picture::{File, Picture, timeless};
use super::run::Ran;
use super::strace::Target;
use super::subject::{Kind, Subject};

/// What a hook says when it has nothing to say.
const DEFAULT_ANSWER: &str = "{\"result\":\"\"}\n";

/// A longer complaint is not a line for a log.
const LONG_LINE: usize = 400;

/// What a subject does when nothing goes wrong.
#[derive(Debug)]
pub(crate) struct Expected {
    pub before: Picture,
    pub after: Picture,
    pub stdout: String,
}

/// Everything that is wrong with a run; nothing is good.
pub(crate) fn judge(subject: &Subject, expected: &Expected, ran: &Ran, left: &Picture) -> Vec<String> {
    let mut wrong = in_surroundings(subject, expected, ran, left);
    if ran.injected().next().is_none() {
        wrong.push("the fault was not reached: the run differs from the one before".to_owned());
    }
    wrong
}

/// The same where no single call fails, or nobody knows which.
pub(crate) fn in_surroundings(
    subject: &Subject,
    expected: &Expected,
    ran: &Ran,
    left: &Picture,
) -> Vec<String> {
    let mut wrong = Vec::new();
    if ran.hung() {
        wrong.push("it hangs, or was killed".to_owned());
    }
    if ran.stderr.contains("panicked") || ran.stdout.contains("panicked") {
        wrong.push(format!("it panics: {}", ran.stderr.trim_end()));
    }
    match subject.kind {
        Kind::Hook => wrong.extend(hook(expected, ran, left)),
        Kind::Review => wrong.extend(review(ran)),
        Kind::Line => wrong.extend(line(ran)),
        Kind::Command | Kind::Launch => wrong.extend(command(expected, ran, left)),
    }
    wrong.extend(damage(expected, left, may_go_on(subject, ran)));
    wrong
}

/// Whether a state may be another one than without the fault: it was decided with less knowledge, or, by a review,
/// is written in two steps of which the first is one that counts.
fn may_go_on(subject: &Subject, ran: &Ran) -> bool {
    subject.kind == Kind::Review || ran.injected().all(|call| call.reads)
}

fn hit(ran: &Ran, target: Target) -> bool {
    ran.injected().any(|call| call.target == target)
}

/// The answer could not be given: not one byte of it came out.
fn is_mute(ran: &Ran) -> bool {
    hit(ran, Target::Stdout) && ran.stdout.is_empty()
}

fn hook(expected: &Expected, ran: &Ran, left: &Picture) -> Vec<String> {
    let mut wrong = exit_zero(ran);
    let is_default = ran.stdout == DEFAULT_ANSWER;
    let is_normal = timeless(ran.stdout.as_bytes()) == timeless(expected.stdout.as_bytes());
    if !is_mute(ran) && !is_one_object(&ran.stdout) {
        wrong.push(format!("not one JSON answer: {:?}", ran.stdout));
    }
    // What cannot be looked up may be missing in the text; what cannot be written may not.
    if !is_mute(ran) && !is_default && !is_normal && ran.injected().any(|call| !call.reads) {
        wrong.push(format!("neither the normal nor the default answer: {:?}", ran.stdout));
    }
    if (is_mute(ran) || (is_default && !is_normal)) && state_changed(expected, left) {
        wrong.push("the state changed for an answer that was not given".to_owned());
    }
    if is_ahead(expected, left) {
        wrong.push("the project's documents tell of a state that did not come about".to_owned());
    }
    wrong.extend(complaint(ran));
    wrong
}

/// Whether documents were changed although the workflow, which should have been, was not.
fn is_ahead(expected: &Expected, left: &Picture) -> bool {
    let Expected { before, after, .. } = expected;
    let is_workflow = |name: &&PathBuf| name.ends_with("workflow.json");
    let stayed = before.files.keys().filter(is_workflow).any(|name| {
        before.files.get(name) != after.files.get(name) && before.files.get(name) == left.files.get(name)
    });
    let documents = |picture: &Picture| {
        let below = |(name, _): &(&PathBuf, &File)| name.starts_with("project/specs");
        picture
            .files
            .iter()
            .filter(below)
            .map(|(name, file)| (name.clone(), file.clone()))
            .collect::<Vec<_>>()
    };
    stayed && documents(before) != documents(left)
}

/// Whether a hook has answered: exit code 0, one JSON object, at most one line of complaint.
pub(crate) fn answer(ran: &Ran) -> Vec<String> {
    let mut wrong = exit_zero(ran);
    if !is_one_object(&ran.stdout) {
        wrong.push(format!("not one JSON answer: {:?}", ran.stdout));
    }
    wrong.extend(complaint(ran));
    wrong
}

fn exit_zero(ran: &Ran) -> Vec<String> {
    match ran.code {
        Some(0) => Vec::new(),
        code => vec![format!("exit code {code:?}: {}", ran.stderr.trim_end())],
    }
}

/// At most one line, and not a long one.
fn complaint(ran: &Ran) -> Option<String> {
    let is_long = ran.stderr.lines().any(|line| line.len() > LONG_LINE);
    (ran.stderr.lines().count() > 1 || is_long)
        .then(|| format!("more than one short line on stderr: {:?}", ran.stderr))
}

fn state_changed(expected: &Expected, left: &Picture) -> bool {
    let is_state = |name: &Path| name.ends_with("workflow.json") || name.ends_with("loop.json");
    let names = expected.before.files.keys().chain(left.files.keys()).filter(|name| is_state(name));
    names.into_iter().any(|name| expected.before.files.get(name) != left.files.get(name))
}

fn is_one_object(text: &str) -> bool {
    let is_object = |value: Value| value.is_object();
    text.ends_with('\n') && text.lines().count() == 1 && serde_json::from_str(text).is_ok_and(is_object)
}

fn review(ran: &Ran) -> Vec<String> {
    let mut wrong = exit_zero(ran);
    if !ran.stdout.is_empty() && !is_one_object(&ran.stdout) {
        wrong.push(format!("not one JSON answer: {:?}", ran.stdout));
    }
    wrong
}

fn line(ran: &Ran) -> Vec<String> {
    let mut wrong = exit_zero(ran);
    let is_line = ran.stdout.ends_with('\n') && ran.stdout.lines().count() == 1;
    if !is_mute(ran) && !is_line {
        wrong.push(format!("not one line: {:?}", ran.stdout));
    }
    wrong
}

fn command(expected: &Expected, ran: &Ran, left: &Picture) -> Vec<String> {
    match ran.code {
        Some(0) => undone(expected, ran, left).into_iter().collect(),
        Some(1 | 2) => {
            // Without stdout or stderr there is little to tell, and no way to tell it.
            let is_told = ran.stderr.contains("error: ") && ran.stderr.contains("hint: ");
            let cannot_tell = hit(ran, Target::Stdout) || hit(ran, Target::Stderr);
            let silent = !is_told && !cannot_tell;
            silent.then(|| format!("no error with a hint: {:?}", ran.stderr)).into_iter().collect()
        }
        code => vec![format!("exit code {code:?}: {}", ran.stderr.trim_end())],
    }
}

/// A command that says it is done has done everything, or has said what is missing.
fn undone(expected: &Expected, ran: &Ran, left: &Picture) -> Option<String> {
    let Expected { before, after, .. } = expected;
    let is_missing = |(name, file): &(&PathBuf, &File)| {
        before.files.get(*name) != Some(*file)
            && !file.bytes.is_empty()
            // A process's note about itself has its start time in it.
            && !left.files.iter().any(|(other, found)| {
                alike(other, name) && (same(found, file) || is_passing(name))
            })
            // The folder is what tells where a feature stands; its document only repeats it.
            && !left.files.get(*name).is_some_and(|found| is_moved(expected, name, found))
    };
    let missing = after.files.iter().find(is_missing).map(|(name, _)| name);
    let missing = missing.filter(|_| ran.stderr.trim().is_empty());
    missing.map(|name| format!("done, it says, without a word about {}", name.display()))
}

fn same(found: &File, wanted: &File) -> bool {
    // Most are the very same, and some are large.
    let is_alike = || found.bytes == wanted.bytes || timeless(&found.bytes) == timeless(&wanted.bytes);
    (found.mode == wanted.mode || found.mode == PRIVATE) && is_alike()
}

/// To take others' rights away from a file with secrets is never wrong.
const PRIVATE: u32 = 0o600;

/// Process ids are part of some names.
fn alike(one: &Path, other: &Path) -> bool {
    let plain = |path: &Path| path.to_string_lossy().replace(|c: char| c.is_ascii_digit(), "");
    one == other || plain(one) == plain(other)
}

/// What is neither old nor new.
fn damage(expected: &Expected, left: &Picture, may_go_on: bool) -> Vec<String> {
    let before = &expected.before.files;
    let names: BTreeSet<&PathBuf> = before.keys().chain(left.files.keys()).collect();
    let wrong = names.into_iter().filter_map(|name| match (before.get(name), left.files.get(name)) {
        (Some(old), None) => gone(expected, left, name, old),
        (Some(old), Some(found)) if may_go_on && is_next(old, found) => None,
        (old, Some(found)) => changed(expected, name, old, found),
        (None, None) => None,
    });
    wrong.collect()
}

/// A later state of the same file: nothing that it said is missing, and no number has fallen.
fn is_next(old: &File, found: &File) -> bool {
    let fields = |file: &File| serde_json::from_slice::<Map<String, Value>>(&file.bytes).ok();
    let (Some(old), Some(found)) = (fields(old), fields(found)) else { return false };
    old.iter().all(|(name, before)| match (before, found.get(name)) {
        (Value::Number(before), Some(Value::Number(now))) => before.as_f64() <= now.as_f64(),
        (_, now) => now.is_some(),
    })
}

/// A file may be gone where a run without a fault takes it away or moves it, too; if it was moved, it is there.
fn gone(expected: &Expected, left: &Picture, name: &Path, old: &File) -> Option<String> {
    if expected.after.files.contains_key(name) {
        return Some(format!("lost: {}", name.display()));
    }
    let is_new = |other: &&PathBuf| !expected.before.files.contains_key(*other);
    let moved =
        expected.after.files.keys().filter(is_new).find(|other| other.file_name() == name.file_name());
    let arrived = |to: &PathBuf| {
        let wanted = expected.after.files.get(to);
        left.files.get(to).is_some_and(|found| same(found, old) || wanted.is_some_and(|new| same(found, new)))
    };
    moved.filter(|to| !arrived(to)).map(|to| format!("lost on its way to {}", to.display()))
}

fn changed(expected: &Expected, name: &Path, old: Option<&File>, found: &File) -> Option<String> {
    let mut wanted = expected.after.files.iter().filter(|(other, _)| alike(other, name));
    if old.is_some_and(|old| same(found, old)) || wanted.any(|(_, new)| same(found, new)) || is_passing(name)
    {
        return None;
    }
    if is_log(name) && grew(old, found) {
        return None;
    }
    if old.is_none() && is_moved(expected, name, found) {
        return None;
    }
    let kind = if old.is_some() { "damaged" } else { "left behind" };
    let old = old.map_or(&[][..], |file| &file.bytes);
    Some(format!("{kind}: {} (mode {:o}): {}", name.display(), found.mode, difference(old, &found.bytes)))
}

/// Where the content begins to be another one, for a person who looks for the reason.
fn difference(old: &[u8], found: &[u8]) -> String {
    let at = old.iter().zip(found).take_while(|(a, b)| a == b).count();
    let shown = &found[at..found.len().min(at + SHOWN)];
    format!("from byte {at} of {} on {:?}", found.len(), String::from_utf8_lossy(shown))
}

const SHOWN: usize = 80;

/// Prepared contents under their fixed names, locks, notes of a process about itself, and what is about to be deleted.
fn is_passing(name: &Path) -> bool {
    let file = name.file_name().unwrap_or_default().to_string_lossy();
    let prepared = file.starts_with('.') && (file.ends_with(".tmp") || file.ends_with(".overtone-tmp"));
    let doomed = name.iter().any(|part| part.to_string_lossy().starts_with(".removed-"));
    prepared || doomed || file.starts_with("started-") || file == ".lock" || file == "lock"
}

fn is_log(name: &Path) -> bool {
    name.extension().is_some_and(|extension| ["jsonl", "log", "sh"].iter().any(|log| extension == *log))
}

/// Whole lines were added.
fn grew(old: Option<&File>, found: &File) -> bool {
    let old = old.map_or(&[][..], |file| &file.bytes);
    let added = found.bytes.strip_prefix(old);
    added.is_some_and(|lines| lines.is_empty() || lines.ends_with(b"\n"))
}

/// The content is that of a file which a run without a fault moves here, and changes then.
fn is_moved(expected: &Expected, name: &Path, found: &File) -> bool {
    let mut from = expected.before.files.iter().filter(|(other, _)| other.file_name() == name.file_name());
    expected.after.files.contains_key(name) && from.any(|(_, old)| same(found, old))
}

/// Whether every state file can still be read by everyone.
pub(crate) fn unreadable(left: &Picture) -> Vec<String> {
    let broken = left.files.iter().filter(|(name, file)| !is_passing(name) && !is_sound(name, &file.bytes));
    broken.map(|(name, _)| format!("not JSON: {}", name.display())).collect()
}

fn is_sound(name: &Path, bytes: &[u8]) -> bool {
    let is_value = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).is_ok();
    match name.extension().and_then(|extension| extension.to_str()) {
        Some("json") => is_value(bytes),
        Some("jsonl") => bytes.split(|b| *b == b'\n').filter(|line| !line.is_empty()).all(is_value),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(files: &[(&str, &str)]) -> Picture {
        let file = |text: &str| File { bytes: text.as_bytes().to_vec(), mode: 0o600 };
        Picture { files: files.iter().map(|(name, text)| (name.into(), file(text))).collect() }
    }

    fn expected() -> Expected {
        Expected {
            before: picture(&[("s.json", "old"), ("t.jsonl", "1\n"), ("a/tasks.md", "x"), ("gone", "x")]),
            after: picture(&[("s.json", "new"), ("t.jsonl", "1\n2\n"), ("b/tasks.md", "y"), ("n-17", "n")]),
            stdout: String::new(),
        }
    }

    fn wrong(files: &[(&str, &str)]) -> String {
        damage(&expected(), &picture(files), false).join("; ")
    }

    #[test]
    fn old_and_new_are_good_in_any_mixture() {
        let log = ("t.jsonl", "1\n");
        assert_eq!(wrong(&[("s.json", "old"), log, ("a/tasks.md", "x"), ("gone", "x")]), "");
        assert_eq!(wrong(&[("s.json", "new"), log, ("b/tasks.md", "x"), (".s.json.tmp", "ne")]), "");
        assert_eq!(
            wrong(&[("s.json", "new"), ("t.jsonl", "1\n2\n3\n"), ("b/tasks.md", "y"), ("n-4711", "n")]),
            ""
        );
    }

    #[test]
    fn everything_else_is_damage() {
        let rest = [("t.jsonl", "1\n"), ("a/tasks.md", "x")];
        let with = |more: &[(&'static str, &'static str)]| wrong(&[&rest[..], more].concat());
        assert!(with(&[("s.json", "ne")]).starts_with("damaged: s.json"));
        assert!(with(&[]).starts_with("lost: s.json"));
        assert!(with(&[("s.json", "old"), ("litter", "")]).starts_with("left behind: litter"));
        let torn = wrong(&[("s.json", "old"), ("t.jsonl", "1\n2"), ("a/tasks.md", "x")]);
        assert!(torn.starts_with("damaged: t.jsonl"), "{torn}");
        let nowhere = wrong(&[("s.json", "old"), ("t.jsonl", "1\n")]);
        assert_eq!(nowhere, "lost on its way to b/tasks.md");
    }

    #[test]
    fn a_later_state_keeps_what_was_said_and_counts_upwards() {
        let next = |text: &str| {
            let file = |text: &str| File { bytes: text.as_bytes().to_vec(), mode: 0o600 };
            is_next(&file(r#"{"count":3,"unknown":"kept"}"#), &file(text))
        };
        assert!(next(r#"{"count":3,"unknown":"other","new":1}"#));
        for worse in [r#"{"count":2,"unknown":""}"#, r#"{"count":4}"#, "{", "[]"] {
            assert!(!next(worse), "{worse}");
        }
    }

    #[test]
    fn one_answer_is_one_line_with_an_object() {
        assert!(is_one_object("{\"a\":1}\n"));
        for bad in ["", "{}", "{}\n{}\n", "[]\n", "{\n"] {
            assert!(!is_one_object(bad), "{bad:?}");
        }
    }

    #[test]
    fn broken_state_is_found() {
        assert_eq!(
            unreadable(&picture(&[("a.json", "{}"), ("b.jsonl", "1\n2\n"), (".a.json.tmp", "{")])).len(),
            0
        );
        assert_eq!(unreadable(&picture(&[("a.json", "{"), ("b.jsonl", "1\n{\n")])).len(), 2);
    }
}
