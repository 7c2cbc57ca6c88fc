//! Providers: what `ccc.json` says, and how Claude Code's settings are put on one of them and off it again.
//!
//! A provider is a piece of settings, mostly environment. A start gives it to the process it starts, and to nobody
//! else; inherited variables that decide the route or carry a key stay behind. The client's shared `settings.json`
//! gets what all sessions share, and a provider's route only with `ccc use`. What was written there and what stood
//! there before is remembered in `ccc/owned.json`, so that exactly that goes again and the user's own keys come back.
//! Where a settings file would win over the environment, a private file overrules it, or nothing starts.
//!
//! Not here: any text for people, starting the client, the command line, and reviewing (`overtone-supervisor`).
//! No error and no debug output holds a value of the environment: it may be a token.

mod check;
mod claim;
mod config;
mod conflicts;
pub mod doctor;
mod error;
mod expand;
mod fragment;
mod given;
mod isolated;
mod login;
mod mask;
mod migrate;
mod notes;
mod owned;
mod pin;
mod places;
mod redact;
mod replace;
mod route;
mod running;
mod start;
mod switch;

pub use check::{Fault, FaultKind, Shape};
pub use config::{Config, add, is_name};
pub use conflicts::{Conflict, ConflictKind, Layer, Sources};
pub use error::{Place, ProvidersError, Wanted};
pub use fragment::merge;
pub use given::Given;
pub use isolated::private_settings;
pub use mask::{is_secret, masked};
pub use migrate::{Adoption, Fate, Found, Terms, adopt, import};
pub use pin::{Pin, find_pin};
pub use places::Places;
pub use redact::redact;
pub use replace::{Replaced, Snapshot};
pub use running::{Running, Started, followers, forget_start, note_start};
pub use start::{Mode, Plan, StartRequest, dropped, plan, shared_route};
pub use switch::{Change, Switched, prepare, preview, preview_start, remove, switch, unuse, used};

/// A piece of settings.
pub type Fragment = serde_json::Map<String, serde_json::Value>;

/// Looks a variable of the process environment up.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;
