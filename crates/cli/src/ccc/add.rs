//! `ccc add`. Tokens are not accepted as arguments, which every process of the machine can read.

use std::io::{self, BufRead, Read};

use overtone_ccc::providers::{add_provider, is_provider_name, is_secret, redact};
use overtone_core::messages::ccc as messages;

use super::args::AddArgs;
use super::command_line::is_command;
use super::context::CccContext;
use super::report::{display_path, failure};
use crate::ui::error::{CommandError, CommandResult, note};

/// No token is longer.
const MAX_TOKEN_BYTES: u64 = 64 * 1024;

pub(super) fn run(context: &CccContext, args: &AddArgs) -> CommandResult {
    let (lang, name) = (context.lang, args.provider.as_str());
    if !is_provider_name(name) || is_command(name) {
        return Err(CommandError::new(messages::bad_name(lang, name)).hint(messages::bad_name_hint(lang)));
    }
    let file = context.paths.config_file();
    add_provider(&file, name, &env(context, args)?).map_err(|error| failure(lang, &error))?;
    note(&messages::added(lang, name, &display_path(&file)));
    Ok(())
}

fn env(context: &CccContext, args: &AddArgs) -> CommandResult<Vec<(String, String)>> {
    let options = [("ANTHROPIC_BASE_URL", args.base_url.clone()), ("ANTHROPIC_MODEL", args.model.clone())];
    let token_name = if args.api_key { "ANTHROPIC_API_KEY" } else { "ANTHROPIC_AUTH_TOKEN" };
    let token = match (&args.token_env, args.token_stdin) {
        (Some(variable), _) => Some(format!("${{{variable}}}")),
        (None, true) => Some(read_token(context, &args.provider)?),
        (None, false) => None,
    };
    for (name, value) in &options {
        refuse_secret(context, name, value.as_deref().unwrap_or_default())?;
    }
    let known = options.into_iter().chain([(token_name, token)]);
    let known = known.filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let more = args.variables.iter().map(|text| variable(context, text));
    known.map(Ok).chain(more).collect()
}

fn variable(context: &CccContext, text: &str) -> CommandResult<(String, String)> {
    let lang = context.lang;
    let name = text.split('=').next().unwrap_or_default();
    let value = match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => value,
        _ => {
            // The argument may be a token.
            let displayed = if is_secret(name) || name.len() > 40 { "…" } else { name };
            return Err(CommandError::new(messages::bad_variable(lang, displayed))
                .hint(messages::bad_variable_hint(lang)));
        }
    };
    refuse_secret(context, name, value)?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Fails if an argument is a secret, by its name or its form, including a password in an address.
fn refuse_secret(context: &CccContext, name: &str, value: &str) -> CommandResult {
    let looks_secret = is_secret(name) || redact(value) != value;
    if looks_secret && !value.is_empty() && !value.contains("${") {
        let failure = CommandError::new(messages::secret_argument(context.lang, name));
        return Err(failure.hint(messages::secret_argument_hint(context.lang)));
    }
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "the token ends with a line break or the end of the input")]
fn read_token(context: &CccContext, name: &str) -> CommandResult<String> {
    let mut line = String::new();
    let read = io::stdin().lock().take(MAX_TOKEN_BYTES).read_line(&mut line);
    match (read, line.trim()) {
        (Ok(_), token) if !token.is_empty() => Ok(token.to_owned()),
        _ => Err(CommandError::new(messages::no_token(context.lang))
            .hint(messages::no_token_hint(context.lang, name))),
    }
}
