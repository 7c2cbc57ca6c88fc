//! `ccc schema`: what may be in the files, for editors and other programs.

use super::args::SchemaArgs;
use crate::ui::error::CommandResult;
use crate::ui::out;

const CONFIG: &str = include_str!("../../../../schema/ccc.schema.json");
const PROJECT: &str = include_str!("../../../../schema/ccc-project.schema.json");

pub(super) fn run(args: &SchemaArgs) -> CommandResult {
    out::print_raw(if args.project { PROJECT } else { CONFIG })
}
