//! The state of a workflow and its loop, as the engine sees it.
//!
//! These types are not the file format: the store converts them from and to `workflow.json` and keeps every field that
//! it does not know.

mod agent;
mod budget;
mod loop_state;
mod stage;

use crate::messages::prompt::MESSAGE_MARK;
use crate::registry::{Agent, GuardLevel, Stage, StageKey, StageRules, Workflow, table};

pub use agent::{ActiveAgent, FinishedAgent, SendBackReason};
pub use budget::{BudgetState, FinishingAgent, ReachedLimit};
pub use loop_state::{LoopState, Pause, StoppedBy, Turn};
pub use stage::{StageResult, StageState, Status, Verdict};

/// A point in time, in milliseconds since 1970 (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Millis(pub i64);

impl Millis {
    /// The time since `earlier`. It is never negative, although clocks may go backwards.
    pub fn since(self, earlier: Self) -> i64 {
        (self.0 - earlier.0).max(0)
    }
}

table! {
    /// How a workflow ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Ending {
        Completed("completed"),
        Aborted("aborted"),
    }

    struct EndingRow {
        pub key: &'static str,
    }

    pub fn from_key(key) -> Option<Self>;
}

/// What others than the agents of stages have changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutsideChanges {
    /// The files that were changed since the last review.
    pub files: Vec<String>,
    /// Other files may have been changed: the work tree is compared before the next stage.
    pub may_be_more: bool,
    /// Code was changed while a stage was running. The stages that have judged it before are opened again when the running
    /// ones have ended.
    pub judge_again: bool,
}

/// A running workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowState {
    pub session_id: String,
    /// Usually a name of the registry. Another version may know more of them.
    pub workflow_type: String,
    pub created_at: Option<Millis>,
    pub current_stage: Option<StageKey>,
    pub stages: Vec<StageState>,
    pub active_agents: Vec<ActiveAgent>,
    pub fail_count: u32,
    pub reject_count: u32,
    pub retro_count: u32,
    /// Failures and rejections before the user resumed the workflow. They no longer count against the limit.
    pub forgiven_failures: u32,
    pub forgiven_rejections: u32,
    pub feature_name: Option<String>,
    /// Texts for the main agent that could not be delivered yet.
    pub notices: Vec<String>,
    /// The last agents that reported, so that the same report is not counted again when it comes another way.
    pub finished_agents: Vec<FinishedAgent>,
    pub handoff_count: u32,
    /// Messages of agents that belong to no stage here, such as a debugger sent after a failed test.
    pub other_handoffs: Vec<String>,
    /// The stages completed in all workflows of this session. Together with their number at the last compaction, it saves
    /// every hook a search of the timeline. `None` in files of versions that do not count.
    pub completed_stages: Option<u32>,
    pub ending: Option<Ending>,
    /// The user has written something since the last delegation, which may ask for another change of the code.
    pub user_wrote: bool,
    /// How many tasks were open when the developer was last delegated for them with every stage done.
    pub tasks_tried: Option<u32>,
    /// How many tasks were ticked when the last agent ended or was delegated, without those that stand for stages. `None` if
    /// it is not known.
    pub tasks_ticked: Option<u32>,
    /// What the next reviewer has to look at besides the change, such as tests that were removed.
    pub review_notes: Vec<String>,
    pub outside: OutsideChanges,
    /// Texts for the user that could not be shown yet.
    pub user_notices: Vec<String>,
    /// How strictly the gate is kept. It is fixed when the workflow starts.
    pub guard: GuardLevel,
    /// Which stages may be completed without an agent. It is fixed when the workflow starts.
    pub rules: StageRules,
    pub budget: BudgetState,
    /// How many agents were delegated to stages.
    pub agents_started: u32,
    /// A stage was blocked at least once.
    pub was_blocked: bool,
    /// Whether users of the project see a difference, as the agents say that changed code. `None` if none has said so. It is
    /// only kept if a rule depends on it.
    pub visible_change: Option<bool>,
    /// Whether the agents that changed what users see have documented all of it. `None` if there was nothing to document.
    pub documented_change: Option<bool>,
    /// The user has been shown that checks were not run because they are not trusted.
    pub untrusted_checks_shown: bool,
    /// The machine that has taken the session over. It is not part of the loop, because a delegation reads only this file.
    pub moved_to: Option<String>,
}

/// How many finished agent ids are remembered.
const MAX_FINISHED_AGENTS: usize = 16;

/// How many handoffs of agents without a stage are kept.
const MAX_OTHER_HANDOFFS: usize = 4;

/// How many notes for the reviewer are kept.
const MAX_REVIEW_NOTES: usize = 12;

/// How many texts for the user are kept.
const MAX_USER_NOTICES: usize = 8;

/// How many undelivered notices are kept, not counting messages.
const MAX_WAITING_NOTICES: usize = 8;

