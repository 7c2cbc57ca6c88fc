//! What a crowd on one session has left behind, held against what its processes said they did.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use overtone_core::registry::WarningReason;
use serde_json::{Value, json};

use super::marks::Mark;
use super::one::Settled;
use super::order::{self, Marks};
use super::tally::Tally;
use super::work::{CYCLE, SESSION, Step};
use crate::error::{Error, Result};
use crate::sandbox::Sandbox;

/// What the crowd has left behind.
pub(super) struct Traces {
    session: PathBuf,
    pub(super) timeline: Vec<Value>,
    observations: Vec<Value>,
    lessons: Vec<Value>,
    workflow: Value,
    looping: Value,
    compactions: Value,
    context: Value,
    handoffs: Vec<String>,
}

impl Traces {
    pub(super) fn read(sandbox: &Sandbox) -> Result<Self> {
        let session = sandbox.session(SESSION);
        let json = |name: &str| read_json(&session.join(name));
        Ok(Self {
            timeline: read_lines(&session.join("timeline.jsonl"))?,
            observations: read_lines(&session.join("observations.jsonl"))?,
            lessons: lessons(sandbox)?,
            workflow: json("workflow.json")?,
            looping: json("loop.json")?,
            compactions: json("compact-count.json")?,
            context: json("context.json")?,
            handoffs: texts_in(&session.join("handoffs"))?,
            session,
        })
    }

    pub(super) fn check(&self, tally: &Tally, settled: &Settled) -> Vec<String> {
        let mut findings = self.check_marks(tally);
        findings.extend(self.check_counts(tally, settled));
        findings.extend(self.check_lessons(tally));
        findings.extend(order::check(&self.timeline));
        findings.extend(self.check_context(tally));
        findings.extend(leftovers(&self.session));
        findings
    }

