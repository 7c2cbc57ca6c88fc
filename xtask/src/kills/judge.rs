//! What a kill has left: every file as it was before or as it would have become, and nothing else.

use std::path::Path;

use serde_json::Value;

use super::scene::lost_keys;
use super::snapshot::{Entry, Snapshot};
use crate::normal::timeless_words;

/// How far a killed process had come, as its files show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Progress {
    Nothing,
    Between,
    Everything,
}

/// A folder before a command, after the whole of it, and after a kill in its middle.
#[derive(Debug, Clone, Copy)]
pub(super) struct Views<'a> {
    pub(super) old: &'a Snapshot,
    pub(super) new: &'a Snapshot,
    pub(super) killed: &'a Snapshot,
}

impl Views<'_> {
    pub(super) fn progress(&self) -> Progress {
        if self.killed == self.old {
            return Progress::Nothing;
        }
        let has_all =
            self.new.iter().all(|(path, new)| self.killed.get(path).is_some_and(|k| is_same(k, new)));
        let has_more = self.killed.keys().any(|path| !self.new.contains_key(path) && !is_litter(path));
        if has_all && !has_more { Progress::Everything } else { Progress::Between }
    }

    /// What is wrong, each in words.
    pub(super) fn findings(&self) -> Vec<String> {
        let lost =
            self.old.keys().filter(|path| self.new.contains_key(*path) && !self.killed.contains_key(*path));
        let lost = lost.filter(|path| !is_litter(path)).map(|path| format!("{} is gone", path.display()));
        let torn = self.killed.iter().filter_map(|(path, entry)| {
            let problem = self.problem(path, entry)?;
            Some(format!("{}: {problem}", path.display()))
        });
        lost.chain(torn).collect()
    }

    fn problem(&self, path: &Path, entry: &Entry) -> Option<String> {
        let (old, new) = (self.old.get(path), self.new.get(path));
        if is_litter(path) {
            return None;
        }
        if let Some(key) = entry.text().and_then(|text| lost_keys(path, &text)) {
            return Some(format!("the person's own `{key}` is gone"));
        }
        let is_known =
            old.is_some_and(|old| entry.is_no_looser_than(old)) || new.is_some_and(|new| is_same(entry, new));
        if is_known
            || self.is_unnamed_handoff(path)
            || self.is_announcement(path, entry)
            || self.is_moving(path, entry)
        {
            return None;
        }
        match (is_log(path), entry.text(), new.and_then(Entry::text)) {
            (true, Some(text), Some(new)) => {
                log_problem(&old.and_then(Entry::text).unwrap_or_default(), &new, &text)
            }
            (_, Some(text), new) => Some(format!("neither old nor new: {text:?}, not {new:?}")),
            _ => Some("nobody knows this folder".to_owned()),
        }
    }

    fn is_announcement(&self, path: &Path, entry: &Entry) -> bool {
        let others = [self.old.get(path), self.new.get(path)].into_iter().flatten().filter_map(Entry::text);
        path.ends_with("owned.json")
            && entry.text().is_some_and(|text| names_all_keys(&text, &others.collect::<Vec<_>>()))
    }

    /// A feature's document is changed before its folder is moved: new words in the old place.
    fn is_moving(&self, path: &Path, entry: &Entry) -> bool {
        let is_document =
            path.extension().is_some_and(|end| end == "md") && path.starts_with("project/specs");
        let mut elsewhere = self.new.iter().filter(|(other, _)| other.file_name() == path.file_name());
        is_document && !self.new.contains_key(path) && elsewhere.any(|(_, new)| is_same(entry, new))
    }

    /// A handoff is written before the state that names it, and nobody reads it until then.
    fn is_unnamed_handoff(&self, path: &Path) -> bool {
        let Some(folder) = path.parent().filter(|folder| folder.ends_with("handoffs")) else { return false };
        let workflow = self.killed.get(&folder.with_file_name("workflow.json")).and_then(Entry::text);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        self.new.contains_key(path) && workflow.is_some_and(|text| !text.contains(&*name))
    }
}

/// `owned.json` holds what is ours before and after a switch, while that is under way: all keys of both.
fn names_all_keys(killed: &str, others: &[String]) -> bool {
    let keys = |text: &str| -> Option<Vec<Value>> {
        let value: Value = serde_json::from_str(text).ok()?;
        let claims = value.as_object()?.values().filter_map(Value::as_array).flatten();
        Some(claims.map(|claim| claim["path"].clone()).collect())
    };
    let Some(killed) = keys(killed) else { return false };
    others.iter().filter_map(|text| keys(text)).flatten().all(|key| killed.contains(&key))
}

/// The same, but for the times in it.
fn is_same(a: &Entry, b: &Entry) -> bool {
    match (a.text(), b.text()) {
        (Some(a), Some(b)) => a == b || still(&a) == still(&b),
        (a, b) => a == b,
    }
}

