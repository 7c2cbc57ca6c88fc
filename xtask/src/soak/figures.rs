//! What a run came to, in numbers: counted while it is played, told at its end.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use overtone_core::registry::{EventKind, Hook, WarningReason, Workflow};
use serde_json::{Value, json};

use super::disk::{Disk, Line};
use super::event::Meaning;
use super::seat::Played;

/// How a workflow ended, by type: `("quick", "completed")`.
type Endings = BTreeMap<(&'static str, &'static str), usize>;

#[derive(Debug, Clone, Default)]
pub(crate) struct Figures {
    pub(crate) events: usize,
    pub(crate) kills: usize,
    endings: Endings,
    /// Verdicts that agents gave, by their words.
    verdicts: BTreeMap<String, usize>,
    retries: usize,
    compactions: usize,
    blocks: usize,
    denials: usize,
    lost_agents: usize,
    background_agents: usize,
    reports_sent_back: usize,
    interruptions: usize,
    /// Agents that went on after their report.
    continued_agents: usize,
    hook_time: Duration,
    timed_hooks: u32,
    slowest: Option<(Duration, Hook)>,
}

impl Figures {
    pub(crate) fn timed(&mut self, hook: Hook, time: Duration) {
        self.hook_time += time;
        self.timed_hooks += 1;
        self.slowest = self.slowest.max_by_time((time, hook));
    }

    /// Counts what an event brought about.
    pub(crate) fn count(&mut self, before: &Disk, after: &Disk, played: &[Played]) {
        let new = after.timeline.get(before.timeline.len()..).unwrap_or_default();
        for line in new.lines().filter_map(|line| Line::parse(line).ok()) {
            match line.kind {
                EventKind::AgentComplete => {
                    *self.verdicts.entry(line.text("result").to_owned()).or_default() += 1;
                }
                EventKind::AgentError => self.lost_agents += 1,
                EventKind::StageRetry => self.retries += 1,
                EventKind::SessionCompact => self.compactions += 1,
                EventKind::LoopAdvance => self.blocks += 1,
                EventKind::SystemWarning if line.text("reason") == WarningReason::ReportSentBack.name() => {
                    self.reports_sent_back += 1;
                }
                EventKind::AgentDelegate if !line.text("continues").is_empty() => self.continued_agents += 1,
                _ => {}
            }
        }
        let is_interrupted = |disk: &Disk| disk.looping.paused.as_deref() == Some("interrupted");
        self.interruptions += usize::from(is_interrupted(after) && !is_interrupted(before));
        for one in played {
            let denied = |answer: &Value| answer["hookSpecificOutput"]["permissionDecision"] == "deny";
            self.denials += usize::from(one.answer.as_ref().is_some_and(denied));
            self.background_agents += usize::from(matches!(one.event.meaning, Meaning::InBackground { .. }));
        }
    }

    pub(crate) fn ended(&mut self, workflow: Workflow, how: &'static str) {
        *self.endings.entry((workflow.name(), how)).or_default() += 1;
    }

    pub(crate) fn add(&mut self, other: Self) {
        for (key, count) in other.endings {
            *self.endings.entry(key).or_default() += count;
        }
        for (key, count) in other.verdicts {
            *self.verdicts.entry(key).or_default() += count;
        }
        self.events += other.events;
        self.kills += other.kills;
        self.retries += other.retries;
        self.compactions += other.compactions;
        self.blocks += other.blocks;
        self.denials += other.denials;
        self.lost_agents += other.lost_agents;
        self.background_agents += other.background_agents;
        self.reports_sent_back += other.reports_sent_back;
        self.interruptions += other.interruptions;
        self.continued_agents += other.continued_agents;
        self.hook_time += other.hook_time;
        self.timed_hooks += other.timed_hooks;
        if let Some(slowest) = other.slowest {
            self.slowest = self.slowest.max_by_time(slowest);
        }
    }

    pub(crate) fn workflows(&self) -> usize {
        self.endings.values().sum()
    }

    fn counts(&self) -> [(&'static str, usize); 12] {
        [
            ("workflows", self.workflows()),
            ("events", self.events),
            ("retries", self.retries),
            ("compactions", self.compactions),
            ("kills", self.kills),
            ("blocks", self.blocks),
            ("denials", self.denials),
            ("lostAgents", self.lost_agents),
            ("backgroundAgents", self.background_agents),
            ("reportsSentBack", self.reports_sent_back),
            ("interruptions", self.interruptions),
            ("continuedAgents", self.continued_agents),
        ]
    }

    /// A hook's mean time, in milliseconds.
    fn mean(&self) -> f64 {
        self.hook_time.as_secs_f64() * 1000.0 / f64::from(self.timed_hooks.max(1))
    }

    fn per_second(&self, took: Duration) -> f64 {
        let events = u32::try_from(self.events).unwrap_or(u32::MAX);
        f64::from(events) / took.as_secs_f64().max(f64::EPSILON)
    }

    pub(crate) fn to_json(&self, seed: u64, took: Duration) -> Value {
        let mut endings = json!({});
        for ((workflow, how), count) in &self.endings {
            endings[*workflow][*how] = json!(count);
        }
        let mut all = json!({"seed": seed, "endings": endings, "verdicts": self.verdicts});
        for (name, count) in self.counts() {
            all[name] = json!(count);
        }
        all["seconds"] = json!(took.as_secs_f64());
        all["hooksPerSecond"] = json!(self.per_second(took));
        all["meanHookMs"] = json!(self.mean());
        let slowest = self.slowest.map(|(time, hook)| json!({"hook": hook.name(), "ms": millis(time)}));
        all["slowest"] = json!(slowest);
        all
    }

    pub(crate) fn to_text(&self, seed: u64, took: Duration) -> String {
        let mut text = self.table();
        for (name, count) in self.counts() {
            let _ = writeln!(text, "{name:<18}{count:>8}");
        }
        for (verdict, count) in &self.verdicts {
            let _ = writeln!(text, "{:<18}{count:>8}", format!("verdict {verdict}"));
        }
        let _ = writeln!(
            text,
            "{:<18}{:>8.0}   mean {:.2} ms alone",
            "hooks/s",
            self.per_second(took),
            self.mean()
        );
        if let Some((time, hook)) = self.slowest {
            let _ = writeln!(text, "{:<18}{:>8.1} ms {}", "slowest hook", millis(time), hook.name());
        }
        let _ = write!(text, "soak: every promise held; seed {seed}, {:.1} s", took.as_secs_f64());
        text
    }

    fn table(&self) -> String {
        let mut text = String::new();
        for workflow in Workflow::ALL {
            let rows = self.endings.iter().filter(|((name, _), _)| *name == workflow.name());
            let ways: Vec<_> = rows.map(|((_, how), count)| format!("{how} {count}")).collect();
            if !ways.is_empty() {
                let _ = writeln!(text, "{:<18}{}", workflow.name(), ways.join(", "));
            }
        }
        text
    }
}

trait Slowest {
    fn max_by_time(self, other: (Duration, Hook)) -> Self;
}

impl Slowest for Option<(Duration, Hook)> {
    fn max_by_time(self, other: (Duration, Hook)) -> Self {
        match self {
            Some(known) if known.0 >= other.0 => Some(known),
            _ => Some(other),
        }
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
