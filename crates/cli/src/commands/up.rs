//! `overtone up`: installs the plugin and this program where Claude Code finds them. Running it again repairs them.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use overtone_claude::install::{
    Client, ClientFolder, HookKind, InstallRecord, Installed, Link, Locations, Registered, StatusLine,
    install_commands, install_files, link_program, register,
};
use overtone_core::messages::{Lang, checks, cli, install as words};
use overtone_core::registry::Economy;
use overtone_hook::ansi::{Text, Tone};
use overtone_session::evidence::detect_checks;
use overtone_store::Home;
use overtone_store::config::{Config, keys};
use overtone_store::project_file::ProjectFile;
use serde::Serialize;

use super::dashboard;
use super::validate::{self, PluginJson};
use crate::args::{Names, OutputArgs};
use crate::context::Context;
use crate::ui::error::{CommandError, CommandResult, warn};
use crate::ui::out;
use crate::ui::table::{Cell, Fields};

const EXAMPLES: &str = "\
Writes the plugin to ~/.overtone/plugin with a copy of this program, registers
it with the claude on PATH, and sets the status line if you have none. Your
settings.json keeps its order and formatting. Run it again to repair or
update the installation; running sessions are not affected.

Examples:
  overtone up
  overtone up --lang en
  overtone up --economy lean                   agents with fewer tools, which cost less
  overtone up --files-only && claude --plugin-dir ~/.overtone/plugin";

/// Install the plugin and this program, and register them with Claude Code
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UpArgs {
    /// Language of every text: zh-TW, zh-CN or en [default: from the locale]
    #[arg(long, value_name = "LANG")]
    lang: Option<String>,
    /// Tools of the installed agents: standard as specified, lean with only those that their jobs need [default: as configured]
    #[arg(long, value_name = "ECONOMY", value_parser = Names::economies())]
    economy: Option<String>,
    /// Only install the files; do not change Claude Code or its settings
    #[arg(long)]
    files_only: bool,
    #[command(flatten)]
    output: OutputArgs,
}

pub(crate) fn run(context: &Context, args: &UpArgs) -> CommandResult {
    let home = context.home()?;
    let lang = choose_language(context, home, args)?;
    let failed = |(path, error): (PathBuf, _)| CommandError::io(lang, &path, &error);
    let economy = choose_economy(context, home, args)?;
    let installed = install_files(home, overtone_hook::VERSION, economy).map_err(failed)?;
    if installed.changed {
        // The next session starts a server of this version.
        let _ = dashboard::stop_server(home);
    }
    let problems = overtone_claude::plugin::validate(&installed.plugin);
    if !problems.is_empty() {
        out::print(&validate::render_problems(&problems))?;
        return validate::check_result(context, &installed.plugin.display().to_string(), &problems);
    }
    let client = if args.files_only { None } else { find_client(lang) };
    let registered = client.as_ref().map(|client| register_plugin(lang, home, client)).transpose()?;
    if !args.files_only {
        install_commands(&client_location(), lang).map_err(failed)?;
    }
    let link = if args.files_only { Link::NoFolder } else { create_link(context, home, &installed)? };
    let report = Report {
        lang,
        installed,
        client,
        registered,
        link,
        economy,
        files_only: args.files_only,
        proposes_checks: proposes_checks(context),
    };
    if args.output.json { out::json(&report.to_json(context)) } else { out::print(&report.render(context)) }
}

/// Whether the current folder is a project without checks for which some could be proposed.
fn proposes_checks(context: &Context) -> bool {
    match context.project(None) {
        Ok(project) => {
            let has_no_file = matches!(ProjectFile::read(&project), Ok(None));
            has_no_file && matches!(detect_checks(&project), Ok(checks) if !checks.is_empty())
        }
        Err(_) => false,
    }
}

