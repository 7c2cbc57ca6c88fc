//! A session in memory: the engine decides, effects are applied as the hook driver does, and every answer, state and record
//! is compared with the model.

use std::collections::BTreeSet;

use overtone_core::engine::commands::{self, Start};
use overtone_core::engine::flow::Step;
use overtone_core::engine::state::{
    Ending, Millis, SendBackReason, StageResult, Status, Verdict, WorkflowState,
};
use overtone_core::engine::text::step_text;
use overtone_core::engine::{
    Effect, Feature, FeatureOrigin, FieldValue, Permission, Record, Reply, Snapshot, ToolCaller, Trigger,
};
use overtone_core::evidence::{Evidence, WorkflowChange};
use overtone_core::messages::prompt::MESSAGE_MARK;
use overtone_core::messages::{Lang, stage_name};
use overtone_core::registry::{Agent, EventKind, WarningReason};
use proptest_state_machine::StateMachineTest;

use crate::events::due_agents;
use crate::model::{
    Channel, Content, Event, Failure, Fate, Input, Loop, Model, ModelText, Ruling, Tasks, Transition,
};
use crate::rules::{Counts, Documents, Flow, Notice, StageRecord, Worker};
use crate::world::{World, verdict};

/// The longest reason of a refusal, which the client shows to the user.
const SHORT_REASON: usize = 100;
const PROMPT: &str = "do your part";

/// The system under test.
pub(crate) struct Session {
    world: World,
    /// The handoffs that were saved.
    handoffs: BTreeSet<String>,
    /// The messages that the main agent got with an answer whose state was stored.
    delivered: BTreeSet<u32>,
    was_killed: bool,
}

impl StateMachineTest for Session {
    type SystemUnderTest = Self;
    type Reference = Model;

    fn init_test(model: &Model) -> Self {
        let mut world = World::new(model.flow.workflow);
        (world.facts.lang, world.facts.settings) = (Lang::En, model.limits.clone());
        let workflow = world.workflow_mut();
        workflow.feature_name = model.tasks.as_ref().map(|_| "feature".to_owned());
        workflow.completed_stages = Some(model.flow.counts.completed);
        workflow.rules = model.flow.rules;
        for (stage, passed) in workflow.stages.iter_mut().zip(&model.flow.stages) {
            (stage.status, stage.attempts) = (passed.status, passed.attempts);
            stage.result = passed.verdict.map(StageResult::Verdict);
        }
        Self { world, handoffs: BTreeSet::new(), delivered: BTreeSet::new(), was_killed: false }
    }

    /// `model` is the one after the transition.
    fn apply(mut session: Self, model: &Model, Transition(event, fate): Transition) -> Self {
        session.was_killed |= fate != Fate::Ends;
        if fate == Fate::Lost {
            return session;
        }
        let before = session.world.snapshot.clone();
        let reply = session.play(&event, model);
        check_answer(&event, &reply, model);
        session.check_recovery(&event, &reply);
        session.save_handoffs(&event, fate);
        match fate {
            Fate::Unstored => session.world.snapshot = before,
            Fate::HalfStored => session.world.snapshot.looping = before.looping,
            Fate::Ends => session.check_records(&event, &before, model),
            Fate::Lost | Fate::Unticked => {}
        }
        if fate != Fate::Unstored {
            session.note_messages(&reply);
        }
        session
    }

    fn check_invariants(session: &Self, model: &Model) {
        let workflow = session.world.workflow();
        let flow = view_flow(workflow);
        assert_eq!(flow, model.flow);
        assert_eq!(view_loop(session), Loop { progress: None, ..model.looping.clone() });
        check_rules(&flow, model);
        let of_agents = workflow.active_agents.iter().filter_map(|agent| agent.handoff.as_ref());
        let of_stages = workflow.stages.iter().filter_map(|stage| stage.handoff.as_ref());
        let lost = of_agents.chain(of_stages).find(|file| !session.handoffs.contains(*file));
        assert_eq!(lost, None, "a handoff that is named is there");
    }
}

