//! The rules of a workflow once more, written from the design: what comes next, who may start, and what becomes of a stage.

use overtone_core::engine::flow::Step;
use overtone_core::engine::settings::Settings;
use overtone_core::engine::state::{Ending, SendBackReason, Status, Verdict};
use overtone_core::registry::{Agent, DocsRule, RetroRule, Stage, StageKey, StageRules, TestMode, Workflow};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StageRecord {
    pub(crate) key: StageKey,
    pub(crate) status: Status,
    pub(crate) verdict: Option<Verdict>,
    pub(crate) attempts: u32,
    /// Nobody had to work on it.
    pub(crate) is_left_out: bool,
    pub(crate) failures: u32,
    /// The last failure says where the fault is.
    pub(crate) is_located: bool,
}

impl StageRecord {
    fn new(key: StageKey) -> Self {
        let (status, verdict, attempts) = (Status::Pending, None, 0);
        Self { key, status, verdict, attempts, is_left_out: false, failures: 0, is_located: false }
    }

    pub(crate) fn is_good(&self) -> bool {
        let has_passed = matches!(self.verdict, Some(Verdict::Pass | Verdict::Issues));
        self.status == Status::Completed && (has_passed || self.is_left_out)
    }

    /// Whether the developer knows what to do without a search for the cause.
    fn is_clear(&self) -> bool {
        let is_first = self.verdict == Some(Verdict::Fail) && self.failures == 1;
        self.verdict == Some(Verdict::Reject) || (is_first && self.is_located)
    }

    pub(crate) fn is_failed(&self) -> bool {
        self.status == Status::Completed && !self.is_good()
    }

    pub(crate) fn is_blocked(&self) -> bool {
        self.status == Status::Completed && self.verdict == Some(Verdict::Blocked)
    }

    fn reopen(&mut self) {
        (self.status, self.verdict, self.is_left_out) = (Status::Pending, None, false);
    }
}

/// The record of an agent at work. Calls and ids are numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Worker {
    pub(crate) agent: Agent,
    pub(crate) stage: Option<StageKey>,
    pub(crate) call: Option<u32>,
    pub(crate) id: Option<u32>,
    pub(crate) background: bool,
    pub(crate) awaits_start: bool,
    pub(crate) sent_back_for: Vec<SendBackReason>,
    pub(crate) has_handoff: bool,
    pub(crate) since: i64,
}

/// A text that waits for the main agent: one of ours, or the message of a user with this number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Notice {
    Ours,
    Message(u32),
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Counts {
    pub(crate) failures: u32,
    pub(crate) rejections: u32,
    pub(crate) retros: u32,
    /// The failures and rejections that no longer count against the limits.
    pub(crate) forgiven: (u32, u32),
    pub(crate) handoffs: u32,
    pub(crate) completed: u32,
}

/// The workflow, as far as the rules are about it.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "they are independent facts of one session")]
pub(crate) struct Flow {
    pub(crate) workflow: Workflow,
    pub(crate) stages: Vec<StageRecord>,
    pub(crate) workers: Vec<Worker>,
    pub(crate) reported: Vec<(u32, Agent)>,
    pub(crate) counts: Counts,
    pub(crate) user_wrote: bool,
    pub(crate) tasks_tried: Option<u32>,
    /// The ticked tasks when the last agent ended or was delegated.
    pub(crate) tasks_ticked: Option<u32>,
    /// Something waits to be shown to the user.
    pub(crate) user_waits: bool,
    pub(crate) ending: Option<Ending>,
    pub(crate) notices: Vec<Notice>,
    /// The main agent has changed files itself since the last review.
    pub(crate) changed_outside: bool,
    /// It did so while a stage was running.
    pub(crate) judge_again: bool,
    pub(crate) rules: StageRules,
    pub(crate) was_blocked: bool,
    /// Whether users see a difference, if it matters.
    pub(crate) visible: Option<bool>,
    /// Whether all that users see was documented by those who changed it.
    pub(crate) documented: Option<bool>,
}

/// What is known about the documents of the project.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Documents {
    Unknown,
    Same,
    Changed,
}

fn repairs(agent: Agent) -> bool {
    matches!(agent, Agent::Developer | Agent::Debugger)
}

/// Agents that write code in a workflow that has no stage for them.
fn writes_code(agent: Agent) -> bool {
    matches!(agent, Agent::BuildErrorResolver | Agent::RefactorCleaner)
}

