//! `overtone budget`: what a workflow may use, what it has used, and how to raise a limit.

use clap::{Args, Subcommand};
use overtone_core::economy::{Budget, Limits, amount_text, parse_limits};
use overtone_core::engine::commands::Refusal;
use overtone_core::engine::state::{ReachedLimit, WorkflowState};
use overtone_core::engine::{Facts, LimitUse, WorkflowSpending, describe_use, limits_in_use};
use overtone_core::messages::{Lang, budget as texts, cli as words};
use overtone_core::registry::BudgetKind;
use overtone_hook::ansi::{Text, Tone};
use overtone_session::control::ControlCommand;
use overtone_session::usage::update_ledger;
use overtone_store::{LoadedWorkflow, Session, clock};
use serde::Serialize;

use super::control::{find_session, moved_error, print_outcome, send_command};
use crate::args::SessionArgs;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult, warn};
use crate::ui::out;
use crate::ui::table::{Cell, Table};

const EXAMPLES: &str = "\
Examples:
  overtone budget                     what is used of each limit
  overtone budget --check             exit with 3 if a limit is reached, for scripts
  overtone budget raise               once more what the reached limit was
  overtone budget raise 5usd,20agents

A budget is set when a workflow starts: overtone init … --budget 5usd, `[budget]` in
overtone.toml, or overtone config set budget.usd 5. The smallest limit holds. At 80 %
you are told; at the limit nothing more is started, agents at work finish, and you are
asked. Costs are list prices.";

const RAISE_EXAMPLES: &str = "\
Examples:
  overtone budget raise               once more what the reached limit was
  overtone budget raise 5usd
  overtone budget raise 1Mtokens,30min,10agents
  overtone budget raise 1usd --stage

Only limits that the workflow has can be raised. A workflow that stopped at its limit
continues with your next message.";

/// Show what the workflow may use, and raise a limit
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct BudgetArgs {
    #[command(subcommand)]
    action: Option<Action>,
    /// Exit with 3 if a limit is reached
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    session: SessionArgs,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Add to the limits, and let the workflow continue
    #[command(after_help = RAISE_EXAMPLES)]
    Raise(RaiseArgs),
}

#[derive(Debug, Args)]
struct RaiseArgs {
    /// How much to add, such as 5usd, 500ktokens, 30min or 10agents [default: the limit that is reached]
    #[arg(value_name = "AMOUNTS", value_parser = parse_limits)]
    amounts: Option<Limits>,
    /// Add to the limits of each stage instead of those of the workflow
    #[arg(long, requires = "amounts")]
    stage: bool,
    #[command(flatten)]
    session: SessionArgs,
}

/// The exit code of `--check` if a limit is reached.
const REACHED: u8 = 3;

pub(crate) fn run(context: &Context, args: &BudgetArgs) -> CommandResult {
    match &args.action {
        Some(Action::Raise(raise)) => run_raise(context, raise),
        None => show(context, args),
    }
}

/// What is used of the limits of a workflow.
struct BudgetReport {
    workflow: WorkflowState,
    uses: Vec<LimitUse>,
    spent: WorkflowSpending,
}

impl BudgetReport {
    /// `None` if the session has no workflow.
    fn read(context: &Context, session: &Session) -> CommandResult<Option<Self>> {
        if let Err(error) = update_ledger(session) {
            warn(&words::cannot_use(
                context.lang,
                &session.usage_file().display().to_string(),
                &error.to_string(),
            ));
        }
        let loaded = session.load_workflow().map_err(|error| CommandError::store(context.lang, &error))?;
        let Some(workflow) = loaded.document.map(|document| document.state) else { return Ok(None) };
        let spent = session.spent_since(workflow.created_at).spending(&context.prices());
        let facts = Facts {
            now: clock::now(),
            helpers: session.helpers(),
            spent: Some(spent.clone()),
            ..Facts::default()
        };
        Ok(Some(Self { uses: limits_in_use(&workflow, &facts), workflow, spent }))
    }

    const fn reached(&self) -> Option<&ReachedLimit> {
        self.workflow.budget.reached.as_ref()
    }
}

fn show(context: &Context, args: &BudgetArgs) -> CommandResult {
    let selected = context.session_to_read(args.session.id.as_deref())?;
    let report = match &selected {
        Some(selected) => BudgetReport::read(context, &selected.session)?,
        None => None,
    };
    if args.session.output.json {
        out::json(&report.as_ref().map(BudgetJson::from).unwrap_or_default())?;
    } else {
        if let Some(selected) = &selected {
            selected.announce(context);
        }
        out::print(&render(context, report.as_ref()))?;
    }
    match report {
        Some(report) if args.check && report.reached().is_some() => Err(CommandError::silent(REACHED)),
        _ => Ok(()),
    }
}

fn render(context: &Context, report: Option<&BudgetReport>) -> Text {
    let lang = context.lang;
    let Some(report) = report else { return format!("{}\n", words::no_workflow(lang)).into() };
    if report.workflow.budget.limits.is_empty() {
        return format!("{}\n", texts::no_budget(lang)).into();
    }
    let head = [
        texts::label(lang),
        texts::heading_used(lang),
        texts::heading_limit(lang),
        texts::heading_share(lang),
    ];
    let mut table = Table::with_head(head);
    for usage in &report.uses {
        let share = Cell::new(format!("{} %", usage.percent())).right();
        let share = if usage.percent() >= 100 { share.tone(Tone::Bad) } else { share };
        table.row([
            Cell::new(limit_name(lang, usage)),
            Cell::new(amount_text(usage.kind, usage.used)).right(),
            Cell::new(amount_text(usage.kind, usage.limit)).right(),
            share,
        ]);
    }
    let mut text = table.render(context.palette);
    let stages = &report.workflow.budget.limits.stage;
    if !stages.is_empty() {
        text = text + &format!("{}\n", texts::per_stage(lang, &stages.to_string()));
    }
    if report.spent.total.cost.unpriced_tokens > 0 {
        text = text + &format!("{}\n", texts::unpriced(lang));
    }
    if report.reached().is_some() {
        text = text + &format!("→ {}\n", texts::next_raise(lang));
    }
    text
}

