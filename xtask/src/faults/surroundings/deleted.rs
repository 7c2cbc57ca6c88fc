//! A session's folder that is deleted again and again while hooks work in it.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::{Stage, Verdict, named, unwell};
use crate::bench::fixture::SESSION;
use crate::error::Result;
use crate::faults::judge;
use crate::faults::picture::Picture;
use crate::faults::run;
use crate::faults::subject::{Kind, Subject};
use crate::faults::world::{Site, World};

const ROUNDS: usize = 6;

const PAUSES: [Duration; 4] =
    [Duration::ZERO, Duration::from_millis(1), Duration::from_millis(3), Duration::from_millis(7)];

pub(super) fn examine(stage: &Stage) -> Result<Verdict> {
    let (site, picture) = stage.fresh(World::Active)?;
    let (is_over, deleted) = (AtomicBool::new(false), AtomicUsize::new(0));
    let outcome = thread::scope(|scope| {
        scope.spawn(|| delete_until(site, &is_over, &deleted));
        let outcome = work(site, picture);
        is_over.store(true, Ordering::Relaxed);
        outcome
    });
    let (mut wrong, runs) = outcome?;
    wrong.extend(elsewhere(picture, &Picture::take(&site.root)?));
    wrong.extend(begins_anew(site)?);
    let times = deleted.load(Ordering::Relaxed);
    Ok(Verdict::of(&wrong, format!("{runs} hooks while their session was deleted {times} times")))
}

fn delete_until(site: &Site, is_over: &AtomicBool, deleted: &AtomicUsize) {
    let folder = site.sandbox.session(SESSION);
    while !is_over.load(Ordering::Relaxed) {
        // Half of it may be left when a hook writes meanwhile: that is what this is about.
        deleted.fetch_add(usize::from(fs::remove_dir_all(&folder).is_ok()), Ordering::Relaxed);
        // Somewhere else in the next hook's life: a start takes about this long.
        thread::sleep(PAUSES[deleted.load(Ordering::Relaxed) % PAUSES.len()]);
    }
}

/// The folder comes back before each hook, as far as that succeeds.
fn work(site: &Site, picture: &Picture) -> Result<(Vec<String>, usize)> {
    let (mut wrong, mut runs) = (Vec::new(), 0);
    let subjects = Subject::started_by_the_client();
    for subject in subjects.iter().cycle().take(subjects.len() * ROUNDS) {
        if subject.kind != Kind::Hook || subject.world != World::Active {
            continue;
        }
        bring_back(site, picture);
        let ran = run::plain(site, subject)?;
        wrong.extend(named(subject, judge::answer(&ran)));
        runs += 1;
    }
    Ok((wrong, runs))
}

fn bring_back(site: &Site, picture: &Picture) {
    let folder = site.sandbox.session(SESSION);
    for (name, file) in &picture.files {
        let path = site.root.join(name);
        if path.starts_with(&folder) {
            // The other thread may be faster, which is as good.
            let _ = crate::shell::write_file(&path, &file.bytes);
        }
    }
}

/// Nothing is written outside of the session but what hooks write there anyway.
fn elsewhere(before: &Picture, left: &Picture) -> Vec<String> {
    let known = |name: &std::path::Path| {
        let text = name.to_string_lossy();
        before.files.contains_key(name)
            || text.contains(SESSION)
            || text.starts_with("home/.overtone/projects/")
            || text.ends_with(".lock")
    };
    let new = left.files.keys().filter(|name| !known(name));
    new.map(|name| format!("written elsewhere: {}", name.display())).collect()
}

/// What is left of the session does not keep it from starting again.
fn begins_anew(site: &Site) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let start = Subject::all().into_iter().find(|subject| subject.name.starts_with("on-start/"));
    for _ in 0..2 {
        if let Some(start) = &start {
            wrong.extend(named(start, unwell(&run::plain(site, start)?).into_iter().collect()));
        }
    }
    for words in
        [&["init", "quick", "--force", "--session", SESSION][..], &["status", "--json", "--session", SESSION]]
    {
        let complaint = unwell(&run::words(site, words)?);
        wrong.extend(complaint.map(|what| format!("overtone {}: {what}", words.join(" "))));
    }
    wrong.extend(judge::unreadable(&Picture::take(&site.root)?));
    Ok(wrong)
}
