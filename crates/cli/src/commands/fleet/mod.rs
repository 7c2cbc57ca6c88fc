//! `overtone fleet`: the sessions of several machines. Only these commands, `init` with a feature, and `doctor` contact
//! the server.

mod check;
mod claim;
mod connection;
mod export;
mod format;
mod join;
mod list;
mod machines;
mod order;
mod pull;
pub(crate) mod relay;
mod server;
mod server_config;
mod show;
mod status;
mod tail;

use overtone_fleet::OrderCommand;

use crate::args::{FleetAction, FleetArgs};
use crate::context::Context;
use crate::ui::error::CommandResult;

pub(super) use check::{Finding, examine};
pub(super) use claim::{FeatureClaim, claim_feature};

pub(crate) fn run(context: &Context, args: &FleetArgs) -> CommandResult {
    let Some(action) = &args.action else { return list::run(context, &args.output) };
    match action {
        FleetAction::Join(args) => join::run(context, args),
        FleetAction::Leave { output } => join::leave(context, output),
        FleetAction::Up { port, output } => server::up(context, *port, output),
        FleetAction::Down { output } => server::down(context, output),
        FleetAction::Invite { output } => machines::invite(context, output),
        FleetAction::Accept(args) => machines::accept(context, args),
        FleetAction::Remove(args) => machines::remove(context, args),
        FleetAction::Machines { output } => machines::list(context, output),
        FleetAction::Status { output } => status::run(context, output),
        FleetAction::ServerConfig(args) => server_config::run(context, args),
        FleetAction::List { output } => list::run(context, output),
        FleetAction::Show(args) => show::run(context, args),
        FleetAction::Tail { session, output } => tail::run(context, session.as_deref(), output),
        FleetAction::Stop(args) => order::run(context, &args.session, OrderCommand::Stop, &args.output),
        FleetAction::Resume(args) => order::run(context, &args.session, OrderCommand::Resume, &args.output),
        FleetAction::Pause(args) => order::run(context, &args.session, OrderCommand::Pause, &args.output),
        FleetAction::Message { session, text, output } => {
            order::run(context, session, OrderCommand::Message { text: text.join(" ") }, output)
        }
        FleetAction::Pull(args) => pull::run(context, args),
    }
}
