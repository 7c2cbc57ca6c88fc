//! Examines the work once: runs the checks first, then the reviewer.

use std::env;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::providers::ProvidersError;
use overtone_claude::install::Client;
use overtone_core::messages::{Lang, supervisor as messages};
use overtone_store::SessionId;

use crate::supervisor::checks::{self, Evidence};
use crate::supervisor::interrupt;
use crate::supervisor::progress;
use crate::supervisor::prompt::{self, ReviewFacts};
use crate::supervisor::review::{self, NoReview};
use crate::supervisor::reviewer::Reviewer;
use crate::supervisor::route::Route;
use crate::supervisor::secrets::Secrets;
use crate::supervisor::settings::Settings;
use crate::supervisor::stream::ResultLine;
use crate::supervisor::verdict::Verdict;
use overtone_store::supervision::StateFolder;

/// The input of an examination.
#[derive(Debug)]
pub(crate) struct Examination<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) folder: &'a StateFolder,
    /// The session's project. The client finds a session only in the project in which it was started.
    pub(crate) project: Option<&'a Path>,
    pub(crate) settings: &'a Settings,
    pub(crate) request: Option<&'a str>,
    pub(crate) changed: Option<bool>,
    /// The cost of earlier reviews of this session, in dollars.
    pub(crate) spent: f64,
    pub(crate) secrets: &'a Secrets,
    pub(crate) lang: Lang,
}

/// The outcome of an examination.
#[derive(Debug)]
pub(crate) struct ExaminationResult {
    pub(crate) review: Result<Verdict, NoReview>,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) cost_usd: f64,
    pub(crate) duration: Duration,
}

impl Examination<'_> {
    pub(crate) fn run(&self) -> ExaminationResult {
        let start = Instant::now();
        let deadline = start + self.settings.timeout;
        interrupt::install_handlers();
        let evidence = self.run_checks(deadline);
        let (review, cost_usd) = match checks::failure_feedback(&evidence, self.lang) {
            _ if interrupt::is_requested() => (Err(NoReview::Interrupted), 0.0),
            // Failed checks need no reviewer, and cost nothing.
            Some(feedback) => (Ok(Verdict { allow_stop: false, feedback }), 0.0),
            None => self.review(&evidence, deadline),
        };
        ExaminationResult { review, evidence, cost_usd, duration: start.elapsed() }
    }

    fn run_checks(&self, deadline: Instant) -> Vec<Evidence> {
        let current = env::current_dir().unwrap_or_default();
        let project = self.project.filter(|project| project.is_dir()).unwrap_or(&current);
        let context =
            checks::CheckContext { project, changed: self.changed, secrets: self.secrets, deadline };
        let run = |check: &checks::Check| {
            progress::print(&messages::checking(self.lang, &self.secrets.redact(&check.name)));
            check.run(&context)
        };
        self.settings.checks.iter().map(run).collect()
    }

    fn review(&self, evidence: &[Evidence], deadline: Instant) -> (Result<Verdict, NoReview>, f64) {
        match self.run_reviewer(evidence, deadline) {
            Ok(line) => (review::verdict_of(&line, self.settings.max_budget_usd, self.lang), line.cost_usd),
            Err(reason) => (Err(reason), 0.0),
        }
    }

    fn run_reviewer(&self, evidence: &[Evidence], deadline: Instant) -> Result<ResultLine, NoReview> {
        let budget = self.remaining_budget()?;
        let client = Client::find(env::var_os("PATH").as_deref()).ok_or(NoReview::NoClient)?;
        let route = self.reviewer_route()?;
        let facts = ReviewFacts { request: self.request, evidence };
        let reviewer = Reviewer {
            session: self.session,
            prompt: prompt::build(&self.folder.prompt_file(), &facts, self.lang),
            project: self.project.map(Path::to_owned),
            output: self.folder.output_file(self.session.as_str()),
            route: &route,
            secrets: self.secrets,
            model: self.settings.model.as_deref(),
            budget,
            deadline,
            timeout: self.settings.timeout,
        };
        progress::print_reviewing(self.lang);
        reviewer.run(&client)
    }

    /// What is left of the session's budget; `None` if there is no limit.
    fn remaining_budget(&self) -> Result<Option<f64>, NoReview> {
        match self.settings.max_budget_usd {
            Some(budget) if self.spent >= budget => Err(NoReview::BudgetSpent(budget)),
            budget => Ok(budget.map(|budget| budget - self.spent)),
        }
    }

    /// The route of the reviewer. A provider named in the settings must be usable: another one might not be allowed to
    /// see the work. The session's own provider is in the environment already, so the session's environment is used if
    /// it is not in the configuration any more.
    fn reviewer_route(&self) -> Result<Route, NoReview> {
        let report = |error: ProvidersError| progress::print(&format!("[overtone/supervisor] {error}"));
        match (&self.settings.provider, &self.settings.own_provider) {
            (Some(name), _) => Route::for_provider(name, self.project).map_err(|error| {
                report(error);
                NoReview::NoProvider(name.clone())
            }),
            (None, Some(own)) => Ok(Route::for_provider(own, self.project).unwrap_or_else(|error| {
                report(error);
                Route::Inherited
            })),
            (None, None) => Ok(Route::Inherited),
        }
    }
}
