//! A clock that was set back: everything on disk is from the future.
//!
//! The program keeps no clock of its own from start to start: it compares the moments in its files with now. To set
//! the files forward is therefore the same as to set the clock back, and needs no tool that the static binary, which
//! reads the clock without a system call, would not notice anyway. What it does not show is a jump within one run of
//! a millisecond.

use std::time::Duration;

use jiff::Timestamp;

use super::{Stage, Verdict, named, unwell};
use crate::error::Result;
use crate::faults::picture::{Picture, with_moments};
use crate::faults::run;
use crate::faults::subject::Subject;
use crate::faults::world::{OTHER_SESSION, Site, World};

const HOUR: Duration = Duration::from_hours(1);
const DAYS: Duration = Duration::from_hours(24 * 40);

pub(super) fn examine(stage: &Stage) -> Result<Verdict> {
    let (mut wrong, mut runs) = (Vec::new(), 0);
    for ahead in [HOUR, DAYS] {
        for subject in Subject::started_by_the_client() {
            let (site, picture) = stage.fresh(subject.world)?;
            set_forward(picture, ahead).put(&site.root)?;
            let ran = run::plain(site, &subject)?;
            let complaints = unwell(&ran).into_iter().chain(negative(&Picture::take(&site.root)?));
            wrong.extend(named(&subject, complaints.collect()));
            runs += 1;
        }
        let (site, picture) = stage.fresh(World::Active)?;
        set_forward(picture, ahead).put(&site.root)?;
        wrong.extend(by_people(site)?);
    }
    Ok(Verdict::of(&wrong, format!("{runs} starts with all files an hour and 40 days ahead of the clock")))
}

fn set_forward(picture: &Picture, ahead: Duration) -> Picture {
    let mut picture = picture.clone();
    for file in picture.files.values_mut() {
        file.bytes = with_moments(&file.bytes, |moment| later(moment, ahead));
    }
    picture
}

fn later(moment: &str, ahead: Duration) -> String {
    let later = moment.parse::<Timestamp>().ok().and_then(|at| at.checked_add(ahead).ok());
    later.map_or_else(|| moment.to_owned(), |at| at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}

/// Time that has passed is never less than none.
fn negative(left: &Picture) -> Vec<String> {
    let has_less = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        ["Ms\":-", "duration\":-", "seconds\":-", "confidence\":-"].iter().any(|wrong| text.contains(wrong))
    };
    let files = left.files.iter().filter(|(_, file)| has_less(&file.bytes));
    files.map(|(name, _)| format!("a negative span in {}", name.display())).collect()
}

/// What people ask for, and that nothing is thrown away for being old.
fn by_people(site: &Site) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for words in [
        &["status"][..],
        &["status", "--json"],
        &["timeline", "--since", "1h"],
        &["stats"],
        &["instinct", "list"],
        &["instinct", "decay"],
        &["sessions", "list"],
        &["sessions", "gc", "--days", "200"],
    ] {
        let complaint = unwell(&run::words(site, words)?);
        wrong.extend(complaint.map(|what| format!("overtone {}: {what}", words.join(" "))));
    }
    if site.lessons()?.is_empty() {
        wrong.push("a lesson from the future was forgotten".to_owned());
    }
    if !site.in_session("workflow.json").exists() || !site.sandbox.session(OTHER_SESSION).exists() {
        wrong.push("a session from the future was thrown away".to_owned());
    }
    Ok(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_set_forward() {
        assert_eq!(later("2026-02-23T23:30:00.123Z", HOUR), "2026-02-24T00:30:00.123Z");
        assert_eq!(later("2026-99-99T00:00:00.000Z", HOUR), "2026-99-99T00:00:00.000Z");
    }
}