/// Whether a notice is a message of a user. Unlike other notices, it cannot be generated again.
fn is_message(notice: &str) -> bool {
    notice.starts_with(MESSAGE_MARK)
}

/// Adds a text to a list unless it is there, and drops the oldest ones.
fn keep_once(texts: &mut Vec<String>, text: String, limit: usize) {
    if texts.contains(&text) {
        return;
    }
    texts.push(text);
    let excess = texts.len().saturating_sub(limit);
    texts.drain(..excess);
}

impl WorkflowState {
    pub fn new(session_id: &str, workflow: Workflow, feature: Option<&str>, now: Millis) -> Self {
        Self {
            session_id: session_id.to_owned(),
            workflow_type: workflow.name().to_owned(),
            created_at: Some(now),
            current_stage: workflow.stage_keys().next(),
            stages: workflow
                .stage_keys()
                .map(|key| StageState::pending(key, workflow.test_mode(key)))
                .collect(),
            active_agents: Vec::new(),
            fail_count: 0,
            reject_count: 0,
            retro_count: 0,
            forgiven_failures: 0,
            forgiven_rejections: 0,
            feature_name: feature.map(str::to_owned),
            notices: Vec::new(),
            finished_agents: Vec::new(),
            handoff_count: 0,
            other_handoffs: Vec::new(),
            completed_stages: Some(0),
            ending: None,
            user_wrote: false,
            tasks_tried: None,
            tasks_ticked: None,
            review_notes: Vec::new(),
            outside: OutsideChanges::default(),
            user_notices: Vec::new(),
            guard: GuardLevel::default(),
            rules: StageRules::default(),
            budget: BudgetState::default(),
            agents_started: 0,
            was_blocked: false,
            visible_change: None,
            documented_change: None,
            untrusted_checks_shown: false,
            moved_to: None,
        }
    }

    pub fn template(&self) -> Option<Workflow> {
        Workflow::from_name(&self.workflow_type)
    }

    pub fn stage(&self, key: StageKey) -> Option<&StageState> {
        self.stages.iter().find(|stage| stage.key == key)
    }

    pub fn stage_mut(&mut self, key: StageKey) -> Option<&mut StageState> {
        self.stages.iter_mut().find(|stage| stage.key == key)
    }

    pub fn position(&self, key: StageKey) -> Option<usize> {
        self.stages.iter().position(|stage| stage.key == key)
    }

    /// The keys of the stage's parallel group, or the stage alone.
    pub fn group_keys(&self, key: StageKey) -> Vec<StageKey> {
        match self.template().and_then(|workflow| workflow.group_of(key)) {
            Some((_, keys)) => keys,
            None => vec![key],
        }
    }

    /// Whether the workflow has this stage, with this status.
    pub(crate) fn has_status(&self, key: StageKey, status: Status) -> bool {
        matches!(self.stage(key), Some(stage) if stage.status == status)
    }

    /// Whether the stage is active although none of the agents at work belongs to it.
    pub(crate) fn is_abandoned(&self, key: StageKey) -> bool {
        self.has_status(key, Status::Active) && !self.has_agent_at(key)
    }

    /// Whether an agent works on this stage.
    pub(crate) fn has_agent_at(&self, key: StageKey) -> bool {
        self.active_agents.iter().any(|agent| agent.stage == Some(key))
    }

    pub fn is_open(&self) -> bool {
        self.ending.is_none()
    }

    /// Whether the work tree has to be compared before the next step: somebody else may have changed files, and no agent is
    /// at work, which changes files as well.
    pub fn awaits_comparison(&self) -> bool {
        self.outside.may_be_more && self.active_agents.is_empty()
    }

    pub fn resolved_count(&self) -> usize {
        self.stages.iter().filter(|stage| stage.is_resolved()).count()
    }

    /// Whether an agent has been delegated to any stage.
    pub fn has_begun(&self) -> bool {
        self.stages.iter().any(|stage| stage.attempts > 0)
    }

    /// Whether every stage has a good verdict.
    pub fn is_finished(&self) -> bool {
        self.stages.iter().all(StageState::is_resolved)
    }

    /// Whether the developer has been delegated for this many open tasks before and finished none of them.
    pub fn tried_tasks(&self, open: usize) -> bool {
        match self.tasks_tried {
            Some(tried) => open > 0 && usize::try_from(tried) == Ok(open),
            None => false,
        }
    }

    /// Whether a stage of the workflow has failed, rejected or been blocked.
    pub(crate) fn had_trouble(&self) -> bool {
        self.fail_count > 0 || self.reject_count > 0 || self.was_blocked
    }

    /// Failures that count against the limit.
    pub fn counted_failures(&self) -> u32 {
        self.fail_count.saturating_sub(self.forgiven_failures)
    }

    pub fn counted_rejections(&self) -> u32 {
        self.reject_count.saturating_sub(self.forgiven_rejections)
    }

