//! `overtone evidence`: what Overtone saw itself of the work in a session: receipts, and the verdicts with their evidence.

mod json;
mod markdown;
mod text;

use clap::{Args, ValueEnum};
use overtone_core::engine::state::{Ending, SendBackReason, WorkflowState};
use overtone_core::messages::{Lang, checks as words, cli};
use overtone_session::view::{StageEvidence, WorkflowEvidence};
use overtone_store::Session;

use crate::args::SessionArgs;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::out;

const EXAMPLES: &str = "\
Examples:
  overtone evidence
  overtone evidence --report >> pull-request.md
  overtone evidence --report json

A receipt is the proof that a check ran on a certain state of the files: command,
exit code, duration, tests run, failed and skipped, and a fingerprint of the work
tree. Without checks, the evidence is what the agents did and changed.";

/// Show the receipts of a session's checks, and the evidence for each verdict
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EvidenceArgs {
    /// Print a report for a pull request [default format: md]
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, default_missing_value = "md", conflicts_with = "json")]
    report: Option<ReportFormat>,
    #[command(flatten)]
    session: SessionArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// Markdown
    Md,
    Json,
}

/// The evidence for the workflow of one session.
struct Report {
    session: Session,
    workflow: WorkflowState,
    evidence: WorkflowEvidence,
}

pub(crate) fn run(context: &Context, args: &EvidenceArgs) -> CommandResult {
    let selected = context.required_session_to_read(args.session.id.as_deref())?;
    let session = selected.session.clone();
    let workflow = session.workflow().map_err(|error| CommandError::store(context.lang, &error))?;
    let Some(workflow) = workflow else {
        return Err(CommandError::new(cli::no_workflow(context.lang)).hint(cli::how_to_start(context.lang)));
    };
    let evidence = WorkflowEvidence::read(&session, &workflow.state)
        .map_err(|error| CommandError::io(context.lang, session.dir(), &error))?;
    let report = Report { session, workflow: workflow.state, evidence };
    match args.report {
        Some(ReportFormat::Md) => out::print(&markdown::render(context.lang, &report)),
        Some(ReportFormat::Json) => out::json(&json::EvidenceJson::new(&report)),
        None if args.session.output.json => out::json(&json::EvidenceJson::new(&report)),
        None => {
            selected.announce(context);
            out::print(&text::render(context, &report))
        }
    }
}

impl Report {
    /// `completed`, `aborted`, or in progress.
    fn state(&self, lang: Lang) -> String {
        match self.workflow.ending {
            None => words::state_open(lang),
            Some(Ending::Completed) => cli::state_completed(lang),
            Some(Ending::Aborted) => cli::state_aborted(lang),
        }
    }

    fn headline(&self, lang: Lang) -> String {
        let (workflow, session) = (&self.workflow.workflow_type, self.session.id().short());
        words::evidence_headline(lang, workflow, &self.state(lang), session)
    }

    /// What the reviewer was told about, of all stages.
    fn notes(&self) -> impl Iterator<Item = &str> {
        self.evidence.stages.iter().flat_map(|stage| &stage.recorded.notes).map(String::as_str)
    }
}

/// Why a report was sent back or not accepted, in the user's language.
fn reason_label(lang: Lang, reason: SendBackReason) -> String {
    match reason {
        SendBackReason::NoVerdict => words::reason_no_verdict(lang),
        SendBackReason::OpenTasks => words::reason_open_tasks(lang),
        SendBackReason::ChecksFailed => words::reason_checks_failed(lang),
        SendBackReason::FewerTests => words::reason_fewer_tests(lang),
        SendBackReason::NothingChanged => words::reason_nothing_changed(lang),
        SendBackReason::TestsRemoved => words::reason_tests_removed(lang),
        SendBackReason::TestsChanged => words::reason_tests_changed(lang),
        SendBackReason::Contradiction => words::reason_contradiction(lang),
        SendBackReason::NothingRun => words::reason_nothing_run(lang),
        SendBackReason::NothingRead => words::reason_nothing_read(lang),
        SendBackReason::TestFailed => words::reason_test_failed(lang),
    }
}

/// The evidence for a stage besides its receipts, one line each.
fn stage_findings(lang: Lang, stage: &StageEvidence) -> Vec<String> {
    let recorded = &stage.recorded;
    let mut findings = Vec::new();
    if let Some(count) = recorded.changed_files {
        findings.push(words::files_changed(lang, count));
    }
    for (reason, count) in &recorded.sent_back {
        findings.push(words::sent_back(lang, &reason_label(lang, *reason), *count));
    }
    for reason in &recorded.not_accepted {
        findings.push(words::failed_for(lang, &reason_label(lang, *reason)));
    }
    if !recorded.untrusted.is_empty() {
        findings.push(words::not_run(lang, &recorded.untrusted.join(", ")));
    }
    findings
}
