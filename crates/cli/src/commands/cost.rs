//! `overtone cost`: what sessions have cost, and what for.

mod export;
mod prices;
mod table;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use overtone_core::economy::LEAN_SAVES_TOKENS;
use overtone_core::messages::cli as words;
use overtone_core::registry::Economy;
use overtone_session::usage::update_ledger;
use overtone_session::view::{
    CostGroup, CostReport, History, SessionCosts, SessionUsage, UsageSource, cost_report, read_history,
};
use overtone_store::config::keys;
use overtone_store::{Session, clock};

use crate::args::SessionArgs;
use crate::commands::timeline::since::Since;
use crate::context::Context;
use crate::session::SelectedSession;
use crate::ui::error::{CommandError, CommandResult, warn};
use crate::ui::out;

const EXAMPLES: &str = "\
Examples:
  overtone cost                         this session, by stage and attempt
  overtone cost --by model
  overtone cost --all --by project --since 30d
  overtone cost --all --by day --csv > costs.csv
  overtone cost --prices                the prices in force

Costs are list prices for the tokens in the client's own records, in dollars.
They are counted when an agent or the main agent stops, and by this command. Models without a price
show their tokens only; `+` marks a sum that such tokens are missing from.
Times and days are UTC.";

/// Show the tokens and the cost by stage, agent, workflow, project, day or model
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CostArgs {
    /// All sessions together
    #[arg(long, conflicts_with = "id")]
    all: bool,
    /// What the rows are about
    #[arg(long, value_name = "WHAT", default_value = "stage")]
    by: Group,
    /// Only what was used since this time: 10m, 2h, 3d, 2026-02-23 or 2026-02-23T14:00:00Z
    #[arg(long, value_name = "WHEN")]
    since: Option<Since>,
    /// Print comma-separated values for a spreadsheet
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Show the prices in force, and how to set your own
    #[arg(long, conflicts_with_all = ["all", "by", "since", "csv", "id"])]
    prices: bool,
    #[command(flatten)]
    session: SessionArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Group {
    Stage,
    Agent,
    Workflow,
    Project,
    Day,
    Model,
}

impl Group {
    const fn cost_group(self) -> CostGroup {
        match self {
            Self::Stage => CostGroup::Stage,
            Self::Agent => CostGroup::Agent,
            Self::Workflow => CostGroup::Workflow,
            Self::Project => CostGroup::Project,
            Self::Day => CostGroup::Day,
            Self::Model => CostGroup::Model,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Stage => "stage",
            Self::Agent => "agent",
            Self::Workflow => "workflow",
            Self::Project => "project",
            Self::Day => "day",
            Self::Model => "model",
        }
    }
}

/// What the command shows.
struct Costs {
    group: Group,
    report: CostReport,
    sources: Sources,
    sessions: usize,
    /// The installed agents carry all tools of the specification.
    has_standard_agents: bool,
}

impl Costs {
    /// The input tokens that lean agents would not have sent. `None` if the agents are lean.
    fn lean_savings(&self) -> Option<u64> {
        let requests = self.report.agent_requests;
        if self.has_standard_agents { Some(requests.saturating_mul(LEAN_SAVES_TOKENS)) } else { None }
    }
}

/// Where the figures come from.
#[derive(Default)]
struct Sources {
    /// How many sessions were read from their conversations.
    conversations: usize,
    /// How many sessions have only the total that the client has shown, and the sum of these.
    client_totals: usize,
    client_usd: f64,
}

impl Sources {
    fn add(&mut self, session: &Session, usage: &SessionUsage) {
        match usage.source {
            UsageSource::Ledger => {}
            UsageSource::Conversations => self.conversations += 1,
            UsageSource::Nothing => {
                if let Some(usd) = session.usage().cost_usd {
                    self.client_totals += 1;
                    self.client_usd += usd;
                }
            }
        }
    }
}

pub(crate) fn run(context: &Context, args: &CostArgs) -> CommandResult {
    if args.prices {
        return prices::run(context, args.session.output.json);
    }
    let selected = selected_session(context, args)?;
    let costs = count(context, args, selected.as_ref())?;
    if args.session.output.json {
        return out::json(&export::to_json(selected.as_ref(), &costs));
    }
    if args.csv {
        return out::print(&export::to_csv(&costs));
    }
    if let Some(selected) = &selected {
        selected.announce(context);
    }
    if costs.report.rows.is_empty() && costs.sources.client_totals == 0 {
        return out::print(&words::no_costs(context.lang));
    }
    out::print(&table::render(context, &costs))
}

/// The session to count; `None` for all.
fn selected_session(context: &Context, args: &CostArgs) -> CommandResult<Option<SelectedSession>> {
    if args.all {
        return Ok(None);
    }
    context.required_session_to_read(args.session.id.as_deref()).map(Some)
}

/// A session with what is known about it.
struct ReadSession {
    project: Option<String>,
    history: History,
    usage: SessionUsage,
}

fn count(context: &Context, args: &CostArgs, selected: Option<&SelectedSession>) -> CommandResult<Costs> {
    let home = context.home()?;
    let sessions = match selected {
        Some(selected) => vec![selected.session.clone()],
        None => home.sessions().map_err(|error| CommandError::store(context.lang, &error))?,
    };
    let mut sources = Sources::default();
    let mut read = Vec::new();
    for session in sessions {
        // What cannot be recorded now is recorded by the next hook.
        let _ = update_ledger(&session);
        match read_session(context, &session) {
            Ok(found) => {
                sources.add(&session, &found.usage);
                read.push(found);
            }
            // An unreadable session does not hide the others.
            Err(error) if selected.is_none() => warn(&error.message),
            Err(error) => return Err(error),
        }
    }
    let costs: Vec<_> = read
        .iter()
        .map(|session| SessionCosts {
            project: session.project.as_deref(),
            history: &session.history,
            usage: &session.usage,
        })
        .collect();
    let since = args.since.map(|since| since.resolve(clock::now()));
    let report = cost_report(&costs, args.by.cost_group(), since, &context.prices());
    let has_standard_agents = context.setting(keys::ECONOMY) == Economy::Standard;
    Ok(Costs { group: args.by, report, sources, sessions: costs.len(), has_standard_agents })
}

fn read_session(context: &Context, session: &Session) -> CommandResult<ReadSession> {
    let failed = |path: PathBuf| move |error| CommandError::io(context.lang, &path, &error);
    let history = read_history(&session.timeline_file()).map_err(failed(session.timeline_file()))?;
    let usage = SessionUsage::load(session, &history).map_err(failed(session.usage_file()))?;
    let project = session.origin().project.map(|path| path.display().to_string());
    Ok(ReadSession { project, history, usage })
}
