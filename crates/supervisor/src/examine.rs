//! One look at the work: the checks first, then the reviewer.

use std::env;
use std::path::Path;
use std::time::{Duration, Instant};

use overtone_install::Client;
use overtone_messages::{Lang, supervisor as words};
use overtone_providers::ProvidersError;
use overtone_store::SessionId;

use crate::checks::{self, Evidence};
use crate::folder::StateFolder;
use crate::interrupt;
use crate::narrate;
use crate::prompt::{self, Facts};
use crate::review::{self, NoReview};
use crate::reviewer::Reviewer;
use crate::route::Route;
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::verdict::Verdict;

/// What is looked at, and how.
#[derive(Debug)]
pub(crate) struct Case<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) folder: &'a StateFolder,
    /// The client looks for a session in the project it was started in.
    pub(crate) project: Option<&'a Path>,
    pub(crate) settings: &'a Settings,
    pub(crate) request: Option<&'a str>,
    pub(crate) changed: Option<bool>,
    /// What reviews of this session have cost so far.
    pub(crate) spent: f64,
    pub(crate) secrets: &'a Secrets,
    pub(crate) lang: Lang,
}

/// What came of it.
#[derive(Debug)]
pub(crate) struct Examined {
    pub(crate) review: Result<Verdict, NoReview>,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) cost_usd: f64,
    pub(crate) took: Duration,
}

impl Case<'_> {
    pub(crate) fn examine(&self) -> Examined {
        let start = Instant::now();
        let deadline = start + self.settings.timeout;
        interrupt::watch();
        let evidence = self.gather(deadline);
        let (review, cost_usd) = match checks::feedback(&evidence, self.lang) {
            _ if interrupt::is_seen() => (Err(NoReview::Interrupted), 0.0),
            // Facts need no opinion, and cost nothing.
            Some(feedback) => (Ok(Verdict { allow_stop: false, feedback }), 0.0),
            None => self.ask(&evidence, deadline),
        };
        Examined { review, evidence, cost_usd, took: start.elapsed() }
    }

    fn gather(&self, deadline: Instant) -> Vec<Evidence> {
        let here = env::current_dir().unwrap_or_default();
        let project = self.project.filter(|project| project.is_dir()).unwrap_or(&here);
        let scene = checks::Scene { project, changed: self.changed, secrets: self.secrets, deadline };
        let run = |check: &checks::Check| {
            narrate::say(&words::checking(self.lang, &self.secrets.hide(&check.name)));
            check.run(&scene)
        };
        self.settings.checks.iter().map(run).collect()
    }

    fn ask(&self, evidence: &[Evidence], deadline: Instant) -> (Result<Verdict, NoReview>, f64) {
        match self.result(evidence, deadline) {
            Ok(line) => (review::judge(&line, self.settings.max_budget_usd, self.lang), line.cost_usd),
            Err(reason) => (Err(reason), 0.0),
        }
    }

    fn result(
        &self,
        evidence: &[Evidence],
        deadline: Instant,
    ) -> Result<crate::stream::ResultLine, NoReview> {
        let budget = self.budget()?;
        let client = Client::find(env::var_os("PATH").as_deref()).ok_or(NoReview::NoClaude)?;
        let route = self.route()?;
        let facts = Facts { request: self.request, evidence };
        let reviewer = Reviewer {
            session: self.session,
            prompt: prompt::prompt(&self.folder.prompt_file(), &facts, self.lang),
            project: self.project.map(Path::to_owned),
            output: self.folder.output_file(self.session.as_str()),
            route: &route,
            secrets: self.secrets,
            model: self.settings.model.as_deref(),
            budget,
            deadline,
            timeout: self.settings.timeout,
        };
        narrate::reviewing(self.lang);
        reviewer.run(&client)
    }

    /// What is left of the money.
    fn budget(&self) -> Result<Option<f64>, NoReview> {
        match self.settings.max_budget_usd {
            Some(budget) if self.spent >= budget => Err(NoReview::BudgetSpent(budget)),
            budget => Ok(budget.map(|budget| budget - self.spent)),
        }
    }

    /// The named provider, or none at all: another one might not be meant to see the work. The session's own provider
    /// is in the environment already, so it need not be found in the configuration any more.
    fn route(&self) -> Result<Route, NoReview> {
        let tell =
            |error: ProvidersError| narrate::say(&format!("[overtone/supervisor] {}", error.summary()));
        match (&self.settings.provider, &self.settings.own_provider) {
            (Some(name), _) => Route::on(name, self.project).map_err(|error| {
                tell(error);
                NoReview::NoProvider(name.clone())
            }),
            (None, Some(own)) => Ok(Route::on(own, self.project).unwrap_or_else(|error| {
                tell(error);
                Route::Inherited
            })),
            (None, None) => Ok(Route::Inherited),
        }
    }
}
