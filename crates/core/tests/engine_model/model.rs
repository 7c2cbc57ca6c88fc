//! What every event must make of a session, and how it must be answered.

use std::fmt;

use overtone_core::engine::StartSource;
use overtone_core::engine::flow::Step;
use overtone_core::engine::settings::Settings;
use overtone_core::engine::state::{Ending, Pause, SendBackReason, Status, StoppedBy, Turn, Verdict};
use overtone_core::registry::{Agent, DocsRule, RetroRule, Stage, StageKey, StageRules, Workflow};

use crate::rules::{Documents, Flow, Notice, StageRecord, Worker};

/// What an agent's report says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Content {
    Marker(Verdict),
    /// A failure, with a file and a line.
    Located,
    /// A pass of a change that users do not see.
    Invisible,
    /// A pass of a change that users see, with its documents.
    Documented,
    /// It sounds like a success, but has no marker.
    Unclear,
    Silent,
    /// A text of the client in place of a report.
    ApiError,
}

impl Content {
    pub(crate) fn is_pass(self) -> bool {
        matches!(self, Self::Marker(Verdict::Pass) | Self::Invisible | Self::Documented)
    }
}

/// How a report of an agent that can still continue arrives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Channel {
    Stop,
    /// The agent stops and will hand its report back later.
    StopFirst,
    Handback,
}

/// What the user typed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Input {
    Text,
    Look,
    Stop,
    Resume,
    /// A command of others.
    Foreign,
}

/// How a call of the Agent tool fails.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Failure {
    Launch,
    Api,
    Interrupted,
}

/// Something that happens in a session. Numbers name agents: both an agent's id and that of its call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Event {
    Start(StartSource),
    End,
    Compacting,
    /// `true`: typed while the turn runs.
    Prompt(Input, bool),
    UserAnswers,
    Delegate(Agent, u32),
    /// A sub-agent delegates.
    DelegateNested(Agent),
    AgentStarts(Agent, u32),
    /// The main agent writes to an agent.
    Continue(u32),
    Report(Agent, u32, Channel, Content),
    /// The Agent tool returns; without a content, the agent runs in the background from now on.
    Returns(Agent, u32, Option<Content>),
    Fails(Agent, u32, Failure),
    /// The client's prompt about a background agent that has ended; without a content, it was killed.
    TaskEnds(u32, Option<Content>),
    /// The client's prompt with a report that was handed back.
    Delivers(u32, Content),
    /// The user stops a background agent.
    AgentStopped,
    /// With the running agents, if the client lists them.
    Stop(Option<Vec<u32>>),
    /// The main agent changes the source file with this number.
    MainEdits(u32),
    /// An event that is none of the workflow's business.
    Beside(usize),
    HoursPass,
    TaskDone,
    /// Whether the project's checks succeed from now on.
    Checks(bool),
    Message(u32),
    /// `true`: replaces a running workflow.
    Init(Workflow, bool),
}

/// What becomes of the process that handles an event.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fate {
    Ends,
    /// It is killed before it does anything.
    Lost,
    /// It is killed after its answer and its records, before the state is exchanged.
    Unstored,
    /// It is killed between the two state files.
    HalfStored,
    /// It is killed after the state, before the tasks are ticked.
    Unticked,
}

#[derive(Clone, PartialEq)]
pub(crate) struct Transition(pub(crate) Event, pub(crate) Fate);

/// One line, as it can be pasted into a regression test.
impl fmt::Debug for Transition {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Transition({:?}, {:?})", self.0, self.1)
    }
}

/// The decision on a tool call, or on a command.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum Ruling {
    #[default]
    NoOpinion,
    Allow,
    Deny,
}

/// The text that the main agent gets.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum ModelText {
    #[default]
    Nothing,
    /// To carry out this step.
    Step(Step),
    /// Something without orders.
    NoOrders,
    /// The loop sends it back to work.
    GoOn(Step),
    Anything,
}

/// The answer that an event must get.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Answer {
    pub(crate) ruling: Ruling,
    pub(crate) sent_back: bool,
    pub(crate) model_text: ModelText,
    /// Whether the user sees something.
    pub(crate) shown: bool,
    /// Whether the user sees what has waited.
    pub(crate) shows_waiting: bool,
}

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Loop {
    pub(crate) stopped_by: Option<StoppedBy>,
    pub(crate) paused: Option<Pause>,
    pub(crate) turn: Option<Turn>,
    pub(crate) turn_id: Option<u32>,
    pub(crate) announced: bool,
    pub(crate) iterations: u32,
    pub(crate) idle_rounds: u32,
    /// What there was when the last round began.
    pub(crate) progress: Option<Progress>,
}