impl Session {
    /// Lets the engine decide and applies all effects.
    fn play(&mut self, event: &Event, model: &Model) -> Reply {
        let world = &mut self.world;
        world.facts.now = Millis(model.now - 1000);
        world.facts.feature = model.tasks_before.as_ref().map(|tasks| feature(model, tasks));
        world.facts.prompt_id = None;
        world.facts.evidence = evidence(event, model);
        world.facts.workflow_change = workflow_change(event, model);
        let (call, id) = (|n: &u32| format!("call-{n}"), |n: &u32| format!("agent-{n}"));
        let refused = |refused: bool| Reply {
            permission: if refused { Some(Permission::Deny { reason: String::new() }) } else { None },
            ..Reply::default()
        };
        match event {
            Event::Start(source) => world.start(*source),
            Event::End => world.fire(&Trigger::SessionEnded { reason: "other" }),
            Event::Compacting => world.fire(&Trigger::Compacting { trigger: "auto" }),
            Event::Prompt(input, joins) => {
                let new_turn = Some(format!("turn-{}", model.next_number - 1));
                let open_turn = world.looping().turn.and(world.looping().prompt_id.clone());
                world.facts.prompt_id = if *joins { open_turn.or(new_turn) } else { new_turn };
                world.prompt(typed(*input))
            }
            Event::UserAnswers => self.fire_without_loop(&Trigger::UserAnswered),
            Event::Delegate(agent, n) => world.fire(&Trigger::Delegating {
                subagent_type: &format!("ot:{}", agent.name()),
                description: "work",
                prompt: PROMPT,
                tool_use_id: Some(&call(n)),
            }),
            Event::DelegateNested(agent) => {
                world.fire(&Trigger::AgentDelegating { subagent_type: &format!("ot:{}", agent.name()) })
            }
            Event::AgentStarts(agent, n) => {
                world.facts.feature = None;
                world.started(agent.name(), &id(n));
                Reply::default()
            }
            Event::Continue(n) => world.fire(&Trigger::ContinuingAgent { agent_id: &id(n) }),
            Event::Report(agent, n, channel, content) => {
                let (agent_type, agent_id) = (&format!("ot:{}", agent.name()), &id(n));
                let (message, hands_back) = (&report_text(*content), *channel == Channel::StopFirst);
                self.fire_without_loop(&match channel {
                    Channel::Handback => Trigger::HandingBack { agent_type, agent_id, message },
                    _ => Trigger::AgentStopped { agent_type, agent_id, message, hands_back },
                })
            }
            Event::Returns(agent, n, content) => world.fire(&Trigger::AgentReturned {
                tool_use_id: Some(&call(n)),
                agent_id: Some(&id(n)),
                subagent_type: &format!("ot:{}", agent.name()),
                finished: content.is_some(),
                content: &content.map(report_text).unwrap_or_default(),
                handback: "",
            }),
            Event::Fails(agent, n, failure) => world.fire(&Trigger::ToolFailed {
                tool: "Agent",
                error: if *failure == Failure::Api { "API Error: 529" } else { "no such agent" },
                command: "",
                interrupted: *failure == Failure::Interrupted,
                tool_use_id: Some(&call(n)),
                agent: Some(*agent),
                caller: ToolCaller::Main,
            }),
            Event::TaskEnds(n, content) => {
                let status = if content.is_some() { "completed" } else { "killed" };
                let result =
                    content.map(report_text).unwrap_or_default().replace('<', "&lt;").replace('>', "&gt;");
                world.prompt(&format!(
                    "<task-notification><task-id>{}</task-id><tool-use-id>{}</tool-use-id>\
                     <status>{status}</status><result>{result}</result></task-notification>",
                    id(n),
                    call(n)
                ))
            }
            Event::Delivers(n, content) => {
                let report = report_text(*content).replace('\n', "\n  ");
                world.prompt(&format!("<agent-message from=\"{}\">\n  {report}\n</agent-message>", id(n)))
            }
            Event::AgentStopped => world.prompt("Background agent \"work\" was stopped by the user."),
            Event::Stop(listed) => {
                let listed: Option<Vec<_>> = listed.as_ref().map(|all| all.iter().map(id).collect());
                world.fire(&Trigger::Stopping { background: listed.as_deref() })
            }
            Event::MainEdits(n) => {
                "/p".clone_into(&mut world.facts.folders.project);
                let path = format!("/p/src/{n}.rs");
                world.fire(&Trigger::FileWritten { path: &path, text: "", caller: ToolCaller::Main })
            }
            Event::Beside(which) => world.fire(&BESIDE[*which]),
            Event::HoursPass | Event::TaskDone | Event::Checks(_) => {
                world.effects.clear();
                Reply::default()
            }
            Event::Message(n) => refused(world.send_message(&format!("message-{n}")).is_err()),
            Event::Init(workflow, force) => {
                let start = Start { force: *force, ..Start::new("s", *workflow, world.facts.now) };
                refused(world.command(commands::init(&world.snapshot, &start)).is_err())
            }
        }
    }

