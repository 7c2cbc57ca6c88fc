//! What must have happened outside, so that these lines were written.

use overtone_engine::settings::Settings;
use overtone_engine::state::Hold;
use overtone_engine::{
    ENDED_WITHOUT_RESULT, INTERRUPTED, NO_REPORT, NO_REPORT_IN_TIME, NO_VERDICT, StartSource,
};
use overtone_registry::{Agent, EventKind, StageKey, Workflow};

use crate::line::{Line, Skipped};
use crate::session::MOST_AGENTS;
use crate::window::Window;

/// How far the lines of one decision reach, lost agents aside.
const REACH: usize = 8;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cause {
    Init {
        workflow: Workflow,
        feature: Option<String>,
        feature_is_new: bool,
        by: Option<String>,
    },
    StopLoop {
        by: String,
    },
    ResumeLoop {
        by: String,
    },
    StepAside {
        to: String,
    },
    ComeBack,
    Start(StartSource),
    End {
        reason: String,
    },
    Compact {
        trigger: String,
    },
    Delegate {
        agent: Agent,
        /// The id of an agent that had reported and goes on.
        continues: Option<String>,
    },
    Report(Report),
    SentBack(SentBack),
    /// The user interrupted the main agent while it waited for these.
    Interrupted(Vec<Which>),
    /// A background agent ended without a result.
    Lost(Which),
    ToolFailed {
        tool: String,
        slots: Option<Vec<String>>,
    },
    Stop(Stop),
    /// Nothing that the engine decides on.
    Given,
    /// Nothing that we know of writes this line by itself.
    Nothing,
}

/// An agent came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) agent: Agent,
    pub(crate) which: Which,
    pub(crate) agent_id: Option<String>,
    pub(crate) message: String,
    /// The transcript's size where a compaction was suggested.
    pub(crate) suggested_at: Option<u64>,
}

/// A report that an agent had to make again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SentBack {
    pub(crate) agent: Agent,
    pub(crate) which: Which,
    pub(crate) message: String,
    /// Open tasks were the reason, not the missing verdict.
    pub(crate) has_open_tasks: bool,
}

/// Which of the delegated agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Which {
    Slot(String),
    /// The delegation was not recorded.
    Unrecorded,
    /// An earlier version did not say: one of this kind, at this stage if there is one.
    Unsaid {
        agent: Agent,
        stage: Option<StageKey>,
    },
}

/// The main agent wanted to stop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stop {
    /// Whether the client said that no agent runs in the background.
    pub(crate) client_knows: bool,
    /// It was sent back to work.
    pub(crate) goes_on: bool,
    /// A person has spoken, or something else has moved, since the last round.
    pub(crate) is_fresh: bool,
    /// Open tasks of the feature, where the line says so.
    pub(crate) tasks: Option<u32>,
}

/// The cause of the next lines, and the limits it was decided under.
pub(crate) fn of<I>(window: &mut Window<I>) -> (Cause, Settings)
where
    I: Iterator<Item = Result<Line, Skipped>>,
{
    let Some(head) = window.peek(0).cloned() else { return (Cause::Nothing, Settings::default()) };
    let mut around = Around { window, limits: head.given("limits").map(str::to_owned) };
    let cause = around.cause(&head);
    around.learn_limits();
    let settings = around.limits.map(|limits| Settings::with_limits(&limits)).unwrap_or_default();
    (cause, settings)
}

struct Around<'a, I> {
    window: &'a mut Window<I>,
    limits: Option<String>,
}

