//! What is measured: the runs, and how the user has set up Overtone.

use overtone_core::registry::Workflow;

use crate::discipline::Peer;

/// A session that is played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The job, by the client alone.
    Plain,
    /// The job by one workflow of Overtone.
    Workflow(Workflow),
    /// Three questions to the client alone.
    PlainChat,
    /// Three questions to the client with Overtone. The main agent answers them directly, as our texts say for questions.
    Chat,
    /// The same, but the main agent takes every text that names `/ot:auto` as an order.
    ChatAuto,
    /// The job by the main agent alone, with another product installed.
    Peer(&'static Peer),
}

/// The workflows that are measured.
const WORKFLOWS: [Workflow; 4] = [Workflow::Single, Workflow::Quick, Workflow::Standard, Workflow::Full];

impl Subject {
    /// All of them, in the order of the tables.
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Plain];
        all.extend(WORKFLOWS.map(Self::Workflow));
        all.extend([Self::PlainChat, Self::Chat, Self::ChatAuto]);
        all.extend(Peer::all().iter().map(Self::Peer));
        all
    }

    pub fn find(name: &str) -> Option<Self> {
        Self::all().into_iter().find(|subject| subject.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Workflow(workflow) => workflow.name(),
            Self::PlainChat => "plain-chat",
            Self::ChatAuto => "chat-auto",
            Self::Chat => "chat",
            Self::Peer(peer) => peer.name,
        }
    }

    /// The run that it is compared with.
    #[must_use]
    pub fn baseline(self) -> Self {
        match self {
            Self::PlainChat | Self::ChatAuto | Self::Chat => Self::PlainChat,
            Self::Plain | Self::Workflow(_) | Self::Peer(_) => Self::Plain,
        }
    }

    pub const fn is_overtone(self) -> bool {
        matches!(self, Self::Workflow(_) | Self::ChatAuto | Self::Chat)
    }

    /// The profiles that make a difference to it.
    pub fn profiles(self) -> &'static [Profile] {
        match self {
            Self::Workflow(Workflow::Single) | Self::ChatAuto | Self::Chat => &Profile::ALL[..2],
            Self::Workflow(_) => &Profile::ALL,
            Self::Plain | Self::PlainChat | Self::Peer(_) => &Profile::ALL[..1],
        }
    }
}

/// How the user has set up Overtone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// As it is installed.
    Default,
    /// `economy` is `lean`.
    Lean,
    /// The same, and RETRO and DOCS run only where there is a reason.
    LeanByRule,
}

impl Profile {
    pub const ALL: [Self; 3] = [Self::Default, Self::Lean, Self::LeanByRule];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Lean => "lean",
            Self::LeanByRule => "lean-by-rule",
        }
    }

    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|profile| profile.name() == name)
    }

    /// The commands with which the user chooses it.
    pub(super) const fn commands(self) -> &'static [&'static str] {
        match self {
            Self::Default => &[],
            Self::Lean => &["overtone config set economy lean"],
            Self::LeanByRule => &[
                "overtone config set economy lean",
                "overtone config set stages.retro on-trouble",
                "overtone config set stages.docs on-change",
            ],
        }
    }
}
