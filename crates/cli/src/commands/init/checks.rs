//! The checks and rules that a workflow starts with. A file that cannot be used does not keep the workflow from starting.

use std::path::Path;

use overtone_core::economy::Budget;
use overtone_core::evidence::Check;
use overtone_core::registry::{DocsRule, GuardLevel, RetroRule, StageRules, Workflow};
use overtone_session::evidence::detect_checks;
use overtone_store::Trust;
use overtone_store::config::keys;

use crate::context::Context;
use crate::project_checks::{ProjectChecks, TrustState};
use crate::ui::error::{CommandResult, warn};

#[derive(Debug)]
pub(super) struct StartingChecks {
    pub(super) checks: Vec<Check>,
    pub(super) guard: GuardLevel,
    pub(super) rules: StageRules,
    pub(super) budget: Budget,
    pub(super) state: ChecksState,
}

#[derive(Debug)]
pub(super) enum ChecksState {
    Trusted,
    Untrusted,
    /// The project's file cannot be used, for this reason.
    Unusable(String),
    /// The project has none, but some could be proposed.
    Detectable,
    Nothing,
}

impl StartingChecks {
    pub(super) fn read(context: &Context, project: &Path, workflow: Workflow) -> CommandResult<Self> {
        let own = context.setting(keys::GUARD_LEVEL);
        let checks = match ProjectChecks::load(context, project.to_owned()) {
            Ok(checks) => checks,
            Err(error) => {
                warn(&error.message);
                let trust = Trust::for_project(context.home()?, project);
                let guard = ProjectChecks::guard_level(own, None, trust.as_ref());
                let rules = effective_rules(context, None, None);
                let state = ChecksState::Unusable(error.message);
                let budget = config_budget(context);
                return Ok(Self { checks: Vec::new(), guard, rules, budget, state });
            }
        };
        checks.warn_about_unknown_keys(context.lang);
        let state = match checks.trust_state() {
            _ if checks.checks().is_empty() => state_without_checks(project, workflow),
            TrustState::Trusted => ChecksState::Trusted,
            TrustState::Changed | TrustState::Never => ChecksState::Untrusted,
        };
        let guard = ProjectChecks::guard_level(own, checks.file.guard, checks.trust.as_ref());
        let rules = effective_rules(context, checks.file.retro, checks.file.docs);
        let budget = config_budget(context).smaller(&checks.file.budget);
        Ok(Self { checks: checks.file.checks, guard, rules, budget, state })
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.checks.iter().map(|check| check.name.as_str()).collect()
    }
}

/// The limits that the user has set.
fn config_budget(context: &Context) -> Budget {
    context.budget()
}

/// The rules of the user, as far as the project's file does not change them.
fn effective_rules(context: &Context, retro: Option<RetroRule>, docs: Option<DocsRule>) -> StageRules {
    StageRules {
        retro: RetroRule::effective(context.explicit_setting(keys::STAGE_RETRO), retro),
        docs: DocsRule::effective(context.explicit_setting(keys::STAGE_DOCS), docs),
    }
}

fn state_without_checks(project: &Path, workflow: Workflow) -> ChecksState {
    let could_use_checks = workflow.stages().iter().any(|stage| Check::DEFAULT_STAGES.contains(stage));
    match detect_checks(project) {
        Ok(proposed) if could_use_checks && !proposed.is_empty() => ChecksState::Detectable,
        _ => ChecksState::Nothing,
    }
}
