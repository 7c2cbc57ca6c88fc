//! What a key is for and which values it takes, in the user's language.

use overtone_core::messages::{Lang, budget, cli as words};
use overtone_store::config::{Key, Kind};

pub(super) fn description(lang: Lang, key: &Key) -> String {
    match key.name {
        "language" => words::about_language(lang),
        "compact.thresholdMb" => words::about_threshold_mb(lang),
        "compact.thresholdPercent" => words::about_threshold_percent(lang),
        "compact.cooldownStages" => words::about_cooldown(lang),
        "loop.maxIterations" => words::about_iterations(lang),
        "loop.maxConsecutiveErrors" => words::about_errors(lang),
        "limits.failures" => words::about_failures(lang),
        "limits.rejections" => words::about_rejections(lang),
        "limits.retros" => words::about_retros(lang),
        "limits.helpers" => words::about_helpers(lang),
        "agents.foreground" => words::about_foreground(lang),
        "guard.level" => words::about_guard(lang),
        "economy" => words::about_economy(lang),
        "stages.retro" => words::about_stage_retro(lang),
        "stages.docs" => words::about_stage_docs(lang),
        "budget.usd" => budget::about_usd(lang),
        "budget.tokens" => budget::about_tokens(lang),
        "budget.minutes" => budget::about_minutes(lang),
        "budget.agents" => budget::about_agents(lang),
        "budget.stageUsd" => budget::about_stage_usd(lang),
        "budget.stageTokens" => budget::about_stage_tokens(lang),
        "budget.stageMinutes" => budget::about_stage_minutes(lang),
        "budget.stageAgents" => budget::about_stage_agents(lang),
        "dashboard.enabled" => words::about_dashboard(lang),
        "dashboard.port" => words::about_port(lang),
        "dashboard.idleMinutes" => words::about_idle(lang),
        "retention.days" => words::about_days(lang),
        "retention.sessions" => words::about_sessions(lang),
        "instinct.enabled" => words::about_instinct(lang),
        // A key that is newer than its translation.
        _ => key.about.to_owned(),
    }
}

pub(super) fn allowed(lang: Lang, key: &Key) -> String {
    match key.kind {
        Kind::Language | Kind::Choice(_) | Kind::Boolean => key.allowed(),
        Kind::Integer(low, high) => words::whole_number(lang, low, high),
        Kind::Number(high) => words::any_number(lang, &high.to_string()),
        Kind::Limit(high) => budget::any_limit(lang, &high.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use overtone_store::config::KEYS;

    #[test]
    fn every_key_is_translated() {
        for key in &KEYS {
            assert_ne!(description(Lang::ZhTw, key), key.about, "{}", key.name);
            assert_ne!(description(Lang::ZhCn, key), key.about, "{}", key.name);
        }
    }
}
