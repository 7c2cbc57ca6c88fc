//! Which events a session may see next: mostly what a client does that follows the orders, and now and then what it should
//! not do.

use overtone_core::engine::StartSource;
use overtone_core::engine::flow::Step;
use overtone_core::engine::state::Verdict;
use overtone_core::registry::{Agent, Workflow};
use proptest::prelude::*;
use proptest::sample::select;
use proptest_state_machine::ReferenceStateMachine;

use crate::model::{Channel, Content, Event, Failure, Fate, Input, Model, Transition};
use crate::rules::Worker;
use crate::session::BESIDE;

impl ReferenceStateMachine for Model {
    type State = Self;
    type Transition = Transition;

    fn init_state() -> BoxedStrategy<Self> {
        let tasks = prop_oneof![Just(None), (0..3u32).prop_map(Some)];
        // Begins near the start or near the end, so that the last stages are reached, too.
        let start = (
            select(Workflow::ALL.to_vec()),
            any::<bool>(),
            0..5usize,
            tasks,
            prop::bool::weighted(0.4),
            any::<bool>(),
        );
        let model = start.prop_map(|(workflow, is_late, distance, tasks, tight, is_lean)| {
            let stages = workflow.stages().len();
            let passed = if is_late { stages.saturating_sub(distance) } else { distance };
            let model = Self::new(workflow, passed, tasks, tight);
            if is_lean { model.lean() } else { model }
        });
        model.boxed()
    }

    fn transitions(model: &Self) -> BoxedStrategy<Transition> {
        let model = model.clone();
        let numbers = (any::<u32>(), any::<u32>(), 0..100u8);
        numbers
            .prop_map(move |(choice, details, fate)| choose(&model, choice, Details(details), fate))
            .boxed()
    }

    fn apply(model: Self, transition: &Transition) -> Self {
        model.after(transition)
    }
}

/// The event that random numbers stand for. Smaller numbers stand for simpler events, which shrinking makes use of.
fn choose(model: &Model, choice: u32, details: Details, fate: u8) -> Transition {
    let mut events = main_agent(model, details);
    for worker in &model.flow.workers {
        events.extend(working_agent(worker, model, details));
    }
    if !model.flow.reported.is_empty() {
        let (n, agent) = details.pick(3, &model.flow.reported);
        events.extend(finished_agent(agent, n, details));
    }
    events.extend(others(model, details));
    let mut at = choice % events.iter().map(|(weight, _)| weight).sum::<u32>();
    let chosen = events.into_iter().find(|(weight, _)| {
        let is_it = at < *weight;
        at = at.saturating_sub(*weight);
        is_it
    });
    let (_, event) = chosen.unwrap();
    let fate = match fate {
        // These are not handled by a process.
        _ if matches!(event, Event::HoursPass | Event::TaskDone | Event::Checks(_)) => Fate::Ends,
        92..94 => Fate::Lost,
        94..96 => Fate::Unstored,
        96..98 => Fate::HalfStored,
        98.. => Fate::Unticked,
        _ => Fate::Ends,
    };
    Transition(event, fate)
}

/// A random number that the details of an event are taken from.
#[derive(Clone, Copy)]
struct Details(u32);

impl Details {
    /// Which of `count` things it is. Choices with different digits are independent.
    fn below(self, digit: u32, count: usize) -> usize {
        (self.0 >> (6 * digit)) as usize % count
    }

    fn pick<T: Copy>(self, digit: u32, things: &[T]) -> T {
        things[self.below(digit, things.len())]
    }

    fn content(self) -> Content {
        match self.below(0, 30) {
            0..12 => Content::Marker(Verdict::Pass),
            21..25 => Content::Invisible,
            27..30 => Content::Documented,
            25 | 26 => Content::Located,
            12..14 => Content::Marker(Verdict::Fail),
            14 => Content::Marker(Verdict::Reject),
            15 => Content::Marker(Verdict::Issues),
            16 => Content::Marker(Verdict::Blocked),
            17 | 18 => Content::Unclear,
            19 => Content::Silent,
            _ => Content::ApiError,
        }
    }
}

type Weighted = Vec<(u32, Event)>;

/// The agents that the main agent has to send for a step.
pub(crate) fn due_agents(step: &Step) -> Vec<Agent> {
    match step {
        Step::Delegate(keys) => keys.iter().map(|key| key.stage.agent()).collect(),
        Step::Repair(_) => vec![Agent::Debugger, Agent::Developer],
        Step::Rework(_) | Step::Done => vec![Agent::Developer],
        Step::Again(key) | Step::Blocked(key) => vec![key.stage.agent()],
        Step::Wait(_) | Step::Report(_) | Step::AskUser(_) | Step::OverBudget(_) => Vec::new(),
    }
}