/// Attempts and status of each stage, ticked boxes, and handoffs.
type Progress = (Vec<(u32, Status)>, usize, u32);

impl Loop {
    fn set_pause(&mut self, pause: Option<Pause>) {
        (self.paused, self.announced) = (pause, false);
        self.forget_rounds();
    }

    fn forget_rounds(&mut self) {
        (self.idle_rounds, self.progress) = (0, None);
    }

    fn restart(&mut self) {
        *self = Self { iterations: self.iterations, ..Self::default() };
    }
}

/// The checkboxes of the feature: those of stages, and of the work.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tasks {
    pub(crate) ticked: Vec<StageKey>,
    pub(crate) open: u32,
    pub(crate) done: u32,
}

/// A session as it must be.
#[derive(Clone)]
pub(crate) struct Model {
    pub(crate) flow: Flow,
    pub(crate) looping: Loop,
    pub(crate) tasks: Option<Tasks>,
    pub(crate) limits: Settings,
    pub(crate) now: i64,
    /// The number that the next agent, message or turn gets.
    pub(crate) next_number: u32,
    /// The tasks and the stages that had passed before the last event.
    pub(crate) tasks_before: Option<Tasks>,
    passed_before: Vec<StageKey>,
    /// The project's checks do not succeed.
    pub(crate) has_red_checks: bool,
    /// They have changed since somebody said so, which is true.
    pub(crate) documents: Documents,
    /// The event comes with evidence.
    is_examined: bool,
    /// A report counted although no delegation was recorded.
    pub(crate) had_stray: bool,
    pub(crate) answer: Answer,
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (workflow, passed) = (self.flow.workflow, self.flow.counts.completed);
        let tasks = self.tasks.as_ref().map(|tasks| tasks.open);
        write!(f, "Model::new({workflow:?}, {passed}, {tasks:?}, {})", self.limits != Settings::default())?;
        if self.flow.rules == StageRules::default() { Ok(()) } else { write!(f, ".lean()") }
    }
}

impl Model {
    /// A session whose first stages have passed.
    pub(crate) fn new(
        workflow: Workflow,
        passed: usize,
        open_tasks: Option<u32>,
        tight_limits: bool,
    ) -> Self {
        let mut flow = Flow::new(workflow);
        for stage in flow.stages.iter_mut().take(passed) {
            (stage.status, stage.verdict, stage.attempts) = (Status::Completed, Some(Verdict::Pass), 1);
            flow.counts.completed += 1;
        }
        let ticked = flow.stages.iter().take(passed).map(|stage| stage.key).collect();
        let mut limits = Settings::default();
        if tight_limits {
            (limits.max_failures, limits.max_rejections, limits.max_retros) = (2, 2, 1);
            (limits.max_iterations, limits.max_consecutive_errors) = (6, 2);
        }
        Self {
            flow,
            looping: Loop::default(),
            tasks: open_tasks.map(|open| Tasks { ticked, open, done: 0 }),
            limits,
            now: 0,
            next_number: 1,
            tasks_before: None,
            passed_before: Vec::new(),
            has_red_checks: false,
            documents: Documents::Same,
            is_examined: false,
            had_stray: false,
            answer: Answer::default(),
        }
    }

    /// With the rules by which the last stages may be left out.
    pub(crate) fn lean(mut self) -> Self {
        self.flow.rules = StageRules { retro: RetroRule::OnTrouble, docs: DocsRule::OnChange };
        self
    }

    /// The session after an event, as far as the process came that handled it.
    pub(crate) fn after(mut self, Transition(event, fate): &Transition) -> Self {
        self.now += if *event == Event::HoursPass { 3 * 3_600_000 } else { 1000 };
        self.answer = Answer::default();
        self.tasks_before.clone_from(&self.tasks);
        self.passed_before = self.passed();
        let before = self.clone();
        self.handle(event);
        self.show_waiting(event);
        match fate {
            Fate::Ends => self.tick_boxes(),
            // A new workflow has no tasks, however far its start came.
            Fate::HalfStored | Fate::Unticked if matches!(event, Event::Init(..)) => {}
            _ => self.tasks = before.tasks,
        }
        if matches!(fate, Fate::Lost | Fate::Unstored) {
            self.flow = before.flow;
        }
        if matches!(fate, Fate::Lost | Fate::Unstored | Fate::HalfStored) {
            self.looping = before.looping;
        }
        self.next_number += 1;
        self
    }