    /// The driver does not load the loop for every event.
    fn fire_without_loop(&mut self, trigger: &Trigger) -> Reply {
        let looping = self.world.snapshot.looping.take();
        let reply = self.world.fire(trigger);
        assert_eq!(self.world.snapshot.looping, None, "the loop was not loaded");
        self.world.snapshot.looping = looping;
        reply
    }

    /// After a compaction and in a new process, the main agent gets to know where the work stands.
    fn check_recovery(&self, event: &Event, reply: &Reply) {
        let workflow = self.world.workflow();
        let text = match event {
            Event::Start(_) if workflow.is_open() => reply.model_context.as_ref(),
            Event::Compacting if workflow.is_open() => reply.system_message.as_ref(),
            _ => return,
        };
        let stage = stage_name(Lang::En, workflow.current_stage.unwrap().stage);
        for word in [&workflow.workflow_type, &stage] {
            assert!(text.unwrap().contains(word), "{word} is not in {text:?}");
        }
    }

    fn save_handoffs(&mut self, event: &Event, fate: Fate) {
        if matches!(event, Event::Init(..)) && fate != Fate::Unstored && !self.world.effects.is_empty() {
            self.handoffs.clear();
        }
        for effect in &self.world.effects {
            if let Effect::SaveHandoff(handoff) = effect {
                let is_new = self.handoffs.insert(handoff.file.clone());
                assert!(self.was_killed || is_new != handoff.appends, "{} is overwritten", handoff.file);
            }
        }
    }

    /// No message is delivered twice. That none is lost follows from the notices that wait.
    fn note_messages(&mut self, reply: &Reply) {
        for text in [&reply.model_context, &reply.block].into_iter().flatten() {
            for n in text.lines().filter_map(message_number) {
                assert!(self.delivered.insert(n), "message {n} is delivered twice");
            }
        }
    }

    /// The timeline tells what changed, each once; boxes are ticked and the feature is archived with it.
    fn check_records(&self, event: &Event, before: &Snapshot, model: &Model) {
        let (before, after) = (before.workflow.as_ref().unwrap(), self.world.workflow());
        let effects = &self.world.effects;
        let count = |is_it: &dyn Fn(&Record) -> bool| {
            effects.iter().filter(|effect| matches!(effect, Effect::Emit(record) if is_it(record))).count()
        };
        if matches!(event, Event::Init(..)) {
            return;
        }
        assert!(
            before.completed_stages <= after.completed_stages && before.handoff_count <= after.handoff_count
        );
        for (old, new) in
            before.stages.iter().zip(&after.stages).filter(|(old, new)| old.status != new.status)
        {
            let kind = match new.verdict() {
                _ if new.status == Status::Pending => continue,
                _ if new.status == Status::Active => EventKind::StageStart,
                Some(Verdict::Blocked) => EventKind::SystemWarning,
                Some(Verdict::Fail | Verdict::Reject) => EventKind::StageRetry,
                _ => EventKind::StageComplete,
            };
            let key = old.key.to_string();
            let is_recorded =
                |record: &Record| record.kind == kind && field(record, "stage") == key && is_news(record);
            assert_eq!(count(&is_recorded), 1, "{} of {key}", kind.name());
            let group = model.flow.group(old.key);
            let mut members = model.flow.stages.iter().filter(|stage| group.contains(&stage.key));
            let converges = group.len() > 1 && members.all(|stage| stage.status == Status::Completed);
            let name = model.flow.workflow.group_of(old.key).map_or("", |(group, _)| group.name);
            let is_of_group = |record: &Record| {
                record.kind == EventKind::ParallelConverge && field(record, "group") == name
            };
            let recorded = count(&is_of_group);
            assert_eq!(recorded, usize::from(converges), "the group of {key} converges");
        }
        let is_end =
            |record: &Record| matches!(record.kind, EventKind::WorkflowComplete | EventKind::WorkflowAbort);
        let has_ended = before.ending.is_none() && after.ending.is_some();
        assert_eq!(count(&is_end), usize::from(has_ended), "an end is recorded once");
        let says_pass = matches!(
            event,
            Event::Report(.., content)
                | Event::Returns(.., Some(content))
                | Event::TaskEnds(_, Some(content))
                | Event::Delivers(_, content) if content.is_pass()
        );
        let passes =
            |record: &Record| record.kind == EventKind::AgentComplete && field(record, "result") == "pass";
        assert!(count(&passes) <= usize::from(says_pass), "an agent passes that did not say so");
        let (ticked, was_ticked) = (model.tasks.iter().flat_map(|t| &t.ticked), &model.tasks_before);
        for key in ticked.filter(|key| was_ticked.as_ref().is_some_and(|tasks| !tasks.ticked.contains(key))) {
            let ticks = |e: &&Effect| matches!(e, Effect::TickStage { key: ticked, .. } if ticked == key);
            assert_eq!(effects.iter().filter(ticks).count(), 1, "{key} is ticked");
        }
        let archives = effects.iter().any(|effect| matches!(effect, Effect::ArchiveFeature { .. }));
        assert_eq!(
            archives,
            model.tasks.is_none() && was_ticked.is_some(),
            "the feature is archived at the end"
        );
    }
}