fn severity(verdict: Verdict) -> usize {
    let from_best = [Verdict::Pass, Verdict::Issues, Verdict::Fail, Verdict::Reject, Verdict::Blocked];
    from_best.iter().position(|other| *other == verdict).unwrap()
}

impl Flow {
    pub(crate) fn new(workflow: Workflow) -> Self {
        let stages = workflow.stage_keys().map(StageRecord::new);
        Self {
            workflow,
            stages: stages.collect(),
            workers: Vec::new(),
            reported: Vec::new(),
            counts: Counts::default(),
            user_wrote: false,
            tasks_tried: None,
            tasks_ticked: None,
            user_waits: false,
            ending: None,
            notices: Vec::new(),
            changed_outside: false,
            judge_again: false,
            rules: StageRules::default(),
            was_blocked: false,
            visible: None,
            documented: None,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.ending.is_none()
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.stages.iter().all(StageRecord::is_good)
    }

    pub(crate) fn is_blocked(&self) -> bool {
        self.stages.iter().any(StageRecord::is_blocked)
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.stages.iter().any(StageRecord::is_failed)
    }

    /// Once the work has begun, what the user writes may ask for a change.
    pub(crate) fn hear_user(&mut self) {
        self.user_wrote |= self.stages.iter().any(|stage| stage.attempts > 0);
    }

    pub(crate) fn stage(&self, key: StageKey) -> Option<&StageRecord> {
        self.stages.iter().find(|stage| stage.key == key)
    }

    fn stage_mut(&mut self, key: StageKey) -> Option<&mut StageRecord> {
        self.stages.iter_mut().find(|stage| stage.key == key)
    }

    pub(crate) fn group(&self, key: StageKey) -> Vec<StageKey> {
        self.workflow.group_of(key).map_or_else(|| vec![key], |(_, keys)| keys)
    }

    fn group_with_status(&self, key: StageKey, status: Status) -> Vec<StageKey> {
        let has_status = |key: &StageKey| self.stage(*key).is_some_and(|stage| stage.status == status);
        self.group(key).into_iter().filter(has_status).collect()
    }

    fn development_before(&self, key: StageKey) -> Option<StageKey> {
        let before = self.stages.iter().take_while(|stage| stage.key != key);
        before.map(|stage| stage.key).filter(|key| key.stage == Stage::Dev).last()
    }

    fn after_development(&self) -> impl Iterator<Item = &StageRecord> {
        self.stages.iter().skip_while(|stage| stage.key.stage != Stage::Dev).skip(1)
    }

    pub(crate) fn limit_reached(&self, limits: &Settings) -> bool {
        let Counts { failures, rejections, forgiven, .. } = self.counts;
        failures - forgiven.0 >= limits.max_failures || rejections - forgiven.1 >= limits.max_rejections
    }

    /// What the main agent has to do next.
    pub(crate) fn next(&self, limits: &Settings) -> Step {
        let failed: Vec<_> = self.stages.iter().filter(|stage| stage.is_failed()).collect();
        let Some(first) = failed.first() else {
            let Some(open) = self.stages.iter().find(|stage| !stage.is_good()) else { return Step::Done };
            let pending = self.group_with_status(open.key, Status::Pending);
            if pending.is_empty() {
                return Step::Wait(self.group_with_status(open.key, Status::Active));
            }
            return Step::Delegate(pending);
        };
        let running = self.group_with_status(first.key, Status::Active);
        if !running.is_empty() {
            return Step::Wait(running);
        }
        if let Some(blocked) = failed.iter().find(|stage| stage.is_blocked()) {
            return Step::Blocked(blocked.key);
        }
        if self.limit_reached(limits) {
            return Step::AskUser(first.key);
        }
        let keys = failed.iter().map(|stage| stage.key).collect();
        let is_specification = self.workflow.test_mode(first.key) == Some(TestMode::Spec);
        match self.development_before(first.key) {
            None if first.key.stage.is_judge() && !is_specification => Step::Report(first.key),
            None => Step::Again(first.key),
            Some(_) if failed.iter().all(|stage| stage.is_clear()) => Step::Rework(keys),
            Some(_) => Step::Repair(keys),
        }
    }

    fn stages_of(&self, agent: Agent) -> impl DoubleEndedIterator<Item = &StageRecord> {
        self.stages.iter().filter(move |stage| Some(stage.key.stage) == agent.stage())
    }

    /// The stage that an agent would work on: its first one without a good verdict, else its last one.
    fn target(&self, agent: Agent) -> Option<StageKey> {
        let open = self.stages_of(agent).find(|stage| !stage.is_good());
        open.or(self.stages_of(agent).next_back()).map(|stage| stage.key)
    }

    fn reopen_completed(&mut self, keys: &[StageKey]) {
        let chosen = self.stages.iter_mut().filter(|stage| keys.contains(&stage.key));
        chosen.filter(|stage| stage.status == Status::Completed).for_each(StageRecord::reopen);
    }

    /// The workflow in which a repair has opened what it is for: each failed stage with its group, and the DEV before it.
    fn opened_for(&self, agent: Agent) -> Self {
        let mut opened = self.clone();
        for failed in self.stages.iter().filter(|stage| stage.is_failed() && repairs(agent)) {
            if let Some(development) = self.development_before(failed.key) {
                opened.reopen_completed(&self.group(failed.key));
                opened.reopen_completed(&[development]);
            }
        }
        opened
    }

    /// Whether the stage of an agent may start now. `may_repeat`: there is a reason to do finished work again.
    pub(crate) fn may_start(&self, agent: Agent, may_repeat: bool, limits: &Settings) -> bool {
        // Nobody changes the code while it is judged, and a repair begins with the reports of all judges.
        let is_judged = self.after_development().any(|stage| stage.status == Status::Active);
        let is_too_early = is_judged && repairs(agent) && self.has_failed();
        if self.limit_reached(limits) || is_too_early || self.needs_answer(agent) {
            return false;
        }
        let opened = self.opened_for(agent);
        let Some(target) = opened.target(agent) else {
            return !(writes_code(agent) && is_judged);
        };
        opened.is_free(target) && (may_repeat || !opened.stage(target).is_some_and(StageRecord::is_good))
    }

    /// Without a word of the user, a blocked stage is neither tried again nor repaired.
    fn needs_answer(&self, agent: Agent) -> bool {
        let target = self.target(agent).and_then(|key| self.stage(key));
        let is_own = target.is_some_and(StageRecord::is_blocked);
        !self.user_wrote && (is_own || (repairs(agent) && self.is_blocked()))
    }

    /// Whether everything in front of a stage has passed and nothing else runs, its group aside.
    fn is_free(&self, target: StageKey) -> bool {
        let group = self.group(target);
        let mut is_in_front = true;
        for stage in &self.stages {
            is_in_front &= stage.key != target;
            let holds_up = stage.status == Status::Active || (is_in_front && !stage.is_good());
            if holds_up && !group.contains(&stage.key) {
                return false;
            }
        }
        target.stage != Stage::Dev || self.workers.iter().all(|worker| worker.agent != Agent::Debugger)
    }

    /// The stage of an agent whose delegation was not recorded.
    pub(crate) fn guess_stage(&self, agent: Agent) -> Option<StageKey> {
        if let Some(active) = self.stages_of(agent).find(|stage| stage.status == Status::Active) {
            return Some(active.key);
        }
        let open = self.stages_of(agent).find(|stage| !stage.is_good())?.key;
        if self.is_free(open) { Some(open) } else { None }
    }

    /// Puts an agent to work, on its stage if it may start. `open_work`: how many tasks are open.
    pub(crate) fn start(&mut self, mut worker: Worker, may_start: bool, open_work: u32) {
        if may_start {
            worker.stage = self.start_stage(worker.agent, open_work);
        }
        self.reported.retain(|(id, _)| Some(*id) != worker.id);
        self.workers.push(worker);
        // One answer may be about several blocked stages.
        self.user_wrote &= self.is_blocked();
    }

    fn start_stage(&mut self, agent: Agent, open_work: u32) -> Option<StageKey> {
        let was_finished = self.is_finished();
        *self = self.opened_for(agent);
        let behind: Vec<_> = self.after_development().map(|stage| stage.key).collect();
        let Some(target) = self.target(agent) else {
            let passed =
                |key: &StageKey| writes_code(agent) && self.stage(*key).is_some_and(StageRecord::is_good);
            self.reopen_completed(&behind.into_iter().filter(passed).collect::<Vec<_>>());
            return agent.stage().map(StageKey::first);
        };
        if agent == Agent::Developer {
            self.reopen_completed(&behind);
            self.tasks_tried = if was_finished { Some(open_work) } else { self.tasks_tried };
        }
        let stage = self.stage_mut(target)?;
        stage.attempts += 1;
        if stage.status != Status::Active {
            (stage.status, stage.verdict) = (Status::Active, None);
        }
        Some(target)
    }

    /// Remembers the last 16 agents that have reported.
    pub(crate) fn remember(&mut self, id: u32, agent: Agent) {
        self.reported.retain(|(known, _)| *known != id);
        self.reported.push((id, agent));
        self.reported.drain(..self.reported.len().saturating_sub(16));
    }

    pub(crate) fn has_reported(&self, id: u32) -> bool {
        self.reported.iter().any(|(known, _)| *known == id)
    }

    /// Keeps a notice; of ours, the newest 8.
    pub(crate) fn leave(&mut self, notice: Notice) {
        self.notices.push(notice);
        let ours: Vec<_> = (0..self.notices.len()).filter(|at| self.notices[*at] == Notice::Ours).collect();
        if ours.len() > 8 {
            self.notices.remove(ours[0]);
        }
    }

    /// Tasks that are ticked while nobody works are noticed.
    pub(crate) fn notice_ticks(&mut self, ticked: Option<u32>) {
        let Some(ticked) = ticked.filter(|_| self.workers.is_empty()) else { return };
        if self.tasks_ticked.is_some_and(|known| known < ticked) {
            self.leave(Notice::Ours);
            self.user_waits = true;
        }
        self.tasks_ticked = Some(ticked);
    }

    fn is_worked_on(&self, key: StageKey) -> bool {
        self.workers.iter().any(|worker| worker.stage == Some(key))
    }

    /// Closes an active stage that nobody works on any more: with the worst verdict that was reported, or else it is open
    /// again. Returns whether it has a verdict now.
    pub(crate) fn close_if_left(&mut self, key: StageKey) -> bool {
        let Some(stage) = self.stage(key) else { return false };
        if stage.status != Status::Active || self.is_worked_on(key) {
            return false;
        }
        match stage.verdict {
            Some(verdict) => self.settle(key, verdict, false),
            None => self.stage_mut(key).unwrap().reopen(),
        }
        self.stage(key).is_some_and(|stage| stage.status == Status::Completed)
    }

    /// Counts a verdict on a stage, which ends with the last of its agents and the worst of their verdicts.
    pub(crate) fn judge(&mut self, key: StageKey, verdict: Verdict, is_located: bool) {
        let stage = self.stage(key).unwrap();
        let earlier = stage.verdict.filter(|_| stage.status == Status::Active);
        let worst = earlier.into_iter().chain([verdict]).max_by_key(|verdict| severity(*verdict)).unwrap();
        if self.is_worked_on(key) {
            self.stage_mut(key).unwrap().verdict = Some(worst);
        } else {
            self.settle(key, worst, is_located);
        }
    }

    /// `is_located`: the report says where the fault is.
    fn settle(&mut self, key: StageKey, verdict: Verdict, is_located: bool) {
        let stage = self.stage_mut(key).unwrap();
        (stage.status, stage.verdict) = (Status::Completed, Some(verdict));
        if verdict == Verdict::Fail {
            (stage.failures, stage.is_located) = (stage.failures + 1, is_located);
        }
        stage.attempts = stage.attempts.max(1);
        self.was_blocked |= verdict == Verdict::Blocked;
        self.counts.completed += u32::from(matches!(verdict, Verdict::Pass | Verdict::Issues));
        if key.stage == Stage::Review && matches!(verdict, Verdict::Pass | Verdict::Issues) {
            self.changed_outside &= self.judge_again;
        }
        self.counts.retros += u32::from(verdict == Verdict::Issues);
        self.counts.failures += u32::from(verdict == Verdict::Fail);
        self.counts.rejections += u32::from(verdict == Verdict::Reject);
    }

    /// Leaves out the last stages if the rules of the workflow allow it.
    pub(crate) fn leave_out(&mut self, documents: Documents, limits: &Settings) {
        while let Step::Delegate(keys) = self.next(limits) {
            let had_trouble = self.was_blocked || self.counts.failures + self.counts.rejections > 0;
            let is_unneeded = match keys[..] {
                [key] if key.stage == Stage::Retro => {
                    self.rules.retro == RetroRule::OnTrouble && !had_trouble
                }
                [key] if key.stage == Stage::Docs => {
                    self.rules.docs == DocsRule::OnChange
                        && match documents {
                            Documents::Unknown => false,
                            Documents::Same => self.visible == Some(false),
                            Documents::Changed => self.visible == Some(true) && self.documented == Some(true),
                        }
                }
                _ => false,
            };
            if !is_unneeded || !self.is_open() {
                return;
            }
            let stage = self.stage_mut(keys[0]).unwrap();
            (stage.status, stage.is_left_out) = (Status::Completed, true);
            self.counts.completed += 1;
        }
    }

    /// Whether a stage of this kind may end without an agent.
    pub(crate) fn may_leave_out(&self, stage: Stage) -> bool {
        (stage == Stage::Retro && self.rules.retro == RetroRule::OnTrouble)
            || (stage == Stage::Docs && self.rules.docs == DocsRule::OnChange)
    }

    /// An agent that writes code says whether users see a difference, and whether it has documented it. If it does not say it,
    /// they may, and it has not.
    pub(crate) fn hear_of_change(&mut self, agent: Agent, is_visible: bool, is_documented: bool) {
        let has_docs = self.stages.iter().any(|stage| stage.key.stage == Stage::Docs);
        if has_docs && self.may_leave_out(Stage::Docs) && (agent == Agent::Developer || writes_code(agent)) {
            self.visible = Some(is_visible || self.visible == Some(true));
            if is_visible {
                self.documented = Some(is_documented && self.documented.unwrap_or(true));
            }
        }
    }

    /// The main agent changes code itself: what has judged other code has to judge again. Returns whether anything has.
    pub(crate) fn change_outside(&mut self) -> bool {
        let judged: Vec<_> = self
            .after_development()
            .filter(|stage| stage.key.stage.is_judge() && stage.is_good())
            .map(|stage| stage.key)
            .collect();
        self.changed_outside = true;
        if self.may_leave_out(Stage::Docs) {
            (self.visible, self.documented) = (Some(true), Some(false));
        } else {
            (self.visible, self.documented) = (None, None);
        }
        self.judge_again = self.stages.iter().any(|stage| stage.status == Status::Active);
        if self.judge_again {
            return false;
        }
        self.reopen_completed(&judged);
        !judged.is_empty()
    }

    /// Before a stage starts and at the end of a turn, what had to wait for a running stage is judged again.
    pub(crate) fn judge_changes(&mut self) {
        let is_running = self.stages.iter().any(|stage| stage.status == Status::Active);
        if self.is_open() && self.judge_again && !is_running {
            let before = (self.changed_outside, self.visible, self.documented);
            self.change_outside();
            (self.changed_outside, self.visible, self.documented) = before;
        }
    }

    /// Fails the last development, or else the last stage, although everything has passed.
    pub(crate) fn fail_at_end(&mut self) {
        let development = self.stages.iter().rfind(|stage| stage.key.stage == Stage::Dev);
        let key = development.or(self.stages.last()).unwrap().key;
        self.settle(key, Verdict::Fail, false);
        self.counts.handoffs += 1;
        self.leave(Notice::Ours);
    }

    /// Gives up agents and returns them.
    pub(crate) fn release(&mut self, is_lost: impl Fn(&Worker) -> bool) -> Vec<Worker> {
        let (lost, kept): (Vec<_>, _) = std::mem::take(&mut self.workers).into_iter().partition(is_lost);
        self.workers = kept;
        // Nobody knows which tasks a lost agent has ticked.
        self.tasks_ticked = self.tasks_ticked.filter(|_| lost.is_empty());
        for worker in &lost {
            // One that was to continue and never did can be sent another message.
            if let (true, Some(id)) = (worker.awaits_start, worker.id) {
                self.remember(id, worker.agent);
            }
            if worker.stage.is_some_and(|key| self.close_if_left(key)) {
                self.leave(Notice::Ours);
            }
        }
        lost
    }

    /// Gives up agents and leaves a notice for each, unless a twin of it does the work.
    pub(crate) fn miss(&mut self, is_lost: impl Fn(&Worker) -> bool) {
        for worker in self.release(is_lost) {
            let stage = worker.stage.and_then(|key| self.stage(key));
            if stage.is_none_or(|stage| stage.status == Status::Pending) {
                self.leave(Notice::Ours);
            }
        }
    }
}
