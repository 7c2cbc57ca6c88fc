//! The state of a workflow and its loop, as the engine sees it.
//!
//! These types are not what is on disk: the store maps them to and from `workflow.json` and keeps every field
//! that it does not know.

use overtone_messages::prompt::MESSAGE_MARK;
use overtone_registry::{Agent, Stage, StageKey, TestMode, Workflow};

/// A point in time, in milliseconds since 1970 (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Millis(pub i64);

impl Millis {
    /// How long ago `earlier` was; never negative, clocks may go backwards.
    pub fn since(self, earlier: Self) -> i64 {
        (self.0 - earlier.0).max(0)
    }
}

/// How far a stage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Pending,
    Active,
    Completed,
}

impl Status {
    pub const fn key(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Active => "active",
            Self::Completed => "completed",
        }
    }

    pub fn from_key(key: &str) -> Option<Self> {
        [Self::Pending, Self::Active, Self::Completed].into_iter().find(|status| status.key() == key)
    }
}

/// What an agent's work came to. Ordered from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    Pass,
    Issues,
    Fail,
    Reject,
    /// It needs the user, or cannot be run here. Nothing is repaired; the user is asked.
    Blocked,
}

impl Verdict {
    const ALL: [Self; 5] = [Self::Pass, Self::Issues, Self::Fail, Self::Reject, Self::Blocked];

    pub const fn key(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Issues => "issues",
            Self::Fail => "fail",
            Self::Reject => "reject",
            Self::Blocked => "blocked",
        }
    }

    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.key() == key)
    }

    /// A stage with this verdict lets the stages behind it start.
    pub const fn is_good(self) -> bool {
        matches!(self, Self::Pass | Self::Issues)
    }
}

/// The `result` field of a stage: a verdict, or words that another version wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StageResult {
    Verdict(Verdict),
    Words(String),
}

impl StageResult {
    pub fn text(&self) -> &str {
        match self {
            Self::Verdict(verdict) => verdict.key(),
            Self::Words(words) => words,
        }
    }

    pub fn verdict(&self) -> Option<Verdict> {
        match self {
            Self::Verdict(verdict) => Some(*verdict),
            Self::Words(_) => None,
        }
    }
}

/// One stage of the running workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageState {
    pub key: StageKey,
    pub status: Status,
    pub result: Option<StageResult>,
    pub mode: Option<TestMode>,
    /// How often an agent was sent to it.
    pub attempts: u32,
    pub started_at: Option<Millis>,
    pub completed_at: Option<Millis>,
    /// The file with the agent's last message, relative to the session directory.
    pub handoff: Option<String>,
    /// The result of the attempt before, while the stage is open for another one. It is what `handoff` tells of.
    pub last_result: Option<StageResult>,
}

impl StageState {
    pub fn pending(key: StageKey, mode: Option<TestMode>) -> Self {
        Self {
            key,
            status: Status::Pending,
            result: None,
            mode,
            attempts: 0,
            started_at: None,
            completed_at: None,
            handoff: None,
            last_result: None,
        }
    }

    pub fn verdict(&self) -> Option<Verdict> {
        self.result.as_ref()?.verdict()
    }

    /// Finished with a verdict that does not let the workflow go on.
    pub fn is_failed(&self) -> bool {
        self.status == Status::Completed && self.verdict().is_some_and(|verdict| !verdict.is_good())
    }

    /// Finished with the word that the user is needed.
    pub fn is_blocked(&self) -> bool {
        self.status == Status::Completed && self.verdict() == Some(Verdict::Blocked)
    }

    /// Finished for good.
    pub fn is_resolved(&self) -> bool {
        self.status == Status::Completed && !self.is_failed()
    }

    /// Opens the stage for another attempt. `attempts` and the last handoff are kept.
    pub fn reopen(&mut self) {
        self.status = Status::Pending;
        if let Some(result) = self.result.take() {
            self.last_result = Some(result);
        }
        self.completed_at = None;
    }
}