/// What the driver finds out: it runs the checks for the reports of the stages that need them, and at the end.
fn evidence(event: &Event, model: &Model) -> Evidence {
    let is_checked = match event {
        Event::Report(agent, ..) | Event::Returns(agent, ..) => {
            matches!(agent, Agent::Developer | Agent::Tester)
        }
        Event::Stop(_) => true,
        _ => false,
    };
    if is_checked && model.has_red_checks {
        Evidence::that_objects(SendBackReason::ChecksFailed)
    } else {
        Evidence::default()
    }
}

/// The changed files, where the driver looks them up.
fn workflow_change(event: &Event, model: &Model) -> Option<WorkflowChange> {
    if !matches!(event, Event::Report(..) | Event::Returns(..) | Event::Stop(_)) {
        return None;
    }
    let files =
        if model.documents == Documents::Changed { vec!["docs/lock.md".to_owned()] } else { Vec::new() };
    Some(WorkflowChange { base: String::new(), files })
}

fn typed(input: Input) -> &'static str {
    match input {
        Input::Text => "please go on",
        Input::Look => "/ot:status",
        Input::Stop => "/ot:stop",
        Input::Resume => "/ot:resume",
        Input::Foreign => "/review",
    }
}

fn report_text(content: Content) -> String {
    match content {
        Content::Marker(given) => verdict(&given.key().to_uppercase()),
        Content::Located => format!("src/lock.rs:7 sticks\n{}", verdict("FAIL")),
        Content::Invisible => r#"<!-- VERDICT: {"result":"PASS","visible":false} -->"#.to_owned(),
        Content::Documented => {
            r#"<!-- VERDICT: {"result":"PASS","visible":true,"documented":true} -->"#.to_owned()
        }
        Content::Unclear => "Everything passes, looks good. VERDICT: PASS".to_owned(),
        Content::Silent => String::new(),
        Content::ApiError => "API Error: 529".to_owned(),
    }
}

/// Events that change nothing of a workflow, however bad they sound.
pub(crate) const BESIDE: [Trigger; 5] = [
    Trigger::BashRan { command: "cargo test", error: Some("10 failed"), caller: ToolCaller::Main },
    Trigger::FileWritten { path: "a.md", text: "10 failed", caller: ToolCaller::Main },
    Trigger::AgentStopped { agent_type: "Explore", agent_id: "x", message: "10 failed", hands_back: false },
    Trigger::Delegating { subagent_type: "Explore", description: "", prompt: "", tool_use_id: Some("x") },
    Trigger::ChangingFile {
        agent_type: "ot:developer",
        caller: ToolCaller::Stage(Agent::Developer),
        tool: "Edit",
        path: "a.rs",
        text: "",
    },
];

