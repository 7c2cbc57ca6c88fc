//! Workflows: which stages a kind of job goes through.

use crate::registry::Stage::{
    self, Arch, BuildFix, DbReview, Debug, Design, Dev, Docs, E2e, Plan, Pm, Qa, Refactor, Retro, Review,
    Security, Test,
};
use crate::registry::workflow::SpecsDocs::{Tasks, TasksAndBdd};
use crate::registry::{StageKey, TestMode, table};

/// Stages that may run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParallelGroup {
    pub name: &'static str,
    pub members: &'static [Stage],
}

/// The documents that a workflow's feature folder starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecsDocs {
    None,
    Tasks,
    TasksAndBdd,
}

const QUALITY: ParallelGroup = ParallelGroup { name: "quality", members: &[Review, Test] };
const VERIFY: ParallelGroup = ParallelGroup { name: "verify", members: &[Qa, E2e] };
const SECURE_QUALITY: ParallelGroup =
    ParallelGroup { name: "secure-quality", members: &[Review, Test, Security] };

table! {
    /// A workflow template.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Workflow {
        Single("single", SpecsDocs::None, &[], &[Dev]),
        Quick("quick", Tasks, &[QUALITY], &[Dev, Review, Test, Retro, Docs]),
        Standard("standard", TasksAndBdd, &[QUALITY], &[Plan, Arch, Test, Dev, Review, Test, Retro, Docs]),
        Full(
            "full", TasksAndBdd, &[QUALITY, VERIFY],
            &[Plan, Arch, Design, Test, Dev, Review, Test, Qa, E2e, Retro, Docs],
        ),
        Secure(
            "secure", TasksAndBdd, &[SECURE_QUALITY],
            &[Plan, Arch, Test, Dev, Review, Test, Security, Retro, Docs],
        ),
        Tdd("tdd", TasksAndBdd, &[], &[Test, Dev, Test]),
        Debug("debug", Tasks, &[], &[Debug, Dev, Test]),
        Refactor("refactor", TasksAndBdd, &[QUALITY], &[Arch, Test, Dev, Review, Test]),
        ReviewOnly("review-only", SpecsDocs::None, &[], &[Review]),
        SecurityOnly("security-only", SpecsDocs::None, &[], &[Security]),
        BuildFix("build-fix", SpecsDocs::None, &[], &[BuildFix]),
        E2eOnly("e2e-only", SpecsDocs::None, &[], &[E2e]),
        Diagnose("diagnose", SpecsDocs::None, &[], &[Debug]),
        Clean("clean", SpecsDocs::None, &[], &[Refactor]),
        DbReview("db-review", SpecsDocs::None, &[], &[DbReview]),
        Product("product", TasksAndBdd, &[QUALITY], &[Pm, Plan, Arch, Test, Dev, Review, Test, Retro, Docs]),
        ProductFull(
            "product-full", TasksAndBdd, &[QUALITY, VERIFY],
            &[Pm, Plan, Arch, Design, Test, Dev, Review, Test, Qa, E2e, Retro, Docs],
        ),
        Discovery("discovery", SpecsDocs::None, &[], &[Pm]),
    }

    struct WorkflowRow {
        pub name: &'static str,
        /// The documents that the feature folder starts with.
        pub specs_docs: SpecsDocs,
        /// The stages that may run at the same time.
        pub groups: &'static [ParallelGroup],
        /// The stages in the order in which they run.
        pub stages: &'static [Stage],
    }

    pub fn from_name(name) -> Option<Self>;
}

impl Workflow {
    /// The stages with their keys (`TEST`, `TEST:2`) in order.
    pub fn stage_keys(self) -> impl Iterator<Item = StageKey> {
        let stages = self.stages();
        stages.iter().enumerate().map(|(i, stage)| {
            let earlier = stages[..i].iter().filter(|other| *other == stage).count();
            // No workflow repeats a stage more than a few times.
            let occurrence = u8::try_from(earlier + 1).unwrap_or(u8::MAX);
            StageKey { stage: *stage, occurrence }
        })
    }

    /// The mode of a TEST stage: one before DEV writes the specification, one after it verifies. `None` for any other
    /// stage.
    pub fn test_mode(self, key: StageKey) -> Option<TestMode> {
        if key.stage != Test {
            return None;
        }
        let dev = self.stages().iter().position(|stage| *stage == Dev);
        let this = self.stage_keys().position(|other| other == key);
        Some(if this < dev { TestMode::Spec } else { TestMode::Verify })
    }

    /// The parallel group of a stage with the keys of all members, or `None` if the stage runs alone. The members stand
    /// next to each other in the workflow, so the TEST before DEV is never part of `quality`.
    pub fn group_of(self, key: StageKey) -> Option<(ParallelGroup, Vec<StageKey>)> {
        let keys: Vec<_> = self.stage_keys().collect();
        self.groups().iter().find_map(|group| {
            let run = keys
                .windows(group.members.len())
                .find(|run| run.iter().map(|k| k.stage).eq(group.members.iter().copied()))?;
            run.contains(&key).then(|| (*group, run.to_vec()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> StageKey {
        text.parse().unwrap()
    }

    #[test]
    fn repeated_stages_get_a_number_and_a_mode() {
        let keys: Vec<_> = Workflow::Standard.stage_keys().map(|k| k.to_string()).collect();
        assert_eq!(keys, ["PLAN", "ARCH", "TEST", "DEV", "REVIEW", "TEST:2", "RETRO", "DOCS"]);
        assert_eq!(Workflow::Standard.test_mode(key("TEST")), Some(TestMode::Spec));
        assert_eq!(Workflow::Standard.test_mode(key("TEST:2")), Some(TestMode::Verify));
        assert_eq!(Workflow::Quick.test_mode(key("TEST")), Some(TestMode::Verify));
        assert_eq!(Workflow::Standard.test_mode(key("DEV")), None);
    }

    #[test]
    fn groups_are_contiguous_runs() {
        let (group, keys) = Workflow::Standard.group_of(key("TEST:2")).unwrap();
        assert_eq!((group.name, keys), ("quality", vec![key("REVIEW"), key("TEST:2")]));
        assert!(Workflow::Standard.group_of(key("TEST")).is_none());
        assert_eq!(Workflow::Secure.group_of(key("SECURITY")).unwrap().1.len(), 3);
        assert_eq!(Workflow::Full.group_of(key("E2E")).unwrap().0.name, "verify");
        assert!(Workflow::Tdd.group_of(key("TEST:2")).is_none());
    }

    #[test]
    fn every_declared_group_exists_in_its_workflow() {
        for workflow in Workflow::ALL {
            for group in workflow.groups() {
                let found =
                    workflow.stage_keys().filter_map(|k| workflow.group_of(k)).any(|(g, _)| g == *group);
                assert!(found, "{} declares {}", workflow.name(), group.name);
            }
        }
    }

    #[test]
    fn product_workflows_are_the_plain_ones_after_pm() {
        assert_eq!(&Workflow::Product.stages()[1..], Workflow::Standard.stages());
        assert_eq!(&Workflow::ProductFull.stages()[1..], Workflow::Full.stages());
    }

    #[test]
    fn only_listed_names_are_workflows() {
        for name in ["constructor", "toString", "", "STANDARD", "standard "] {
            assert_eq!(Workflow::from_name(name), None);
        }
    }
}
