//! The arguments of `overtone fleet` and `overtone relay`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::OutputArgs;

const EXAMPLES: &str = "\
Examples:
  overtone fleet up                               a server on this machine, to try it out
  overtone fleet join nats://build.example:4222   the first machine of a team
  overtone fleet invite                           prints a line to paste into: overtone fleet join
  overtone fleet accept                           accept the new machine into the team
  overtone relay                                  share this machine's sessions (the dashboard does too)
  overtone fleet                                  machines, sessions, who works on what
  overtone fleet message 3c4d 'the database is back'
  overtone fleet pull 3c4d                        continue another machine's session here

The first characters of a session's id, 4 or more, are enough. Everything is
stored on your own NATS server; prompts and code leave this machine only with
--share full.";

const JOIN: &str = "\
Examples:
  overtone fleet join                             asks for the line that overtone fleet invite prints
  overtone fleet join nats://127.0.0.1:4222       creates a team on a server that has none
  overtone fleet join nats://a:4222,nats://b:4222,nats://c:4222 --replicas 3
  overtone fleet join tls://nats.example --login team-a.login --ca ca.pem --prefix team-a
  overtone fleet join tls://nats.example --credentials ~/team.creds --prefix team-a
  overtone fleet join nats://127.0.0.1:4222 --share full --name laptop

The connection is tested first: if it fails, nothing is written, unless
--offline is given. This machine's private key is created here and stays here.";

const INVITE: &str = "\
Example:
  overtone fleet invite     paste its line into: overtone fleet join

The line works for one machine and one day. It contains the server's login.";

const ACCEPT: &str = "\
Examples:
  overtone fleet accept                           shows waiting machines, and asks
  overtone fleet accept 1f3a-…                    the machine with this key
  overtone fleet accept --invited                 all that used an invitation from this machine";

const REMOVE: &str = "\
Example:
  overtone fleet remove old-laptop    no machine trusts it any more; overtone fleet invite adds it again";

const SERVER_CONFIG: &str = "\
Examples:
  overtone fleet server-config --host nats.example
  overtone fleet server-config --host nats.example --team team-a --team team-b --out /etc/nats

Writes a configuration, certificates and a login for every team, all readable
only by you. Run it again to add a team: existing files are kept.";

const LEAVE: &str = "\
Example:
  overtone fleet leave      and later: overtone fleet join nats://…";

const UP: &str = "\
Examples:
  overtone fleet up
  overtone fleet up --port 4333

Listens on 127.0.0.1 only, requires a login, and keeps its login and data in
~/.overtone/fleet/server. For a team: overtone fleet server-config.";

const DOWN: &str = "\
Example:
  overtone fleet down       its data is kept; overtone fleet up uses it again";

const TAIL: &str = "\
Examples:
  overtone fleet tail
  overtone fleet tail 3c4d --json | jq .type

With --json, every line is one event as received.";

const ORDER: &str = "\
Exits with 0 if it was done, 1 if the machine refuses, 3 if it is offline,
4 if it does not respond and the command was withdrawn, 5 if it may still be
carried out.";

const PULL: &str = "\
Examples:
  overtone fleet pull 3c4d
  overtone fleet pull 3c4d --take-over            its machine is offline
  overtone fleet pull 3c4d --project ~/src/shop

The session's machine releases it first. Code is not moved; use your version
control for that. Exits with 1 on failure, 3 if its machine is offline.";

const RELAY: &str = "\
Examples:
  overtone relay
  overtone relay --json | jq .event

For machines without a dashboard; a running dashboard already relays. Runs
until Ctrl-C. Hooks never wait for it; events that happen while it is not
running are sent when it starts again.";

