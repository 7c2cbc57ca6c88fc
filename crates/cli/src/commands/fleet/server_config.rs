//! `overtone fleet server-config`: writes the configuration of a server for one or more teams, with TLS and logins.

use std::path::{Path, PathBuf};

use overtone_core::messages::fleet as words;
use overtone_fleet::{DEFAULT_PREFIX, Names, ServerConfig, ServerFiles};
use serde::Serialize;

use crate::args::ServerConfigArgs;
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult};
use crate::ui::out::{self, JsonObject};

/// The output of `overtone fleet server-config --json`.
#[derive(Serialize)]
struct ServerConfigJson<'a> {
    config: &'a Path,
    ca: &'a Path,
    url: &'a str,
    join: JsonObject<&'a String, String>,
}

pub(super) fn run(context: &Context, args: &ServerConfigArgs) -> CommandResult {
    let lang = context.lang;
    let folder = absolute(context, args)?;
    let mut teams = Vec::new();
    for prefix in if args.team.is_empty() { vec![DEFAULT_PREFIX.to_owned()] } else { args.team.clone() } {
        let bad = || CommandError::new(format!("--team {prefix}: {}", words::bad_prefix(lang)));
        teams.push(Names::new(&prefix).ok_or_else(|| bad().hint(words::join_hint(lang)))?);
    }
    let has_other_files = folder.exists() && !folder.join("server.conf").exists() && !is_empty(&folder);
    if has_other_files {
        return Err(
            CommandError::new(words::server_new_folder(lang)).hint(words::server_new_folder_hint(lang))
        );
    }
    let config = ServerConfig { hosts: args.host.clone(), port: args.port, teams, folder };
    let files = config.write().map_err(|error| CommandError::io(lang, &config.folder, &error))?;
    report(context, args, &config, &files)
}

fn absolute(context: &Context, args: &ServerConfigArgs) -> CommandResult<PathBuf> {
    std::path::absolute(&args.out).map_err(|error| CommandError::io(context.lang, &args.out, &error))
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none())
}

fn report(
    context: &Context,
    args: &ServerConfigArgs,
    config: &ServerConfig,
    files: &ServerFiles,
) -> CommandResult {
    let lang = context.lang;
    let url = config.hosts.first().map(|host| format!("tls://{host}:{}", config.port)).unwrap_or_default();
    let line = |prefix: &str, login: &Path| {
        let (login, ca) = (login.display(), files.ca.display());
        format!("overtone fleet join {url} --prefix {prefix} --login {login} --ca {ca}")
    };
    let joins = || files.logins.iter().map(|(prefix, login)| (prefix, line(prefix, login)));
    if args.output.json {
        let join = joins().collect();
        return out::json(&ServerConfigJson { config: &files.config, ca: &files.ca, url: &url, join });
    }
    let mut lines = vec![
        words::server_written(lang, &config.folder.display().to_string()),
        format!("→ {}", words::server_start(lang, &files.config.display().to_string())),
    ];
    lines.extend(joins().map(|(prefix, line)| format!("→ {}", words::server_first(lang, prefix, &line))));
    lines.push(format!("→ {}", words::server_others(lang)));
    out::print(&(lines.join("\n") + "\n"))
}
