//! `ccc validate`: asks providers whether they would answer Claude Code. No token is ever shown.

use std::collections::BTreeMap;
use std::env;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use overtone_messages::{Lang, care, ccc as words};
use overtone_probe::{Account, Answer, DEFAULT_BASE, Outcome, TlsFault, Way, ask};
use overtone_providers::{Config, masked, redact};
use serde_json::{Value, json};

use super::args::ValidateArgs;
use super::face::Face;
use super::report::{failure, parts};
use crate::ui::error::{Done, Failure, say};
use crate::ui::out;
use crate::ui::style::{Palette, Tone};
use crate::ui::table::{Cell, Table};
use crate::ui::text::Text;

/// How many are asked at the same time.
const PARALLEL: usize = 8;

/// A provider that is to be asked, or what makes asking pointless.
struct Job {
    name: String,
    address: String,
    question: Result<(Account, Way), Verdict>,
}

/// What is known about a provider in the end.
#[derive(Debug, Clone)]
struct Verdict {
    /// For programs.
    outcome: &'static str,
    usable: bool,
    what: String,
    hint: Option<String>,
    said: Option<String>,
    took: Option<Duration>,
}

pub(super) fn run(face: &Face, args: &ValidateArgs) -> Done {
    let config = face.config()?;
    let names = names(face, &config, args)?;
    let jobs: Vec<_> = names.into_iter().map(|name| Job::new(face.lang, &config, name)).collect();
    let verdicts = ask_all(face.lang, &jobs, args.timeout);
    let asked: Vec<_> = jobs.iter().zip(&verdicts).collect();
    if args.output.json {
        out::json(&object(&asked))?;
    } else {
        out::print(&table(face.lang, &asked))?;
        explain(face.lang, &asked);
    }
    match verdicts.iter().filter(|verdict| !verdict.usable).count() {
        0 => Ok(()),
        count => Err(Failure::new(care::unusable(face.lang, count)).hint(care::unusable_hint(face.lang))),
    }
}

fn names(face: &Face, config: &Config, args: &ValidateArgs) -> Result<Vec<String>, Failure> {
    let told = |error| failure(face.lang, &error);
    if args.all {
        let names = config.names().map_err(told)?;
        if !names.is_empty() {
            return Ok(names);
        }
    }
    // Without any, the search for the current one says how to add one.
    if args.providers.is_empty() {
        let name = match face.pin()? {
            Some(pin) => {
                config.check(&pin.provider, Some(pin.place)).map_err(told)?;
                pin.provider
            }
            None => config.chosen().map_err(told)?,
        };
        return Ok(vec![name]);
    }
    for name in &args.providers {
        config.check(name, None).map_err(told)?;
    }
    Ok(args.providers.clone())
}

impl Job {
    fn new(lang: Lang, config: &Config, name: String) -> Self {
        let fragment = config.fragment(&name, &|variable| env::var(variable).ok());
        let variables = match &fragment {
            Ok(fragment) => texts(fragment.get("env")),
            Err(_) => config.env(&name).unwrap_or_default().into_iter().collect(),
        };
        let address = variables.get("ANTHROPIC_BASE_URL").filter(|address| !address.is_empty());
        let address = address.map_or(DEFAULT_BASE, String::as_str).to_owned();
        let own = |variable: &str| variables.get(variable).cloned();
        // The network is the machine's, unless the provider says otherwise.
        let any = |variable: &str| own(variable).or_else(|| env::var(variable).ok());
        let question = match &fragment {
            Err(error) => Err(Verdict::told("unset-variable", parts(failure(lang, error)))),
            Ok(_) => Account::from_env(&own)
                .map(|account| (account, Way::from_env(&any)))
                .map_err(|outcome| Verdict::of(lang, &name, &address, &outcome)),
        };
        Self { name, address, question }
    }

    fn shown_address(&self) -> String {
        masked("ANTHROPIC_BASE_URL", &self.address)
    }