    fn handle(&mut self, event: &Event) {
        self.is_examined = matches!(event, Event::Report(..) | Event::Returns(..));
        match event {
            Event::Checks(succeed) => self.has_red_checks = !succeed,
            Event::Start(source) => self.start_session(*source),
            Event::End => self.looping.stopped_by = self.looping.stopped_by.or(Some(StoppedBy::SessionEnd)),
            Event::Compacting if self.flow.is_open() => {
                (self.answer.shown, self.answer.model_text) = (true, self.recovery());
            }
            Event::Prompt(input, joins) => self.prompt(*input, *joins),
            Event::UserAnswers => self.hear_user(),
            Event::Delegate(agent, n) => {
                self.flow.judge_changes();
                self.delegate(*agent, *n);
            }
            Event::DelegateNested(_) if self.flow.is_open() => self.deny(),
            Event::AgentStarts(agent, n) => self.agent_starts(*agent, *n),
            Event::Continue(n) => self.continue_agent(*n),
            Event::Report(agent, n, channel, content) => self.report(*agent, *n, *channel, *content),
            Event::Returns(_, n, None) => self.run_in_background(*n),
            Event::Returns(agent, n, Some(content)) => {
                self.returns(*agent, Some(*n), *n, *content);
                self.deliver();
            }
            Event::Fails(agent, n, failure) => self.fails(*agent, *n, *failure),
            Event::TaskEnds(n, content) => self.task_ends(*n, *content),
            Event::Delivers(n, content) => {
                self.begin_client_turn(Some(*n));
                if let Some(agent) = self.agent_of(None, *n) {
                    self.returns(agent, None, *n, *content);
                }
                self.deliver();
            }
            Event::AgentStopped => {
                if self.begin_client_turn(None) {
                    self.interrupt();
                }
            }
            Event::Stop(listed) => {
                self.flow.judge_changes();
                self.stop(listed.as_deref());
            }
            Event::Message(n) => self.answer.ruling = self.message(*n),
            Event::Init(workflow, force) => self.answer.ruling = self.init(*workflow, *force),
            Event::TaskDone => {
                if let Some(tasks) = self.tasks.as_mut().filter(|tasks| tasks.open > 0) {
                    (tasks.open, tasks.done) = (tasks.open - 1, tasks.done + 1);
                }
            }
            Event::MainEdits(_) if self.flow.is_open() && !self.is_taken_over() => {
                let was_noticed = self.flow.changed_outside;
                let reopened = self.flow.change_outside();
                self.answer.shown = !was_noticed || reopened;
                self.answer.model_text = ModelText::Anything;
            }
            Event::Beside(_) => self.answer.model_text = ModelText::Anything,
            Event::Compacting | Event::DelegateNested(_) | Event::MainEdits(_) | Event::HoursPass => {}
        }
    }

    /// The client shows the answers to these events to the user.
    fn show_waiting(&mut self, event: &Event) {
        let is_shown = matches!(
            event,
            Event::Prompt(..)
                | Event::Returns(..)
                | Event::TaskEnds(..)
                | Event::Delivers(..)
                | Event::AgentStopped
                | Event::Stop(_)
        );
        if is_shown && std::mem::take(&mut self.flow.user_waits) {
            (self.answer.shown, self.answer.shows_waiting) = (true, true);
        }
    }

    fn ticked_work(&self) -> Option<u32> {
        self.tasks.as_ref().map(|tasks| tasks.done)
    }

    fn next(&self) -> Step {
        self.flow.next(&self.limits)
    }

    pub(crate) fn is_halted(&self) -> bool {
        self.looping.stopped_by.is_some() || self.looping.paused.is_some()
    }

    /// Whether the user has stopped or interrupted the loop and may have the main agent do anything.
    fn is_taken_over(&self) -> bool {
        self.looping.stopped_by == Some(StoppedBy::User) || self.looping.paused == Some(Pause::Interrupted)
    }

    fn is_looping(&self) -> bool {
        self.flow.is_open() && self.looping.stopped_by.is_none()
    }

    fn passed(&self) -> Vec<StageKey> {
        self.flow.stages.iter().filter(|stage| stage.is_good()).map(|stage| stage.key).collect()
    }

    /// Ticks the boxes of the stages that have passed with this event.
    fn tick_boxes(&mut self) {
        let passed = self.passed();
        let Some(tasks) = &mut self.tasks else { return };
        for key in passed.into_iter().filter(|key| !self.passed_before.contains(key)) {
            tasks.ticked.retain(|ticked| *ticked != key);
            tasks.ticked.push(key);
        }
    }

