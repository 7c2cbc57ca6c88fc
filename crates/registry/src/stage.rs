//! Stages: the steps that a workflow is made of.

use std::fmt;
use std::str::FromStr;

use crate::Agent;

/// A kind of step. A workflow may contain the same kind twice; see [`StageKey`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stage {
    Pm,
    Plan,
    Arch,
    Design,
    Dev,
    Debug,
    Review,
    Test,
    Security,
    DbReview,
    Qa,
    E2e,
    BuildFix,
    Refactor,
    Retro,
    Docs,
}

impl Stage {
    pub const ALL: [Self; 16] = [
        Self::Pm,
        Self::Plan,
        Self::Arch,
        Self::Design,
        Self::Dev,
        Self::Debug,
        Self::Review,
        Self::Test,
        Self::Security,
        Self::DbReview,
        Self::Qa,
        Self::E2e,
        Self::BuildFix,
        Self::Refactor,
        Self::Retro,
        Self::Docs,
    ];

    /// The name used in `workflow.json` and in texts for the model.
    pub const fn key(self) -> &'static str {
        self.row().0
    }

    /// The label in the language of the specification (zh-TW).
    pub const fn label(self) -> &'static str {
        self.row().1
    }

    pub const fn emoji(self) -> &'static str {
        self.row().2
    }

    /// The agent that carries the stage out.
    pub const fn agent(self) -> Agent {
        self.row().3
    }

    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.key() == key)
    }

    /// A judge reports on work that somebody else repairs; a maker repairs its own.
    pub const fn is_judge(self) -> bool {
        matches!(self, Self::Review | Self::Test | Self::Security | Self::DbReview | Self::Qa | Self::E2e)
    }

    /// A judge that rejects; the others fail.
    pub const fn is_reviewer(self) -> bool {
        matches!(self, Self::Review | Self::Security | Self::DbReview)
    }

    const fn row(self) -> (&'static str, &'static str, &'static str, Agent) {
        match self {
            Self::Pm => ("PM", "產品", "🎯", Agent::ProductManager),
            Self::Plan => ("PLAN", "規劃", "📋", Agent::Planner),
            Self::Arch => ("ARCH", "架構", "🏗️", Agent::Architect),
            Self::Design => ("DESIGN", "設計", "🎨", Agent::Designer),
            Self::Dev => ("DEV", "開發", "💻", Agent::Developer),
            Self::Debug => ("DEBUG", "除錯", "🔧", Agent::Debugger),
            Self::Review => ("REVIEW", "審查", "🔍", Agent::CodeReviewer),
            Self::Test => ("TEST", "測試", "🧪", Agent::Tester),
            Self::Security => ("SECURITY", "安全", "🛡️", Agent::SecurityReviewer),
            Self::DbReview => ("DB-REVIEW", "DB審查", "🗄️", Agent::DatabaseReviewer),
            Self::Qa => ("QA", "驗證", "🏁", Agent::Qa),
            Self::E2e => ("E2E", "E2E", "🌐", Agent::E2eRunner),
            Self::BuildFix => ("BUILD-FIX", "修構建", "🔨", Agent::BuildErrorResolver),
            Self::Refactor => ("REFACTOR", "清理", "🧹", Agent::RefactorCleaner),
            Self::Retro => ("RETRO", "回顧", "🔁", Agent::Retrospective),
            Self::Docs => ("DOCS", "文件", "📝", Agent::DocUpdater),
        }
    }
}

/// What a TEST stage is for: writing the specification before DEV, or verifying after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestMode {
    Spec,
    Verify,
}

impl TestMode {
    pub const fn key(self) -> &'static str {
        match self {
            Self::Spec => "spec",
            Self::Verify => "verify",
        }
    }

    pub fn from_key(key: &str) -> Option<Self> {
        [Self::Spec, Self::Verify].into_iter().find(|mode| mode.key() == key)
    }
}

/// One stage of one workflow: the kind and its occurrence, written `TEST`, `TEST:2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StageKey {
    pub stage: Stage,
    /// Counted from 1.
    pub occurrence: u8,
}

impl StageKey {
    pub const fn first(stage: Stage) -> Self {
        Self { stage, occurrence: 1 }
    }
}

impl fmt::Display for StageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.occurrence {
            1 => f.write_str(self.stage.key()),
            n => write!(f, "{}:{n}", self.stage.key()),
        }
    }
}

impl FromStr for StageKey {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (name, occurrence) = match text.split_once(':') {
            Some((name, n)) => (name, n.parse().ok().filter(|n| *n >= 2).ok_or(())?),
            None => (text, 1),
        };
        let stage = Stage::from_key(name).ok_or(())?;
        Ok(Self { stage, occurrence })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_round_trip() {
        for stage in Stage::ALL {
            assert_eq!(Stage::from_key(stage.key()), Some(stage));
            for occurrence in [1, 2, 9] {
                let key = StageKey { stage, occurrence };
                assert_eq!(key.to_string().parse(), Ok(key));
            }
        }
    }

    #[test]
    fn foreign_keys_are_refused() {
        for text in ["", "dev", "DEV:1", "DEV:0", "DEV:x", "DEV:-2", "constructor", "DEV:2:3"] {
            assert_eq!(text.parse::<StageKey>(), Err(()), "{text}");
        }
    }
}
