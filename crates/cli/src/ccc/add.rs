//! `ccc add`. A token is never taken from the command line, where every process of the machine can read it.

use std::io::{self, BufRead, Read};

use overtone_messages::ccc as words;
use overtone_providers::{add, is_name, is_secret, redact};

use super::args::AddArgs;
use super::face::Face;
use super::line::is_command;
use super::report::{failure, shown};
use crate::ui::error::{Done, Failure, say};

/// No token is longer.
const MAX_TOKEN: u64 = 64 * 1024;

pub(super) fn run(face: &Face, args: &AddArgs) -> Done {
    let (lang, name) = (face.lang, args.provider.as_str());
    if !is_name(name) || is_command(name) {
        return Err(Failure::new(words::bad_name(lang, name)).hint(words::bad_name_hint(lang)));
    }
    let file = face.places.config_file();
    add(&file, name, &env(face, args)?).map_err(|error| failure(lang, &error))?;
    say(&words::added(lang, name, &shown(&file)));
    Ok(())
}

fn env(face: &Face, args: &AddArgs) -> Result<Vec<(String, String)>, Failure> {
    let given = [("ANTHROPIC_BASE_URL", args.base_url.clone()), ("ANTHROPIC_MODEL", args.model.clone())];
    let token_name = if args.api_key { "ANTHROPIC_API_KEY" } else { "ANTHROPIC_AUTH_TOKEN" };
    let token = match (&args.token_env, args.token_stdin) {
        (Some(variable), _) => Some(format!("${{{variable}}}")),
        (None, true) => Some(read_token(face, &args.provider)?),
        (None, false) => None,
    };
    for (name, value) in &given {
        refuse_secret(face, name, value.as_deref().unwrap_or_default())?;
    }
    let known = given.into_iter().chain([(token_name, token)]);
    let known = known.filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let more = args.variables.iter().map(|text| variable(face, text));
    known.map(Ok).chain(more).collect()
}

fn variable(face: &Face, text: &str) -> Result<(String, String), Failure> {
    let lang = face.lang;
    let name = text.split('=').next().unwrap_or_default();
    let value = match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => value,
        _ => {
            // What was given may be a token.
            let shown = if is_secret(name) || name.len() > 40 { "…" } else { name };
            return Err(Failure::new(words::bad_variable(lang, shown)).hint(words::bad_variable_hint(lang)));
        }
    };
    refuse_secret(face, name, value)?;
    Ok((name.to_owned(), value.to_owned()))
}

/// By its name or by what it looks like, a password in an address included.
fn refuse_secret(face: &Face, name: &str, value: &str) -> Done {
    let looks_secret = is_secret(name) || redact(value) != value;
    if looks_secret && !value.is_empty() && !value.contains("${") {
        let failure = Failure::new(words::secret_argument(face.lang, name));
        return Err(failure.hint(words::secret_argument_hint(face.lang)));
    }
    Ok(())
}

#[allow(clippy::disallowed_methods, reason = "a person or a file ends the token with a line break or an end")]
fn read_token(face: &Face, name: &str) -> Result<String, Failure> {
    let mut line = String::new();
    let read = io::stdin().lock().take(MAX_TOKEN).read_line(&mut line);
    match (read, line.trim()) {
        (Ok(_), token) if !token.is_empty() => Ok(token.to_owned()),
        _ => Err(Failure::new(words::no_token(face.lang)).hint(words::no_token_hint(face.lang, name))),
    }
}