    fn open_work(&self) -> u32 {
        self.tasks.as_ref().map_or(0, |tasks| tasks.open)
    }

    fn has_open_boxes(&self) -> bool {
        let Some(tasks) = &self.tasks else { return false };
        tasks.open > 0 || self.flow.stages.iter().any(|stage| !tasks.ticked.contains(&stage.key))
    }

    /// Whether the developer was sent for these tasks before and has finished none of them.
    fn tried_tasks(&self) -> bool {
        self.open_work() > 0 && self.flow.tasks_tried == Some(self.open_work())
    }

    fn deny(&mut self) {
        (self.answer.ruling, self.answer.model_text) = (Ruling::Deny, ModelText::Anything);
    }

    fn hear_user(&mut self) {
        if self.flow.is_open() {
            self.flow.hear_user();
        }
    }

    /// Hands all waiting notices to the main agent, with the next step unless it has to wait for the user.
    fn deliver(&mut self) {
        if self.flow.notices.is_empty() {
            return;
        }
        self.flow.notices.clear();
        let has_orders = match self.flow.ending {
            Some(ending) => ending == Ending::Completed,
            None => !self.is_halted(),
        };
        self.answer.model_text = if has_orders { ModelText::Step(self.next()) } else { ModelText::NoOrders };
    }

    fn start_session(&mut self, source: StartSource) {
        if source != StartSource::Compact {
            self.answer.shown = true;
            self.looping.turn = None;
            if self.flow.is_open() && self.looping.stopped_by == Some(StoppedBy::SessionEnd) {
                let paused = self.looping.paused.filter(|pause| *pause == Pause::Interrupted);
                self.looping.restart();
                self.looping.paused = paused;
            }
            self.flow.release(|_| true);
        }
        self.answer.model_text = if self.flow.is_open() { self.recovery() } else { ModelText::Anything };
    }

    /// The text that tells where the work stands.
    fn recovery(&self) -> ModelText {
        if self.is_halted() { ModelText::NoOrders } else { ModelText::Step(self.next()) }
    }

    /// Begins a turn with a prompt that the client made, about this agent. Returns whether the loop runs.
    fn begin_client_turn(&mut self, agent: Option<u32>) -> bool {
        if !self.is_looping() {
            return false;
        }
        (self.looping.turn, self.looping.turn_id) = (Some(Turn::Working), None);
        let is_ours = |n| self.flow.has_reported(n) || self.flow.workers.iter().any(|w| w.id == Some(n));
        if self.looping.paused == Some(Pause::Interrupted) && agent.is_some_and(is_ours) {
            self.looping.set_pause(None);
        }
        true
    }

    fn interrupt(&mut self) {
        self.looping.set_pause(Some(Pause::Interrupted));
        self.flow.release(|worker| !worker.background);
    }

    fn prompt(&mut self, input: Input, joins: bool) {
        if self.is_looping() {
            let was_in_turn = self.looping.turn.is_some();
            let joins = was_in_turn && joins && self.looping.turn_id.is_some();
            if !joins {
                self.looping.turn = Some(if input == Input::Look { Turn::Looking } else { Turn::Working });
                self.looping.turn_id = Some(self.next_number);
            }
            self.looping.forget_rounds();
            if was_in_turn && !joins {
                self.interrupt();
            }
        }
        if matches!(input, Input::Text | Input::Foreign) {
            self.hear_user();
        }
        let has_notices = !self.flow.notices.is_empty();
        match input {
            Input::Stop => {
                if self.flow.ending != Some(Ending::Completed) {
                    self.looping.stopped_by = Some(StoppedBy::User);
                }
                (self.answer.shown, self.answer.model_text) = (true, ModelText::NoOrders);
            }
            Input::Resume => self.resume(),
            Input::Foreign => {}
            Input::Look => {
                self.answer.model_text = if has_notices { ModelText::NoOrders } else { ModelText::Nothing }
            }
            Input::Text => self.answer.model_text = self.status(),
        }
        if matches!(input, Input::Text | Input::Look) {
            self.flow.notices.clear();
        }
    }

    /// The text that the main agent gets with a prompt.
    fn status(&self) -> ModelText {
        match (self.flow.ending, self.next()) {
            (Some(Ending::Completed), _) => ModelText::Anything,
            (Some(Ending::Aborted), _) | (None, Step::Blocked(_)) => ModelText::NoOrders,
            (None, _) if self.is_halted() => ModelText::NoOrders,
            (None, step) => ModelText::Step(step),
        }
    }