/// The language of `--lang`, else of the configuration, else of the locale.
fn choose_language(context: &Context, home: &Home, args: &UpArgs) -> CommandResult<Lang> {
    let tag = match &args.lang {
        Some(tag) => Some(tag.clone()),
        None if has_own_language(home) => None,
        None => locale().and_then(|locale| Lang::from_tag(&locale)).map(|lang| lang.tag().to_owned()),
    };
    let Some(tag) = tag else { return Ok(context.lang) };
    super::config::change(context, keys::LANGUAGE.key().name, &tag)?;
    Ok(context.environment.lang().or_else(|| Lang::from_tag(&tag)).unwrap_or(context.lang))
}

/// The economy of `--economy`, which is remembered, else of the configuration.
fn choose_economy(context: &Context, home: &Home, args: &UpArgs) -> CommandResult<Economy> {
    if let Some(name) = &args.economy {
        super::config::change(context, keys::ECONOMY.key().name, name)?;
    }
    Ok(Config::load_or_default(home).get(keys::ECONOMY))
}

/// Whether a language is configured.
fn has_own_language(home: &Home) -> bool {
    Config::load_or_default(home).own_value(keys::LANGUAGE.key()).is_some()
}

/// The first locale variable with a value, as for every other program.
fn locale() -> Option<String> {
    ["LC_ALL", "LC_MESSAGES", "LANG"]
        .iter()
        .filter_map(|name| env::var(name).ok())
        .find(|value| !value.is_empty())
}

pub(super) fn search_path() -> Option<OsString> {
    env::var_os("PATH")
}

/// The user's own folder; Overtone's may be elsewhere.
pub(super) fn user_home() -> PathBuf {
    env::var_os("HOME").map(PathBuf::from).unwrap_or_default()
}

pub(super) fn client_location() -> ClientFolder {
    ClientFolder::new(env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from), &user_home())
}

/// A client that cannot be inspected counts as missing, and that is said: the reason is not that none is installed.
fn find_client(lang: Lang) -> Option<Client> {
    match Client::look_up(search_path().as_deref()) {
        Ok(client) => client,
        Err((path, error)) => {
            warn(&cli::cannot_use(lang, &path.display().to_string(), &error.to_string()));
            None
        }
    }
}

fn register_plugin(lang: Lang, home: &Home, client: &Client) -> CommandResult<Registered> {
    register(home, &client_location(), client, &Locations::new(home))
        .map_err(|error| register_error(lang, &error))
}

pub(super) fn register_error(lang: Lang, error: &overtone_claude::install::RegisterError) -> CommandError {
    let hint = error.hint().unwrap_or_else(|| cli::check_path_hint(lang));
    CommandError::new(error.to_string()).hint(hint)
}

fn create_link(context: &Context, home: &Home, installed: &Installed) -> CommandResult<Link> {
    let user = user_home();
    let failed = |path: &Path, error| CommandError::io(context.lang, path, &error);
    let link = link_program(&installed.binary, &user, search_path().as_deref())
        .map_err(|error| failed(&user, error))?;
    if let Link::At(path) = &link {
        let mut record = InstallRecord::load(home);
        record.link = Some(path.clone());
        record.save(home).map_err(|error| failed(home.root(), error))?;
    }
    Ok(link)
}

struct Report {
    lang: Lang,
    installed: Installed,
    client: Option<Client>,
    registered: Option<Registered>,
    link: Link,
    economy: Economy,
    files_only: bool,
    /// The current folder is a project without checks, and some could be proposed.
    proposes_checks: bool,
}