/// Without times, and without what is measured: the review's is in seconds.
fn still(text: &str) -> String {
    let mut still = String::with_capacity(text.len());
    let words = timeless_words(text);
    for (number, part) in words.replace("\"seconds\":", DURATION).split(DURATION).enumerate() {
        let is_value = number > 0;
        still +=
            if is_value { part.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.') } else { part };
    }
    still
}

const DURATION: &str = "\"durationMs\":";

fn is_log(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "jsonl" || end == "log")
}

/// A log only grows: the old lines, then whole new ones in their order; the very last may be torn.
fn log_problem(old: &str, new: &str, killed: &str) -> Option<String> {
    let Some(added) = killed.strip_prefix(old) else { return Some("old lines have changed".to_owned()) };
    let (added, wanted) = (still(added), still(new.strip_prefix(old).unwrap_or(new)));
    let whole = added.rfind('\n').map_or("", |end| &added[..=end]);
    if !wanted.starts_with(whole) {
        return Some(format!("a line in the middle is not whole: {added:?}"));
    }
    // A torn line may end within a time, so only what it begins with can be compared.
    let torn = &added[whole.len()..];
    let begins_well = torn.chars().zip(wanted[whole.len()..].chars()).take(6).all(|(a, b)| a == b);
    (!begins_well).then(|| format!("a torn line is no beginning of one: {torn:?}"))
}

/// What a killed process may leave for the next one to clear away. The names are fixed, so there is one of each.
pub(super) fn is_litter(path: &Path) -> bool {
    path.iter().any(|part| {
        let name = part.to_string_lossy();
        let beside = name.starts_with('.') && (name.ends_with(".tmp") || name.ends_with(".overtone-tmp"));
        let is_of_process = ["isolated-", "edit-", "started-"].iter().any(|kind| name.starts_with(kind));
        beside || is_of_process || name.starts_with(".removed-")
    })
}

/// How much of it there is.
pub(super) fn litter(all: &Snapshot) -> usize {
    all.keys().filter(|path| is_litter(path)).count()
}

/// What is wrong after the next run: broken files, and logs whose new lines are not whole.
pub(super) fn after_next_run(killed: &Snapshot, now: &Snapshot) -> Vec<String> {
    let files = now.iter().filter(|(path, _)| !is_litter(path));
    let texts = files.filter_map(|(path, entry)| Some((path, entry.text()?)));
    let broken = texts.filter_map(|(path, text)| {
        let before = killed.get(path).and_then(Entry::text).unwrap_or_default();
        let problem = if is_log(path) { unrepaired(&before, &text) } else { not_json(path, &text) };
        problem.map(|problem| format!("{} after the next run: {problem}", path.display()))
    });
    broken.collect()
}

fn not_json(path: &Path, text: &str) -> Option<String> {
    let is_json = path.extension().is_some_and(|end| end == "json");
    let error = serde_json::from_str::<Value>(text).err().filter(|_| is_json)?;
    Some(format!("not JSON: {error}"))
}