    fn resume(&mut self) {
        self.answer.shown = true;
        let may_resume = match self.flow.ending {
            Some(Ending::Completed) => return self.answer.model_text = ModelText::NoOrders,
            Some(Ending::Aborted) => true,
            None => self.is_halted(),
        };
        if !may_resume {
            return self.answer.model_text = self.status();
        }
        self.flow.counts.forgiven = (self.flow.counts.failures, self.flow.counts.rejections);
        self.flow.ending = None;
        self.flow.hear_user();
        self.looping.restart();
        self.looping.turn = Some(Turn::Working);
        if self.looping.iterations >= self.limits.max_iterations {
            self.looping.iterations = 0;
        }
        self.answer.model_text = ModelText::Step(self.next());
    }

    fn message(&mut self, n: u32) -> Ruling {
        if self.flow.ending == Some(Ending::Completed) || self.flow.notices.len() >= 8 {
            return Ruling::Deny;
        }
        self.flow.leave(Notice::Message(n));
        self.flow.hear_user();
        self.looping.set_pause(None);
        Ruling::Allow
    }

    /// Reports for the workflow before are not taken for reports for the new one, and messages are still delivered.
    fn init(&mut self, workflow: Workflow, force: bool) -> Ruling {
        if !force && self.flow.is_open() {
            return Ruling::Deny;
        }
        let earlier = std::mem::replace(&mut self.flow, Flow::new(workflow));
        self.flow.reported = earlier.reported;
        for worker in &earlier.workers {
            if let Some(id) = worker.id {
                self.flow.remember(id, worker.agent);
            }
        }
        self.flow.counts.completed = earlier.counts.completed;
        self.flow.notices = earlier.notices.into_iter().filter(|notice| *notice != Notice::Ours).collect();
        (self.looping, self.tasks) = (Loop::default(), None);
        Ruling::Allow
    }

    /// Whether there is a reason to do finished work again.
    fn may_repeat(&self, agent: Agent) -> bool {
        let flow = &self.flow;
        let has_issues = |stage: &StageRecord| {
            stage.key.stage == Stage::Retro && stage.is_good() && stage.verdict == Some(Verdict::Issues)
        };
        match agent {
            Agent::Debugger => flow.has_failed(),
            Agent::Developer => {
                flow.user_wrote
                    || (flow.counts.retros < self.limits.max_retros && flow.stages.iter().any(has_issues))
                    || (flow.is_finished() && self.has_open_boxes() && !self.tried_tasks())
            }
            _ => false,
        }
    }

    fn may_start(&self, agent: Agent) -> bool {
        self.flow.may_start(agent, self.may_repeat(agent), &self.limits)
    }

    fn gate(&self, agent: Agent) -> Ruling {
        match self.flow.ending {
            Some(Ending::Completed) => Ruling::NoOpinion,
            None if self.may_start(agent) => Ruling::Allow,
            _ => Ruling::Deny,
        }
    }

    fn delegate(&mut self, agent: Agent, n: u32) {
        // A call that the client asks about again gets the same answer.
        if self.flow.workers.iter().any(|worker| worker.call == Some(n)) {
            return self.answer.ruling = Ruling::Allow;
        }
        self.answer.ruling = self.gate(agent);
        match self.answer.ruling {
            Ruling::Deny => self.deny(),
            Ruling::Allow => {
                self.flow.notice_ticks(self.ticked_work());
                self.start(self.worker(agent, Some(n), None), true, self.open_work());
            }
            Ruling::NoOpinion => {}
        }
    }

    fn worker(&self, agent: Agent, call: Option<u32>, id: Option<u32>) -> Worker {
        let (background, awaits_start, since) = (id.is_some(), id.is_some(), self.now);
        let (stage, sent_back_for, has_handoff) = (None, Vec::new(), false);
        Worker { agent, stage, call, id, background, awaits_start, sent_back_for, has_handoff, since }
    }

    /// Somebody goes to work, so the loop goes on.
    fn start(&mut self, worker: Worker, may_start: bool, open_work: u32) {
        self.flow.start(worker, may_start, open_work);
        self.looping.turn = Some(Turn::Working);
        if self.looping.paused.is_some() {
            self.looping.set_pause(None);
        }
    }

