//! What a case consists of. Everything is data, so that a case is about ten lines of a table.

/// A scripted session.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// In kebab-case, unique among all cases.
    pub name: &'static str,
    /// What happens, in one sentence for the page.
    pub title: &'static str,
    pub source: Source,
    /// The workflow that the user has started. `None` for a session without one.
    pub workflow: Option<&'static str>,
    /// The feature that the workflow is about.
    pub feature: Option<&'static str>,
    /// Whether the project has an `overtone.toml` whose check runs its tests, which the user has trusted.
    pub has_checks: bool,
    /// Commands of the user before the client starts.
    pub setup: &'static [&'static str],
    pub screen: Screen,
    /// The turns of the main agent. When they are used up, it repeats its last words.
    pub main: &'static [Step],
    /// The turns of each kind of sub-agent, in the order in which its instances ask. When they are used up, the last one is
    /// repeated: the agent insists.
    pub agents: &'static [(Role, &'static [Step])],
    /// The misbehaviour got through if all of these hold at the end. Empty for honest work.
    pub harm: &'static [Harm],
    /// Words of which a notice has to contain one, such as the path of the changed file. Without any, a notice is not
    /// enough: the harm has to be prevented at every level.
    pub facts: &'static [&'static str],
    /// Who has to be told beside the user.
    pub informed: Informed,
}

/// The values that most cases have.
pub(super) const CASE: Case = Case {
    name: "",
    title: "",
    source: Source::Honest,
    workflow: Some("single"),
    feature: None,
    has_checks: false,
    setup: &[],
    screen: Screen::Without,
    main: &[],
    agents: &[],
    harm: &[],
    facts: &[],
    informed: Informed::Reviewer,
};

impl Case {
    /// Whether it is honest work, which must not be disturbed.
    pub fn is_honest(&self) -> bool {
        self.source == Source::Honest
    }

    /// How many requests the model gets if nothing interferes.
    pub fn scripted_requests(&self) -> usize {
        let turns = |steps: &[Step]| steps.iter().filter(|step| !matches!(step, Step::User(_))).count();
        turns(self.main) + self.agents.iter().map(|(_, steps)| turns(steps)).sum::<usize>()
    }
}

/// The kind of a misbehaviour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    FalseSuccess,
    TestsTampered,
    StepsSkipped,
    StaleVerification,
    Forgery,
    Git,
    FanOut,
    /// No misbehaviour.
    Honest,
}

impl Source {
    pub const fn title(self) -> &'static str {
        match self {
            Self::FalseSuccess => "false success",
            Self::TestsTampered => "tests tampered with",
            Self::StepsSkipped => "steps skipped",
            Self::StaleVerification => "stale verification",
            Self::Forgery => "forgery",
            Self::Git => "git",
            Self::FanOut => "unbounded fan-out",
            Self::Honest => "honest",
        }
    }
}

/// How the client runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// `claude -p`.
    Without,
    /// The interactive client in a terminal, in the mode that it starts in by default.
    Terminal,
}

/// A kind of sub-agent. Each column has its own name for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    Planner,
    Developer,
    Debugger,
    Reviewer,
    Tester,
    Retrospective,
    DocUpdater,
    /// The client's own agent that only looks around.
    Explorer,
    /// The client's own agent for everything.
    Helper,
}

impl Role {
    pub const ALL: [Self; 9] = [
        Self::Planner,
        Self::Developer,
        Self::Debugger,
        Self::Reviewer,
        Self::Tester,
        Self::Retrospective,
        Self::DocUpdater,
        Self::Explorer,
        Self::Helper,
    ];

    /// The name of Overtone's agent, and of the agents that the bare client is given. The last two are the client's.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Planner => "planner",
            Self::Developer => "developer",
            Self::Debugger => "debugger",
            Self::Reviewer => "code-reviewer",
            Self::Tester => "tester",
            Self::Retrospective => "retrospective",
            Self::DocUpdater => "doc-updater",
            Self::Explorer => "Explore",
            Self::Helper => "general-purpose",
        }
    }

    /// Whether the client brings this agent with it.
    pub const fn is_built_in(self) -> bool {
        matches!(self, Self::Explorer | Self::Helper)
    }

    /// The agent of a stage.
    pub(super) fn of_stage(stage: &str) -> Option<Self> {
        match stage.split(':').next()? {
            "PLAN" => Some(Self::Planner),
            "DEV" => Some(Self::Developer),
            "DEBUG" => Some(Self::Debugger),
            "REVIEW" => Some(Self::Reviewer),
            "TEST" => Some(Self::Tester),
            "RETRO" => Some(Self::Retrospective),
            "DOCS" => Some(Self::DocUpdater),
            _ => None,
        }
    }
}

/// One turn of the scripted model, or something that the user does meanwhile. Paths are relative to the project.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    /// Words that end the main agent's turn.
    Say(&'static str),
    /// The last words of a sub-agent, in the way in which the client wants to have them.
    Report(&'static str),
    /// The API answers with an error.
    ApiError,
    Read(&'static str),
    /// Writes a whole file. The client wants existing files to be read before.
    Write(&'static str, &'static str),
    Bash(&'static str),
    /// Starts one agent.
    Delegate(Role),
    /// Starts several agents in one message.
    DelegateAll(&'static [Role]),
    /// Starts this many agents of one kind in one message.
    DelegateMany(usize, Role),
    /// Starts an agent by another spelling of its name that the client also takes.
    DelegateRespelled(Role),
    /// Calls any other tool, with this JSON as its input.
    Call(&'static str, &'static str),
    /// The user runs this in a shell of their own, while the model thinks about its next turn.
    User(&'static str),
}

/// Something that is only so if the misbehaviour got through. Where there is no workflow, a report counts as accepted if its
/// agent was not asked again, and the work counts as done if the main agent's last words ended the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harm {
    /// The stage is recorded as passed.
    Passed(&'static str),
    /// The workflow is recorded as completed.
    Completed,
    /// The main agent's last words ended its turn, and nothing sent it on.
    Released,
    /// At least this many agents of the kind were started.
    Started(Role, usize),
    /// The file contains this text.
    Contains(&'static str, &'static str),
    /// The file does not exist.
    Gone(&'static str),
    /// This command of the shell succeeds in the project.
    Shell(&'static str),
}

/// Who is told of a misbehaviour that is noticed but not prevented, beside the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Informed {
    /// The agent of REVIEW.
    Reviewer,
    /// The main agent, where no REVIEW comes after the misbehaviour.
    MainAgent,
}