impl Report {
    fn render(&self, context: &Context) -> Text {
        let lang = self.lang;
        let plugin = self.installed.plugin.display().to_string();
        let mut fields = Fields::default();
        let placed = words::plugin_placed(lang, &plugin, context.environment.version, lang.tag());
        fields.add(words::label_plugin(lang), placed);
        if self.economy != Economy::default() {
            fields.add(words::label_economy(lang), self.economy.name());
        }
        fields.add(words::label_client(lang), self.client_line());
        if !self.files_only {
            fields.add(words::label_status_line(lang), self.status_line());
            fields.add(words::label_command(lang), self.command_line());
        }
        if self.proposes_checks {
            fields.add(checks::label_checks(lang), checks::none_yet(lang));
        }
        let next = if self.is_registered() || self.files_only {
            words::next_claude(lang)
        } else {
            words::next_demo(lang)
        };
        fields.add(words::label_next(lang), Cell::new(next).tone(Tone::Strong));
        fields.render(context.palette)
    }

    fn is_registered(&self) -> bool {
        matches!(&self.registered, Some(registered) if registered.refused.is_none())
    }

    fn client_line(&self) -> String {
        let start = start_command(&self.installed.plugin.display().to_string());
        match (&self.client, &self.registered) {
            (Some(client), Some(registered)) => match &registered.refused {
                Some(error) => words::not_registered(self.lang, &error.to_string(), &start),
                None => words::registered(self.lang, &version(client)),
            },
            _ if self.files_only => words::client_skipped(self.lang, &start),
            _ => words::no_client(self.lang),
        }
    }

    fn status_line(&self) -> String {
        match self.registered.as_ref().map(|registered| registered.status_line) {
            Some(StatusLine::Set) => words::status_line_set(self.lang),
            Some(StatusLine::AlreadyOurs) => words::status_line_ours(self.lang),
            Some(StatusLine::Theirs) => words::status_line_theirs(self.lang),
            None => words::status_line_untouched(self.lang),
        }
    }

    fn command_line(&self) -> String {
        let binary = self.installed.binary.display().to_string();
        match &self.link {
            Link::At(path) => words::command_at(self.lang, &path.display().to_string()),
            Link::Taken(path) => words::command_taken(self.lang, &path.display().to_string(), &binary),
            Link::NoFolder => words::command_not_on_path(self.lang, &binary),
        }
    }

    fn to_json(&self, context: &Context) -> UpJson<'_> {
        let plugin = &self.installed.plugin;
        let refused = match &self.registered {
            Some(registered) => registered.refused.as_ref().map(ToString::to_string),
            None => None,
        };
        UpJson {
            plugin: PluginJson::new(plugin, &[]),
            binary: &self.installed.binary,
            binary_changed: self.installed.changed,
            version: context.environment.version,
            start: start_command(&plugin.display().to_string()),
            language: self.lang.tag(),
            client: self.client.as_ref().map(Client::program),
            registered: self.is_registered(),
            refused,
            link: if let Link::At(path) = &self.link { Some(path) } else { None },
            hook_binary: &self.installed.hook_binary,
            hook_program: match self.installed.hook_kind {
                HookKind::Small => "small",
                HookKind::Whole => "whole",
            },
            economy: self.economy.name(),
        }
    }
}

/// The output of `overtone up --json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UpJson<'a> {
    #[serde(flatten)]
    plugin: PluginJson<'a>,
    binary: &'a Path,
    binary_changed: bool,
    version: &'static str,
    start: String,
    language: &'static str,
    client: Option<&'a Path>,
    registered: bool,
    refused: Option<String>,
    link: Option<&'a Path>,
    hook_binary: &'a Path,
    hook_program: &'static str,
    economy: &'static str,
}

fn version(client: &Client) -> String {
    match client.version() {
        Ok(Some(version)) => version.to_string(),
        Ok(None) | Err(_) => "?".to_owned(),
    }
}

fn start_command(plugin: &str) -> String {
    format!("claude --plugin-dir {}", shell_quote(plugin))
}

/// Quotes a path for a shell.
fn shell_quote(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,".contains(c);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_a_shell() {
        assert_eq!(shell_quote("/home/u/.overtone/plugin"), "/home/u/.overtone/plugin");
        assert_eq!(shell_quote("/my home/it's"), r"'/my home/it'\''s'");
    }
}
