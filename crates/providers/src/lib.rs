//! Providers: what `ccc.json` says, and how Claude Code's settings are put on one of them and off it again.
//!
//! A provider is a piece of settings, mostly environment. Switching writes it into the client's `settings.json`,
//! key by key; what was written and what stood there before is remembered in `ccc/owned.json`, so that the next
//! switch takes away exactly that and the user's own keys come back. An isolated start touches none of this: it
//! gets a private file.
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
mod isolated;
mod mask;
mod migrate;
mod owned;
mod pin;
mod places;
mod replace;
mod switch;

pub use check::{Fault, FaultKind, Shape};
pub use config::{Config, add, is_name};
pub use conflicts::{Conflict, ConflictKind, Source, Sources, conflicts};
pub use error::{Place, ProvidersError, Wanted};
pub use fragment::merge;
pub use isolated::private_settings;
pub use mask::{is_secret, masked};
pub use migrate::{Adoption, Fate, Found, Terms, adopt, import};
pub use pin::{Pin, find_pin};
pub use places::Places;
pub use replace::{Replaced, Snapshot};
pub use switch::{Change, preview, remove, switch};

/// A piece of settings.
pub type Fragment = serde_json::Map<String, serde_json::Value>;

/// Looks a variable of the process environment up.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;
