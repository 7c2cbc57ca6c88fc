//! `overtone doctor`: finds problems and suggests fixes.

use std::path::{Path, PathBuf};

use clap::Args;
use overtone_claude::install::Client;
use overtone_claude::install::doctor::{Finding, Installation, examine};
use overtone_core::messages::{Lang, install as words};
use serde::Serialize;

use super::fleet;
use super::up::{client_location, search_path};
use crate::args::{OutputArgs, ProjectArgs};
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::findings::{self, FindingReport};
use crate::ui::out;

const EXAMPLES: &str = "\
Examples:
  overtone doctor
  overtone doctor --json | jq -r .findings[].name

Exits with 1 if something keeps Overtone from working.";

/// Diagnose problems and suggest fixes
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    project: ProjectArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// The output of `overtone doctor --json`.
#[derive(Serialize)]
struct DoctorJson<'a> {
    healthy: bool,
    findings: &'a [FindingReport],
}

/// Where an administrator's settings are on this system.
const MANAGED_SETTINGS: &str = "/etc/claude-code/managed-settings.json";

pub(crate) fn run(context: &Context, args: &DoctorArgs) -> CommandResult {
    let client = Client::find(search_path().as_deref());
    let home = context.home()?;
    let findings = examine(&Installation {
        home,
        client_folder: &client_location(),
        client: client.as_ref(),
        project: context.project(args.project.dir.as_deref()).ok(),
        hook_version: overtone_hook::VERSION,
        managed_settings: PathBuf::from(MANAGED_SETTINGS),
    });
    let mut reports: Vec<_> = findings.iter().map(|finding| report(context.lang, finding)).collect();
    reports.extend(fleet::examine(context, home).into_iter().map(fleet_report));
    if args.output.json {
        out::json(&DoctorJson { healthy: reports.is_empty(), findings: &reports })?;
    } else {
        out::print(&render(context.lang, &reports))?;
    }
    match findings::serious_count(&reports) {
        0 => Ok(()),
        count => Err(CommandError::new(words::doctor_found(context.lang, count))),
    }
}

fn report(lang: Lang, finding: &Finding) -> FindingReport {
    let (what, fix) = describe(lang, finding);
    FindingReport { name: finding.name(), is_serious: finding.is_serious(), what, fix: Some(fix) }
}

fn fleet_report(finding: fleet::Finding) -> FindingReport {
    let fleet::Finding { name, is_serious, what, fix } = finding;
    FindingReport { name, is_serious, what, fix: Some(fix) }
}

fn render(lang: Lang, reports: &[FindingReport]) -> String {
    if reports.is_empty() {
        return words::doctor_healthy(lang);
    }
    findings::render(reports, |fix| format!("  {}", words::doctor_fix(lang, fix))).join("\n")
}

/// The problem and its fix, in words.
fn describe(lang: Lang, finding: &Finding) -> (String, String) {
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
        Finding::PluginMissing { path } => (words::finding_plugin_missing(lang, &display_path(path)), up()),
        Finding::PluginFile { path, what } => (words::finding_plugin_file(lang, path, what), up()),
        Finding::PluginStale { path } => (words::finding_plugin_stale(lang, &display_path(path)), up()),
        Finding::OtherEconomy { found, chosen, .. } => {
            (words::finding_other_economy(lang, found.name(), chosen.name()), up())
        }
        Finding::HookProgramDiffers { path, found, expected } => {
            (words::finding_hook_program_differs(lang, &display_path(path), found, expected), up())
        }
        Finding::ProgramStale { path } => (words::finding_program_stale(lang, &display_path(path)), up()),
        Finding::NotExecutable { path } => (words::finding_not_executable(lang, &display_path(path)), up()),
        Finding::NotRegistered => (words::finding_not_registered(lang), up()),
        Finding::PluginDisabled => (words::finding_plugin_disabled(lang), words::fix_plugin_disabled(lang)),
        Finding::PluginErrors { error } => (words::finding_plugin_errors(lang, error), up()),
        Finding::SettingsUnreadable { error } => {
            (words::finding_settings_unreadable(lang, error), words::fix_settings_unreadable(lang))
        }
        Finding::HooksDisabled { path, line } => {
            (words::finding_hooks_disabled(lang, &location(path, *line)), words::fix_hooks_disabled(lang))
        }
        Finding::ManagedHooksOnly { path, line } => {
            (words::finding_managed_only(lang, &location(path, *line)), words::fix_managed_only(lang))
        }
        Finding::StringTimeout { path, line } => {
            (words::finding_string_timeout(lang, &location(path, *line)), words::fix_string_timeout(lang))
        }
        Finding::NotPrivate { path, mode } => (
            words::finding_not_private(lang, &display_path(path), &format!("{mode:o}")),
            words::fix_not_private(lang, &display_path(path)),
        ),
        Finding::TokenExposed { path, mode } => (
            words::finding_token_exposed(lang, &display_path(path), &format!("{mode:o}")),
            words::fix_token_exposed(lang, &display_path(path)),
        ),
        Finding::NotWritable { path, error } => {
            (words::finding_not_writable(lang, &display_path(path), error), words::fix_not_writable(lang))
        }
        Finding::BrokenFile { path, what } => (
            words::finding_broken_file(lang, &display_path(path), what),
            words::fix_broken_file(lang, &display_path(path)),
        ),
        Finding::BadConfigValue { key, allowed } => {
            (words::finding_bad_config(lang, key), words::fix_bad_config(lang, key, allowed))
        }
        Finding::OrphanedSession { id, days } => {
            (words::finding_orphaned(lang, id, *days), words::fix_orphaned(lang, id))
        }
    }
}

fn display_path(path: &Path) -> String {
    path.display().to_string()
}

fn location(path: &Path, line: usize) -> String {
    format!("{}:{line}", path.display())
}