impl<I: Iterator<Item = Result<Line, Skipped>>> Around<'_, I> {
    fn cause(&mut self, head: &Line) -> Cause {
        let text = |name| head.text(name).to_owned();
        match head.kind {
            EventKind::WorkflowStart => self.init(0),
            EventKind::WorkflowAbort if head.text("reason") == "replaced" => self.init(1),
            EventKind::LoopStart if head.text("reason") == "resumed" => Cause::ResumeLoop { by: text("by") },
            EventKind::SystemWarning if head.text("reason") == "loop-stopped" => {
                Cause::StopLoop { by: text("by") }
            }
            EventKind::SystemWarning if head.text("reason") == "session-moved" => {
                Cause::StepAside { to: text("to") }
            }
            EventKind::SystemWarning if head.text("reason") == "session-pulled" => Cause::ComeBack,
            EventKind::SystemWarning if head.text("reason") == "loop-limit" => self.stop(head, NO_REPORT),
            EventKind::SystemWarning if head.text("reason") == "report-sent-back" => sent_back(head),
            EventKind::SystemWarning | EventKind::SpecsArchive => Cause::Given,
            EventKind::SessionStart => Cause::Start(source(head.text("source"))),
            EventKind::SessionEnd => Cause::End { reason: text("reason") },
            EventKind::SessionCompact => Cause::Compact { trigger: text("trigger") },
            EventKind::StageStart | EventKind::ParallelStart | EventKind::AgentDelegate => {
                self.delegation(head)
            }
            EventKind::AgentComplete | EventKind::StageComplete | EventKind::StageRetry => self.report(head),
            EventKind::AgentError => self.error(head),
            EventKind::ToolFailure => failure(head),
            EventKind::LoopAdvance
            | EventKind::WorkflowComplete
            | EventKind::WorkflowAbort
            | EventKind::LoopComplete => self.stop(head, NO_REPORT),
            EventKind::LoopStart
            | EventKind::SpecsInit
            | EventKind::GraderScore
            | EventKind::ErrorFatal
            | EventKind::ParallelConverge
            | EventKind::SessionCompactSuggestion => Cause::Nothing,
        }
    }

    /// `at`: where the start of the workflow is expected.
    fn init(&mut self, at: usize) -> Cause {
        let Some(start) = self.window.peek(at).filter(|line| line.kind == EventKind::WorkflowStart) else {
            return Cause::Nothing;
        };
        let feature = start.given("featureName").map(str::to_owned);
        let by = start.given("by").map(str::to_owned);
        let Some(workflow) = Workflow::from_name(start.text("workflowType")) else { return Cause::Nothing };
        let is_specs = |line: &Line| line.kind == EventKind::SpecsInit;
        let feature_is_new = self.window.peek(at + 1).is_some_and(is_specs);
        Cause::Init { workflow, feature, feature_is_new, by }
    }

    fn delegation(&mut self, head: &Line) -> Cause {
        let mut agent = head.agent().or_else(|| head.stage().map(|key| key.stage.agent()));
        let mut continues = head.given("continues").map(str::to_owned);
        if head.kind != EventKind::AgentDelegate
            && let Some(delegate) =
                self.find(|kind| kind == EventKind::ParallelStart, EventKind::AgentDelegate)
        {
            agent = agent.or_else(|| delegate.agent());
            continues = delegate.given("continues").map(str::to_owned);
        }
        match agent {
            Some(agent) => Cause::Delegate { agent, continues },
            None => Cause::Nothing,
        }
    }

    fn report(&mut self, head: &Line) -> Cause {
        let Some(agent) = head.agent() else { return Cause::Nothing };
        let score = self.find(|_| false, EventKind::GraderScore);
        let score = score.as_ref().and_then(|line| line.fields.get("score")?.as_u64());
        self.report_of(head, agent, message(head, score))
    }

    fn report_of(&mut self, head: &Line, agent: Agent, message: String) -> Cause {
        let suggestion = self.find(is_consequence, EventKind::SessionCompactSuggestion);
        Cause::Report(Report {
            agent,
            which: which(head, agent),
            agent_id: head.given("agentId").map(str::to_owned),
            message,
            suggested_at: suggestion.map(|line| {
                line.fields.get("transcriptSize").and_then(serde_json::Value::as_u64).unwrap_or(0)
            }),
        })
    }

    fn error(&mut self, head: &Line) -> Cause {
        let Some(agent) = head.agent() else { return Cause::Nothing };
        match head.text("error") {
            reason @ (NO_REPORT | NO_REPORT_IN_TIME) => self.stop(head, reason),
            ENDED_WITHOUT_RESULT => Cause::Lost(which(head, agent)),
            INTERRUPTED => self.interrupted(),
            // The one other way to an error: the API broke.
            _ => self.report_of(head, agent, "API Error".to_owned()),
        }
    }

    /// One prompt may end the wait for several agents.
    fn interrupted(&mut self) -> Cause {
        let mut gone = Vec::new();
        while gone.len() < MOST_AGENTS
            && let Some(line) = self.window.peek(gone.len())
            && let Some(agent) = line.agent()
            && line.kind == EventKind::AgentError
            && line.text("error") == INTERRUPTED
        {
            gone.push(which(line, agent));
        }
        Cause::Interrupted(gone)
    }

    /// How a Stop ended stands behind the agents that it gave up.
    fn stop(&mut self, head: &Line, reason: &str) -> Cause {
        let mut at = 0;
        while at < MOST_AGENTS && self.window.peek(at).is_some_and(is_given_up) {
            at += 1;
        }
        // A stage that a twin of theirs had done is settled now.
        let given_up = at;
        while at > 0
            && at < given_up + MOST_AGENTS
            && self.window.peek(at).is_some_and(|l| is_consequence(l.kind))
        {
            at += 1;
        }
        let end = self.window.peek(at).filter(|line| is_end_of_stop(line)).cloned();
        let advance = end.as_ref().filter(|line| line.kind == EventKind::LoopAdvance);
        self.limits = self.limits.take().or_else(|| end.as_ref()?.given("limits").map(str::to_owned));
        Cause::Stop(Stop {
            client_knows: reason == NO_REPORT,
            goes_on: advance.is_some(),
            is_fresh: advance.is_some_and(|line| line.count("idle").unwrap_or(0) == 0),
            tasks: end.as_ref().and_then(|line| line.count("tasks")).or(head.count("tasks")),
        })
    }

    /// The limits are said with one of the consequences, where the head itself does not say them.
    fn learn_limits(&mut self) {
        let mut at = 1;
        while self.limits.is_none() && at < REACH {
            let Some(line) = self.window.peek(at).filter(|line| is_consequence(line.kind)) else { return };
            self.limits = line.given("limits").map(str::to_owned);
            at += 1;
        }
    }

    /// The first line of this kind behind the head, with nothing but `between` before it.
    fn find(&mut self, between: impl Fn(EventKind) -> bool, kind: EventKind) -> Option<Line> {
        for at in 1..REACH {
            let line = self.window.peek(at)?;
            if line.kind == kind {
                let found = line.clone();
                self.limits = self.limits.take().or_else(|| found.given("limits").map(str::to_owned));
                return Some(found);
            }
            if !between(line.kind) {
                return None;
            }
        }
        None
    }
}

