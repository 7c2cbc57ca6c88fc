//! Every key of the configuration, with its type, default, limits and description.

use overtone_core::messages::Lang;
use overtone_core::registry::{DocsRule, Economy, GuardLevel, RetroRule, limits};

use super::{DefaultValue, Key, Kind, Setting};

pub const LANGUAGE: &Setting<Lang> =
    &Setting::language("language", Lang::ZhTw, "language of every text: zh-TW, zh-CN or en");

pub const COMPACT_THRESHOLD_MB: &Setting<f64> = &Setting::number(
    "compact.thresholdMb",
    10_000.0,
    5,
    "suggest a compaction above this transcript size, in MB",
);

pub const COMPACT_THRESHOLD_PERCENT: &Setting<u32> = &Setting::integer(
    "compact.thresholdPercent",
    (1, 100),
    limits::COMPACT_THRESHOLD_PERCENT,
    "or above this context window usage, in percent",
);

pub const COMPACT_COOLDOWN_STAGES: &Setting<u32> = &Setting::integer(
    "compact.cooldownStages",
    (0, 100),
    limits::COMPACT_COOLDOWN_STAGES,
    "stages to complete before the next suggestion",
);

pub const MAX_ITERATIONS: &Setting<u32> = &Setting::integer(
    "loop.maxIterations",
    (1, 10_000),
    limits::MAX_LOOP_ITERATIONS,
    "maximum rounds of the loop",
);

pub const MAX_CONSECUTIVE_ERRORS: &Setting<u32> = &Setting::integer(
    "loop.maxConsecutiveErrors",
    (1, 7),
    limits::MAX_CONSECUTIVE_ERRORS,
    "rounds in a row without progress before the loop pauses",
);

pub const MAX_FAILURES: &Setting<u32> = &Setting::integer(
    "limits.failures",
    (1, 10_000),
    limits::MAX_FAILURES,
    "failed stages before Overtone stops and asks you",
);

pub const MAX_REJECTIONS: &Setting<u32> = &Setting::integer(
    "limits.rejections",
    (1, 100),
    limits::MAX_REJECTIONS,
    "rejected reviews before Overtone stops and asks you",
);

pub const MAX_RETROS: &Setting<u32> = &Setting::integer(
    "limits.retros",
    (0, 100),
    limits::MAX_RETROS,
    "retrospectives whose issues may start another round",
);

pub const MAX_HELPERS: &Setting<u32> = &Setting::integer(
    "limits.helpers",
    (0, 10_000),
    limits::MAX_HELPERS,
    "agents of other kinds that may be started while a workflow runs",
);

pub const FOREGROUND_AGENTS: &Setting<bool> =
    &Setting::boolean("agents.foreground", true, "run stage agents in the foreground");

pub const GUARD_LEVEL: &Setting<GuardLevel> = &Setting::<GuardLevel>::choice(
    "guard.level",
    GuardLevel::Notice,
    "how strictly the gate is kept: notice or strict; a project can only make it stricter",
);

pub const ECONOMY: &Setting<Economy> = &Setting::<Economy>::choice(
    "economy",
    Economy::Standard,
    "tools of the installed agents: standard, or lean to send fewer tokens with every request",
);

pub const STAGE_RETRO: &Setting<RetroRule> = &Setting::<RetroRule>::choice(
    "stages.retro",
    RetroRule::Always,
    "when RETRO runs: always, or on-trouble if a stage failed, rejected or was blocked",
);

pub const STAGE_DOCS: &Setting<DocsRule> = &Setting::<DocsRule>::choice(
    "stages.docs",
    DocsRule::Always,
    "when DOCS runs: always, or on-change if a document changed or users see a difference, unless the developer documented it",
);

pub const BUDGET_USD: &Setting<f64> = &Setting::limit(
    "budget.usd",
    1_000_000.0,
    "dollars at list prices that a workflow may cost; 0 for no limit",
);

pub const BUDGET_TOKENS: &Setting<u32> =
    &Setting::integer("budget.tokens", (0, u32::MAX), 0, "tokens that a workflow may use; 0 for no limit");

pub const BUDGET_MINUTES: &Setting<u32> =
    &Setting::integer("budget.minutes", (0, 100_000), 0, "minutes that a workflow may work; 0 for no limit");

pub const BUDGET_AGENTS: &Setting<u32> = &Setting::integer(
    "budget.agents",
    (0, 10_000),
    limits::MAX_AGENTS,
    "agents that a workflow may start; 0 for no limit",
);

pub const BUDGET_STAGE_USD: &Setting<f64> = &Setting::limit(
    "budget.stageUsd",
    1_000_000.0,
    "dollars at list prices that a stage may cost; 0 for no limit",
);

pub const BUDGET_STAGE_TOKENS: &Setting<u32> =
    &Setting::integer("budget.stageTokens", (0, u32::MAX), 0, "tokens that a stage may use; 0 for no limit");

pub const BUDGET_STAGE_MINUTES: &Setting<u32> = &Setting::integer(
    "budget.stageMinutes",
    (0, 100_000),
    0,
    "minutes that one attempt of a stage may take; 0 for no limit",
);

