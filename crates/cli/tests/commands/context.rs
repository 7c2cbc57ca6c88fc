//! The helpers of the command tests.

use std::path::PathBuf;

use serde_json::Value;

use crate::common::with_verdict;
pub(crate) use crate::common::{BINARY, Output, TestContext, put, read};

impl TestContext {
    /// With the session `s1`.
    pub(crate) fn for_commands() -> Self {
        Self::new().with_env("OVERTONE_SESSION_ID", "s1")
    }

    pub(crate) fn feature(&self, path: &str) -> PathBuf {
        self.project().join("specs/features").join(path)
    }

    /// The JSON output of a command that must succeed.
    #[track_caller]
    pub(crate) fn json(&self, line: &str) -> Value {
        self.run(line).ok().json()
    }

    pub(crate) fn hook(&self, name: &str, payload: &Value) {
        self.run_hook(name, payload).succeeds();
    }

    /// The answer of a hook.
    #[track_caller]
    pub(crate) fn answer(&self, name: &str, payload: &Value) -> Value {
        self.run_hook(name, payload).ok().json()
    }

    /// Delegates to an agent; with a verdict, the agent also reports back.
    pub(crate) fn agent(&self, session: &str, agent: &str, verdict: Option<&str>) {
        match verdict {
            Some(verdict) => self.run_agent(session, agent, &with_verdict("done", verdict)),
            None => drop(self.delegate(session, agent)),
        }
    }
}

/// The keys of an object, in order.
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}
