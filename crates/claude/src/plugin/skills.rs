//! Skill files: the reference skills of the registry, `auto`, one per workflow, and the commands.

use overtone_core::registry::Skill;

use crate::plugin::front_matter::FrontMatterBuilder;
use crate::plugin::workflows;

/// A skill as a file of the plugin folder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SkillPage(pub(crate) Skill);

impl SkillPage {
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        Skill::all().map(Self)
    }

    pub(crate) fn path(self) -> String {
        format!("skills/{}/SKILL.md", self.0.name())
    }

    pub(crate) fn render(self) -> String {
        format!("{}\n{}", self.front_matter(), self.body())
    }

    pub(crate) fn front_matter(self) -> FrontMatterBuilder {
        let fields = FrontMatterBuilder::default()
            .text("name", self.0.name())
            .text("description", &self.description());
        let fields = match self.argument_hint() {
            Some(hint) => fields.text("argument-hint", hint),
            None => fields,
        };
        let fields =
            if self.0.is_for_model() { fields } else { fields.text("disable-model-invocation", "true") };
        if let Skill::Reference(_) = self.0 {
            return fields.text("user-invocable", "false");
        }
        match granted_tools(&self.body()) {
            Some(tools) => fields.text("allowed-tools", &tools),
            None => fields,
        }
    }

    fn description(self) -> String {
        let text = match self.0 {
            Skill::Workflow(workflow) => {
                let when = workflows::when_to_use(workflow);
                return format!("Overtone workflow {}: {when}", workflow.name());
            }
            Skill::Reference(skill) => skill.description(),
            Skill::Auto => {
                "Start here for any development request: sizes it, answers small things directly, otherwise \
                 picks one of the Overtone workflows and runs it"
            }
            Skill::Stop => "Stops the running Overtone workflow's loop; nothing is deleted",
            Skill::Resume => {
                "Continues a stopped Overtone workflow, with new attempts if a limit was reached"
            }
            Skill::Status => "Shows the running Overtone workflow: stages, progress, next step",
            Skill::Specs => "Lists features and creates, pauses, resumes, shelves or archives one",
            Skill::Dashboard => "Says how to open the Overtone dashboard",
        };
        text.to_owned()
    }

    const fn argument_hint(self) -> Option<&'static str> {
        match self.0 {
            Skill::Auto | Skill::Workflow(_) => Some("<what you want>"),
            Skill::Specs => Some("[new|pause|resume|backlog|archive] [name]"),
            Skill::Reference(_) | Skill::Stop | Skill::Resume | Skill::Status | Skill::Dashboard => None,
        }
    }

    fn body(self) -> String {
        match self.0 {
            Skill::Reference(skill) => skill.body().to_owned(),
            Skill::Auto => include_str!("../../content/skills/auto.md")
                .replace("{table}", &workflows::table())
                .replace("{rules}", workflows::common_rules().trim_end()),
            Skill::Workflow(workflow) => workflows::page(workflow),
            Skill::Stop => include_str!("../../content/skills/stop.md").to_owned(),
            Skill::Resume => include_str!("../../content/skills/resume.md").to_owned(),
            Skill::Status => include_str!("../../content/skills/status.md").to_owned(),
            Skill::Specs => include_str!("../../content/skills/specs.md").to_owned(),
            Skill::Dashboard => include_str!("../../content/skills/dashboard.md").to_owned(),
        }
    }
}

/// The permissions that a page needs: exactly the commands that the client runs while it expands the page. A pattern
/// would also let the model run everything that matches it, without asking, for the rest of the turn.
fn granted_tools(body: &str) -> Option<String> {
    let lines = body.lines().filter_map(|line| line.strip_prefix("!`")?.strip_suffix('`'));
    let tools: Vec<_> = lines.map(|command| format!("Bash({command})")).collect();
    if tools.is_empty() { None } else { Some(tools.join(", ")) }
}
