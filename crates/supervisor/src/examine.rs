//! One look at the work: the checks first, then the reviewer.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, Instant};

use overtone_install::Client;
use overtone_messages::{Lang, supervisor as words};
use overtone_providers::{Config, Places, ProvidersError, private_settings};
use overtone_store::SessionId;
use serde_json::Value;

use crate::checks::{self, Evidence};
use crate::folder::StateFolder;
use crate::interrupt;
use crate::narrate;
use crate::prompt::{self, Facts};
use crate::review::{self, NoReview};
use crate::reviewer::Reviewer;
use crate::secrets::Secrets;
use crate::settings::Settings;
use crate::verdict::Verdict;

/// The reviewer's own Stop must not be reviewed.
const NO_HOOKS: &str = r#"{"disableAllHooks":true}"#;

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
            narrate::say(&words::checking(self.lang, &check.name));
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
        let settings = self.reviewer_settings()?;
        let facts = Facts { request: self.request, evidence };
        let reviewer = Reviewer {
            session: self.session,
            prompt: prompt::prompt(&self.folder.prompt_file(), &facts, self.lang),
            project: self.project.map(Path::to_owned),
            output: self.folder.output_file(self.session.as_str()),
            settings: settings.argument(),
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

    fn reviewer_settings(&self) -> Result<ReviewerSettings, NoReview> {
        let Some(name) = &self.settings.provider else { return Ok(ReviewerSettings::Inline) };
        let file = provider_file(name).map_err(|error| {
            narrate::say(&format!("[overtone/supervisor] {}", error.summary()));
            NoReview::NoProvider(name.clone())
        });
        file.map(ReviewerSettings::File)
    }
}

/// A token must not be seen in a list of processes, so a provider's settings are in a private file.
enum ReviewerSettings {
    Inline,
    File(PathBuf),
}

impl ReviewerSettings {
    fn argument(&self) -> OsString {
        match self {
            Self::Inline => NO_HOOKS.into(),
            Self::File(path) => path.clone().into(),
        }
    }
}

impl Drop for ReviewerSettings {
    fn drop(&mut self) {
        if let Self::File(path) = self {
            // The next start that needs such a file takes leftovers away.
            let _ = fs::remove_file(path);
        }
    }
}

fn provider_file(name: &str) -> Result<PathBuf, ProvidersError> {
    let places = Places::resolve(&|name| env::var_os(name))?;
    let config = Config::load(&places.config_file())?;
    let mut settings = config.fragment(name, &|variable| env::var(variable).ok())?;
    settings.insert("disableAllHooks".to_owned(), Value::Bool(true));
    private_settings(&places, &settings, process::id())
}