    /// Each mark exactly once in each place where it belongs.
    fn check_marks(&self, tally: &Tally) -> Vec<String> {
        let of_type = |kind: &'static str, field: &'static str| {
            let lines = self.timeline.iter().filter(move |line| line["type"] == kind);
            lines.filter_map(move |line| line[field].as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        let seen = |list: &[Value]| -> Vec<String> {
            list.iter().filter_map(|line| line["evidence"].as_str().map(str::to_owned)).collect()
        };
        let of_step = |step: Step| Marks {
            certain: tally.marks(step).collect(),
            possible: tally.marks_given_up(step).collect(),
        };
        let agents = of_step(Step::AgentStop).map(|m| Mark { round: m.round - m.round % CYCLE, ..m });
        let failures = of_step(Step::Failure);
        let compactions = of_step(Step::Compact);
        let taught = failures.clone().join(of_step(Step::Lesson));
        let mut findings = Vec::new();
        for (place, marks, texts) in [
            ("tool:failure in the timeline", &failures, of_type("tool:failure", "error")),
            ("session:compact in the timeline", &compactions, of_type("session:compact", "trigger")),
            ("agent:complete in the timeline", &agents, of_type("agent:complete", "agentId")),
            ("observations", &taught, seen(&self.observations)),
            ("handoffs", &agents, self.handoffs.clone()),
        ] {
            findings.extend(marks.check(place, &texts));
        }
        findings
    }

    fn check_counts(&self, tally: &Tally, settled: &Settled) -> Vec<String> {
        let lines = |kind: &str| self.timeline.iter().filter(|line| line["type"] == kind).count();
        let recorded = self
            .timeline
            .iter()
            .filter(|line| line["type"] == "agent:complete" && line["durationMs"].is_number())
            .count();
        let number =
            |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
        let delegated = tally.count(Step::Delegate);
        let compacted = tally.count(Step::Compact);
        // The developer of the preparation.
        let before = 1;
        let stopped = |line: &&Value| {
            line["type"] == "system:warning" && line["reason"] == WarningReason::LoopStopped.name()
        };
        let resumed = tally.changed(Step::ResumeLoop) + usize::from(settled.resumed);
        let advanced = tally.changed(Step::Stop) + usize::from(settled.advanced);
        let pairs = [
            ("agent:delegate lines", lines("agent:delegate"), delegated + before),
            ("attempts of TEST", number(&self.workflow["stages"]["TEST"]["attempts"]), delegated),
            ("agents that ended, reported or lost", recorded + lines("agent:error"), delegated + before),
            (
                "agents still at work",
                self.workflow["activeAgents"].as_object().map_or(usize::MAX, serde_json::Map::len),
                0,
            ),
            ("compactions counted", number(&self.compactions["count"]), compacted),
            ("automatic compactions", number(&self.compactions["auto"]), compacted),
            ("loop:advance lines", lines("loop:advance"), advanced),
            ("iterations of the loop", number(&self.looping["iterations"]), lines("loop:advance")),
            ("starts of the loop", lines("loop:start"), resumed + before),
            (
                "stops of the loop",
                self.timeline.iter().filter(stopped).count(),
                tally.changed(Step::StopLoop),
            ),
        ];
        let differ = pairs.into_iter().filter(|(_, found, wanted)| found != wanted);
        let mut findings: Vec<_> =
            differ.map(|(what, found, wanted)| format!("{what}: {found}, not {wanted}")).collect();
        let (handoffs, ended) = (number(&self.workflow["handoffCount"]), tally.bounds(Step::AgentStop));
        if !(ended.start() + before..=ended.end() + before).contains(&handoffs) {
            findings.push(format!("handoffs counted: {handoffs}, not {ended:?} and {before} before"));
        }
        findings
    }

    /// Each lesson was seen as often as it was taught.
    fn check_lessons(&self, tally: &Tally) -> Vec<String> {
        // How often for sure, and how often at most.
        let mut wanted: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        let trigger = |step: Step, mark: Mark| match step {
            Step::Failure => Some(format!("{} run", mark.failing())),
            Step::Lesson => Some(format!("{} go", mark.breaking())),
            Step::Submit => Some("quick".to_owned()),
            _ => None,
        };
        for trigger in tally.done.iter().filter_map(|(step, mark, _)| trigger(*step, *mark)) {
            let (certain, most) = wanted.entry(trigger).or_default();
            (*certain, *most) = (*certain + 1, *most + 1);
        }
        for trigger in tally.gave_up.iter().filter_map(|(step, mark)| trigger(*step, *mark)) {
            wanted.entry(trigger).or_default().1 += 1;
        }
        // Every failure of the stage is one more reason to expect the next.
        let failures = self.timeline.iter().filter(|line| line["type"] == "stage:retry").count();
        wanted.insert("TEST".to_owned(), (failures, failures));
        let found: BTreeMap<String, usize> = self
            .lessons
            .iter()
            .filter_map(|lesson| {
                let count = usize::try_from(lesson["count"].as_u64()?).ok()?;
                Some((lesson["trigger"].as_str()?.to_owned(), count))
            })
            .collect();
        let mut findings = Vec::new();
        for (trigger, (certain, most)) in &wanted {
            let seen = found.get(trigger).copied().unwrap_or(0);
            if !(*certain..=*most).contains(&seen) {
                findings.push(format!("lesson `{trigger}` was seen {seen} times, not {certain} to {most}"));
            }
        }
        for trigger in found.keys().filter(|trigger| !wanted.contains_key(*trigger)) {
            findings.push(format!("lesson `{trigger}` was taught by nobody"));
        }
        // Whatever was counted was noted, too.
        let counted: usize = found.values().sum();
        if self.observations.len() != counted {
            findings.push(format!("{} observations, but {counted} were counted", self.observations.len()));
        }
        findings
    }

    /// The last reading wins, so it is one of those that were made.
    fn check_context(&self, tally: &Tally) -> Vec<String> {
        let is_it = |mark: Mark| {
            self.context["usedPercentage"] == json!(mark.percent())
                && self.context["costUsd"] == json!(mark.dollars())
        };
        if tally.marks(Step::Statusline).any(is_it) {
            return Vec::new();
        }
        vec![format!("context.json holds what nobody wrote: {}", self.context)]
    }
}

fn lessons(sandbox: &Sandbox) -> Result<Vec<Value>> {
    let list: Value = serde_json::from_str(&sandbox.succeed(&["instinct", "list", "--json"])?)
        .map_err(|e| Error::new(format!("the list of lessons is not JSON: {e}")))?;
    Ok(list["lessons"].as_array().cloned().unwrap_or_default())
}

/// Files that only a killed process may leave behind.
fn leftovers(session: &Path) -> Vec<String> {
    let entries = fs::read_dir(session).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names
        .filter(|name| name.starts_with('.') && *name != ".lock")
        .map(|name| format!("{name} was left behind"))
        .collect()
}

fn texts_in(folder: &Path) -> Result<Vec<String>> {
    crate::tree::files(folder)?.keys().map(|name| read_text(&folder.join(name))).collect()
}

pub(super) fn read_text(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|e| Error::io("cannot read", path, &e))
}

pub(super) fn read_json(path: &Path) -> Result<Value> {
    let text = read_text(path)?;
    serde_json::from_str(&text).map_err(|e| Error::new(format!("{} is torn: {e}", path.display())))
}

/// Every line as a JSON object; one that is not is an error.
pub(super) fn read_lines(path: &Path) -> Result<Vec<Value>> {
    let text = read_text(path)?;
    let torn = |line: &str| Error::new(format!("{}: not whole: {line}", path.display()));
    let parse = |line: &str| {
        let value: Option<Value> = serde_json::from_str(line).ok();
        value.filter(Value::is_object).ok_or_else(|| torn(line))
    };
    if !text.is_empty() && !text.ends_with('\n') {
        return Err(torn(text.lines().last().unwrap_or_default()));
    }
    text.lines().map(parse).collect()
}
