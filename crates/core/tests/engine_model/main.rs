//! The engine against a model: random sessions, and every event is held against the rules.
//!
//! [`rules`] and [`model`] say once more, independently of the engine, what an event makes of a session and how it has to
//! be answered. [`events`] makes up sessions, and [`session`] plays them on [`decide`](overtone_core::engine::decide) and
//! compares. A failing sequence is shrunk and printed; it becomes a test in [`regressions`].
//!
//! The short run is the same every time. `PROPTEST_CASES=20000` makes it long, and `PROPTEST_RNG_SEED` another one.

#![allow(clippy::unwrap_used, reason = "a panic is the failure report of a test")]

mod events;
mod model;
mod regressions;
mod rules;
mod session;
#[path = "../engine/world/mod.rs"]
mod world;

use proptest::test_runner::{Config, RngSeed};
use proptest_state_machine::prop_state_machine;

use crate::session::Session;

const CASES: u32 = 1000;
const SEED: u64 = 1;

fn config() -> Config {
    let given = Config::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { given.cases } else { CASES };
    let rng_seed = match given.rng_seed {
        RngSeed::Random => RngSeed::Fixed(SEED),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    Config { cases, rng_seed, failure_persistence: None, ..given }
}

prop_state_machine! {
    #![proptest_config(config())]

    #[test]
    fn every_event_is_decided_as_the_rules_say(sequential 1..80 => Session);
}
