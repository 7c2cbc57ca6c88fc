//! Two versions of the program at once: files of a newer one with what this one does not know, and of an older one
//! without what this one would write.

use serde_json::{Map, Value, json};

use super::{Stage, Verdict, named, unwell};
use crate::error::{Error, Result};
use crate::faults::judge;
use crate::faults::picture::{File, Picture};
use crate::faults::run;
use crate::faults::subject::{Kind, Subject};

/// What only a newer version knows.
const MARK: &str = "ofAnotherVersion";

/// Unknown fields everywhere, and unknown events: everything works, and nothing of it gets lost.
pub(super) fn newer(stage: &Stage) -> Result<Verdict> {
    let (mut wrong, mut runs) = (Vec::new(), 0);
    for subject in Subject::started_by_the_client() {
        let (site, picture) = stage.fresh(subject.world)?;
        let before = from_the_future(picture);
        before.put(&site.root)?;
        // Twice: what the first one has written, the second reads.
        for _ in 0..2 {
            let ran = run::plain(site, &subject)?;
            let left = Picture::take(&site.root)?;
            let complaints = unwell(&ran).into_iter().chain(forgotten(&before, &left));
            wrong.extend(named(&subject, complaints.chain(judge::unreadable(&left)).collect()));
            runs += 1;
        }
    }
    Ok(Verdict::of(
        &wrong,
        format!("{runs} starts on files with unknown fields and events, which all survive"),
    ))
}

/// Stages that this version does not know are none of its business; a form that it cannot read is not rewritten.
pub(super) fn unknown(stage: &Stage) -> Result<Verdict> {
    let (mut wrong, mut runs) = (Vec::new(), 0);
    for subject in Subject::started_by_the_client().iter().filter(|subject| subject.kind == Kind::Hook) {
        for (change, is_kept) in [(with_unknown_stage as Change, keeps_stage as Kept), (with_list, is_same)] {
            let (site, picture) = stage.fresh(subject.world)?;
            let before = with_objects(picture, WORKFLOW, change)?;
            before.put(&site.root)?;
            let mut complaints = judge::answer(&run::plain(site, subject)?);
            let left = Picture::take(&site.root)?;
            complaints.extend(rewritten(&before, &left, is_kept));
            wrong.extend(named(subject, complaints));
            runs += 1;
        }
    }
    Ok(Verdict::of(&wrong, format!("{runs} starts on workflows with unknown stages or of an unknown form")))
}

const WORKFLOW: &str = "workflow.json";

type Change = fn(&mut Map<String, Value>);
type Kept = fn(&File, &File) -> bool;

fn with_unknown_stage(workflow: &mut Map<String, Value>) {
    workflow.insert("workflowType".into(), json!("hyperdrive"));
    if let Some(Value::Object(stages)) = workflow.get_mut("stages") {
        stages.insert("HOVER".into(), json!({ "status": "floating", "result": { "height": 3 } }));
    }
}

fn keeps_stage(_before: &File, now: &File) -> bool {
    let workflow = serde_json::from_slice::<Value>(&now.bytes).unwrap_or_default();
    workflow["workflowType"] == "hyperdrive"
        && workflow["stages"]["HOVER"] == json!({ "status": "floating", "result": { "height": 3 } })
}

fn with_list(workflow: &mut Map<String, Value>) {
    workflow.insert("stages".into(), json!([{ "name": "DEV", "status": "active" }]));
}

fn is_same(before: &File, now: &File) -> bool {
    before == now
}

fn rewritten(before: &Picture, left: &Picture, is_kept: Kept) -> Vec<String> {
    let state = before.files.iter().filter(|(name, _)| name.ends_with(WORKFLOW));
    let lost = state.filter(|(name, file)| !left.files.get(*name).is_some_and(|now| is_kept(file, now)));
    lost.map(|(name, _)| format!("loses what another version wrote to {}", name.display())).collect()
}

/// Files without the fields that came later.
pub(super) fn older(stage: &Stage) -> Result<Verdict> {
    let (mut wrong, mut runs) = (Vec::new(), 0);
    for subject in Subject::started_by_the_client() {
        let (site, picture) = stage.fresh(subject.world)?;
        let picture = with_objects(picture, "workflow.json", |workflow| {
            for name in ["completedStages", "retroCount", "rejectCount", "featureName"] {
                workflow.remove(name);
            }
        })?;
        let mut picture = with_objects(&picture, "loop.json", Map::clear)?;
        picture.files.retain(|name, _| !name.ends_with("session.json") && !name.ends_with("config.json"));
        picture.put(&site.root)?;
        for _ in 0..2 {
            let complaint = unwell(&run::plain(site, &subject)?);
            let unreadable = judge::unreadable(&Picture::take(&site.root)?);
            wrong.extend(named(&subject, complaint.into_iter().chain(unreadable).collect()));
            runs += 1;
        }
    }
    Ok(Verdict::of(&wrong, format!("{runs} starts on files that lack what came later")))
}

fn from_the_future(picture: &Picture) -> Picture {
    let mut picture = picture.clone();
    for (name, file) in &mut picture.files {
        let is_ours = name.starts_with("home/.overtone") || name.starts_with("home/.claude/ccc");
        let is_object = is_ours && name.extension().is_some_and(|extension| extension == "json");
        if let Ok(Value::Object(mut fields)) = serde_json::from_slice(&file.bytes)
            && is_object
        {
            fields.insert(MARK.to_owned(), json!({ "deep": [1, { "er": null }] }));
            file.bytes = Value::Object(fields).to_string().into_bytes();
        }
        if name.ends_with("timeline.jsonl") {
            let event = json!({ "ts": "2026-01-01T00:00:00.000Z", "type": "quantum:leap", MARK: 1 });
            file.bytes.extend(format!("{event}\n").into_bytes());
        }
    }
    picture
}

/// Files that had something of the other version and have it no longer.
fn forgotten(before: &Picture, left: &Picture) -> Vec<String> {
    let count = |bytes: &[u8]| String::from_utf8_lossy(bytes).matches(MARK).count();
    let lost = before.files.iter().filter(|(name, file)| {
        left.files.get(*name).is_some_and(|now| count(&now.bytes) < count(&file.bytes))
    });
    lost.map(|(name, _)| format!("forgets what another version wrote to {}", name.display())).collect()
}

fn with_objects(picture: &Picture, name: &str, change: fn(&mut Map<String, Value>)) -> Result<Picture> {
    let mut picture = picture.clone();
    for (path, file) in picture.files.iter_mut().filter(|(path, _)| path.ends_with(name)) {
        let mut fields = serde_json::from_slice(&file.bytes)
            .map_err(|e| Error::new(format!("no object: {}: {e}", path.display())))?;
        change(&mut fields);
        file.bytes = Value::Object(fields).to_string().into_bytes();
    }
    Ok(picture)
}
