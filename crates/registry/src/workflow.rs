//! Workflows: which stages a kind of job goes through.

use crate::Stage::{
    self, Arch, BuildFix, DbReview, Debug, Design, Dev, Docs, E2e, Plan, Pm, Qa, Refactor, Retro, Review,
    Security, Test,
};
use crate::{StageKey, TestMode};

/// A workflow template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Workflow {
    Single,
    Quick,
    Standard,
    Full,
    Secure,
    Tdd,
    Debug,
    Refactor,
    ReviewOnly,
    SecurityOnly,
    BuildFix,
    E2eOnly,
    Diagnose,
    Clean,
    DbReview,
    Product,
    ProductFull,
    Discovery,
}

/// Stages that may run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParallelGroup {
    pub name: &'static str,
    pub members: &'static [Stage],
}

/// Which documents a workflow's feature folder starts with.
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

impl Workflow {
    pub const ALL: [Self; 18] = [
        Self::Single,
        Self::Quick,
        Self::Standard,
        Self::Full,
        Self::Secure,
        Self::Tdd,
        Self::Debug,
        Self::Refactor,
        Self::ReviewOnly,
        Self::SecurityOnly,
        Self::BuildFix,
        Self::E2eOnly,
        Self::Diagnose,
        Self::Clean,
        Self::DbReview,
        Self::Product,
        Self::ProductFull,
        Self::Discovery,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Quick => "quick",
            Self::Standard => "standard",
            Self::Full => "full",
            Self::Secure => "secure",
            Self::Tdd => "tdd",
            Self::Debug => "debug",
            Self::Refactor => "refactor",
            Self::ReviewOnly => "review-only",
            Self::SecurityOnly => "security-only",
            Self::BuildFix => "build-fix",
            Self::E2eOnly => "e2e-only",
            Self::Diagnose => "diagnose",
            Self::Clean => "clean",
            Self::DbReview => "db-review",
            Self::Product => "product",
            Self::ProductFull => "product-full",
            Self::Discovery => "discovery",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|workflow| workflow.name() == name)
    }

    pub const fn stages(self) -> &'static [Stage] {
        match self {
            Self::Single => &[Dev],
            Self::Quick => &[Dev, Review, Test, Retro, Docs],
            Self::Standard => &[Plan, Arch, Test, Dev, Review, Test, Retro, Docs],
            Self::Full => &[Plan, Arch, Design, Test, Dev, Review, Test, Qa, E2e, Retro, Docs],
            Self::Secure => &[Plan, Arch, Test, Dev, Review, Test, Security, Retro, Docs],
            Self::Tdd => &[Test, Dev, Test],
            Self::Debug => &[Debug, Dev, Test],
            Self::Refactor => &[Arch, Test, Dev, Review, Test],
            Self::ReviewOnly => &[Review],
            Self::SecurityOnly => &[Security],
            Self::BuildFix => &[BuildFix],
            Self::E2eOnly => &[E2e],
            Self::Diagnose => &[Debug],
            Self::Clean => &[Refactor],
            Self::DbReview => &[DbReview],
            Self::Product => &[Pm, Plan, Arch, Test, Dev, Review, Test, Retro, Docs],
            Self::ProductFull => &[Pm, Plan, Arch, Design, Test, Dev, Review, Test, Qa, E2e, Retro, Docs],
            Self::Discovery => &[Pm],
        }
    }

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

    /// A TEST before any DEV writes the specification; one after it verifies.
    pub fn test_mode(self, key: StageKey) -> Option<TestMode> {
        if key.stage != Test {
            return None;
        }
        let dev = self.stages().iter().position(|stage| *stage == Dev);
        let this = self.stage_keys().position(|other| other == key);
        Some(if this < dev { TestMode::Spec } else { TestMode::Verify })
    }

    pub const fn groups(self) -> &'static [ParallelGroup] {
        match self {
            Self::Full | Self::ProductFull => &[QUALITY, VERIFY],
            Self::Quick | Self::Standard | Self::Refactor | Self::Product => &[QUALITY],
            Self::Secure => &[SECURE_QUALITY],
            _ => &[],
        }
    }

    /// The group that a stage runs in with the keys of all its members, if it has one: the *contiguous*
    /// run of members. The TEST before DEV is therefore never part of `quality`.
    pub fn group_of(self, key: StageKey) -> Option<(ParallelGroup, Vec<StageKey>)> {
        let keys: Vec<_> = self.stage_keys().collect();
        self.groups().iter().find_map(|group| {
            let run = keys
                .windows(group.members.len())
                .find(|run| run.iter().map(|k| k.stage).eq(group.members.iter().copied()))?;
            run.contains(&key).then(|| (*group, run.to_vec()))
        })
    }

    pub const fn specs_docs(self) -> SpecsDocs {
        match self {
            Self::Full
            | Self::Standard
            | Self::Secure
            | Self::Refactor
            | Self::Tdd
            | Self::Product
            | Self::ProductFull => SpecsDocs::TasksAndBdd,
            Self::Quick | Self::Debug => SpecsDocs::Tasks,
            _ => SpecsDocs::None,
        }
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