/// What else is written when an agent came back.
const fn is_consequence(kind: EventKind) -> bool {
    matches!(
        kind,
        EventKind::GraderScore
            | EventKind::StageComplete
            | EventKind::StageRetry
            | EventKind::ErrorFatal
            | EventKind::ParallelConverge
    )
}

fn is_given_up(line: &Line) -> bool {
    line.kind == EventKind::AgentError && matches!(line.text("error"), NO_REPORT | NO_REPORT_IN_TIME)
}

fn is_end_of_stop(line: &Line) -> bool {
    match line.kind {
        EventKind::LoopAdvance | EventKind::WorkflowComplete => true,
        EventKind::WorkflowAbort => line.text("reason") != "replaced",
        EventKind::SystemWarning => line.text("reason") == "loop-limit",
        _ => false,
    }
}

fn which(line: &Line, agent: Agent) -> Which {
    match line.given("slot") {
        Some(slot) => Which::Slot(slot.to_owned()),
        None if line.has("slot") => Which::Unrecorded,
        None => Which::Unsaid { agent, stage: line.stage() },
    }
}

/// A text in which no verdict is found.
const NO_VERDICT_TEXT: &str = "a report";

/// A message with that verdict, or without one where there was none; an agent that left no message leaves none here.
fn message(line: &Line, score: Option<u64>) -> String {
    let is_silent = line.fields.get("handoff").is_some_and(serde_json::Value::is_null);
    let grade = score.map(|score| format!("<!-- GRADE: {{\"score\":{score}}} -->")).unwrap_or_default();
    match line.verdict() {
        _ if is_silent && score.is_none() => String::new(),
        Some(verdict) if line.text("reason") != NO_VERDICT => {
            format!("<!-- VERDICT: {{\"result\":\"{}\"}} -->{grade}", verdict.key())
        }
        _ => format!("{NO_VERDICT_TEXT}{grade}"),
    }
}

fn sent_back(line: &Line) -> Cause {
    let Some(agent) = line.agent() else { return Cause::Nothing };
    let has_open_tasks = line.text("missing") == Hold::OpenTasks.key();
    let has_text = line.count("handoff").is_some();
    let message = match (has_open_tasks, has_text) {
        (true, _) => "<!-- VERDICT: {\"result\":\"PASS\"} -->".to_owned(),
        (false, true) => NO_VERDICT_TEXT.to_owned(),
        (false, false) => String::new(),
    };
    Cause::SentBack(SentBack { agent, which: which(line, agent), message, has_open_tasks })
}

fn failure(line: &Line) -> Cause {
    let list = line.fields.get("slots").and_then(serde_json::Value::as_array);
    let slots = list.map(|list| list.iter().filter_map(|slot| slot.as_str().map(str::to_owned)).collect());
    Cause::ToolFailed { tool: line.text("toolName").to_owned(), slots }
}

/// The source of a recorded start. One after a compaction is not recorded.
fn source(name: &str) -> StartSource {
    match name {
        "resume" => StartSource::Resume,
        "clear" => StartSource::Clear,
        "fork" => StartSource::Fork,
        _ => StartSource::Startup,
    }
}
