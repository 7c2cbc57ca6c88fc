//! `overtone up`: puts the plugin and this program where Claude Code finds them. Running it again repairs.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use overtone_install::{
    Client, Installed, Link, Place, Record, Registered, StatusLine, install_commands, install_files,
    link_program, register,
};
use overtone_messages::{Lang, cli, install as words};
use overtone_store::Home;
use overtone_store::config::{Config, Key};
use serde_json::{Value, json};

use super::{dashboard, validate};
use crate::args::UpArgs;
use crate::context::Context;
use crate::ui::error::{Done, Failure};
use crate::ui::out;
use crate::ui::style::Tone;
use crate::ui::table::{Cell, Fields};
use crate::ui::text::Text;

pub(crate) fn run(context: &Context, args: &UpArgs) -> Done {
    let home = context.home()?;
    let lang = choose_language(context, home, args)?;
    let failed = |(path, error): (PathBuf, _)| Failure::io(lang, &path, &error);
    let installed = install_files(home).map_err(failed)?;
    if installed.changed {
        // The next session starts one of this version.
        let _ = dashboard::end(home);
    }
    let problems = overtone_plugin::validate(&installed.plugin);
    if !problems.is_empty() {
        out::print(&validate::text(&problems))?;
        return validate::verdict(context, &installed.plugin.display().to_string(), &problems);
    }
    let client = if args.files_only { None } else { Client::find(search_path().as_deref()) };
    let registered =
        client.as_ref().map(|client| registration(lang, home, client, &installed)).transpose()?;
    if !args.files_only {
        install_commands(&client_place(), lang).map_err(failed)?;
    }
    let link = if args.files_only { Link::NoFolder } else { place_link(context, home, &installed)? };
    let report = Report { lang, installed, client, registered, link, files_only: args.files_only };
    if args.output.json { out::json(&report.object(context)) } else { out::print(&report.text(context)) }
}

/// `--lang`, else what is configured, else the locale's.
fn choose_language(context: &Context, home: &Home, args: &UpArgs) -> Result<Lang, Failure> {
    let chosen =
        Key::find("language").is_some_and(|key| Config::load_or_default(home).own_value(key).is_some());
    let wanted = match &args.lang {
        Some(tag) => Some(tag.clone()),
        None if chosen => None,
        None => locale().and_then(|tag| Lang::from_tag(&tag)).map(|lang| lang.tag().to_owned()),
    };
    let Some(tag) = wanted else { return Ok(context.lang) };
    super::config::change(context, "language", &tag)?;
    Ok(context.environment.lang().or_else(|| Lang::from_tag(&tag)).unwrap_or(context.lang))
}

/// The first locale variable with a value counts, as for every other program.
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

pub(super) fn client_place() -> Place {
    Place::new(env::var_os("CLAUDE_CONFIG_DIR").map(PathBuf::from), &user_home())
}

fn registration(
    lang: Lang,
    home: &Home,
    client: &Client,
    installed: &Installed,
) -> Result<Registered, Failure> {
    register(home, &client_place(), client, &installed.plugin, &installed.binary)
        .map_err(|error| failure(lang, &error))
}

pub(super) fn failure(lang: Lang, error: &overtone_install::RegisterError) -> Failure {
    let hint = error.hint().unwrap_or_else(|| cli::check_path_hint(lang));
    Failure::new(error.to_string()).hint(hint)
}

fn place_link(context: &Context, home: &Home, installed: &Installed) -> Result<Link, Failure> {
    let user = user_home();
    let failed = |path: &Path, error| Failure::io(context.lang, path, &error);
    let link = link_program(&installed.binary, &user, search_path().as_deref())
        .map_err(|error| failed(&user, error))?;
    if let Link::At(path) = &link {
        let mut record = Record::load(home);
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
    files_only: bool,
}

impl Report {
    fn text(&self, context: &Context) -> Text {
        let lang = self.lang;
        let plugin = self.installed.plugin.display().to_string();
        let mut fields = Fields::default();
        let placed = words::plugin_placed(lang, &plugin, context.environment.version, lang.tag());
        fields.add(words::label_plugin(lang), placed);
        fields.add(words::label_client(lang), self.client_line());
        if !self.files_only {
            fields.add(words::label_status_line(lang), self.status_line());
            fields.add(words::label_command(lang), self.command_line());
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
        self.registered.as_ref().is_some_and(|registered| registered.refused.is_none())
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

    fn object(&self, context: &Context) -> Value {
        let mut object = validate::object(&self.installed.plugin, &[]);
        object["binary"] = json!(self.installed.binary);
        object["binaryChanged"] = json!(self.installed.changed);
        object["version"] = json!(context.environment.version);
        object["start"] = json!(start_command(&self.installed.plugin.display().to_string()));
        object["language"] = json!(self.lang.tag());
        object["client"] = json!(self.client.as_ref().map(Client::program));
        object["registered"] = json!(self.is_registered());
        let refused = self.registered.as_ref().and_then(|r| r.refused.as_ref()).map(ToString::to_string);
        object["refused"] = json!(refused);
        let link = if let Link::At(path) = &self.link { Some(path) } else { None };
        object["link"] = json!(link);
        object
    }
}

fn version(client: &Client) -> String {
    client.version().ok().flatten().map_or_else(|| "?".to_owned(), |version| version.to_string())
}

fn start_command(plugin: &str) -> String {
    format!("claude --plugin-dir {}", quoted(plugin))
}

/// As a shell needs it.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,".contains(c);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_survive_a_shell() {
        assert_eq!(quoted("/home/u/.overtone/plugin"), "/home/u/.overtone/plugin");
        assert_eq!(quoted("/my home/it's"), r"'/my home/it'\''s'");
    }
}
