//! The arguments of `overtone fleet` and `overtone relay`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::OutputArgs;

const EXAMPLES: &str = "\
Examples:
  overtone fleet up                               a server on this machine, to try it out
  overtone fleet join nats://build.example:4222   the first machine of a team
  overtone fleet invite                           a line for the next machine, which runs: overtone fleet join
  overtone fleet accept                           and then it is part of the team
  overtone relay                                  tell the others what happens here (the dashboard does, too)
  overtone fleet                                  machines, sessions, who works on what
  overtone fleet message 3c4d 'the database is back'
  overtone fleet pull 3c4d                        go on here with a session from elsewhere

A session can be named by the first characters of its id, 4 or more. Everything
is kept on your own NATS server; prompts and code leave this machine only with
--share full.";

const JOIN: &str = "\
Examples:
  overtone fleet join                             asks for the line that overtone fleet invite prints
  overtone fleet join nats://127.0.0.1:4222       makes a team on a server that has none
  overtone fleet join nats://a:4222,nats://b:4222,nats://c:4222 --replicas 3
  overtone fleet join tls://nats.example --login team-a.login --ca ca.pem --prefix team-a
  overtone fleet join tls://nats.example --credentials ~/team.creds --prefix team-a
  overtone fleet join nats://127.0.0.1:4222 --share full --name laptop

The way there is tried out first: nothing is written when it does not work,
unless --offline is given. This machine's key is made here and stays here.";

const INVITE: &str = "\
Example:
  overtone fleet invite     paste its line into: overtone fleet join

The line is good for one machine and one day. It has the server's login in it.";

const ACCEPT: &str = "\
Examples:
  overtone fleet accept                           shows who waits, and asks
  overtone fleet accept 1f3a-…                    the machine with this key
  overtone fleet accept --invited                 all that have used an invitation of this machine";

const REMOVE: &str = "\
Example:
  overtone fleet remove old-laptop    nobody believes it any more; overtone fleet invite takes it back";

const SERVER_CONFIG: &str = "\
Examples:
  overtone fleet server-config --host nats.example
  overtone fleet server-config --host nats.example --team team-a --team team-b --out /etc/nats

Writes a configuration, certificates and a login for every team, all of them
private. Run again to add a team: what is there is kept.";

const LEAVE: &str = "\
Example:
  overtone fleet leave      and later: overtone fleet join nats://…";

const UP: &str = "\
Examples:
  overtone fleet up
  overtone fleet up --port 4333

Listens on 127.0.0.1 only, wants a login, and keeps both and its data in
~/.overtone/fleet/server. For a team: overtone fleet server-config.";

const DOWN: &str = "\
Example:
  overtone fleet down       its data stays; overtone fleet up goes on with it";

const TAIL: &str = "\
Examples:
  overtone fleet tail
  overtone fleet tail 3c4d --json | jq .type

With --json every line is one event, as it was told.";

const ORDER: &str = "\
Ends with 0 when it was done, 1 when the machine refuses, 3 when it is gone,
4 when it does not answer and the order was taken back, 5 when it may still be
done.";

const PULL: &str = "\
Examples:
  overtone fleet pull 3c4d
  overtone fleet pull 3c4d --take-over            its machine is gone
  overtone fleet pull 3c4d --project ~/src/shop

The session's machine lets go of it first. Code moves with your version control,
not with this. Ends with 1, or 3 when its machine is gone.";

const RELAY: &str = "\
Examples:
  overtone relay
  overtone relay --json | jq .event

For machines without a dashboard, whose server relays already. Runs until
Ctrl-C. Hooks never wait for it; what happens while it does not run is told
when it comes back.";

