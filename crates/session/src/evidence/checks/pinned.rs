//! The checks that a workflow is bound to, and whether they may run.

use std::path::Path;

use overtone_core::evidence::Check;
use overtone_store::{Home, Session, StoreError, Trust};

/// The checks of a session's workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinnedChecks {
    pub checks: Vec<Check>,
    /// Whether the user allows exactly these checks in this project at this moment.
    pub is_trusted: bool,
}

impl PinnedChecks {
    /// `None` if the workflow has no checks.
    pub fn load(home: &Home, session: &Session, project: &Path) -> Result<Option<Self>, StoreError> {
        if !session.has_pinned_checks() {
            return Ok(None);
        }
        let checks = session.pinned_checks()?;
        let is_trusted = match Trust::for_project(home, project) {
            Some(trust) => trust.covers(&checks),
            None => false,
        };
        Ok(Some(Self { checks, is_trusted }))
    }
}
