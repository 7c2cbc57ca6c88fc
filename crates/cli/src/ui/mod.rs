//! What the user sees: tables, colours, errors, questions.

pub(crate) mod error;
pub(crate) mod findings;
pub(crate) mod nearest;
pub(crate) mod out;
pub(crate) mod quantity;
pub(crate) mod table;
pub(crate) mod terminal;