fn feature(model: &Model, tasks: &Tasks) -> Feature {
    let keys = model.flow.stages.iter().map(|stage| stage.key).filter(|key| !tasks.ticked.contains(key));
    let open_work: Vec<_> = (0..tasks.open).map(|n| format!("part {n} works")).collect();
    let pending: Vec<_> = keys.map(|key| key.to_string()).chain(open_work.iter().cloned()).collect();
    let checked = tasks.ticked.len() + tasks.done as usize;
    let (name, origin, total) = ("feature".to_owned(), FeatureOrigin::Own, checked + pending.len());
    Feature { name, origin, checked, total, pending, open_work, ticked_work: tasks.done as usize }
}

fn field<'a>(record: &'a Record, name: &str) -> &'a str {
    match record.fields.iter().find(|(field, _)| *field == name) {
        Some((_, FieldValue::Text(text))) => text,
        _ => "",
    }
}

/// Of warnings, only that about a blocked stage.
fn is_news(record: &Record) -> bool {
    record.kind != EventKind::SystemWarning || field(record, "reason") == WarningReason::StageBlocked.name()
}

fn check_answer(event: &Event, reply: &Reply, model: &Model) {
    let expected = &model.answer;
    let is_command = matches!(event, Event::Message(_) | Event::Init(..));
    let ruling = match &reply.permission {
        Some(Permission::Deny { .. }) => Ruling::Deny,
        Some(_) => Ruling::Allow,
        None if is_command => Ruling::Allow,
        None => Ruling::NoOpinion,
    };
    assert_eq!(ruling, expected.ruling, "{reply:?}");
    match &reply.permission {
        Some(Permission::Allow { patch: Some(patch), .. }) => {
            assert!(patch.foreground && patch.prompt.ends_with(&format!("\n{PROMPT}")), "{patch:?}");
        }
        Some(Permission::Deny { reason }) if !expected.sent_back && !is_command => {
            let is_short = reason.starts_with("Overtone") && reason.chars().count() <= SHORT_REASON;
            assert!(is_short && !reason.contains(['\n', '⛔']), "{reason}");
            assert!(reply.model_context.is_some(), "a refusal without advice");
        }
        _ => {}
    }
    if let Event::Report(_, _, channel, _) = event {
        let blocks = expected.sent_back && *channel != Channel::Handback;
        assert_eq!(reply.block.is_some(), blocks, "sent back: {reply:?}");
    }
    assert_eq!(reply.system_message.is_some(), expected.shown, "the user sees {:?}", reply.system_message);
    if !matches!(event, Event::Compacting) {
        let may_be_long = expected.shows_waiting || !matches!(event, Event::Start(_) | Event::Prompt(..));
        let shown = reply.system_message.as_deref().unwrap_or_default();
        assert!(!shown.contains('⛔') && (may_be_long || !shown.contains('\n')), "the user reads {shown}");
    }
    check_model_text(event, reply, model);
}

fn check_model_text(event: &Event, reply: &Reply, model: &Model) {
    let given = match event {
        Event::Compacting => reply.system_message.as_deref(),
        Event::Stop(None) => reply.block.as_deref(),
        _ => reply.model_context.as_deref(),
    };
    let text = given.unwrap_or_default();
    match &model.answer.model_text {
        ModelText::Anything => {}
        ModelText::Nothing => assert_eq!(given, None),
        ModelText::NoOrders => {
            let order = step_text(Lang::En, &model.flow.next(&model.limits));
            assert!(given.is_some() && !text.contains('⛔') && !text.contains(&order), "orders in {text:?}");
        }
        // Open tasks come before the summary.
        ModelText::Step(Step::Done) => assert!(given.is_some(), "nothing is said"),
        ModelText::Step(step) => {
            assert!(text.contains(&step_text(Lang::En, step)), "{step:?} is not in {text:?}");
        }
        ModelText::GoOn(step) => {
            let names: Vec<_> = due_agents(step).iter().map(|agent| agent.name().to_uppercase()).collect();
            let parallel = format!("Next, in parallel: {}.", names.join(", "));
            let has_step = text.contains(&parallel) || text.contains(&format!("Next: {}", names[0]));
            assert!(has_step, "{step:?} is not in {text:?}");
        }
    }
}

