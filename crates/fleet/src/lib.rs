//! Connects the Overtone sessions of several machines through NATS `JetStream`.
//!
//! Hooks only write local files and do not use this crate. The [`relay`] reads those files, in the dashboard's server or
//! in a process of its own, and publishes what is new. A machine that is offline works as before and catches up later.
//!
//! The modules, from the bottom up: [`names`], [`message`] and [`share`] define subjects, payloads and what is redacted.
//! [`link`] is the connection. [`trust`] signs messages and verifies their senders. [`claims`] record which machine owns
//! a session or a feature. The relay publishes this machine's sessions and executes orders; the [`mirror`] keeps a local
//! copy of the sessions of all machines.

mod claims;
mod config;
mod cursors;
mod dirty;
mod error;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod hex;
mod lines;
mod link;
mod local;
mod machine;
mod message;
mod mirror;
mod names;
mod pull;
mod pulled;
mod relay;
mod repository;
mod send;
mod server_config;
mod share;
mod snapshot;
mod supervise;
mod trust;

pub use claims::{ClaimOutcome, StoredClaim, TakeOver, claim, find_claim, is_present, release};
pub use config::{ConfigError, Settings, Share, is_address, split_login};
pub use error::{FleetError, Result};
pub use link::{Link, ServerErrors, connect, connect_recording_errors};
pub use machine::{Machine, fleet_dir};
pub use message::{
    Answer, Batch, Claim, Handover, MachineInfo, MessageError, Order, OrderCommand, SessionState, VERSION,
    is_order_id,
};
pub use mirror::{FeatureWork, FeatureWorker, Mirror, MirrorSetup, MirrorStatus};
pub use names::{
    DEFAULT_PREFIX, Names, decode_token, encode_token, feature_claim_key, handoff_key, session_claim_key,
    state_key,
};
pub use pull::{Pull, PullError, PullSummary};
pub use relay::{
    RefusalReason, RefusedOrder, RefusedOrders, Relay, RelaySetup, RelayStatus, is_relay_running,
    last_relay_status, refused_orders,
};
pub use repository::repository_name;
pub use send::{OrderOutcome, send_order, send_order_with_timeout};
pub use server_config::{ServerConfig, ServerFiles, new_password};
pub use snapshot::{
    FeatureView, FleetSnapshot, MachineView, ReceivedBatch, UnknownMachine, fetch_timeline, tail,
};
pub use trust::{Invitation, InvitationError, Invited, Keyring, Member, Membership, PublicKey, TeamError};