/// A delegated agent that has not reported back yet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActiveAgent {
    /// Unique in the workflow: `tester`, and `tester#2` for a second one at the same time.
    pub slot: String,
    pub stage: Option<StageKey>,
    pub started_at: Option<Millis>,
    pub tool_use_id: Option<String>,
    pub agent_id: Option<String>,
    pub background: bool,
    /// The main agent goes on with it, and it has not started again yet: a report before that is of the run before.
    pub awaits_start: bool,
    /// What its report was sent back for, each at most once.
    pub holds: Vec<Hold>,
    /// The file with the report that was sent back for its verdict.
    pub handoff: Option<String>,
}

/// Why a report is sent back to the agent that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    NoVerdict,
    OpenTasks,
}

impl Hold {
    pub const fn key(self) -> &'static str {
        match self {
            Self::NoVerdict => "no-verdict",
            Self::OpenTasks => "open-tasks",
        }
    }

    pub fn from_key(key: &str) -> Option<Self> {
        [Self::NoVerdict, Self::OpenTasks].into_iter().find(|hold| hold.key() == key)
    }
}

/// An agent that has reported. The client can continue it, under the same id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedAgent {
    pub id: String,
    /// `None` in files of versions that kept only the id.
    pub agent: Option<Agent>,
}

impl ActiveAgent {
    pub fn name(&self) -> &str {
        self.slot.split('#').next().unwrap_or_default()
    }

    pub fn agent(&self) -> Option<Agent> {
        Agent::from_name(self.name())
    }

    /// Whether this is the agent of that call, or with that id.
    pub fn is(&self, tool_use_id: Option<&str>, agent_id: Option<&str>) -> bool {
        let same = |own: &Option<String>, given: Option<&str>| given.is_some() && own.as_deref() == given;
        same(&self.tool_use_id, tool_use_id) || same(&self.agent_id, agent_id)
    }
}

/// How a workflow ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Completed,
    Aborted,
}

impl Ending {
    pub const fn key(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Aborted => "aborted",
        }
    }

    pub fn from_key(key: &str) -> Option<Self> {
        [Self::Completed, Self::Aborted].into_iter().find(|ending| ending.key() == key)
    }
}

/// A running workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkflowState {
    pub session_id: String,
    /// Usually a registry name; another version may know more.
    pub workflow_type: String,
    pub created_at: Option<Millis>,
    pub current_stage: Option<StageKey>,
    pub stages: Vec<StageState>,
    pub active_agents: Vec<ActiveAgent>,
    pub fail_count: u32,
    pub reject_count: u32,
    pub retro_count: u32,
    /// Failures and rejections from before a person said "go on"; they no longer count against the limit.
    pub forgiven_failures: u32,
    pub forgiven_rejections: u32,
    pub feature_name: Option<String>,
    /// Texts for the main agent that could not be delivered yet.
    pub notices: Vec<String>,
    /// The agents that reported back last, so that the same report is not counted again when it comes another way.
    pub finished_agents: Vec<FinishedAgent>,
    pub handoff_count: u32,
    /// Messages of agents that belong to no stage here, such as a debugger sent after a failed test.
    pub other_handoffs: Vec<String>,
    /// Stages completed in this session, over all its workflows: with the number at the last compaction it
    /// spares every hook a search of the timeline. `None` in a file that does not count.
    pub completed_stages: Option<u32>,
    pub ending: Option<Ending>,
    /// The user has written something since the last delegation: it may ask for another change of the code.
    pub user_wrote: bool,
    /// How many tasks were open when the developer was last sent for them with every stage done.
    pub tasks_tried: Option<u32>,
    /// The machine that has taken the session over. Kept here, not with the loop: a delegation reads only this.
    pub moved_to: Option<String>,
}

/// How many finished agent ids are remembered.
const REMEMBERED_AGENTS: usize = 16;

/// How many messages of agents without a stage are named.
const OTHER_HANDOFFS: usize = 4;

/// How many undelivered texts are kept, people's messages aside.
const WAITING_NOTICES: usize = 8;