    fn continue_agent(&mut self, n: u32) {
        let Some((_, agent)) = self.flow.reported.iter().find(|(id, _)| *id == n).copied() else { return };
        match self.gate(agent) {
            Ruling::Deny => self.deny(),
            Ruling::Allow => self.start(self.worker(agent, None, Some(n)), true, self.open_work()),
            Ruling::NoOpinion => {}
        }
    }

    fn agent_starts(&mut self, agent: Agent, n: u32) {
        self.answer.model_text = ModelText::Anything;
        if self.flow.reported.contains(&(n, agent)) {
            // The user wrote to it, which nobody can deny.
            if self.flow.is_open() {
                let wrote = std::mem::replace(&mut self.flow.user_wrote, true);
                let may_start = self.may_start(agent);
                self.flow.user_wrote = wrote || may_start;
                let worker = Worker { awaits_start: false, ..self.worker(agent, None, Some(n)) };
                self.start(worker, may_start, 0);
            }
            return;
        }
        let workers = &mut self.flow.workers;
        if let Some(known) = workers.iter_mut().find(|worker| worker.id == Some(n)) {
            known.awaits_start = false;
        } else if let Some(new) = workers.iter_mut().find(|w| w.agent == agent && w.id.is_none()) {
            new.id = Some(n);
        }
    }

    fn with_id(&self, n: u32) -> Option<usize> {
        self.flow.workers.iter().position(|worker| worker.id == Some(n))
    }

    fn with_call(&self, n: u32) -> Option<usize> {
        self.flow.workers.iter().position(|worker| worker.call == Some(n))
    }

    /// A call and an id that are named together show which of two twins is which.
    fn name_together(&mut self, n: u32) {
        if let (Some(right), Some(wrong)) = (self.with_call(n), self.with_id(n)) {
            let workers = &mut self.flow.workers;
            (workers[wrong].id, workers[right].id) = (workers[right].id, Some(n));
        }
    }

    /// A call that comes back for an agent that has reported is not that of the twin that was believed to have it.
    fn disown(&mut self, call: Option<u32>) {
        let guessed = self.flow.workers.iter_mut().find(|worker| call.is_some() && worker.call == call);
        if let Some(worker) = guessed.filter(|worker| worker.id.is_some()) {
            worker.call = None;
        }
    }

    fn run_in_background(&mut self, n: u32) {
        if self.flow.has_reported(n) {
            return self.disown(Some(n));
        }
        self.name_together(n);
        if let Some(at) = self.with_call(n).or(self.with_id(n)) {
            let worker = &mut self.flow.workers[at];
            (worker.background, worker.id) = (true, worker.id.or(Some(n)));
        }
    }

    /// A report of an agent that can be sent back to work.
    fn report(&mut self, agent: Agent, n: u32, channel: Channel, content: Content) {
        if !self.flow.is_open() || self.flow.has_reported(n) {
            return;
        }
        let of_kind = || self.flow.workers.iter().position(|w| w.agent == agent && w.id.is_none());
        let at = self.with_id(n).or_else(of_kind);
        if let Some(at) = at {
            let worker = &self.flow.workers[at];
            if worker.awaits_start && channel != Channel::Handback {
                return;
            }
            if let Some(missing) = self.missing(worker, content)
                && times_sent_back(worker, missing)
                    < if missing == SendBackReason::ChecksFailed { 2 } else { 1 }
            {
                return self.send_back(at, channel, content, missing);
            }
        }
        if channel != Channel::StopFirst {
            self.end_worker(agent, at, Some(n), content);
        }
    }

    fn missing(&self, worker: &Worker, content: Content) -> Option<SendBackReason> {
        let stage = self.flow.stage(worker.stage?)?;
        match content {
            Content::Unclear | Content::Silent => Some(SendBackReason::NoVerdict),
            _ if self.is_refuted(worker.agent, content)
                && times_sent_back(worker, SendBackReason::ChecksFailed) < 2 =>
            {
                Some(SendBackReason::ChecksFailed)
            }
            _ if content.is_pass() && stage.key.stage == Stage::Dev && self.open_work() > 0 => {
                Some(SendBackReason::OpenTasks)
            }
            _ => None,
        }
    }

    fn known_documents(&self, is_change_known: bool) -> Documents {
        if is_change_known { self.documents } else { Documents::Unknown }
    }

    /// Whether the checks speak against a report. Only development and tests need them.
    fn is_refuted(&self, agent: Agent, content: Content) -> bool {
        let needs_checks = matches!(agent, Agent::Developer | Agent::Tester);
        self.has_red_checks && self.is_examined && needs_checks && content.is_pass()
    }

