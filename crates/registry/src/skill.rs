//! The plugin's skills, and the short reference bodies that some agents always get.
//!
//! The client does not preload a skill that the model may not invoke, so the hook for `SubagentStart`
//! delivers the reference bodies. That is why they live in the binary and not only in the plugin folder.

use crate::Workflow;

/// A skill of the plugin; its name is its folder's name, and `/ot:<name>` for the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skill {
    Reference(RefSkill),
    Auto,
    Workflow(Workflow),
    Stop,
    Resume,
    Status,
    Specs,
    Dashboard,
}

impl Skill {
    pub fn all() -> impl Iterator<Item = Self> {
        let commands = [Self::Stop, Self::Resume, Self::Status, Self::Specs, Self::Dashboard];
        RefSkill::ALL
            .into_iter()
            .map(Self::Reference)
            .chain([Self::Auto])
            .chain(Workflow::ALL.into_iter().map(Self::Workflow))
            .chain(commands)
    }

    pub const fn name(self) -> &'static str {
        match self {
            Self::Reference(skill) => skill.name(),
            Self::Auto => "auto",
            Self::Workflow(workflow) => workflow.name(),
            Self::Stop => "stop",
            Self::Resume => "resume",
            Self::Status => "status",
            Self::Specs => "specs",
            Self::Dashboard => "dashboard",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|skill| skill.name() == name)
    }

    /// Whether the model may invoke it. Stopping and resuming are the user's, and reference bodies come by a hook.
    pub const fn is_for_model(self) -> bool {
        !matches!(self, Self::Reference(_) | Self::Stop | Self::Resume)
    }
}

/// A reference skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RefSkill {
    BddGuide,
    FailureHandling,
    WordingGuide,
}

impl RefSkill {
    pub const ALL: [Self; 3] = [Self::BddGuide, Self::FailureHandling, Self::WordingGuide];

    pub const fn name(self) -> &'static str {
        match self {
            Self::BddGuide => "ref-bdd-guide",
            Self::FailureHandling => "ref-failure-handling",
            Self::WordingGuide => "ref-wording-guide",
        }
    }

    pub const fn description(self) -> &'static str {
        match self {
            Self::BddGuide => "How a behaviour scenario is written so that a test can be made from it",
            Self::FailureHandling => "What to do when a test fails, a review rejects or a tool breaks",
            Self::WordingGuide => "Which strength of wording goes with which marker in instructions",
        }
    }

    /// The body without front matter, at most 1,200 characters.
    pub const fn body(self) -> &'static str {
        match self {
            Self::BddGuide => include_str!("../skills/ref-bdd-guide.md"),
            Self::FailureHandling => include_str!("../skills/ref-failure-handling.md"),
            Self::WordingGuide => include_str!("../skills/ref-wording-guide.md"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_short_and_not_empty() {
        for skill in RefSkill::ALL {
            let units = skill.body().encode_utf16().count();
            assert!((200..=1000).contains(&units), "{} has {units}", skill.name());
        }
    }
}