/// A person's message, which is not written again by whatever comes next.
fn is_message(notice: &str) -> bool {
    notice.starts_with(MESSAGE_MARK)
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
        self.template().and_then(|w| w.group_of(key)).map_or_else(|| vec![key], |(_, keys)| keys)
    }

    pub fn is_open(&self) -> bool {
        self.ending.is_none()
    }

    pub fn resolved_count(&self) -> usize {
        self.stages.iter().filter(|stage| stage.is_resolved()).count()
    }

    /// An agent has been sent to a stage.
    pub fn has_begun(&self) -> bool {
        self.stages.iter().any(|stage| stage.attempts > 0)
    }

    /// Every stage has a good verdict.
    pub fn is_finished(&self) -> bool {
        self.stages.iter().all(StageState::is_resolved)
    }

    /// Whether the developer was sent for this many open tasks before, and none of them was finished.
    pub fn tried_tasks(&self, open: usize) -> bool {
        open > 0 && self.tasks_tried.is_some_and(|tried| usize::try_from(tried) == Ok(open))
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
        let excess = self.finished_agents.len().saturating_sub(REMEMBERED_AGENTS);
        self.finished_agents.drain(..excess);
    }

    /// The agent that has reported under this id.
    pub fn finished_agent(&self, agent_id: &str) -> Option<&FinishedAgent> {
        self.finished_agents.iter().find(|finished| finished.id == agent_id)
    }

    /// Whoever worked for an earlier workflow of the session has nothing to report to this one.
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

    /// A person has spoken to the session, whichever workflow ran just then.
    pub fn take_over_messages(&mut self, earlier: &Self) {
        self.notices.extend(earlier.notices.iter().filter(|notice| is_message(notice)).cloned());
    }

    pub fn add_other_handoff(&mut self, file: String) {
        self.other_handoffs.push(file);
        let excess = self.other_handoffs.len().saturating_sub(OTHER_HANDOFFS);
        self.other_handoffs.drain(..excess);
    }

    /// Keeps a text for the main agent; the oldest give way, so that nobody's silence fills the state. Messages do
    /// not: they are not taken any more when too much waits.
    pub fn leave_notice(&mut self, text: String) {
        self.notices.push(text);
        let ours = self.notices.iter().filter(|notice| !is_message(notice)).count();
        let mut excess = ours.saturating_sub(WAITING_NOTICES);
        self.notices.retain(|notice| {
            let gives_way = excess > 0 && !is_message(notice);
            excess -= usize::from(gives_way);
            !gives_way
        });
    }

    /// Whether too much waits for a message to be taken.
    pub fn is_full_of_notices(&self) -> bool {
        self.notices.len() >= WAITING_NOTICES
    }

    /// A free name for another instance of `agent`.
    pub fn free_slot(&self, agent: Agent) -> String {
        let taken = |slot: &str| self.active_agents.iter().any(|active| active.slot == slot);
        let name = agent.name().to_owned();
        let twins = (2..=self.active_agents.len() + 1).map(|n| format!("{name}#{n}"));
        std::iter::once(name.clone()).chain(twins).find(|slot| !taken(slot)).unwrap_or(name)
    }

    /// The stage that a person would call the current one: the first active, else the first unresolved.
    pub fn settle_current_stage(&mut self) {
        let active = self.stages.iter().find(|s| s.status == Status::Active);
        let open = active.or_else(|| self.stages.iter().find(|s| !s.is_resolved()));
        if let Some(stage) = open.or(self.stages.last()) {
            self.current_stage = Some(stage.key);
        }
    }

    /// Takes agents that can no longer report back off the list and opens their stages again. A stage whose twin
    /// did report stays as it is: its verdict is for the caller to settle.
    pub fn release_agents(&mut self, is_lost: impl Fn(&ActiveAgent) -> bool) -> Vec<ActiveAgent> {
        let (lost, kept): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.active_agents).into_iter().partition(is_lost);
        self.active_agents = kept;
        for key in lost.iter().filter_map(|agent| agent.stage) {
            let abandoned = !self.active_agents.iter().any(|other| other.stage == Some(key));
            let unsettled = |s: &&mut StageState| s.status == Status::Active && s.verdict().is_none();
            if let Some(stage) = self.stage_mut(key).filter(unsettled).filter(|_| abandoned) {
                stage.reopen();
            }
        }
        lost
    }

    /// Opens a workflow that reached its limit for further attempts, on a person's word.
    pub fn forgive(&mut self) {
        self.forgiven_failures = self.fail_count;
        self.forgiven_rejections = self.reject_count;
        if self.ending == Some(Ending::Aborted) {
            self.ending = None;
        }
    }
}

