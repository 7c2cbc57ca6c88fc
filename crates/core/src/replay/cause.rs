//! Infers the event from outside that led to the next lines of a timeline.

use crate::engine::settings::Settings;
use crate::engine::state::SendBackReason;
use crate::engine::{
    ENDED_WITHOUT_RESULT, ENDS_WORK, INTERRUPTED, NO_REPORT, NO_REPORT_IN_TIME, NO_VERDICT, RULE, RuleReason,
    StartSource,
};
use crate::registry::{
    Agent, DocsRule, EventKind, GuardLevel, RetroRule, Stage, StageKey, StageRules, WarningReason, Workflow,
};

use crate::replay::line::{Line, SkippedLine};
use crate::replay::session::MAX_AGENTS;
use crate::replay::window::Window;

/// The most lines that one decision records, not counting lost agents.
const MAX_LINES_PER_DECISION: usize = 8;

/// An event from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Cause {
    Init {
        workflow: Workflow,
        feature: Option<String>,
        feature_is_new: bool,
        guard: GuardLevel,
        rules: StageRules,
        by: Option<String>,
    },
    StopLoop {
        by: String,
    },
    ResumeLoop {
        by: String,
    },
    HandOver {
        to: String,
    },
    TakeBack,
    Start(StartSource),
    End {
        reason: String,
    },
    Compact {
        trigger: String,
    },
    Delegate {
        agent: Agent,
        /// The id of an agent that had reported and is continued.
        continues: Option<String>,
    },
    Report(Report),
    SentBack(SentBack),
    /// The user interrupted the main agent while it waited for these.
    Interrupted(Vec<AgentRef>),
    /// A background agent ended without a result.
    Lost(AgentRef),
    ToolFailed {
        tool: String,
        slots: Option<Vec<String>>,
    },
    Stop(Stop),
    /// Files were changed outside a stage, which opened these stages again.
    ChangedOutside {
        reopened: Vec<StageKey>,
    },
    /// A limit of the budget was reached.
    BudgetReached {
        ends_work: bool,
    },
    /// The user raised the budget.
    BudgetRaised,
    /// The line itself is the event, and the engine does not decide on it.
    External,
    /// No known event leads to this line.
    Nothing,
}

impl Cause {
    /// Whether the line itself is the event, so that no further line is expected.
    pub(crate) fn is_line_itself(&self) -> bool {
        matches!(
            self,
            Self::External | Self::ChangedOutside { .. } | Self::BudgetReached { .. } | Self::BudgetRaised
        )
    }
}

/// An agent reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) agent: Agent,
    pub(crate) agent_ref: AgentRef,
    pub(crate) agent_id: Option<String>,
    pub(crate) message: String,
    /// The size of the transcript, if a compaction was suggested.
    pub(crate) suggested_at: Option<u64>,
    /// The evidence for which the stage failed although the report said PASS.
    pub(crate) objection: Option<SendBackReason>,
    /// Why DOCS was skipped by its rule after it.
    pub(crate) docs_skipped: Option<RuleReason>,
}

/// A report that was sent back to its agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SentBack {
    pub(crate) agent: Agent,
    pub(crate) agent_ref: AgentRef,
    pub(crate) message: String,
    pub(crate) reason: SendBackReason,
}

/// A reference to one of the delegated agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AgentRef {
    Slot(String),
    /// The delegation was not recorded.
    Unrecorded,
    /// An earlier version did not record the slot: an agent of this kind, preferably at this stage.
    Guess {
        agent: Agent,
        stage: Option<StageKey>,
    },
}

/// The main agent was about to stop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "they are independent facts of one Stop")]
pub(crate) struct Stop {
    /// Whether the client lists the running agents, and listed none.
    pub(crate) client_lists_agents: bool,
    /// The main agent was sent back to work.
    pub(crate) is_continued: bool,
    /// There was progress or input of the user since the last round.
    pub(crate) has_progress: bool,
    /// The number of open tasks of the feature, if recorded.
    pub(crate) tasks: Option<u32>,
    /// The stages that failed because the checks did not succeed at the end.
    pub(crate) failed_stages: Vec<StageKey>,
    /// Why DOCS was skipped by its rule.
    pub(crate) docs_skipped: Option<RuleReason>,
}