    fn verdict(&self, lang: Lang, patience: Duration) -> Verdict {
        match &self.question {
            Err(verdict) => verdict.clone(),
            Ok((account, way)) => {
                let Answer { outcome, said, took } = ask(account, way, patience);
                let verdict = Verdict::of(lang, &self.name, &self.address, &outcome);
                // Servers repeat what they were sent, and some of them what others have sent.
                let said = said.filter(|_| outcome != Outcome::Works).map(|said| redact(&said));
                Verdict { said, took: Some(took), ..verdict }
            }
        }
    }
}

fn texts(env: Option<&Value>) -> BTreeMap<String, String> {
    let text = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
    env.and_then(Value::as_object).into_iter().flatten().filter_map(text).collect()
}

/// Asks all of them at once, as far as is polite, and shows how far it is.
fn ask_all(lang: Lang, jobs: &[Job], patience: Duration) -> Vec<Verdict> {
    let progress = Progress::new(lang, jobs.len());
    let next = AtomicUsize::new(0);
    let (send, received) = mpsc::channel();
    let mut verdicts = BTreeMap::new();
    thread::scope(|scope| {
        for _ in 0..jobs.len().min(PARALLEL) {
            let (send, next) = (send.clone(), &next);
            scope.spawn(move || {
                while let Some((at, job)) = take(jobs, next) {
                    // The receiver waits until the last of us has ended.
                    let _ = send.send((at, job.verdict(lang, patience)));
                }
            });
        }
        drop(send);
        for (at, verdict) in &received {
            verdicts.insert(at, verdict);
            progress.show(verdicts.len());
        }
    });
    progress.clear();
    verdicts.into_values().collect()
}

fn take<'a>(jobs: &'a [Job], next: &AtomicUsize) -> Option<(usize, &'a Job)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    jobs.get(at).map(|job| (at, job))
}

/// How many have answered, for a person.
struct Progress {
    lang: Lang,
    all: usize,
    line: out::Progress,
}

impl Progress {
    fn new(lang: Lang, all: usize) -> Self {
        let progress = Self { lang, all, line: out::Progress::new() };
        progress.show(0);
        progress
    }

    fn show(&self, done: usize) {
        self.line.show(&care::asking(self.lang, done, self.all));
    }

    fn clear(&self) {
        self.line.show("");
    }
}

fn table(lang: Lang, asked: &[(&Job, &Verdict)]) -> Text {
    let head = [
        words::head_provider(lang),
        words::head_address(lang),
        care::head_result(lang),
        care::head_time(lang),
    ];
    let mut table = Table::with_head(head);
    for (job, verdict) in asked {
        let tone = if verdict.usable { Tone::Good } else { Tone::Bad };
        let time = verdict.took.map(|took| care::milliseconds(lang, milliseconds(took))).unwrap_or_default();
        table.row([
            Cell::new(&job.name),
            Cell::new(job.shown_address()),
            Cell::new(&verdict.what).tone(tone),
            Cell::new(time).right(),
        ]);
    }
    table.render(Palette::for_stdout())
}

fn milliseconds(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}

/// What a table has no room for.
fn explain(lang: Lang, asked: &[(&Job, &Verdict)]) {
    for (job, verdict) in asked.iter().filter(|(_, verdict)| verdict.hint.is_some()) {
        say(&care::explained(lang, &job.name, &verdict.what));
        if let Some(said) = &verdict.said {
            say(&format!("  {}", care::server_said(lang, said)));
        }
        if let Some(hint) = &verdict.hint {
            say(&care::advice(lang, hint));
        }
    }
}

