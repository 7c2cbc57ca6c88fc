//! `ccc validate`: tests whether providers would answer Claude Code. Tokens are never shown.

use std::collections::BTreeMap;
use std::env;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use overtone_ccc::probe::{Account, DEFAULT_BASE_URL, ProbeOutcome, ProbeResult, TlsFault, probe};
use overtone_ccc::providers::{Config, masked, redact};
use overtone_core::messages::{Lang, care, ccc as messages};
use overtone_net::Network;
use serde::Serialize;
use serde_json::Value;

use super::args::ValidateArgs;
use super::context::CccContext;
use super::report::{failure, parts};
use crate::ui::error::{CommandError, CommandResult, note};
use crate::ui::out;
use crate::ui::table::{Cell, Table};
use overtone_hook::ansi::Text;
use overtone_hook::ansi::{Palette, Tone};

/// How many providers are probed at the same time.
const MAX_PARALLEL: usize = 8;

/// A provider to probe.
struct Job {
    name: String,
    address: String,
    /// How to probe it, or the verdict if a probe would be pointless.
    target: Result<(Account, Network), Verdict>,
}

/// The result for a provider.
#[derive(Debug, Clone)]
struct Verdict {
    /// The outcome in JSON output.
    outcome: &'static str,
    usable: bool,
    what: String,
    hint: Option<String>,
    server_message: Option<String>,
    duration: Option<Duration>,
}

pub(super) fn run(context: &CccContext, args: &ValidateArgs) -> CommandResult {
    let config = context.config()?;
    let names = names(context, &config, args)?;
    let jobs: Vec<_> = names.into_iter().map(|name| Job::new(context.lang, &config, name)).collect();
    let verdicts = probe_all(context.lang, &jobs, args.timeout);
    let results: Vec<_> = jobs.iter().zip(&verdicts).collect();
    if args.output.json {
        out::json(&to_json(&results))?;
    } else {
        out::print(&table(context.lang, &results))?;
        explain(context.lang, &results);
    }
    match verdicts.iter().filter(|verdict| !verdict.usable).count() {
        0 => Ok(()),
        count => {
            Err(CommandError::new(care::unusable(context.lang, count))
                .hint(care::unusable_hint(context.lang)))
        }
    }
}

fn names(context: &CccContext, config: &Config, args: &ValidateArgs) -> CommandResult<Vec<String>> {
    let failed = |error| failure(context.lang, &error);
    if args.all {
        let names = config.names().map_err(failed)?;
        if !names.is_empty() {
            return Ok(names);
        }
    }
    // If there are no providers, the error about the current one explains how to add one.
    if args.providers.is_empty() {
        let name = match context.pin()? {
            Some(pin) => {
                config.check(&pin.provider, Some(pin.location)).map_err(failed)?;
                pin.provider
            }
            None => config.chosen().map_err(failed)?,
        };
        return Ok(vec![name]);
    }
    for name in &args.providers {
        config.check(name, None).map_err(failed)?;
    }
    Ok(args.providers.clone())
}

impl Job {
    fn new(lang: Lang, config: &Config, name: String) -> Self {
        let fragment = config.fragment(&name, &|variable| env::var(variable).ok());
        let variables = match &fragment {
            Ok(fragment) => text_values(fragment.get("env")),
            Err(_) => config.env(&name).unwrap_or_default().into_iter().collect(),
        };
        let address = match variables.get("ANTHROPIC_BASE_URL") {
            Some(address) if !address.is_empty() => address.clone(),
            _ => DEFAULT_BASE_URL.to_owned(),
        };
        let own = |variable: &str| variables.get(variable).cloned();
        // The provider's network settings win over those of the process.
        let any = |variable: &str| own(variable).or_else(|| env::var(variable).ok());
        let target = match &fragment {
            Err(error) => Err(Verdict::unusable("unset-variable", parts(failure(lang, error)))),
            Ok(_) => Account::from_env(&own)
                .map(|account| (account, Network::from_env(&any)))
                .map_err(|outcome| Verdict::from_outcome(lang, &name, &address, &outcome)),
        };
        Self { name, address, target }
    }

    fn masked_address(&self) -> String {
        masked("ANTHROPIC_BASE_URL", &self.address)
    }