    /// The DEV stage that repairs `failed`: the last one before it.
    pub fn repair_stage(&self, failed: StageKey) -> Option<StageKey> {
        let end = self.position(failed)?;
        self.stages[..end].iter().rev().map(|s| s.key).find(|key| key.stage == Stage::Dev)
    }

    pub fn remember_finished(&mut self, agent_id: &str, agent: Option<Agent>) {
        self.finished_agents.retain(|finished| finished.id != agent_id);
        self.finished_agents.push(FinishedAgent { id: agent_id.to_owned(), agent });
        let excess = self.finished_agents.len().saturating_sub(MAX_FINISHED_AGENTS);
        self.finished_agents.drain(..excess);
    }

    /// The agent that has reported under this id.
    pub fn finished_agent(&self, agent_id: &str) -> Option<&FinishedAgent> {
        self.finished_agents.iter().find(|finished| finished.id == agent_id)
    }

    /// Ignores later reports of agents that worked for an earlier workflow of the session.
    pub fn disown_agents(&mut self, earlier: &Self) {
        for finished in &earlier.finished_agents {
            self.remember_finished(&finished.id, finished.agent);
        }
        for running in &earlier.active_agents {
            if let Some(id) = &running.agent_id {
                self.remember_finished(id, running.agent());
            }
        }
    }

    /// Takes over undelivered messages, which are meant for the session and not for one workflow.
    pub fn take_over_messages(&mut self, earlier: &Self) {
        self.notices.extend(earlier.notices.iter().filter(|notice| is_message(notice)).cloned());
    }

    /// Keeps a note for the next reviewer. The oldest notes are dropped.
    pub(crate) fn add_review_note(&mut self, note: String) {
        keep_once(&mut self.review_notes, note, MAX_REVIEW_NOTES);
    }

    /// Keeps a text that the user sees with the next answer that the client shows. The oldest texts are dropped.
    pub(crate) fn add_user_notice(&mut self, text: String) {
        keep_once(&mut self.user_notices, text, MAX_USER_NOTICES);
    }

    pub fn add_other_handoff(&mut self, file: String) {
        self.other_handoffs.push(file);
        let excess = self.other_handoffs.len().saturating_sub(MAX_OTHER_HANDOFFS);
        self.other_handoffs.drain(..excess);
    }

    /// Keeps a notice for the main agent. The oldest notices are dropped, so that the state does not grow while nothing can
    /// be delivered. Messages are never dropped: new ones are refused when too much waits.
    pub fn leave_notice(&mut self, text: String) {
        self.notices.push(text);
        let ours = self.notices.iter().filter(|notice| !is_message(notice)).count();
        let mut excess = ours.saturating_sub(MAX_WAITING_NOTICES);
        self.notices.retain(|notice| {
            let is_dropped = excess > 0 && !is_message(notice);
            excess -= usize::from(is_dropped);
            !is_dropped
        });
    }

    /// Whether so many notices wait that no further message is accepted.
    pub fn is_full_of_notices(&self) -> bool {
        self.notices.len() >= MAX_WAITING_NOTICES
    }

    /// A free slot for another instance of `agent`.
    pub fn free_slot(&self, agent: Agent) -> String {
        let taken = |slot: &str| self.active_agents.iter().any(|active| active.slot == slot);
        let name = agent.name().to_owned();
        let twins = (2..=self.active_agents.len() + 1).map(|n| format!("{name}#{n}"));
        std::iter::once(name.clone()).chain(twins).find(|slot| !taken(slot)).unwrap_or(name)
    }

    /// Updates the current stage: the first active one, or else the first unresolved one.
    pub fn update_current_stage(&mut self) {
        let active = self.stages.iter().find(|s| s.status == Status::Active);
        let open = active.or_else(|| self.stages.iter().find(|s| !s.is_resolved()));
        if let Some(stage) = open.or(self.stages.last()) {
            self.current_stage = Some(stage.key);
        }
    }

    /// Removes agents that can no longer report and opens their stages again. A stage for which a twin has reported stays
    /// as it is, and the caller settles it with that verdict.
    pub fn release_agents(&mut self, is_lost: impl Fn(&ActiveAgent) -> bool) -> Vec<ActiveAgent> {
        let (lost, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.active_agents).into_iter().partition(is_lost);
        self.active_agents = kept;
        if !lost.is_empty() {
            // They may have ticked tasks without reporting it.
            self.tasks_ticked = None;
        }
        for key in lost.iter().filter_map(|agent| agent.stage) {
            if self.is_abandoned(key)
                && let Some(stage) = self.stage_mut(key)
                && stage.verdict().is_none()
            {
                stage.reopen();
            }
        }
        lost
    }

    /// Opens a workflow that reached its limit for further attempts, at the request of the user.
    pub fn forgive(&mut self) {
        self.forgiven_failures = self.fail_count;
        self.forgiven_rejections = self.reject_count;
        if self.ending == Some(Ending::Aborted) {
            self.ending = None;
        }
    }
}