fn object(asked: &[(&Job, &Verdict)]) -> Value {
    let providers = asked.iter().map(|(job, verdict)| {
        json!({
            "name": job.name, "address": job.shown_address(), "outcome": verdict.outcome, "usable": verdict.usable,
            "what": verdict.what, "hint": verdict.hint, "said": verdict.said,
            "milliseconds": verdict.took.map(milliseconds),
        })
    });
    let usable = asked.iter().all(|(_, verdict)| verdict.usable);
    json!({ "usable": usable, "providers": providers.collect::<Vec<_>>() })
}

impl Verdict {
    fn of(lang: Lang, name: &str, address: &str, outcome: &Outcome) -> Self {
        let (what, hint) = explanation(lang, name, address, outcome);
        Self { usable: outcome.is_usable(), hint, ..Self::told(outcome.name(), (what, String::new())) }
    }

    /// For a provider that cannot be asked.
    fn told(outcome: &'static str, (what, hint): (String, String)) -> Self {
        let hint = Some(hint).filter(|hint| !hint.is_empty());
        Self { outcome, usable: false, what, hint, said: None, took: None }
    }
}

/// What came of asking, and what to do about it.
fn explanation(lang: Lang, name: &str, address: &str, outcome: &Outcome) -> (String, Option<String>) {
    let (what, hint) = match outcome {
        Outcome::Works => return (care::works(lang), None),
        Outcome::Limited => (care::limited(lang), care::limited_hint(lang)),
        Outcome::KeyRefused { status } => {
            (care::key_refused(lang, &status.to_string()), care::key_refused_hint(lang, name))
        }
        Outcome::NoSuchAddress => (care::no_such_address(lang), address_hint(lang, address)),
        Outcome::NotTheApi => (care::not_the_api(lang), address_hint(lang, address)),
        Outcome::NoSuchModel { model } => {
            (care::no_such_model(lang, model), care::no_such_model_hint(lang, name))
        }
        Outcome::Rejected { status } => {
            (care::rejected(lang, &status.to_string()), care::rejected_hint(lang))
        }
        Outcome::ServerFailed { status } => {
            (care::server_failed(lang, &status.to_string()), care::server_failed_hint(lang))
        }
        Outcome::Redirected { to } => {
            (care::redirected(lang, to.as_deref().unwrap_or("?")), care::redirected_hint(lang))
        }
        Outcome::NoToken => (care::token_missing(lang), care::token_missing_hint(lang, name)),
        Outcome::BadAddress => (care::bad_address(lang), care::bad_address_hint(lang)),
        Outcome::BadHeader => (care::bad_header(lang), care::bad_header_hint(lang, name)),
        Outcome::OtherRoute { variable } => (care::other_route(lang, variable), care::other_route_hint(lang)),
        unreachable => connection(lang, unreachable),
    };
    (what, Some(hint))
}

/// Everything that happens before there is an answer.
fn connection(lang: Lang, outcome: &Outcome) -> (String, String) {
    match outcome {
        Outcome::TooLate => (care::too_late(lang), care::too_late_hint(lang)),
        Outcome::Tls { fault: TlsFault::Certificate } => {
            (care::tls_certificate(lang), care::tls_certificate_hint(lang))
        }
        Outcome::Tls { fault: TlsFault::Handshake } => {
            (care::tls_handshake(lang), care::tls_handshake_hint(lang))
        }
        Outcome::UnknownHost => (care::unknown_host(lang), care::unknown_host_hint(lang)),
        Outcome::ConnectionRefused => (care::connection_refused(lang), care::connection_refused_hint(lang)),
        Outcome::ProxyFailed => (care::proxy_failed(lang), care::proxy_failed_hint(lang)),
        Outcome::BadCertificates { variable } => {
            (care::bad_certificates(lang, variable), care::bad_certificates_hint(lang, variable))
        }
        _ => (care::unreachable(lang), care::unreachable_hint(lang)),
    }
}

fn address_hint(lang: Lang, address: &str) -> String {
    let is_doubled = address.trim_end_matches('/').ends_with("/v1");
    if is_doubled { care::doubled_version_hint(lang) } else { care::no_such_address_hint(lang) }
}