/// Infers the cause of the next lines, and the limits that were in force.
pub(crate) fn infer_cause<I>(window: &mut Window<I>) -> (Cause, Settings)
where
    I: Iterator<Item = Result<Line, SkippedLine>>,
{
    let Some(head) = window.peek(0).cloned() else { return (Cause::Nothing, Settings::default()) };
    let mut inference = Inference { window, limits: head.optional_text("limits").map(str::to_owned) };
    let cause = inference.cause(&head);
    inference.find_limits();
    let settings = inference.limits.map(|limits| Settings::with_limits(&limits)).unwrap_or_default();
    (cause, settings)
}

/// Infers a cause from the next line and those after it.
struct Inference<'a, I> {
    window: &'a mut Window<I>,
    limits: Option<String>,
}

impl<I: Iterator<Item = Result<Line, SkippedLine>>> Inference<'_, I> {
    fn cause(&mut self, head: &Line) -> Cause {
        let text = |name| head.text(name).to_owned();
        match head.kind {
            EventKind::WorkflowStart => self.init(0),
            EventKind::WorkflowAbort if head.text("reason") == "replaced" => self.init(1),
            EventKind::LoopStart if head.text("reason") == "resumed" => Cause::ResumeLoop { by: text("by") },
            EventKind::SystemWarning => match head.warning_reason() {
                Some(WarningReason::LoopStopped) => Cause::StopLoop { by: text("by") },
                Some(WarningReason::SessionMoved) => Cause::HandOver { to: text("to") },
                Some(WarningReason::SessionPulled) => Cause::TakeBack,
                Some(WarningReason::LoopLimit) => self.stop(head, NO_REPORT),
                Some(WarningReason::ReportSentBack) => sent_back(head),
                Some(WarningReason::GateBypassed) => {
                    Cause::ChangedOutside { reopened: head.stages("reopened") }
                }
                Some(WarningReason::BudgetReached) => {
                    Cause::BudgetReached { ends_work: head.text("ends") == ENDS_WORK }
                }
                Some(WarningReason::BudgetRaised) => Cause::BudgetRaised,
                // Recorded by others than the engine, or without any consequence for the state that is compared.
                Some(
                    WarningReason::BudgetNear
                    | WarningReason::BudgetUnpriced
                    | WarningReason::EditAccepted
                    | WarningReason::FeatureMoved
                    | WarningReason::FeatureTaken
                    | WarningReason::ForgedHook
                    | WarningReason::Handback
                    | WarningReason::HelperLimit
                    | WarningReason::LessonJudged
                    | WarningReason::LineTooLong
                    | WarningReason::Message
                    | WarningReason::StageBlocked
                    | WarningReason::StateEdited
                    | WarningReason::TasksTicked,
                )
                | None => Cause::External,
            },
            EventKind::SpecsArchive => Cause::External,
            EventKind::SessionStart => Cause::Start(source(head.text("source"))),
            EventKind::SessionEnd => Cause::End { reason: text("reason") },
            EventKind::SessionCompact => Cause::Compact { trigger: text("trigger") },
            EventKind::StageStart | EventKind::ParallelStart | EventKind::AgentDelegate => {
                self.delegation(head)
            }
            EventKind::StageRetry if is_failed_by_checks(head) => self.stop(head, NO_REPORT),
            // After a report, it is one of the consequences of that.
            EventKind::StageComplete if is_by_rule(head) => self.stop(head, NO_REPORT),
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

    /// `at` is the distance at which the start of the workflow is expected.
    fn init(&mut self, at: usize) -> Cause {
        let Some(start) = self.window.peek(at).filter(|line| line.kind == EventKind::WorkflowStart) else {
            return Cause::Nothing;
        };
        let feature = start.optional_text("featureName").map(str::to_owned);
        let by = start.optional_text("by").map(str::to_owned);
        let guard = start.optional_text("guard").and_then(GuardLevel::from_name).unwrap_or_default();
        let rules = StageRules {
            retro: start.optional_text("retro").and_then(RetroRule::from_name).unwrap_or_default(),
            docs: start.optional_text("docs").and_then(DocsRule::from_name).unwrap_or_default(),
        };
        let Some(workflow) = Workflow::from_name(start.text("workflowType")) else { return Cause::Nothing };
        let feature_is_new =
            matches!(self.window.peek(at + 1), Some(line) if line.kind == EventKind::SpecsInit);
        Cause::Init { workflow, feature, feature_is_new, guard, rules, by }
    }

    fn delegation(&mut self, head: &Line) -> Cause {
        let mut agent = head.agent().or_else(|| head.stage().map(|key| key.stage.agent()));
        let mut continues = head.optional_text("continues").map(str::to_owned);
        if head.kind != EventKind::AgentDelegate
            && let Some(delegate) =
                self.find(|kind| kind == EventKind::ParallelStart, EventKind::AgentDelegate)
        {
            agent = agent.or_else(|| delegate.agent());
            continues = delegate.optional_text("continues").map(str::to_owned);
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
        let docs_skipped = self.docs_skipped(1);
        Cause::Report(Report {
            agent,
            agent_ref: agent_ref(head, agent),
            agent_id: head.optional_text("agentId").map(str::to_owned),
            message,
            objection: evidence_reason(head),
            docs_skipped,
            suggested_at: suggestion.map(|line| {
                line.fields.get("transcriptSize").and_then(serde_json::Value::as_u64).unwrap_or(0)
            }),
        })
    }

    /// Why DOCS is skipped in one of the lines of this decision, which begin at this distance.
    fn docs_skipped(&mut self, first: usize) -> Option<RuleReason> {
        for at in first..first + MAX_LINES_PER_DECISION {
            let line = self.window.peek(at).filter(|line| is_consequence(line.kind))?;
            let is_docs = matches!(line.stage(), Some(key) if key.stage == Stage::Docs);
            if is_docs && is_by_rule(line) {
                let reason = RuleReason::from_key(line.text("reason"));
                return Some(reason.unwrap_or(RuleReason::NothingVisible));
            }
        }
        None
    }

    fn error(&mut self, head: &Line) -> Cause {
        let Some(agent) = head.agent() else { return Cause::Nothing };
        match head.text("error") {
            reason @ (NO_REPORT | NO_REPORT_IN_TIME) => self.stop(head, reason),
            ENDED_WITHOUT_RESULT => Cause::Lost(agent_ref(head, agent)),
            INTERRUPTED => self.interrupted(),
            // The only other error of an agent is an API error.
            _ => self.report_of(head, agent, "API Error".to_owned()),
        }
    }

    /// One prompt may interrupt several agents.
    fn interrupted(&mut self) -> Cause {
        let mut interrupted = Vec::new();
        while interrupted.len() < MAX_AGENTS
            && let Some(line) = self.window.peek(interrupted.len())
            && let Some(agent) = line.agent()
            && line.kind == EventKind::AgentError
            && line.text("error") == INTERRUPTED
        {
            interrupted.push(agent_ref(line, agent));
        }
        Cause::Interrupted(interrupted)
    }

    /// The lines of a Stop begin with the agents that it gave up and end with its outcome.
    fn stop(&mut self, head: &Line, reason: &str) -> Cause {
        let mut at = 0;
        while at < MAX_AGENTS
            && let Some(line) = self.window.peek(at)
            && is_given_up(line)
        {
            at += 1;
        }
        // Stages for which a twin had reported are settled after that, and then those that the checks speak against fail.
        let given_up = at;
        let has_consequences = given_up > 0 || is_failed_by_checks(head) || is_by_rule(head);
        let docs_skipped = if has_consequences { self.docs_skipped(given_up) } else { None };
        let mut failed_stages = Vec::new();
        while has_consequences
            && at < given_up + MAX_AGENTS
            && let Some(line) = self.window.peek(at)
            && is_consequence(line.kind)
        {
            if is_failed_by_checks(line) {
                failed_stages.extend(line.stage());
            }
            at += 1;
        }
        let end = self.window.peek(at).filter(|line| is_end_of_stop(line)).cloned();
        let advance = end.as_ref().filter(|line| line.kind == EventKind::LoopAdvance);
        self.limits = self.limits.take().or_else(|| end.as_ref()?.optional_text("limits").map(str::to_owned));
        Cause::Stop(Stop {
            client_lists_agents: reason == NO_REPORT,
            is_continued: advance.is_some(),
            has_progress: matches!(advance, Some(line) if line.count("idle").unwrap_or(0) == 0),
            tasks: end.as_ref().and_then(|line| line.count("tasks")).or(head.count("tasks")),
            failed_stages,
            docs_skipped,
        })
    }

    /// Finds the limits in one of the following lines of the decision, if the first line does not have them.
    fn find_limits(&mut self) {
        let mut at = 1;
        while self.limits.is_none() && at < MAX_LINES_PER_DECISION {
            let Some(line) = self.window.peek(at).filter(|line| is_consequence(line.kind)) else { return };
            self.limits = line.optional_text("limits").map(str::to_owned);
            at += 1;
        }
    }

    /// The next line of this kind, if all lines up to it satisfy `between`.
    fn find(&mut self, between: impl Fn(EventKind) -> bool, kind: EventKind) -> Option<Line> {
        for at in 1..MAX_LINES_PER_DECISION {
            let line = self.window.peek(at)?;
            if line.kind == kind {
                let found = line.clone();
                self.limits = self.limits.take().or_else(|| found.optional_text("limits").map(str::to_owned));
                return Some(found);
            }
            if !between(line.kind) {
                return None;
            }
        }
        None
    }
}

/// Whether an event is recorded as a consequence of a report.
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

/// Whether a stage failed because of the project's checks. The record of a report comes before that of its stage, so this is
/// the first line of a decision only at the end of a workflow.
fn is_failed_by_checks(line: &Line) -> bool {
    line.kind == EventKind::StageRetry && evidence_reason(line) == Some(SendBackReason::ChecksFailed)
}

/// Whether a stage was completed by a rule.
fn is_by_rule(line: &Line) -> bool {
    line.kind == EventKind::StageComplete && line.text("by") == RULE
}

fn is_given_up(line: &Line) -> bool {
    line.kind == EventKind::AgentError && matches!(line.text("error"), NO_REPORT | NO_REPORT_IN_TIME)
}

fn is_end_of_stop(line: &Line) -> bool {
    match line.kind {
        EventKind::LoopAdvance | EventKind::WorkflowComplete => true,
        EventKind::WorkflowAbort => line.text("reason") != "replaced",
        EventKind::SystemWarning => line.warning_reason() == Some(WarningReason::LoopLimit),
        _ => false,
    }
}

fn agent_ref(line: &Line, agent: Agent) -> AgentRef {
    match line.optional_text("slot") {
        Some(slot) => AgentRef::Slot(slot.to_owned()),
        None if line.has("slot") => AgentRef::Unrecorded,
        None => AgentRef::Guess { agent, stage: line.stage() },
    }
}

/// A report that says PASS.
const PASS_TEXT: &str = "<!-- VERDICT: {\"result\":\"PASS\"} -->";

/// The evidence for which the stage failed, if the report said PASS.
fn evidence_reason(line: &Line) -> Option<SendBackReason> {
    SendBackReason::from_key(line.text("reason"))
}

/// A report without a verdict.
const NO_VERDICT_TEXT: &str = "a report";

/// A message that leads to the recorded verdict, or an empty one if the agent left no message.
fn message(line: &Line, score: Option<u64>) -> String {
    let is_silent = matches!(line.fields.get("handoff"), Some(serde_json::Value::Null));
    let grade = score.map(|score| format!("<!-- GRADE: {{\"score\":{score}}} -->")).unwrap_or_default();
    match line.verdict() {
        _ if is_silent && score.is_none() => String::new(),
        Some(_) if evidence_reason(line).is_some() => format!("{PASS_TEXT}{grade}"),
        Some(verdict) if line.text("reason") != NO_VERDICT => {
            format!("<!-- VERDICT: {{\"result\":\"{}\"}} -->{grade}", verdict.key())
        }
        _ => format!("{NO_VERDICT_TEXT}{grade}"),
    }
}

fn sent_back(line: &Line) -> Cause {
    let Some(agent) = line.agent() else { return Cause::Nothing };
    let reason = SendBackReason::from_key(line.text("missing")).unwrap_or(SendBackReason::NoVerdict);
    let has_text = line.count("handoff").is_some();
    let message = match reason {
        SendBackReason::NoVerdict if has_text => NO_VERDICT_TEXT,
        SendBackReason::NoVerdict => "",
        _ => PASS_TEXT,
    };
    let message = message.to_owned();
    Cause::SentBack(SentBack { agent, agent_ref: agent_ref(line, agent), message, reason })
}

fn failure(line: &Line) -> Cause {
    let list = line.fields.get("slots").and_then(serde_json::Value::as_array);
    let slots = list.map(|list| list.iter().filter_map(|slot| slot.as_str().map(str::to_owned)).collect());
    Cause::ToolFailed { tool: line.text("toolName").to_owned(), slots }
}

/// The source of a recorded start. A start after a compaction is not recorded.
fn source(name: &str) -> StartSource {
    match name {
        "resume" => StartSource::Resume,
        "clear" => StartSource::Clear,
        "fork" => StartSource::Fork,
        _ => StartSource::Startup,
    }
}