    fn send_back(&mut self, at: usize, channel: Channel, content: Content, missing: SendBackReason) {
        let worker = &mut self.flow.workers[at];
        worker.sent_back_for.push(missing);
        if content == Content::Unclear {
            worker.has_handoff = true;
            self.flow.counts.handoffs += 1;
        }
        self.answer.sent_back = true;
        self.answer.ruling = if channel == Channel::Handback { Ruling::Deny } else { Ruling::NoOpinion };
    }

    /// The end of an agent as its call, or the client in a prompt, tells it. It counts only if somebody waits for it.
    fn returns(&mut self, agent: Agent, call: Option<u32>, n: u32, content: Content) {
        if self.flow.has_reported(n) {
            return self.disown(call);
        }
        if call.is_some() {
            self.name_together(n);
        }
        let is_nameless = |worker: &Worker| worker.agent == agent && (worker.id, worker.call) == (None, None);
        let nameless = || self.flow.workers.iter().position(is_nameless);
        if let Some(at) = self.with_id(n).or_else(|| self.with_call(call?)).or_else(nameless) {
            self.end_worker(agent, Some(at), Some(n), content);
        }
    }

    fn end_worker(&mut self, agent: Agent, at: Option<usize>, id: Option<u32>, content: Content) {
        let worker = at.map(|at| self.flow.workers.remove(at));
        self.flow.tasks_ticked = self.ticked_work();
        if let Some(id) = id {
            self.flow.remember(id, agent);
        }
        self.had_stray |= worker.is_none();
        let stage = match &worker {
            Some(worker) => worker.stage.filter(|key| self.flow.stage(*key).is_some()),
            None => self.flow.guess_stage(agent),
        };
        let has_text = !matches!(content, Content::Silent | Content::ApiError);
        let has_handoff = worker.is_some_and(|worker| worker.has_handoff);
        self.flow.counts.handoffs += u32::from(has_text && !has_handoff);
        if !matches!(content, Content::ApiError | Content::Marker(Verdict::Blocked)) {
            self.flow.hear_of_change(agent, content != Content::Invisible, content == Content::Documented);
        }
        if content == Content::Documented {
            self.documents = Documents::Changed;
        }
        match stage {
            Some(key) if content == Content::ApiError => drop(self.flow.close_if_left(key)),
            Some(key) if self.is_refuted(agent, content) => self.flow.judge(key, Verdict::Fail, false),
            Some(key) => self.flow.judge(key, verdict(agent, content), content == Content::Located),
            None => {}
        }
        self.flow.leave_out(self.known_documents(self.is_examined), &self.limits);
        self.flow.leave(Notice::Ours);
    }

    fn agent_of(&self, call: Option<u32>, n: u32) -> Option<Agent> {
        let is_it = |worker: &&Worker| worker.id == Some(n) || (call.is_some() && worker.call == call);
        self.flow.workers.iter().find(is_it).map(|worker| worker.agent)
    }

    fn task_ends(&mut self, n: u32, content: Option<Content>) {
        self.begin_client_turn(Some(n));
        match (self.agent_of(Some(n), n), content) {
            (Some(agent), Some(content)) => self.returns(agent, Some(n), n, content),
            (Some(_), None) => self.flow.miss(|worker| worker.id == Some(n) || worker.call == Some(n)),
            (None, _) => {}
        }
        self.deliver();
    }

    fn fails(&mut self, agent: Agent, n: u32, failure: Failure) {
        let workers = &self.flow.workers;
        let lacks_call =
            |worker: &Worker| worker.agent == agent && worker.call.is_none() && worker.id.is_some();
        let is_only_one = workers.iter().filter(|worker| lacks_call(worker)).count() == 1;
        let other = || workers.iter().position(|worker| is_only_one && lacks_call(worker));
        let at = self.with_call(n).or_else(other);
        if failure != Failure::Interrupted && (at.is_none() || failure == Failure::Launch) {
            (self.answer.shown, self.answer.model_text) = (true, ModelText::Anything);
        }
        let Some(worker) = at.map(|at| workers[at].clone()) else { return };
        if failure == Failure::Api {
            self.end_worker(worker.agent, at, worker.id, Content::ApiError);
            return self.deliver();
        }
        self.flow.release(|other| *other == worker);
        if failure == Failure::Interrupted {
            self.looping.set_pause(Some(Pause::Interrupted));
        }
    }