/// What holds in every workflow at any time.
fn check_rules(flow: &Flow, model: &Model) {
    for (at, stage) in flow.stages.iter().enumerate() {
        let group = flow.group(stage.key);
        let mut in_front = flow.stages[..at].iter().filter(|other| !group.contains(&other.key));
        let is_active = stage.status == Status::Active;
        let is_skipped = |other: &StageRecord| {
            let was_passed_over = other.attempts == 0 && !flow.may_leave_out(other.key.stage);
            (is_active && !other.is_good()) || (stage.attempts > 0 && was_passed_over)
        };
        assert!(!in_front.any(is_skipped), "{} is out of order", stage.key);
        let was_done = stage.attempts > 0 || stage.is_left_out;
        assert!(stage.status != Status::Completed || was_done, "{} was never started", stage.key);
        let is_worked_on = flow.workers.iter().any(|worker| worker.stage == Some(stage.key));
        assert_eq!(is_active, is_worked_on, "{} and its agents", stage.key);
    }
    assert!(flow.is_finished() || flow.ending != Some(Ending::Completed));
    let mut names: Vec<_> =
        flow.workers.iter().flat_map(|w| [w.id.map(|n| (n, 0)), w.call.map(|n| (n, 1))]).collect();
    names.retain(Option::is_some);
    assert_eq!(names.iter().flatten().collect::<BTreeSet<_>>().len(), names.len(), "an agent is there twice");
    // Agents of a group that work when the limit is reached still report.
    let beside = flow.workflow.groups().iter().map(|group| group.members.len() - 1).max();
    let beside = u32::try_from(beside.unwrap_or(0)).unwrap();
    let Counts { failures, rejections, forgiven, .. } = flow.counts;
    assert!(model.had_stray || failures - forgiven.0 <= model.limits.max_failures + beside, "failures");
    assert!(model.had_stray || rejections - forgiven.1 <= model.limits.max_rejections + beside, "rejections");
}

fn number(name: &str) -> u32 {
    name.rsplit('-').next().unwrap().parse().unwrap()
}

fn message_number(line: &str) -> Option<u32> {
    if line.starts_with(MESSAGE_MARK) { Some(number(line)) } else { None }
}

fn view_flow(state: &WorkflowState) -> Flow {
    let stages = state.stages.iter().map(|stage| StageRecord {
        key: stage.key,
        status: stage.status,
        verdict: stage.verdict(),
        attempts: stage.attempts,
        is_left_out: stage.is_by_rule(),
        failures: stage.failures,
        is_located: stage.names_place,
    });
    let workers = state.active_agents.iter().map(|agent| Worker {
        agent: agent.agent().unwrap(),
        stage: agent.stage,
        call: agent.tool_use_id.as_deref().map(number),
        id: agent.agent_id.as_deref().map(number),
        background: agent.background,
        awaits_start: agent.awaits_start,
        sent_back_for: agent.sent_back_for.clone(),
        has_handoff: agent.handoff.is_some(),
        since: agent.started_at.unwrap().0,
    });
    let notices = state.notices.iter().map(|text| message_number(text).map_or(Notice::Ours, Notice::Message));
    Flow {
        workflow: state.template().unwrap(),
        stages: stages.collect(),
        workers: workers.collect(),
        reported: state.finished_agents.iter().map(|f| (number(&f.id), f.agent.unwrap())).collect(),
        counts: Counts {
            failures: state.fail_count,
            rejections: state.reject_count,
            retros: state.retro_count,
            forgiven: (state.forgiven_failures, state.forgiven_rejections),
            handoffs: state.handoff_count,
            completed: state.completed_stages.unwrap(),
        },
        user_wrote: state.user_wrote,
        tasks_tried: state.tasks_tried,
        tasks_ticked: state.tasks_ticked,
        user_waits: !state.user_notices.is_empty(),
        ending: state.ending,
        notices: notices.collect(),
        changed_outside: !state.outside.files.is_empty(),
        judge_again: state.outside.judge_again,
        rules: state.rules,
        was_blocked: state.was_blocked,
        visible: state.visible_change,
        documented: state.documented_change,
    }
}

fn view_loop(session: &Session) -> Loop {
    let state = session.world.looping();
    assert_eq!(state.stopped, state.stopped_by.is_some());
    Loop {
        stopped_by: state.stopped_by,
        paused: state.paused,
        turn: state.turn,
        turn_id: state.prompt_id.as_deref().map(number),
        announced: state.announced,
        iterations: state.iterations,
        idle_rounds: state.consecutive_errors,
        progress: None,
    }
}