pub const BUDGET_STAGE_AGENTS: &Setting<u32> =
    &Setting::integer("budget.stageAgents", (0, 10_000), 0, "agents that a stage may start; 0 for no limit");

pub const DASHBOARD_ENABLED: &Setting<bool> =
    &Setting::boolean("dashboard.enabled", true, "start the dashboard when a session starts");

pub const DASHBOARD_PORT: &Setting<u16> =
    &Setting::port("dashboard.port", 7777, "port of the dashboard on this machine");

pub const DASHBOARD_IDLE_MINUTES: &Setting<u32> = &Setting::integer(
    "dashboard.idleMinutes",
    (1, 10_080),
    30,
    "stop the dashboard after this many idle minutes",
);

pub const RETENTION_DAYS: &Setting<u32> =
    &Setting::integer("retention.days", (1, 3_650), 30, "keep finished sessions for this many days");

pub const RETENTION_SESSIONS: &Setting<u32> =
    &Setting::integer("retention.sessions", (1, 1_000_000), 500, "keep at most this many sessions");

pub const INSTINCT_ENABLED: &Setting<bool> =
    &Setting::boolean("instinct.enabled", true, "learn from tool use and pass lessons on to new sessions");

/// All keys, in the order in which they are listed.
pub const KEYS: [Key; 29] = [
    LANGUAGE.key,
    COMPACT_THRESHOLD_MB.key,
    COMPACT_THRESHOLD_PERCENT.key,
    COMPACT_COOLDOWN_STAGES.key,
    MAX_ITERATIONS.key,
    MAX_CONSECUTIVE_ERRORS.key,
    MAX_FAILURES.key,
    MAX_REJECTIONS.key,
    MAX_RETROS.key,
    MAX_HELPERS.key,
    FOREGROUND_AGENTS.key,
    GUARD_LEVEL.key,
    ECONOMY.key,
    STAGE_RETRO.key,
    STAGE_DOCS.key,
    BUDGET_USD.key,
    BUDGET_TOKENS.key,
    BUDGET_MINUTES.key,
    BUDGET_AGENTS.key,
    BUDGET_STAGE_USD.key,
    BUDGET_STAGE_TOKENS.key,
    BUDGET_STAGE_MINUTES.key,
    BUDGET_STAGE_AGENTS.key,
    DASHBOARD_ENABLED.key,
    DASHBOARD_PORT.key,
    DASHBOARD_IDLE_MINUTES.key,
    RETENTION_DAYS.key,
    RETENTION_SESSIONS.key,
    INSTINCT_ENABLED.key,
];

/// Groups of keys that are defined by the crate that reads them. `overtone config` does not list them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Fleet,
    Prices,
    Remote,
    Telemetry,
}

impl Section {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fleet => "fleet",
            Self::Prices => "prices",
            Self::Remote => "remote",
            Self::Telemetry => "telemetry",
        }
    }
}

impl Setting<Lang> {
    const fn language(name: &'static str, default: Lang, about: &'static str) -> Self {
        let key = Key { name, kind: Kind::Language, about, default: DefaultValue::Language(default) };
        Self { key, default }
    }
}

/// Adds a constructor for settings whose values are the names of a table of the registry.
macro_rules! choice {
    ($($Type:ident),+) => {
        $(impl Setting<$Type> {
            const fn choice(name: &'static str, default: $Type, about: &'static str) -> Self {
                const NAMES: [&str; $Type::ALL.len()] = {
                    let mut names = [""; $Type::ALL.len()];
                    let mut at = 0;
                    while at < names.len() {
                        names[at] = $Type::ALL[at].name();
                        at += 1;
                    }
                    names
                };
                let (kind, default_name) = (Kind::Choice(&NAMES), default.name());
                Self { key: Key { name, kind, about, default: DefaultValue::Choice(default_name) }, default }
            }
        })+
    };
}

choice!(DocsRule, Economy, GuardLevel, RetroRule);

impl Setting<bool> {
    const fn boolean(name: &'static str, default: bool, about: &'static str) -> Self {
        let key = Key { name, kind: Kind::Boolean, about, default: DefaultValue::Boolean(default) };
        Self { key, default }
    }
}

impl Setting<u32> {
    const fn integer(name: &'static str, range: (u32, u32), default: u32, about: &'static str) -> Self {
        let kind = Kind::Integer(range.0, range.1);
        Self { key: Key { name, kind, about, default: DefaultValue::Integer(default) }, default }
    }
}

impl Setting<u16> {
    const fn port(name: &'static str, default: u16, about: &'static str) -> Self {
        let kind = Kind::Integer(1, u16::MAX as u32);
        Self { key: Key { name, kind, about, default: DefaultValue::Integer(default as u32) }, default }
    }
}

impl Setting<f64> {
    /// There is no limit by default.
    const fn limit(name: &'static str, max: f64, about: &'static str) -> Self {
        let key = Key { name, kind: Kind::Limit(max), about, default: DefaultValue::Integer(0) };
        Self { key, default: 0.0 }
    }

    const fn number(name: &'static str, max: f64, default: u32, about: &'static str) -> Self {
        let key = Key { name, kind: Kind::Number(max), about, default: DefaultValue::Integer(default) };
        Self { key, default: default as f64 }
    }
}
