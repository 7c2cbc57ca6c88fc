//! Parsers for names that help and completion list. They accept any text: a wrong name is rejected later, in the user's
//! language and with the nearest name.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use overtone_core::messages::{Lang, workflow_purpose};
use overtone_core::registry::{Economy, EventKind, Workflow};
use overtone_store::config::KEYS;

#[derive(Debug, Clone)]
pub(crate) struct Names(Vec<PossibleValue>);

impl Names {
    pub(crate) fn workflows() -> Self {
        let value = |w: Workflow| PossibleValue::new(w.name()).help(workflow_purpose(Lang::En, w));
        Self(Workflow::ALL.map(value).to_vec())
    }

    pub(crate) fn events() -> Self {
        Self(EventKind::ALL.map(|kind| PossibleValue::new(kind.name())).to_vec())
    }

    pub(crate) fn economies() -> Self {
        Self(Economy::ALL.map(|economy| PossibleValue::new(economy.name())).to_vec())
    }

    pub(crate) fn config_keys() -> Self {
        Self(KEYS.map(|key| PossibleValue::new(key.name).help(key.about)).to_vec())
    }
}

impl TypedValueParser for Names {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().cloned()))
    }
}

/// The categories of timeline events, each once.
pub(crate) fn categories() -> Vec<&'static str> {
    let mut names: Vec<_> = EventKind::ALL.map(EventKind::category).to_vec();
    names.dedup();
    names
}
