//! `ccc doctor`: diagnoses problems of the set-up and suggests fixes.

use std::env;
use std::path::PathBuf;

use overtone_ccc::providers::Config;
use overtone_ccc::providers::doctor::{DoctorContext, Finding, examine, fix};
use overtone_claude::install::doctor::preserving_settings;
use overtone_claude::install::{Client, OLDEST_CLIENT, Version};
use overtone_core::messages::{Lang, care, ccc as messages, install};
use serde::Serialize;

use super::args::DoctorArgs;
use super::context::CccContext;
use super::launch::{PlanError, plan_here};
use super::report::{self, display_path, failure, fault, parts};
use crate::ui::error::{CommandError, CommandResult, note};
use crate::ui::findings::{self, FindingReport};
use crate::ui::out;

/// The client, if it is installed, and its problems.
struct ClientHealth {
    client: Option<(PathBuf, Option<Version>)>,
    findings: Vec<FindingReport>,
}

pub(super) fn run(context: &CccContext, args: &DoctorArgs) -> CommandResult {
    let setup = examine_setup(context, args)?;
    let ClientHealth { client, mut findings } = examine_client(context);
    findings.extend(setup.iter().map(|finding| describe(context.lang, finding)));
    findings.extend(conflicts(context));
    if args.output.json {
        out::json(&to_json(client.as_ref(), &findings))?;
    } else {
        out::print(&render(context.lang, client.as_ref(), &findings))?;
    }
    match findings::serious_count(&findings) {
        0 => Ok(()),
        count => Err(CommandError::new(care::care_found(context.lang, count))
            .hint(care::care_found_hint(context.lang))),
    }
}

/// Examines the set-up. With `--fix`, corrects what it can and examines it again.
fn examine_setup(context: &CccContext, args: &DoctorArgs) -> CommandResult<Vec<Finding>> {
    let (folder, home) = (env::current_dir().ok(), env::var_os("HOME").map(PathBuf::from));
    let examined = DoctorContext {
        paths: &context.paths,
        folder: folder.as_deref(),
        home: home.as_deref(),
        lookup: &|variable| env::var(variable).ok(),
    };
    let findings = examine(&examined);
    if !args.fix {
        return Ok(findings);
    }
    let mut corrected = 0;
    for finding in &findings {
        corrected +=
            usize::from(fix(&context.paths, finding).map_err(|error| failure(context.lang, &error))?);
    }
    note(&care::care_fixed(context.lang, corrected));
    Ok(examine(&examined))
}

fn examine_client(context: &CccContext) -> ClientHealth {
    let lang = context.lang;
    let finding =
        |name, is_serious, what, fix| vec![FindingReport { name, is_serious, what, fix: Some(fix) }];
    let Some(client) = Client::find(env::var_os("PATH").as_deref()) else {
        let findings = finding("no-client", true, messages::no_client(lang), messages::no_client_hint(lang));
        return ClientHealth { client: None, findings };
    };
    let version = preserving_settings(&context.paths.settings(), || client.version());
    let findings = match &version {
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
    ClientHealth { client: Some((client.program().to_owned(), version.ok().flatten())), findings }
}

/// Conflicts of a start in the current folder. Other reasons that prevent a start are reported by [`examine_setup`].
fn conflicts(context: &CccContext) -> Vec<FindingReport> {
    let Ok(config) = Config::load(&context.paths.config_file()) else { return Vec::new() };
    let pin = context.pin().ok().flatten();
    let isolated = pin.is_some();
    let name = match pin {
        Some(pin) => pin.provider,
        None => match config.chosen() {
            Ok(name) => name,
            Err(_) => return Vec::new(),
        },
    };
    let conflict_finding = |is_serious, what, fix| FindingReport { name: "conflict", is_serious, what, fix };
    match plan_here(context, &config, &name, isolated, None) {
        Ok(plan) => {
            let found = plan.conflicts.iter();
            found
                .map(|conflict| conflict_finding(false, report::conflict(context.lang, conflict), None))
                .collect()
        }
        Err(PlanError::Overruled(failure)) => {
            let (what, hint) = parts(failure);
            vec![conflict_finding(true, what, Some(hint))]
        }
        Err(PlanError::Other(_)) => Vec::new(),
    }
}

fn describe(lang: Lang, finding: &Finding) -> FindingReport {
    let (what, fix) = match finding {
        Finding::Broken(error) | Finding::Unset { error, .. } => parts(failure(lang, error)),
        Finding::Fault(found) => fault(lang, found),
        Finding::NoProviders { path } => {
            (care::care_no_providers(lang, &display_path(path)), care::care_no_providers_hint(lang))
        }
        Finding::NotPrivate { path, mode } => (
            care::care_not_private(lang, &display_path(path), &format!("{mode:03o}")),
            care::care_not_private_hint(lang, &display_path(path)),
        ),
        Finding::Leftover { location, keys } => (
            care::care_leftover(lang, &location.to_string(), &keys.join(", ")),
            care::care_leftover_hint(lang),
        ),
        Finding::StaleHook { location, program } => (
            care::care_stale_hook(lang, &display_path(program), &location.to_string()),
            care::care_stale_hook_hint(lang),
        ),
        Finding::StaleFile { path } => {
            (care::care_stale_file(lang, &display_path(path)), care::care_stale_file_hint(lang))
        }
        Finding::KeptCopy { path } => (
            care::care_kept_copy(lang, &display_path(path)),
            care::care_kept_copy_hint(lang, &display_path(path)),
        ),
        Finding::NotWritable { path, error } => (
            care::care_not_writable(lang, &display_path(path), &error.to_string()),
            care::care_not_writable_hint(lang),
        ),
    };
    FindingReport { name: finding.name(), is_serious: finding.is_serious(), what, fix: Some(fix) }
}

fn render(lang: Lang, client: Option<&(PathBuf, Option<Version>)>, findings: &[FindingReport]) -> String {
    let mut lines = Vec::new();
    if let Some((program, version)) = client {
        let version = match version {
            Some(version) => version.to_string(),
            None => "?".to_owned(),
        };
        lines.push(format!("✓ {}", care::client_at(lang, &version, &display_path(program))));
    }
    if findings.is_empty() {
        lines.push(format!("✓ {}", care::care_healthy(lang)));
    }
    lines.extend(findings::render(findings, |hint| care::advice(lang, hint)));
    lines.join("\n")
}

/// The output of `ccc doctor --json`.
#[derive(Serialize)]
struct DoctorJson<'a> {
    healthy: bool,
    client: Option<ClientJson>,
    findings: Vec<FindingJson<'a>>,
}

#[derive(Serialize)]
struct ClientJson {
    program: String,
    version: Option<String>,
}

#[derive(Serialize)]
struct FindingJson<'a> {
    name: &'static str,
    serious: bool,
    what: &'a str,
    hint: Option<&'a str>,
}

fn to_json<'a>(client: Option<&(PathBuf, Option<Version>)>, findings: &'a [FindingReport]) -> DoctorJson<'a> {
    let client = client.map(|(program, version)| ClientJson {
        program: display_path(program),
        version: version.map(|version| version.to_string()),
    });
    let finding = |report: &'a FindingReport| FindingJson {
        name: report.name,
        serious: report.is_serious,
        what: &report.what,
        hint: report.fix.as_deref(),
    };
    DoctorJson { healthy: findings.is_empty(), client, findings: findings.iter().map(finding).collect() }
}