/// A torn line stays alone: what comes after it begins a line of its own.
fn unrepaired(before: &str, now: &str) -> Option<String> {
    let Some(added) = now.strip_prefix(before) else { return Some("old lines have changed".to_owned()) };
    if added.is_empty() {
        return None;
    }
    let starts_anew = before.is_empty() || before.ends_with('\n') || added.starts_with('\n');
    let is_whole = |line: &str| !line.starts_with('{') || serde_json::from_str::<Value>(line).is_ok();
    let whole = added.ends_with('\n') && added.lines().all(is_whole);
    (!(starts_anew && whole)).then(|| format!("not repaired: {added:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> Snapshot {
        let entry = |text: &str| Entry::File { bytes: text.into(), mode: 0o600 };
        files.iter().map(|(path, text)| ((*path).into(), entry(text))).collect()
    }

    fn judge(old: &[(&str, &str)], new: &[(&str, &str)], killed: &[(&str, &str)]) -> (Progress, usize) {
        let (old, new, killed) = (folder(old), folder(new), folder(killed));
        let views = Views { old: &old, new: &new, killed: &killed };
        (views.progress(), views.findings().len())
    }

    const T: &str = r#"{"at":"2026-01-01T00:00:00.000Z","n":"#;

    #[test]
    fn old_and_new_are_well_and_anything_else_is_not() {
        let (old, new) = ([("w.json", "{\"n\":1}")], [("w.json", "{\"n\":2}")]);
        assert_eq!(judge(&old, &new, &old), (Progress::Nothing, 0));
        assert_eq!(judge(&old, &new, &new), (Progress::Everything, 0));
        assert_eq!(judge(&old, &new, &[("w.json", "{\"n\":")]).1, 1);
        assert_eq!(judge(&old, &new, &[]).1, 1);
        assert_eq!(judge(&old, &new, &[old[0], ("other.json", "")]).1, 1);
        assert_eq!(judge(&old, &new, &[old[0], (".w.json.tmp", "{\"n")]), (Progress::Between, 0));
    }

    #[test]
    fn old_words_may_be_kept_more_private_but_not_less() {
        let with = |text: &str, mode| {
            Snapshot::from([("ccc.json".into(), Entry::File { bytes: text.into(), mode })])
        };
        let (old, new) = (with("old", 0o644), with("new", 0o600));
        let findings = |killed: &Snapshot| Views { old: &old, new: &new, killed }.findings().len();
        assert_eq!(findings(&with("old", 0o600)), 0);
        assert_eq!(findings(&with("old", 0o666)), 1);
        assert_eq!(findings(&with("ol", 0o600)), 1);
    }

    #[test]
    fn times_do_not_matter() {
        let new = [("w.json", format!("{T}1}}"))].map(|(p, t)| (p, t));
        let later = new[0].1.replace("00:00:00", "00:00:09");
        let (new, later) = ([("w.json", new[0].1.as_str())], [("w.json", later.as_str())]);
        assert_eq!(judge(&[], &new, &later), (Progress::Everything, 0));
        assert_eq!(still(r#"{"durationMs":12,"a":3}"#), still(r#"{"durationMs":7,"a":3}"#));
        assert_ne!(still(r#"{"durationMs":12,"a":3}"#), still(r#"{"durationMs":7,"a":4}"#));
    }

    #[test]
    fn only_the_last_line_of_a_log_may_be_torn() {
        let new = "{\"a\":1}\n{\"b\":2}\n{\"c\":3}\n";
        let old = "{\"a\":1}\n";
        assert_eq!(log_problem(old, new, "{\"a\":1}\n{\"b\":2}\n{\"c"), None);
        assert_eq!(log_problem(old, new, "{\"a\":1}\n{\"b\":2}\n"), None);
        assert!(log_problem(old, new, "{\"a\":1}\n{\"b\"\n{\"c\":3}\n").is_some());
        assert!(log_problem(old, new, "{\"a\":1}\n{\"x\":2").is_some());
        assert!(log_problem(old, new, "{\"a\"").is_some());
    }

    #[test]
    fn a_torn_line_swallows_nothing() {
        assert_eq!(unrepaired("{\"a\"", "{\"a\"\n{\"b\":1}\n"), None);
        assert_eq!(unrepaired("{\"a\"", "{\"a\""), None);
        assert!(unrepaired("{\"a\"", "{\"a\"{\"b\":1}\n").is_some());
        assert!(unrepaired("", "{\"b\":1").is_some());
    }

    #[test]
    fn an_announcement_names_the_keys_of_before_and_after() {
        let claims = |keys: &[&str]| {
            let list: Vec<_> = keys.iter().map(|key| serde_json::json!({ "path": ["env", key] })).collect();
            serde_json::json!({ "/h/settings.json": list }).to_string()
        };
        let (old, new) = (claims(&["A", "B"]), claims(&["B", "C"]));
        let judge = |killed: &str| {
            judge(&[("ccc/owned.json", &old)], &[("ccc/owned.json", &new)], &[("ccc/owned.json", killed)]).1
        };
        assert_eq!(judge(&claims(&["A", "B", "C"])), 0);
        assert_eq!(judge(&claims(&["C"])), 1);
        assert_eq!(judge("{"), 1);
    }

    #[test]
    fn a_document_may_be_new_before_its_folder_is_moved() {
        let at = |shelf: &str| format!("project/specs/features/{shelf}/login/tasks.md");
        let (from, to) = (at("in-progress"), at("paused"));
        let (old, new) = ([(from.as_str(), "status: in-progress")], [(to.as_str(), "status: paused")]);
        assert_eq!(judge(&old, &new, &[(from.as_str(), "status: paused")]), (Progress::Between, 0));
        assert_eq!(judge(&old, &new, &[(from.as_str(), "status: pa")]).1, 1);
        assert_eq!(judge(&old, &new, &[(to.as_str(), "status: in-progress")]).1, 1);
    }

    #[test]
    fn a_handoff_that_nobody_names_may_be_torn() {
        let old = [("s/workflow.json", "{}")];
        let new = [("s/workflow.json", "{\"h\":\"01-DEV.md\"}"), ("s/handoffs/01-DEV.md", "all of it")];
        let torn = ("s/handoffs/01-DEV.md", "all");
        assert_eq!(judge(&old, &new, &[old[0], torn]).1, 0);
        assert_eq!(judge(&old, &new, &[new[0], torn]).1, 1);
    }
}
