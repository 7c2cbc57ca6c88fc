//! Coloured text for terminals. Its content cannot control the terminal.

mod style;
mod text;

pub use style::{Palette, Tone};
pub use text::{Printable, Text};