/// `cost`, `TEST: tokens`.
fn limit_name(lang: Lang, usage: &LimitUse) -> String {
    let kind = match usage.kind {
        BudgetKind::Usd => texts::kind_usd(lang),
        BudgetKind::Tokens => texts::kind_tokens(lang),
        BudgetKind::Minutes => texts::kind_minutes(lang),
        BudgetKind::Agents => texts::kind_agents(lang),
    };
    match usage.stage {
        Some(key) => texts::of_stage(lang, &key.to_string(), &kind),
        None => kind,
    }
}

/// The output of `overtone budget --json`. Dollars are in millionths.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct BudgetJson {
    session: Option<String>,
    limits: Vec<LimitJson>,
    /// The limits of each stage, as `overtone budget raise --stage` takes them.
    stage_limits: String,
    reached: Option<LimitJson>,
    unpriced_tokens: u64,
}

#[derive(Serialize)]
struct LimitJson {
    kind: &'static str,
    stage: Option<String>,
    limit: u64,
    used: u64,
}

impl From<&BudgetReport> for BudgetJson {
    fn from(report: &BudgetReport) -> Self {
        Self {
            session: Some(report.workflow.session_id.clone()),
            limits: report.uses.iter().map(LimitJson::from).collect(),
            stage_limits: report.workflow.budget.limits.stage.to_string(),
            reached: report.reached().map(|reached| LimitJson::from(&reached.as_use())),
            unpriced_tokens: report.spent.total.cost.unpriced_tokens,
        }
    }
}

impl From<&LimitUse> for LimitJson {
    fn from(usage: &LimitUse) -> Self {
        let stage = usage.stage.map(|key| key.to_string());
        Self { kind: usage.kind.name(), stage, limit: usage.limit, used: usage.used }
    }
}

fn run_raise(context: &Context, args: &RaiseArgs) -> CommandResult {
    let lang = context.lang;
    let Some(session) = find_session(context, &args.session)? else {
        return Err(no_workflow(lang));
    };
    let amounts = args.amounts.map(|amounts| {
        let nothing = Limits::default();
        if args.stage {
            Budget { workflow: nothing, stage: amounts }
        } else {
            Budget { workflow: amounts, stage: nothing }
        }
    });
    let was_reached = match session.load_workflow() {
        Ok(LoadedWorkflow { document: Some(document), .. }) => document.state.budget.reached.is_some(),
        // The command says what is wrong.
        Ok(_) | Err(_) => false,
    };
    match send_command(context, &session, &ControlCommand::RaiseBudget { amounts })? {
        None => {}
        Some(Refusal::Moved { to }) => return Err(moved_error(context, Some(&session), &to)),
        Some(Refusal::NotLimited) => {
            return Err(CommandError::new(texts::not_limited(lang)).hint("overtone budget"));
        }
        Some(Refusal::NothingToDo) => {
            return Err(CommandError::new(texts::nothing_reached(lang)).hint(texts::amount_hint(lang)));
        }
        Some(Refusal::Completed) => {
            return Err(CommandError::new(words::already_complete(lang)).hint(words::how_to_start(lang)));
        }
        Some(_) => return Err(no_workflow(lang)),
    }
    let limits = match session.load_workflow() {
        Ok(loaded) => loaded.document.map(|document| document.state.budget.limits).unwrap_or_default(),
        Err(error) => return Err(CommandError::store(lang, &error)),
    };
    let all = [limits.workflow, limits.stage]
        .iter()
        .filter(|limits| !limits.is_empty())
        .map(Limits::to_string)
        .collect::<Vec<_>>()
        .join(" · ");
    let mut line = texts::raised(lang, &all);
    if was_reached {
        line = format!("{line} {}", texts::raised_and_continues(lang));
    }
    print_outcome(context, &args.session, Some(&session), true, &line)
}

fn no_workflow(lang: Lang) -> CommandError {
    CommandError::new(words::no_workflow(lang)).hint(words::how_to_start(lang))
}

/// The line of `overtone status`: the limits that most is used of. `None` if the workflow has only the limit that every one has.
pub(super) fn status_line(context: &Context, session: &Session, workflow: &WorkflowState) -> Option<String> {
    let facts = Facts {
        now: clock::now(),
        helpers: session.helpers(),
        spent: Some(session.spent_since(workflow.created_at).spending(&context.prices())),
        ..Facts::default()
    };
    let is_plain = |usage: &LimitUse| usage.kind == BudgetKind::Agents && usage.percent() < 50;
    let uses = limits_in_use(workflow, &facts).into_iter().filter(|usage| !is_plain(usage));
    let shown: Vec<_> = uses.map(|usage| describe_use(&usage, context.lang)).collect();
    if shown.is_empty() { None } else { Some(shown.join(" · ")) }
}
