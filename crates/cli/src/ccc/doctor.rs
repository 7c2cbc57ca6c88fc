//! `ccc doctor`: what is wrong with the set-up, and how to mend it.

use std::env;
use std::path::PathBuf;

use overtone_install::doctor::undisturbed;
use overtone_install::{Client, OLDEST_CLIENT, Version};
use overtone_messages::{Lang, care, ccc as words, install};
use overtone_providers::Config;
use overtone_providers::doctor::{Finding, Patient, examine, fix};
use serde_json::{Value, json};

use super::args::CareArgs;
use super::face::Face;
use super::launch::{Refused, plan_here};
use super::report::{self, failure, fault, parts, shown};
use crate::ui::error::{Done, Failure, say};
use crate::ui::out;

/// A finding as a person and a program see it.
struct Told {
    name: &'static str,
    serious: bool,
    what: String,
    /// Nothing where the finding says it itself.
    hint: Option<String>,
}

/// The client, if there is one, and what is wrong with it.
struct Health {
    client: Option<(PathBuf, Option<Version>)>,
    told: Vec<Told>,
}

pub(super) fn run(face: &Face, args: &CareArgs) -> Done {
    let findings = mended(face, args)?;
    let Health { client, told: of_client } = client_health(face);
    let mut told = of_client;
    told.extend(findings.iter().map(|finding| tell(face.lang, finding)));
    told.extend(conflicts(face));
    if args.output.json {
        out::json(&object(client.as_ref(), &told))?;
    } else {
        out::print(&text(face.lang, client.as_ref(), &told))?;
    }
    match told.iter().filter(|told| told.serious).count() {
        0 => Ok(()),
        count => Err(Failure::new(care::care_found(face.lang, count)).hint(care::care_found_hint(face.lang))),
    }
}

/// What is wrong, after what can be corrected was, if that is wished.
fn mended(face: &Face, args: &CareArgs) -> Result<Vec<Finding>, Failure> {
    let (here, home) = (env::current_dir().ok(), env::var_os("HOME").map(PathBuf::from));
    let patient = Patient {
        places: &face.places,
        here: here.as_deref(),
        home: home.as_deref(),
        lookup: &|variable| env::var(variable).ok(),
    };
    let findings = examine(&patient);
    if !args.fix {
        return Ok(findings);
    }
    let mut corrected = 0;
    for finding in &findings {
        corrected += usize::from(fix(&face.places, finding).map_err(|error| failure(face.lang, &error))?);
    }
    say(&care::care_fixed(face.lang, corrected));
    Ok(examine(&patient))
}

fn client_health(face: &Face) -> Health {
    let lang = face.lang;
    let finding = |name, serious, what, hint| vec![Told { name, serious, what, hint: Some(hint) }];
    let Some(client) = Client::find(env::var_os("PATH").as_deref()) else {
        let told = finding("no-client", true, words::no_client(lang), words::no_client_hint(lang));
        return Health { client: None, told };
    };
    let version = undisturbed(&face.places.settings(), || client.version());
    let told = match &version {
        Ok(Some(found)) if *found < OLDEST_CLIENT => {
            let what = care::care_old_client(lang, &found.to_string(), &OLDEST_CLIENT.to_string());
            finding("client-too-old", false, what, care::care_old_client_hint(lang))
        }
        Ok(_) => Vec::new(),
        Err(error) => {
            let what = install::finding_client_broken(lang, &error.to_string());
            finding("client-broken", true, what, install::fix_client_broken(lang))
        }
    };
    Health { client: Some((client.program().to_owned(), version.ok().flatten())), told }
}

/// What would get in the way of a start here. Whatever else keeps a start from happening is told already.
fn conflicts(face: &Face) -> Vec<Told> {
    let Ok(config) = Config::load(&face.places.config_file()) else { return Vec::new() };
    let pin = face.pin().ok().flatten();
    let isolated = pin.is_some();
    let name = pin.map_or_else(|| config.chosen().ok(), |pin| Some(pin.provider));
    let Some(name) = name else { return Vec::new() };
    let fault = |serious, what, hint| Told { name: "conflict", serious, what, hint };
    match plan_here(face, &config, &name, isolated, None) {
        Ok(plan) => {
            let found = plan.conflicts.iter();
            found.map(|conflict| fault(false, report::conflict(face.lang, conflict), None)).collect()
        }
        Err(Refused::Overruled(failure)) => {
            let (what, hint) = parts(failure);
            vec![fault(true, what, Some(hint))]
        }
        Err(Refused::Other(_)) => Vec::new(),
    }
}

fn tell(lang: Lang, finding: &Finding) -> Told {
    let (what, hint) = match finding {
        Finding::Broken(error) | Finding::Unset { error, .. } => parts(failure(lang, error)),
        Finding::Fault(found) => fault(lang, found),
        Finding::NoProviders { path } => {
            (care::care_no_providers(lang, &shown(path)), care::care_no_providers_hint(lang))
        }
        Finding::NotPrivate { path, mode } => (
            care::care_not_private(lang, &shown(path), &format!("{mode:03o}")),
            care::care_not_private_hint(lang, &shown(path)),
        ),
        Finding::Leftover { place, keys } => {
            (care::care_leftover(lang, &place.to_string(), &keys.join(", ")), care::care_leftover_hint(lang))
        }
        Finding::StaleHook { place, program } => (
            care::care_stale_hook(lang, &shown(program), &place.to_string()),
            care::care_stale_hook_hint(lang),
        ),
        Finding::StaleFile { path } => {
            (care::care_stale_file(lang, &shown(path)), care::care_stale_file_hint(lang))
        }
        Finding::KeptCopy { path } => {
            (care::care_kept_copy(lang, &shown(path)), care::care_kept_copy_hint(lang, &shown(path)))
        }
        Finding::NotWritable { path, error } => (
            care::care_not_writable(lang, &shown(path), &error.to_string()),
            care::care_not_writable_hint(lang),
        ),
    };
    Told { name: finding.name(), serious: finding.is_serious(), what, hint: Some(hint) }
}

fn text(lang: Lang, client: Option<&(PathBuf, Option<Version>)>, told: &[Told]) -> String {
    let client = client.map(|(program, version)| {
        let version = version.map_or_else(|| "?".to_owned(), |version| version.to_string());
        format!("✓ {}", care::client_at(lang, &version, &shown(program)))
    });
    let healthy = told.is_empty().then(|| format!("✓ {}", care::care_healthy(lang)));
    let findings = told.iter().map(|told| {
        let mark = if told.serious { "✗" } else { "!" };
        let hint = told.hint.as_ref().map(|hint| format!("\n{}", care::advice(lang, hint)));
        format!("{mark} {}{}", told.what, hint.unwrap_or_default())
    });
    client.into_iter().chain(healthy).chain(findings).collect::<Vec<_>>().join("\n")
}

fn object(client: Option<&(PathBuf, Option<Version>)>, told: &[Told]) -> Value {
    let client = client.map(|(program, version)| {
        json!({ "program": shown(program), "version": version.map(|version| version.to_string()) })
    });
    let finding = |told: &Told| json!({ "name": told.name, "serious": told.serious, "what": told.what, "hint": told.hint });
    let findings: Vec<_> = told.iter().map(finding).collect();
    json!({ "healthy": told.is_empty(), "client": client, "findings": findings })
}