    fn stop(&mut self, listed: Option<&[u32]>) {
        if !self.flow.is_open() {
            // A killed Stop may have left the feature where it was.
            if self.flow.ending == Some(Ending::Completed) && !self.has_open_boxes() {
                self.tasks = None;
            }
            return;
        }
        let is_young = |worker: &Worker| self.now - worker.since < 2 * 3_600_000;
        let waits = match listed {
            Some(running) => running.iter().any(|n| !self.flow.has_reported(*n)),
            None => self.flow.workers.iter().any(|worker| worker.background && is_young(worker)),
        };
        if waits {
            return self.looping.turn = None;
        }
        self.flow.miss(|_| true);
        self.flow.notice_ticks(self.ticked_work());
        self.decide_stop();
        if !matches!(self.answer.model_text, ModelText::GoOn(_)) {
            self.looping.turn = None;
        }
    }

    fn decide_stop(&mut self) {
        let is_news = !self.looping.announced;
        self.answer.shown = true;
        if let Some(by) = self.looping.stopped_by {
            (self.answer.shown, self.looping.announced) = (is_news && by != StoppedBy::Limit, true);
            return;
        }
        if self.looping.turn != Some(Turn::Looking) && self.looping.paused.is_none() {
            self.flow.leave_out(self.known_documents(true), &self.limits);
        }
        // The boxes of stages that pass with this Stop are ticked with it.
        let mut ticked = self.clone();
        ticked.tick_boxes();
        if self.has_red_checks && self.next() == Step::Done && !ticked.has_open_boxes() {
            self.flow.fail_at_end();
        }
        match self.next() {
            Step::AskUser(_) | Step::Report(_) => {
                (self.flow.ending, self.looping.stopped_by) = (Some(Ending::Aborted), Some(StoppedBy::Limit));
            }
            Step::Done if !ticked.has_open_boxes() => {
                self.flow.ending = Some(Ending::Completed);
                (self.looping.stopped_by, self.tasks) = (Some(StoppedBy::Completion), None);
            }
            _ if self.looping.turn == Some(Turn::Looking) => self.answer.shown = false,
            Step::Blocked(_) => {}
            _ if self.looping.paused.is_some() => {
                (self.answer.shown, self.looping.announced) = (is_news, true);
            }
            _ if self.looping.iterations >= self.limits.max_iterations => {
                self.looping.stopped_by = Some(StoppedBy::Limit);
            }
            step if (step == Step::Done && self.tried_tasks()) || self.is_stuck() => {
                self.looping.set_pause(Some(Pause::NoProgress));
                self.looping.announced = true;
            }
            step => {
                self.looping.iterations += 1;
                self.flow.notices.clear();
                (self.answer.shown, self.answer.model_text) = (false, ModelText::GoOn(step));
            }
        }
    }

    /// Counts rounds in which nothing happened.
    fn is_stuck(&mut self) -> bool {
        let stages = self.flow.stages.iter().map(|stage| (stage.attempts, stage.status)).collect();
        let ticked = self.tasks.as_ref().map_or(0, |tasks| tasks.ticked.len() + tasks.done as usize);
        let progress = Some((stages, ticked, self.flow.counts.handoffs));
        let is_same = self.looping.progress == progress;
        self.looping.idle_rounds = if is_same { self.looping.idle_rounds + 1 } else { 0 };
        self.looping.progress = progress;
        self.looping.idle_rounds >= self.limits.max_consecutive_errors
    }
}

fn times_sent_back(worker: &Worker, reason: SendBackReason) -> usize {
    worker.sent_back_for.iter().filter(|earlier| **earlier == reason).count()
}

/// The verdict that a report stands for. Without one, the stage has failed.
fn verdict(agent: Agent, content: Content) -> Verdict {
    let given = match content {
        Content::Marker(given) => given,
        Content::Invisible | Content::Documented => Verdict::Pass,
        Content::Located | Content::Unclear | Content::Silent | Content::ApiError => Verdict::Fail,
    };
    // Without a verdict, the stage has failed even if it is a retrospective.
    if matches!(content, Content::Unclear | Content::Silent) {
        return Verdict::Fail;
    }
    let is_reviewer = matches!(agent.stage(), Some(Stage::Review | Stage::Security | Stage::DbReview));
    match given {
        Verdict::Fail | Verdict::Reject if agent == Agent::Retrospective => Verdict::Issues,
        Verdict::Issues if is_reviewer => Verdict::Reject,
        Verdict::Issues if agent != Agent::Retrospective => Verdict::Fail,
        given => given,
    }
}
