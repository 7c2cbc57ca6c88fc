//! `overtone completions`: a script for the shell.

use crate::args::{CompletionsArgs, whole};
use crate::ui::error::Done;
use crate::ui::out;

pub(crate) fn run(args: &CompletionsArgs) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut whole(), "overtone", &mut script);
    out::own(&String::from_utf8_lossy(&script))
}
