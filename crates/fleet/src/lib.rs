//! Many machines, one view: what sessions do goes to NATS `JetStream`, and orders come back.
//!
//! Local first: hooks write files and know nothing of this. The [`relay`] reads those files, in the dashboard's server
//! or in a process of its own, and tells what is new. A machine alone or cut off works as before, and catches up.
//! Layers, from the bottom: [`names`], [`message`] and [`share`] say what is said and how it is called; [`link`] is the
//! connection; [`trust`] signs what is said and checks who has said it; [`claims`] say whose something is; the relay tells
//! and obeys, and the [`mirror`] shows what all have told.

mod claims;
mod config;
mod cursors;
mod dirty;
mod error;
mod hex;
mod lines;
mod link;
mod local;
mod machine;
mod message;
mod mirror;
mod names;
mod picture;
mod pull;
mod relay;
mod repository;
mod send;
mod server_config;
mod share;
mod supervise;
mod trust;

pub use claims::{Insist, Outcome, claim, is_present, look, release};
pub use config::{Problem, Settings, Share, is_address, split_login};
pub use error::{FleetError, Result};
pub use link::{Complaints, Link, connect, connect_listening};
pub use local::refusal_words;
pub use machine::{Machine, folder};
pub use message::{
    Answer, Batch, Claim, Deed, Foreign, Handed, MachineInfo, Order, SessionState, VERSION, is_order_id,
};
pub use mirror::{FeatureWork, FeatureWorker, Mirror, MirrorSetup, MirrorStatus};
pub use names::{DEFAULT_PREFIX, Names, feature_claim, handoff_key, session_claim, state_key, token, word};
pub use picture::{FeatureView, Heard, MachineView, Picture, Stranger, tail, timeline};
pub use pull::{NotPulled, Pull, Pulled};
pub use relay::{
    Reason, RefusedOrder, RefusedOrders, Relay, Setup, Status, is_running, last_status, refused_orders,
};
pub use repository::of as repository_of;
pub use send::{Reply, send, send_within};
pub use server_config::{ServerConfig, ServerFiles, new_password};
pub use trust::{BadInvitation, Invitation, Invited, Keyring, Member, Membership, NotChanged, PublicKey};