/// Many machines, one view: join, watch and steer
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FleetArgs {
    #[command(subcommand)]
    pub(crate) action: Option<FleetAction>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FleetAction {
    Join(JoinArgs),
    /// Take this machine out of the fleet; nothing is deleted
    #[command(after_help = LEAVE)]
    Leave {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Start a NATS server on this machine and join it, to try the fleet out
    #[command(after_help = UP)]
    Up {
        /// The port on 127.0.0.1; by default the one of last time, else 4222
        #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
        port: Option<u16>,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Stop the server that `up` started
    #[command(after_help = DOWN)]
    Down {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Print a line that makes another machine part of the team
    #[command(after_help = INVITE)]
    Invite {
        #[command(flatten)]
        output: OutputArgs,
    },
    Accept(AcceptArgs),
    Remove(RemoveArgs),
    /// Show the machines of the team with their keys, and unknown ones
    Machines {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Show how this machine's relay is, and orders that were put aside
    Status {
        #[command(flatten)]
        output: OutputArgs,
    },
    ServerConfig(ServerConfigArgs),
    /// Show every machine, its sessions, and who works on which feature
    List {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Show one session of any machine, with what happened last
    Show(OfSessionArgs),
    /// Watch what happens on all machines, or in one session
    #[command(after_help = TAIL)]
    Tail {
        /// Its id, or the first characters of it (4 or more) [default: all sessions]
        #[arg(value_name = "SESSION")]
        session: Option<String>,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Stop the loop of a session on any machine
    #[command(after_help = ORDER)]
    Stop(OfSessionArgs),
    /// Let a stopped session on any machine go on
    #[command(after_help = ORDER)]
    Resume(OfSessionArgs),
    /// Stop a session and put its feature aside until it is resumed
    #[command(after_help = ORDER)]
    Pause(OfSessionArgs),
    /// Say something to the main agent of a session on any machine
    #[command(after_help = ORDER)]
    Message {
        /// Its id, or the first characters of it (4 or more)
        #[arg(value_name = "SESSION")]
        session: String,
        /// The message, in one word or many
        #[arg(value_name = "TEXT", required = true)]
        text: Vec<String>,
        #[command(flatten)]
        output: OutputArgs,
    },
    Pull(PullArgs),
}

#[derive(Debug, Args)]
pub(crate) struct OfSessionArgs {
    /// Its id, or the first characters of it (4 or more)
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Make this machine part of a fleet
#[derive(Debug, Args)]
#[command(after_help = JOIN)]
pub(crate) struct JoinArgs {
    /// nats://host:port or tls://…, several with commas between [default: asks for an invitation]
    #[arg(value_name = "URL")]
    pub(crate) url: Option<String>,
    /// A private file with user:password
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) login: Option<PathBuf>,
    /// A file with the credentials of a user
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) credentials: Option<PathBuf>,
    /// The certificate of the authority that the server's is from
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) ca: Option<PathBuf>,
    /// This machine's certificate, where the server wants one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "key")]
    pub(crate) certificate: Option<PathBuf>,
    /// The key of the certificate
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "certificate")]
    pub(crate) key: Option<PathBuf>,
    /// What everything on the server begins with; teams on one server have different ones
    #[arg(long, value_name = "TEAM")]
    pub(crate) prefix: Option<String>,
    /// How this machine is called; by default like its host
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// What others may see: state, or full with prompts, code and the agents' texts
    #[arg(long, value_name = "HOW", value_parser = ["state", "full"])]
    pub(crate) share: Option<String>,
    /// On how many servers of a cluster everything is kept, 1 to 5
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(crate) replicas: Option<u8>,
    /// Do not try the way there
    #[arg(long, requires = "url")]
    pub(crate) offline: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Make machines that wait part of the team
#[derive(Debug, Args)]
#[command(after_help = ACCEPT)]
pub(crate) struct AcceptArgs {
    /// The whole fingerprints of their keys [default: asks for each one that waits]
    #[arg(value_name = "KEY")]
    pub(crate) machines: Vec<String>,
    /// All that have used an invitation of this machine, without asking
    #[arg(long, conflicts_with = "machines")]
    pub(crate) invited: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Take a machine out of the team
#[derive(Debug, Args)]
#[command(after_help = REMOVE)]
pub(crate) struct RemoveArgs {
    /// Its name, its number or the fingerprint of its key
    #[arg(value_name = "MACHINE")]
    pub(crate) machine: String,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Write a configuration for nats-server with TLS and a login for every team
#[derive(Debug, Args)]
#[command(after_help = SERVER_CONFIG)]
pub(crate) struct ServerConfigArgs {
    /// A name or an address by which machines reach the server; may be given several times
    #[arg(long, value_name = "HOST", required = true)]
    pub(crate) host: Vec<String>,
    /// The port that the server listens on
    #[arg(long, value_name = "PORT", default_value_t = 4222, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,
    /// A team's prefix; may be given several times [default: overtone]
    #[arg(long, value_name = "TEAM")]
    pub(crate) team: Vec<String>,
    /// The folder that everything is written to
    #[arg(long, value_name = "DIR", default_value = "nats", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Bring a session from another machine here, and go on with it
#[derive(Debug, Args)]
#[command(after_help = PULL)]
pub(crate) struct PullArgs {
    /// Its id, or the first characters of it (4 or more)
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    /// Also from a machine that is gone; if it comes back, it steps aside
    #[arg(long)]
    pub(crate) take_over: bool,
    /// Where the work goes on; by default the current folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) project: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Tell the fleet what happens on this machine, and do what it orders, until Ctrl-C
#[derive(Debug, Args)]
#[command(after_help = RELAY)]
pub(crate) struct RelayArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
