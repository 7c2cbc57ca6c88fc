//! The plugin's skills, and the short reference bodies that some agents always get.
//!
//! The client does not preload a skill that the model may not invoke, so the hook for `SubagentStart`
//! delivers the reference bodies. That is why they are part of the binary and not only of the plugin folder.

use crate::registry::{Workflow, table};

/// Defines [`Skill`] with one line per command, so that no command can be missing from [`Skill::all`].
macro_rules! skills {
    ( $( $Command:ident($name:literal), )+ ) => {
        /// A skill of the plugin. Its name is the name of its folder, and the user types it as `/ot:<name>`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Skill {
            Reference(RefSkill),
            Auto,
            Workflow(Workflow),
            $( $Command, )+
        }

        impl Skill {
            const COMMANDS: [Self; [$( $name ),+].len()] = [$( Self::$Command ),+];

            pub const fn name(self) -> &'static str {
                match self {
                    Self::Reference(skill) => skill.name(),
                    Self::Auto => "auto",
                    Self::Workflow(workflow) => workflow.name(),
                    $( Self::$Command => $name, )+
                }
            }
        }
    };
}

skills! {
    Stop("stop"),
    Resume("resume"),
    Status("status"),
    Specs("specs"),
    Dashboard("dashboard"),
}

impl Skill {
    pub fn all() -> impl Iterator<Item = Self> {
        let references = RefSkill::ALL.into_iter().map(Self::Reference);
        let workflows = Workflow::ALL.into_iter().map(Self::Workflow);
        references.chain([Self::Auto]).chain(workflows).chain(Self::COMMANDS)
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|skill| skill.name() == name)
    }

    /// Whether the model may invoke the skill. Only the user stops and resumes, and a hook delivers the references.
    pub const fn is_for_model(self) -> bool {
        !matches!(self, Self::Reference(_) | Self::Stop | Self::Resume)
    }
}

table! {
    /// A reference skill.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum RefSkill {
        BddGuide(
            "ref-bdd-guide",
            "How to write behaviour scenarios that can be turned into tests",
            include_str!("../../skills/ref-bdd-guide.md"),
        ),
        FailureHandling(
            "ref-failure-handling",
            "What to do when a test fails, a review rejects or a tool breaks",
            include_str!("../../skills/ref-failure-handling.md"),
        ),
        WordingGuide(
            "ref-wording-guide",
            "Which wording strength goes with which marker in instructions",
            include_str!("../../skills/ref-wording-guide.md"),
        ),
    }

    struct RefSkillRow {
        pub name: &'static str,
        pub description: &'static str,
        /// The body without front matter, at most 1,200 characters.
        pub body: &'static str,
    }

    pub fn from_name(name) -> Option<Self>;
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
