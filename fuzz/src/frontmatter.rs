//! Front matter: of a feature, whose status follows its shelf and nothing else changes; and of an agent's file, as the
//! plugin's check reads it.

use std::fs;
use std::path::Path;

use crate::{difference, put_tasks, scratch};
use overtone_claude::plugin::{Problem, validate};
use overtone_store::specs::{Feature, Shelf, Specs};

const AGENT: &str = "agents/developer.md";

pub fn check(data: &[u8]) {
    let folder = scratch();
    let project = folder.path().join("project");
    put_tasks(&project, data);
    the_status_follows_the_shelf(&Specs::new(&project), data);
    if let Ok(text) = std::str::from_utf8(data)
        && !text.contains('\r')
    {
        line_ends_do_not_count(folder.path(), text);
    }
}

fn the_status_follows_the_shelf(specs: &Specs, data: &[u8]) {
    let before = specs.find("f").expect("a readable folder").expect("the feature");
    let paused = moved(specs, &before, Shelf::Paused, data);
    let back = moved(specs, &before, Shelf::InProgress, &paused);
    let again = moved(specs, &before, Shelf::Paused, &back);
    assert_eq!(paused, again, "there and back is where it was");
}

fn moved(specs: &Specs, before: &Feature, to: Shelf, old: &[u8]) -> Vec<u8> {
    let after = specs.shift("f", to).expect("a free place");
    assert_eq!((&after.workflow, &after.created), (&before.workflow, &before.created));
    assert_eq!((&after.tasks, after.shelf), (&before.tasks, to));
    let new = fs::read(after.dir.join("tasks.md")).expect("the document");
    let (gone, come) = difference(old, &new);
    assert!(!come.contains(&b'\n') && !gone.contains(&b'\n'), "one value on one line");
    assert!(old == new || has_front(old), "without front matter nothing changes");
    assert!(comments(old) <= comments(&new), "a comment stays");
    new
}

fn has_front(bytes: &[u8]) -> bool {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).starts_with(b"---")
}

/// Statuses with nothing or one of our values before a comment.
fn comments(bytes: &[u8]) -> usize {
    let starts = ["status: #", "status: paused #", "status: in-progress #"];
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.filter(|line| starts.iter().any(|start| line.starts_with(start.as_bytes()))).count()
}

fn line_ends_do_not_count(folder: &Path, text: &str) {
    let windows = text.replace('\n', "\r\n");
    let project = folder.join("lines");
    put_tasks(&project, text.as_bytes());
    let plain = Specs::new(&project).find("f").expect("a readable folder");
    put_tasks(&project, windows.as_bytes());
    assert_eq!(Specs::new(&project).find("f").expect("a readable folder"), plain);
    assert_eq!(agent_problems(folder, text), agent_problems(folder, &windows));
}

/// The problems of one agent's file. All other files are missing, which is reported each time.
fn agent_problems(folder: &Path, text: &str) -> Vec<Problem> {
    let plugin = folder.join("plugin");
    let path = plugin.join(AGENT);
    fs::create_dir_all(plugin.join("agents")).expect("a folder for agents");
    fs::write(&path, text).expect("an agent to read");
    let problems = validate(&plugin);
    let own: Vec<_> = problems.iter().filter(|problem| problem.path == AGENT).cloned().collect();
    assert!(problems.len() > own.len(), "missing files are reported");
    own
}