    fn verdict(&self, lang: Lang, timeout: Duration) -> Verdict {
        match &self.target {
            Err(verdict) => verdict.clone(),
            Ok((account, network)) => {
                let ProbeResult { outcome, server_message, duration } = probe(account, network, timeout);
                let verdict = Verdict::from_outcome(lang, &self.name, &self.address, &outcome);
                // Servers may repeat secrets of this request, and some even those of other requests.
                let server_message = match server_message {
                    Some(message) if outcome != ProbeOutcome::Works => Some(redact(&message)),
                    _ => None,
                };
                Verdict { server_message, duration: Some(duration), ..verdict }
            }
        }
    }
}

fn text_values(env: Option<&Value>) -> BTreeMap<String, String> {
    let text = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
    env.and_then(Value::as_object).into_iter().flatten().filter_map(text).collect()
}

/// Probes the providers in parallel and shows the progress. Returns the verdicts in the order of the jobs.
fn probe_all(lang: Lang, jobs: &[Job], timeout: Duration) -> Vec<Verdict> {
    let progress = Progress::new(lang, jobs.len());
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let mut verdicts = BTreeMap::new();
    thread::scope(|scope| {
        for _ in 0..jobs.len().min(MAX_PARALLEL) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some((index, job)) = next_job(jobs, next) {
                    // This cannot fail: the receiver waits for all senders.
                    let _ = sender.send((index, job.verdict(lang, timeout)));
                }
            });
        }
        drop(sender);
        for (index, verdict) in &receiver {
            verdicts.insert(index, verdict);
            progress.show(verdicts.len());
        }
    });
    progress.clear();
    verdicts.into_values().collect()
}

fn next_job<'a>(jobs: &'a [Job], next: &AtomicUsize) -> Option<(usize, &'a Job)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(index).map(|job| (index, job))
}

/// Shows how many providers have answered.
struct Progress {
    lang: Lang,
    total: usize,
    line: out::Progress,
}

impl Progress {
    fn new(lang: Lang, total: usize) -> Self {
        let progress = Self { lang, total, line: out::Progress::new() };
        progress.show(0);
        progress
    }

    fn show(&self, done: usize) {
        self.line.show(&care::asking(self.lang, done, self.total));
    }

    fn clear(&self) {
        self.line.show("");
    }
}

fn table(lang: Lang, results: &[(&Job, &Verdict)]) -> Text {
    let head = [
        messages::head_provider(lang),
        messages::head_address(lang),
        care::head_result(lang),
        care::head_time(lang),
    ];
    let mut table = Table::with_head(head);
    for (job, verdict) in results {
        let tone = if verdict.usable { Tone::Good } else { Tone::Bad };
        let time = verdict
            .duration
            .map(|duration| care::milliseconds(lang, milliseconds(duration)))
            .unwrap_or_default();
        table.row([
            Cell::new(&job.name),
            Cell::new(job.masked_address()),
            Cell::new(&verdict.what).tone(tone),
            Cell::new(time).right(),
        ]);
    }
    table.render(Palette::for_stdout())
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Prints the hints, which do not fit into the table.
fn explain(lang: Lang, results: &[(&Job, &Verdict)]) {
    for (job, verdict) in results.iter().filter(|(_, verdict)| verdict.hint.is_some()) {
        note(&care::explained(lang, &job.name, &verdict.what));
        if let Some(message) = &verdict.server_message {
            note(&format!("  {}", care::server_said(lang, message)));
        }
        if let Some(hint) = &verdict.hint {
            note(&care::advice(lang, hint));
        }
    }
}

/// The output of `ccc validate --json`.
#[derive(Serialize)]
struct ValidationJson<'a> {
    usable: bool,
    providers: Vec<ProviderJson<'a>>,
}

#[derive(Serialize)]
struct ProviderJson<'a> {
    name: &'a str,
    address: String,
    outcome: &'static str,
    usable: bool,
    what: &'a str,
    hint: Option<&'a str>,
    #[serde(rename = "said")]
    server_message: Option<&'a str>,
    milliseconds: Option<u64>,
}