fn main_agent(model: &Model, details: Details) -> Weighted {
    let (n, anybody) = (model.next_number, details.pick(1, &Agent::ALL));
    let due = due_agents(&model.flow.next(&model.limits)).into_iter();
    let mut events: Weighted = due.map(|agent| (25, Event::Delegate(agent, n))).collect();
    let background = model.flow.workers.iter().filter(|worker| worker.background);
    let listed = background.filter_map(|worker| worker.id).collect();
    events.extend([
        (8, Event::Stop(Some(Vec::new()))),
        (3, Event::Stop(Some(listed))),
        (3, Event::Stop(None)),
    ]);
    events.extend([(3, Event::Delegate(anybody, n)), (1, Event::DelegateNested(anybody))]);
    // A retrospective with issues may send the work back to development.
    let has_issues = model.flow.counts.retros > 0;
    events.push((if has_issues { 10 } else { 1 }, Event::Delegate(Agent::Developer, n)));
    events
}

/// What an agent does that is at work.
fn working_agent(worker: &Worker, model: &Model, details: Details) -> Weighted {
    let (agent, content) = (worker.agent, details.content());
    // Of twins, the client starts any one first.
    let twins = model.flow.workers.iter().filter(|other| other.agent == agent);
    let mut names: Vec<_> = twins.flat_map(|twin| [twin.call, twin.id]).flatten().collect();
    if names.is_empty() {
        names.push(model.next_number);
    }
    let any_name = details.pick(2, &names);
    let n = worker.id.unwrap_or(any_name);
    let failure = details.pick(4, &[Failure::Launch, Failure::Api, Failure::Interrupted]);
    let mut events = vec![
        (if worker.id.is_none() || worker.awaits_start { 16 } else { 1 }, Event::AgentStarts(agent, n)),
        (2, Event::Fails(agent, any_name, failure)),
        (2, Event::Returns(agent, any_name, Some(content))),
        (3, Event::Returns(agent, any_name, None)),
        (1, Event::Delegate(agent, any_name)),
        (if worker.id.is_none() { 3 } else { 1 }, Event::Delegate(agent, model.next_number)),
        (1, Event::Report(agent, n, Channel::Stop, content)),
    ];
    if worker.id.is_some() {
        let task_end = if details.below(4, 3) == 2 { None } else { Some(content) };
        events.extend([
            (12, Event::Report(agent, n, Channel::Stop, content)),
            (5, Event::Report(agent, n, Channel::Handback, content)),
            (2, Event::Report(agent, n, Channel::StopFirst, content)),
            (if worker.background { 5 } else { 1 }, Event::TaskEnds(n, task_end)),
            (1, Event::Delivers(n, content)),
        ]);
    }
    events
}

/// What comes from an agent that has reported.
fn finished_agent(agent: Agent, n: u32, details: Details) -> Weighted {
    let content = details.content();
    vec![
        (8, Event::Returns(agent, n, Some(content))),
        (3, Event::TaskEnds(n, Some(content))),
        (3, Event::Delivers(n, content)),
        (2, Event::Report(agent, n, Channel::Stop, content)),
        (4, Event::Continue(n)),
        (3, Event::AgentStarts(agent, n)),
    ]
}

/// What the user does, and accidents.
fn others(model: &Model, details: Details) -> Weighted {
    use StartSource::{Compact, Fork, Resume, Startup};
    let joins = details.below(1, 2) == 1;
    let command = details.pick(2, &[Input::Look, Input::Stop, Input::Resume, Input::Foreign]);
    // Nobody has delegated this one, or the hook of its delegation was lost.
    let stranger = 1_000_000 + model.next_number;
    let channel = details.pick(4, &[Channel::Stop, Channel::Handback]);
    let (anybody, workflow) = (details.pick(1, &Agent::ALL), details.pick(1, &Workflow::ALL));
    let is_over = model.is_halted() || !model.flow.is_open();
    vec![
        (4, Event::Prompt(Input::Text, joins)),
        (3, Event::Prompt(command, joins)),
        (if is_over { 6 } else { 0 }, Event::Prompt(Input::Resume, false)),
        (1, Event::UserAnswers),
        (1, Event::Message(model.next_number)),
        (1, Event::TaskDone),
        (if model.has_red_checks { 4 } else { 1 }, Event::Checks(model.has_red_checks)),
        (1, Event::Start(details.pick(1, &[Compact, Startup, Resume, Fork]))),
        (1, Event::End),
        (1, Event::Compacting),
        (1, Event::AgentStopped),
        (1, Event::HoursPass),
        (1, Event::Beside(details.below(1, BESIDE.len()))),
        (2, Event::MainEdits(model.next_number)),
        (1, Event::Report(anybody, stranger, channel, details.content())),
        (if model.flow.is_open() { 1 } else { 4 }, Event::Init(workflow, details.below(2, 5) == 4)),
    ]
}
