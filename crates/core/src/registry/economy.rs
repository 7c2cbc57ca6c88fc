//! What a user can choose to spend less: lean agents, and stages that are left out when a rule says that they are not needed.

use crate::registry::table;

table! {
    /// Which tools the agents of the installed plugin carry. The schemas of all of them are part of every request.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub enum Economy {
        /// The tools of the specification.
        #[default]
        Standard("standard"),
        /// Only the tools that an agent's job needs.
        Lean("lean"),
    }

    struct EconomyRow {
        /// The name in `config.json`.
        pub name: &'static str,
    }

    pub fn from_name(name) -> Option<Self>;
}

table! {
    /// When RETRO is carried out.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub enum RetroRule {
        #[default]
        Always("always"),
        /// Only if a stage of the workflow has failed, rejected or been blocked.
        OnTrouble("on-trouble"),
    }

    struct RetroRuleRow {
        /// The name in `config.json` and `overtone.toml`.
        pub name: &'static str,
    }

    pub fn from_name(name) -> Option<Self>;
}

table! {
    /// When DOCS is carried out.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub enum DocsRule {
        #[default]
        Always("always"),
        /// Only if a document or something that users see has changed.
        OnChange("on-change"),
    }

    struct DocsRuleRow {
        /// The name in `config.json` and `overtone.toml`.
        pub name: &'static str,
    }

    pub fn from_name(name) -> Option<Self>;
}

table! {
    /// What a budget limits.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum BudgetKind {
        /// The cost at list prices, in millionths of a dollar.
        Usd("usd"),
        /// Tokens of every kind, those of the cache included.
        Tokens("tokens"),
        /// Time at work, without the time in which the workflow waits for the user.
        Minutes("minutes"),
        /// Agents that are started.
        Agents("agents"),
    }

    struct BudgetKindRow {
        /// The name in `config.json` and `overtone.toml`.
        pub name: &'static str,
    }

    pub fn from_name(name) -> Option<Self>;
}

/// The stages that a workflow may complete without an agent. Fixed when the workflow starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct StageRules {
    pub retro: RetroRule,
    pub docs: DocsRule,
}

impl RetroRule {
    /// The rule for a workflow. `own` is what the user has set, `project` what the project's file says. A project may ask
    /// for more work than the user does, but leaves out a stage only if the user has not asked for it.
    pub fn effective(own: Option<Self>, project: Option<Self>) -> Self {
        match (own, project) {
            (Some(Self::Always), _) => Self::Always,
            (own, project) => project.or(own).unwrap_or_default(),
        }
    }
}

impl DocsRule {
    /// The rule for a workflow, as with [`RetroRule::effective`].
    pub fn effective(own: Option<Self>, project: Option<Self>) -> Self {
        match (own, project) {
            (Some(Self::Always), _) => Self::Always,
            (own, project) => project.or(own).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_leaves_out_no_stage_that_the_user_asks_for() {
        let (always, trouble) = (Some(RetroRule::Always), Some(RetroRule::OnTrouble));
        assert_eq!(RetroRule::effective(None, None), RetroRule::Always);
        assert_eq!(RetroRule::effective(None, trouble), RetroRule::OnTrouble);
        assert_eq!(RetroRule::effective(always, trouble), RetroRule::Always);
        assert_eq!(RetroRule::effective(trouble, always), RetroRule::Always);
        assert_eq!(RetroRule::effective(trouble, None), RetroRule::OnTrouble);
        let (always, change) = (Some(DocsRule::Always), Some(DocsRule::OnChange));
        assert_eq!(DocsRule::effective(always, change), DocsRule::Always);
        assert_eq!(DocsRule::effective(None, change), DocsRule::OnChange);
        assert_eq!(DocsRule::effective(change, always), DocsRule::Always);
    }
}
