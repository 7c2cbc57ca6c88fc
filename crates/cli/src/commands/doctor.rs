//! `overtone doctor`: what is wrong, and how to mend it.

use std::path::{Path, PathBuf};

use overtone_install::Client;
use overtone_install::doctor::{Finding, Patient, examine};
use overtone_messages::{Lang, install as words};
use serde_json::{Value, json};

use super::fleet;
use super::up::{client_place, search_path};
use crate::args::DoctorArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::out;

/// Where an administrator's settings are on this system.
const MANAGED_SETTINGS: &str = "/etc/claude-code/managed-settings.json";

pub(crate) fn run(context: &Context, args: &DoctorArgs) -> Done {
    let client = Client::find(search_path().as_deref());
    let home = context.home()?;
    let findings = examine(&Patient {
        home,
        place: &client_place(),
        client: client.as_ref(),
        project: context.project(args.project.dir.as_deref()).ok(),
        managed_settings: PathBuf::from(MANAGED_SETTINGS),
    });
    let mut all: Vec<_> = findings.iter().map(|finding| Told::of(context.lang, finding)).collect();
    all.extend(fleet::examine(context, home).into_iter().map(Told::of_fleet));
    if args.output.json {
        out::json(&object(&all))?;
    } else {
        out::print(&text(context.lang, &all))?;
    }
    match all.iter().filter(|finding| finding.is_serious).count() {
        0 => Ok(()),
        count => Err(Failure::new(words::doctor_found(context.lang, count))),
    }
}

/// A finding in words.
struct Told {
    name: &'static str,
    is_serious: bool,
    what: String,
    fix: String,
}

impl Told {
    fn of(lang: Lang, finding: &Finding) -> Self {
        let (what, fix) = told(lang, finding);
        Self { name: finding.name(), is_serious: finding.is_serious(), what, fix }
    }

    fn of_fleet(finding: fleet::Finding) -> Self {
        let fleet::Finding { name, is_serious, what, fix } = finding;
        Self { name, is_serious, what, fix }
    }
}

fn text(lang: Lang, findings: &[Told]) -> String {
    if findings.is_empty() {
        return words::doctor_healthy(lang);
    }
    let lines = findings.iter().map(|finding| {
        let mark = if finding.is_serious { "✗" } else { "!" };
        format!("{mark} {}\n  {}", finding.what, words::doctor_fix(lang, &finding.fix))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn object(findings: &[Told]) -> Value {
    let of = |finding: &Told| json!({ "name": finding.name, "serious": finding.is_serious, "what": finding.what, "fix": finding.fix });
    json!({ "healthy": findings.is_empty(), "findings": findings.iter().map(of).collect::<Vec<_>>() })
}

/// What is wrong, and the fix.
fn told(lang: Lang, finding: &Finding) -> (String, String) {
    let up = || words::fix_up(lang);
    match finding {
        Finding::NoClient => (words::finding_no_client(lang), words::fix_no_client(lang)),
        Finding::ClientBroken { error } => {
            (words::finding_client_broken(lang, error), words::fix_client_broken(lang))
        }
        Finding::ClientTooOld { found, oldest } => {
            let what = words::finding_client_too_old(lang, &found.to_string(), &oldest.to_string());
            (what, words::fix_client_too_old(lang))
        }
        Finding::PluginMissing { path } => (words::finding_plugin_missing(lang, &shown(path)), up()),
        Finding::PluginFile { path, what } => (words::finding_plugin_file(lang, path, what), up()),
        Finding::PluginStale { path } => (words::finding_plugin_stale(lang, &shown(path)), up()),
        Finding::ProgramStale { path } => (words::finding_program_stale(lang, &shown(path)), up()),
        Finding::NotExecutable { path } => (words::finding_not_executable(lang, &shown(path)), up()),
        Finding::NotRegistered => (words::finding_not_registered(lang), up()),
        Finding::PluginDisabled => (words::finding_plugin_disabled(lang), words::fix_plugin_disabled(lang)),
        Finding::PluginErrors { error } => (words::finding_plugin_errors(lang, error), up()),
        Finding::SettingsUnreadable { error } => {
            (words::finding_settings_unreadable(lang, error), words::fix_settings_unreadable(lang))
        }
        Finding::HooksDisabled { path, line } => {
            (words::finding_hooks_disabled(lang, &at(path, *line)), words::fix_hooks_disabled(lang))
        }
        Finding::ManagedHooksOnly { path, line } => {
            (words::finding_managed_only(lang, &at(path, *line)), words::fix_managed_only(lang))
        }
        Finding::StringTimeout { path, line } => {
            (words::finding_string_timeout(lang, &at(path, *line)), words::fix_string_timeout(lang))
        }
        Finding::NotPrivate { path, mode } => (
            words::finding_not_private(lang, &shown(path), &format!("{mode:o}")),
            words::fix_not_private(lang, &shown(path)),
        ),
        Finding::TokenExposed { path, mode } => (
            words::finding_token_exposed(lang, &shown(path), &format!("{mode:o}")),
            words::fix_token_exposed(lang, &shown(path)),
        ),
        Finding::NotWritable { path, error } => {
            (words::finding_not_writable(lang, &shown(path), error), words::fix_not_writable(lang))
        }
        Finding::BrokenFile { path, what } => {
            (words::finding_broken_file(lang, &shown(path), what), words::fix_broken_file(lang, &shown(path)))
        }
        Finding::BadConfigValue { key, allowed } => {
            (words::finding_bad_config(lang, key), words::fix_bad_config(lang, key, allowed))
        }
        Finding::OrphanedSession { id, days } => {
            (words::finding_orphaned(lang, id, *days), words::fix_orphaned(lang, id))
        }
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

fn at(path: &Path, line: usize) -> String {
    format!("{}:{line}", path.display())
}