fn to_json<'a>(results: &[(&'a Job, &'a Verdict)]) -> ValidationJson<'a> {
    let provider = |(job, verdict): &(&'a Job, &'a Verdict)| ProviderJson {
        name: &job.name,
        address: job.masked_address(),
        outcome: verdict.outcome,
        usable: verdict.usable,
        what: &verdict.what,
        hint: verdict.hint.as_deref(),
        server_message: verdict.server_message.as_deref(),
        milliseconds: verdict.duration.map(milliseconds),
    };
    let usable = results.iter().all(|(_, verdict)| verdict.usable);
    ValidationJson { usable, providers: results.iter().map(provider).collect() }
}

impl Verdict {
    fn from_outcome(lang: Lang, name: &str, address: &str, outcome: &ProbeOutcome) -> Self {
        let (what, hint) = explanation(lang, name, address, outcome);
        Self { usable: outcome.is_usable(), hint, ..Self::unusable(outcome.name(), (what, String::new())) }
    }

    /// The verdict on a provider that cannot be probed.
    fn unusable(outcome: &'static str, (what, hint): (String, String)) -> Self {
        let hint = if hint.is_empty() { None } else { Some(hint) };
        Self { outcome, usable: false, what, hint, server_message: None, duration: None }
    }
}

/// Describes an outcome and what to do about it.
fn explanation(lang: Lang, name: &str, address: &str, outcome: &ProbeOutcome) -> (String, Option<String>) {
    let (what, hint) = match outcome {
        ProbeOutcome::Works => return (care::works(lang), None),
        ProbeOutcome::Limited => (care::limited(lang), care::limited_hint(lang)),
        ProbeOutcome::KeyRefused { status } => {
            (care::key_refused(lang, &status.to_string()), care::key_refused_hint(lang, name))
        }
        ProbeOutcome::NoSuchAddress => (care::no_such_address(lang), address_hint(lang, address)),
        ProbeOutcome::NotTheApi => (care::not_the_api(lang), address_hint(lang, address)),
        ProbeOutcome::NoSuchModel { model } => {
            (care::no_such_model(lang, model), care::no_such_model_hint(lang, name))
        }
        ProbeOutcome::Rejected { status } => {
            (care::rejected(lang, &status.to_string()), care::rejected_hint(lang))
        }
        ProbeOutcome::ServerFailed { status } => {
            (care::server_failed(lang, &status.to_string()), care::server_failed_hint(lang))
        }
        ProbeOutcome::Redirected { to } => {
            (care::redirected(lang, to.as_deref().unwrap_or("?")), care::redirected_hint(lang))
        }
        ProbeOutcome::NoToken => (care::token_missing(lang), care::token_missing_hint(lang, name)),
        ProbeOutcome::BadAddress => (care::bad_address(lang), care::bad_address_hint(lang)),
        ProbeOutcome::BadHeader => (care::bad_header(lang), care::bad_header_hint(lang, name)),
        ProbeOutcome::OtherRoute { variable } => {
            (care::other_route(lang, variable), care::other_route_hint(lang))
        }
        other => connection_failure(lang, other),
    };
    (what, Some(hint))
}

/// Describes an outcome without an answer of the server.
fn connection_failure(lang: Lang, outcome: &ProbeOutcome) -> (String, String) {
    match outcome {
        ProbeOutcome::TimedOut => (care::too_late(lang), care::too_late_hint(lang)),
        ProbeOutcome::Tls { fault: TlsFault::Certificate } => {
            (care::tls_certificate(lang), care::tls_certificate_hint(lang))
        }
        ProbeOutcome::Tls { fault: TlsFault::Handshake } => {
            (care::tls_handshake(lang), care::tls_handshake_hint(lang))
        }
        ProbeOutcome::UnknownHost => (care::unknown_host(lang), care::unknown_host_hint(lang)),
        ProbeOutcome::ConnectionRefused => {
            (care::connection_refused(lang), care::connection_refused_hint(lang))
        }
        ProbeOutcome::ProxyFailed => (care::proxy_failed(lang), care::proxy_failed_hint(lang)),
        ProbeOutcome::BadCertificates { variable } => {
            (care::bad_certificates(lang, variable), care::bad_certificates_hint(lang, variable))
        }
        _ => (care::unreachable(lang), care::unreachable_hint(lang)),
    }
}

fn address_hint(lang: Lang, address: &str) -> String {
    let is_doubled = address.trim_end_matches('/').ends_with("/v1");
    if is_doubled { care::doubled_version_hint(lang) } else { care::no_such_address_hint(lang) }
}