/// Who or what stopped the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoppedBy {
    User,
    SessionEnd,
    Completion,
    Limit,
    /// Another machine has taken the session over.
    Moved,
}

impl StoppedBy {
    const ALL: [Self; 5] = [Self::User, Self::SessionEnd, Self::Completion, Self::Limit, Self::Moved];

    pub const fn key(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::SessionEnd => "session-end",
            Self::Completion => "completion",
            Self::Limit => "limit",
            Self::Moved => "moved",
        }
    }

    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|by| by.key() == key)
    }
}

/// Why a loop that was not stopped sends nobody back to work. It goes on when an agent is delegated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// Several rounds in a row changed nothing.
    NoProgress,
    /// The user interrupted the main agent.
    Interrupted,
}

impl Pause {
    pub const fn key(self) -> &'static str {
        match self {
            Self::NoProgress => "no-progress",
            Self::Interrupted => "interrupted",
        }
    }

    pub fn from_key(key: &str) -> Option<Self> {
        [Self::NoProgress, Self::Interrupted].into_iter().find(|pause| pause.key() == key)
    }
}

/// What a turn of the main agent is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Working,
    /// The user only looks: nobody is sent back to work because of it.
    Looking,
}

impl Turn {
    pub const fn key(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Looking => "looking",
        }
    }

    pub fn from_key(key: &str) -> Option<Self> {
        [Self::Working, Self::Looking].into_iter().find(|turn| turn.key() == key)
    }
}

/// The loop that keeps a session going.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LoopState {
    pub iterations: u32,
    pub stopped: bool,
    pub stopped_by: Option<StoppedBy>,
    /// Rounds in a row that changed nothing.
    pub consecutive_errors: u32,
    /// What the workflow looked like when the last round began.
    pub fingerprint: Option<String>,
    /// The user has been shown that the loop stopped or paused.
    pub announced: bool,
    /// The loop waits for the user, or for the workflow to go on because of them.
    pub paused: Option<Pause>,
    /// The turn of the main agent that has begun and has not ended by itself yet.
    pub turn: Option<Turn>,
    /// The command of ours that the client asks the user about in this turn.
    pub asked: Option<String>,
    /// The client's name for that turn. What the user types while it runs comes under the same one.
    pub prompt_id: Option<String>,
    pub started_at: Option<Millis>,
}

impl LoopState {
    pub fn started(now: Millis) -> Self {
        Self { started_at: Some(now), ..Self::default() }
    }

    pub fn stop(&mut self, by: StoppedBy) {
        self.stopped = true;
        self.stopped_by = Some(by);
    }

    pub fn pause(&mut self, why: Pause) {
        self.paused = Some(why);
        self.announced = false;
        self.forget_progress();
    }

    /// The workflow goes on, so the loop does too.
    pub fn unpause(&mut self) {
        self.paused = None;
        self.announced = false;
        self.forget_progress();
    }

    /// The user has spoken, so whatever the loop was stuck on may be solved.
    pub fn forget_progress(&mut self) {
        self.consecutive_errors = 0;
        self.fingerprint = None;
    }

    /// The turn is over, and with it whatever the client asked the user in it.
    pub fn end_turn(&mut self) {
        self.turn = None;
        self.asked = None;
    }

    pub fn restart(&mut self) {
        *self = Self { iterations: self.iterations, started_at: self.started_at, ..Self::default() };
    }
}
