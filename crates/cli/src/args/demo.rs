//! `overtone demo`.

use clap::Args;
use overtone_messages::Lang;

/// Play a whole workflow through the real hooks, in a temporary folder
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct DemoArgs {
    /// Without pauses for reading
    #[arg(long)]
    pub(crate) fast: bool,
    /// Leave the temporary folder in place and say where it is
    #[arg(long)]
    pub(crate) keep: bool,
    /// The language: zh-TW, zh-CN or en [default: as configured]
    #[arg(long, value_name = "LANG", value_parser = language)]
    pub(crate) lang: Option<Lang>,
}

const HELP: &str = "\
Examples:
  overtone demo
  overtone demo --fast --lang en     a check of this program, in a second

Needs neither Claude Code nor a network, and touches nothing of yours. Ends
with 1 and names the step when a hook does not answer as it should.";

fn language(tag: &str) -> Result<Lang, String> {
    let tags = || Lang::ALL.map(Lang::tag).join(", ");
    Lang::from_tag(tag).ok_or_else(|| format!("there are: {}", tags()))
}