/// View and control the sessions of many machines
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
    /// Remove this machine from the fleet; nothing is deleted
    #[command(after_help = LEAVE)]
    Leave {
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Start a NATS server on this machine and join it, to try the fleet out
    #[command(after_help = UP)]
    Up {
        /// The port on 127.0.0.1 [default: the last one used, else 4222]
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
    /// Print an invitation for another machine
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
    /// Show the state of this machine's relay, and the commands that it refused
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
    /// Show one session of any machine, with its latest events
    Show(FleetSessionArgs),
    /// Watch what happens on all machines, or in one session
    #[command(after_help = TAIL)]
    Tail {
        /// The session's id or its first characters (4 or more) [default: all sessions]
        #[arg(value_name = "SESSION")]
        session: Option<String>,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Stop the loop of a session on any machine
    #[command(after_help = ORDER)]
    Stop(FleetSessionArgs),
    /// Resume a stopped session on any machine
    #[command(after_help = ORDER)]
    Resume(FleetSessionArgs),
    /// Stop a session and set its feature aside until it is resumed
    #[command(after_help = ORDER)]
    Pause(FleetSessionArgs),
    /// Send a message to the main agent of a session on any machine
    #[command(after_help = ORDER)]
    Message {
        /// The session's id or its first characters (4 or more)
        #[arg(value_name = "SESSION")]
        session: String,
        /// The text of the message
        #[arg(value_name = "TEXT", required = true)]
        text: Vec<String>,
        #[command(flatten)]
        output: OutputArgs,
    },
    Pull(PullArgs),
}

#[derive(Debug, Args)]
pub(crate) struct FleetSessionArgs {
    /// The session's id or its first characters (4 or more)
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Make this machine part of a fleet
#[derive(Debug, Args)]
#[command(after_help = JOIN)]
pub(crate) struct JoinArgs {
    /// nats://host:port or tls://…; separate several with commas [default: asks for an invitation]
    #[arg(value_name = "URL")]
    pub(crate) url: Option<String>,
    /// A private file with user:password
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) login: Option<PathBuf>,
    /// A NATS credentials file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) credentials: Option<PathBuf>,
    /// The certificate of the authority that signed the server's certificate
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) ca: Option<PathBuf>,
    /// This machine's certificate, if the server requires one
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "key")]
    pub(crate) certificate: Option<PathBuf>,
    /// The key of the certificate
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, requires = "certificate")]
    pub(crate) key: Option<PathBuf>,
    /// The prefix of every name on the server; each team on a server has its own
    #[arg(long, value_name = "TEAM")]
    pub(crate) prefix: Option<String>,
    /// The name of this machine [default: its host name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// What is shared: state, or full (with prompts, code and the agents' texts)
    #[arg(long, value_name = "HOW", value_parser = ["state", "full"])]
    pub(crate) share: Option<String>,
    /// How many servers of a cluster store the data, 1 to 5
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(crate) replicas: Option<u8>,
    /// Do not test the connection
    #[arg(long, requires = "url")]
    pub(crate) offline: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Accept waiting machines into the team
#[derive(Debug, Args)]
#[command(after_help = ACCEPT)]
pub(crate) struct AcceptArgs {
    /// The full fingerprints of their keys [default: asks for each waiting machine]
    #[arg(value_name = "KEY")]
    pub(crate) machines: Vec<String>,
    /// Accept all that used an invitation from this machine, without asking
    #[arg(long, conflicts_with = "machines")]
    pub(crate) invited: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Remove a machine from the team
#[derive(Debug, Args)]
#[command(after_help = REMOVE)]
pub(crate) struct RemoveArgs {
    /// Its name, its id or the fingerprint of its key
    #[arg(value_name = "MACHINE")]
    pub(crate) machine: String,
    /// Do not ask for confirmation
    #[arg(long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Write a configuration for nats-server with TLS and a login for every team
#[derive(Debug, Args)]
#[command(after_help = SERVER_CONFIG)]
pub(crate) struct ServerConfigArgs {
    /// A host name or address at which machines reach the server; may be repeated
    #[arg(long, value_name = "HOST", required = true)]
    pub(crate) host: Vec<String>,
    /// The port the server listens on
    #[arg(long, value_name = "PORT", default_value_t = 4222, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: u16,
    /// A team's prefix; may be repeated [default: overtone]
    #[arg(long, value_name = "TEAM")]
    pub(crate) team: Vec<String>,
    /// The output folder
    #[arg(long, value_name = "DIR", default_value = "nats", value_hint = ValueHint::DirPath)]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Move a session from another machine to this one, to continue it here
#[derive(Debug, Args)]
#[command(after_help = PULL)]
pub(crate) struct PullArgs {
    /// The session's id or its first characters (4 or more)
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    /// Take it over from a machine that is offline; when that machine comes back, it releases the session
    #[arg(long)]
    pub(crate) take_over: bool,
    /// The folder to continue in [default: the current folder]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) project: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// Share this machine's sessions with the fleet and carry out its commands, until Ctrl-C
#[derive(Debug, Args)]
#[command(after_help = RELAY)]
pub(crate) struct RelayArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
