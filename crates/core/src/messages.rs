//! Every text that a person or the model reads, in three languages.
//!
//! A message is declared once with all its languages (see [`catalogue`]), so a missing translation does not
//! compile. The zh-TW wording is the one of the specifications. There is no I/O here: the caller passes the
//! language in.

#[macro_use]
mod catalogue;
pub mod budget;
pub mod care;
pub mod ccc;
pub mod checks;
pub mod cli;
pub mod context;
pub mod dashboard;
pub mod demo;
pub mod evidence;
pub mod fleet;
pub mod flow;
pub mod guard;
pub mod install;
pub mod integrity;
mod labels;
mod lang;
pub mod looping;
pub mod page;
pub mod prompt;
pub mod remote;
pub mod replay;
pub mod supervisor;
pub mod telemetry;
pub mod tools;
pub mod top;

pub use catalogue::Sample;
pub use labels::{event_label, shelf_label, stage_label, stage_name, workflow_purpose};
pub use lang::Lang;

/// Every message of every room with stand-in arguments, for the snapshot test.
pub fn samples(lang: Lang) -> Vec<Sample> {
    let rooms = [
        budget::samples,
        care::samples,
        ccc::samples,
        checks::samples,
        cli::samples,
        context::samples,
        dashboard::samples,
        demo::samples,
        evidence::samples,
        flow::samples,
        guard::samples,
        install::samples,
        integrity::samples,
        looping::samples,
        page::samples,
        prompt::samples,
        fleet::samples,
        remote::samples,
        replay::samples,
        supervisor::samples,
        telemetry::samples,
        tools::samples,
        top::samples,
    ];
    rooms.iter().flat_map(|room| room(lang)).collect()
}
