//! Stages: the steps that a workflow is made of.

use std::fmt;
use std::str::FromStr;

use crate::registry::{Agent, table};

table! {
    /// A kind of step. A workflow may contain the same kind twice; see [`StageKey`].
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Stage {
        Pm("PM", "產品", "🎯", Agent::ProductManager),
        Plan("PLAN", "規劃", "📋", Agent::Planner),
        Arch("ARCH", "架構", "🏗️", Agent::Architect),
        Design("DESIGN", "設計", "🎨", Agent::Designer),
        Dev("DEV", "開發", "💻", Agent::Developer),
        Debug("DEBUG", "除錯", "🔧", Agent::Debugger),
        Review("REVIEW", "審查", "🔍", Agent::CodeReviewer),
        Test("TEST", "測試", "🧪", Agent::Tester),
        Security("SECURITY", "安全", "🛡️", Agent::SecurityReviewer),
        DbReview("DB-REVIEW", "DB審查", "🗄️", Agent::DatabaseReviewer),
        Qa("QA", "驗證", "🏁", Agent::Qa),
        E2e("E2E", "E2E", "🌐", Agent::E2eRunner),
        BuildFix("BUILD-FIX", "修構建", "🔨", Agent::BuildErrorResolver),
        Refactor("REFACTOR", "清理", "🧹", Agent::RefactorCleaner),
        Retro("RETRO", "回顧", "🔁", Agent::Retrospective),
        Docs("DOCS", "文件", "📝", Agent::DocUpdater),
    }

    struct StageRow {
        /// The name used in `workflow.json` and in texts for the model.
        pub key: &'static str,
        /// The label in the language of the specification (zh-TW).
        pub label: &'static str,
        pub emoji: &'static str,
        /// The agent that carries the stage out.
        pub agent: Agent,
    }

    pub fn from_key(key) -> Option<Self>;
}

impl Stage {
    /// Whether the stage judges work that another stage repairs. The other stages repair their own work.
    pub const fn is_judge(self) -> bool {
        matches!(self, Self::Review | Self::Test | Self::Security | Self::DbReview | Self::Qa | Self::E2e)
    }

    /// Whether a negative verdict of the stage is a rejection. The other judges fail instead.
    pub const fn is_reviewer(self) -> bool {
        matches!(self, Self::Review | Self::Security | Self::DbReview)
    }
}

table! {
    /// What a TEST stage is for: writing the specification before DEV, or verifying after it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum TestMode {
        Spec("spec"),
        Verify("verify"),
    }

    struct TestModeRow {
        /// The name used in `workflow.json`.
        pub key: &'static str,
    }

    pub fn from_key(key) -> Option<Self>;
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
            // The first occurrence is written without a number.
            Some((name, number)) => match number.parse() {
                Ok(occurrence) if occurrence >= 2 => (name, occurrence),
                _ => return Err(()),
            },
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
    fn invalid_keys_are_rejected() {
        for text in ["", "dev", "DEV:1", "DEV:0", "DEV:x", "DEV:-2", "constructor", "DEV:2:3"] {
            assert_eq!(text.parse::<StageKey>(), Err(()), "{text}");
        }
    }
}
