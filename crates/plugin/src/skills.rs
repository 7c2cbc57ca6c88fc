//! Skill files: the reference skills of the registry, the chooser, one per workflow, and the commands.

use overtone_registry::{RefSkill, Workflow};

use crate::front_matter::FrontMatter;
use crate::workflows;

/// Lets the skill's own `overtone` calls run without a question.
const OWN_COMMANDS: &str = "Bash(overtone *)";

/// A skill of the plugin; its name is its folder's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Skill {
    Reference(RefSkill),
    Auto,
    Workflow(Workflow),
    Stop,
    Status,
    Specs,
    Dashboard,
}

impl Skill {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let commands = [Self::Stop, Self::Status, Self::Specs, Self::Dashboard];
        RefSkill::ALL
            .into_iter()
            .map(Self::Reference)
            .chain([Self::Auto])
            .chain(Workflow::ALL.into_iter().map(Self::Workflow))
            .chain(commands)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Reference(skill) => skill.name(),
            Self::Auto => "auto",
            Self::Workflow(workflow) => workflow.name(),
            Self::Stop => "stop",
            Self::Status => "status",
            Self::Specs => "specs",
            Self::Dashboard => "dashboard",
        }
    }

    pub(crate) fn path(self) -> String {
        format!("skills/{}/SKILL.md", self.name())
    }

    pub(crate) fn render(self) -> String {
        format!("{}\n{}", self.front_matter(), self.body())
    }

    pub(crate) fn front_matter(self) -> FrontMatter {
        let fields =
            FrontMatter::default().text("name", self.name()).text("description", &self.description());
        let fields = match self.argument_hint() {
            Some(hint) => fields.text("argument-hint", hint),
            None => fields,
        };
        match self {
            Self::Reference(_) => {
                fields.text("disable-model-invocation", "true").text("user-invocable", "false")
            }
            // The loop exists because the model would stop too early: only the user ends it.
            Self::Stop => fields.text("disable-model-invocation", "true").text("allowed-tools", OWN_COMMANDS),
            _ => fields.text("allowed-tools", OWN_COMMANDS),
        }
    }

    fn description(self) -> String {
        let text = match self {
            Self::Workflow(workflow) => {
                let when = workflows::when_to_use(workflow);
                return format!("Overtone workflow {}: {when}", workflow.name());
            }
            Self::Reference(skill) => skill.description(),
            Self::Auto => {
                "Start here for any development request: sizes it, answers small things directly, otherwise \
                 picks one of the Overtone workflows and runs it"
            }
            Self::Stop => "Ends the running Overtone workflow's loop; nothing is deleted",
            Self::Status => "Shows the running Overtone workflow: stages, progress, next step",
            Self::Specs => "Lists features and creates, pauses, resumes, shelves or archives one",
            Self::Dashboard => "Tells how to open the Overtone dashboard",
        };
        text.to_owned()
    }

    const fn argument_hint(self) -> Option<&'static str> {
        match self {
            Self::Auto | Self::Workflow(_) => Some("<what you want>"),
            Self::Specs => Some("[new|pause|resume|backlog|archive] [name]"),
            Self::Reference(_) | Self::Stop | Self::Status | Self::Dashboard => None,
        }
    }

    fn body(self) -> String {
        match self {
            Self::Reference(skill) => skill.body().to_owned(),
            Self::Auto => include_str!("../content/skills/auto.md")
                .replace("{table}", &workflows::table())
                .replace("{rules}", workflows::common_rules().trim_end()),
            Self::Workflow(workflow) => workflows::page(workflow),
            Self::Stop => include_str!("../content/skills/stop.md").to_owned(),
            Self::Status => include_str!("../content/skills/status.md").to_owned(),
            Self::Specs => include_str!("../content/skills/specs.md").to_owned(),
            Self::Dashboard => include_str!("../content/skills/dashboard.md").to_owned(),
        }
    }
}
