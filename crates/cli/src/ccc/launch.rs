//! Replaces this process by the client, which keeps the process id, terminal, signals and exit code.
//!
//! The provider is passed in the environment of the process, so other sessions are not affected.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{self, Command};

use overtone_ccc::providers::{
    Config, Pin, ProvidersError, SettingsArgument, Sources, StartMode, StartPlan, StartRecord, StartRequest,
    dropped_variables, masked, plan_start, prepare_start, preview_start, record_start, redact,
    remove_start_record, used_provider, write_private_settings,
};
use overtone_claude::install::Client;
use overtone_core::messages::ccc as messages;

use super::change::show_changes;
use super::command_line::{StartArgs, split_settings};
use super::context::CccContext;
use super::report::{self, display_path, failure};
use super::supervisor;
use crate::ui::error::{CommandError, CommandResult, note, warn};

/// The provider to use, and why.
#[derive(Debug)]
struct Choice {
    name: String,
    isolated: bool,
    pin: Option<Pin>,
}

/// Why a start cannot be planned.
pub(super) enum PlanError {
    /// Settings files would send the client to another provider.
    Overruled(CommandError),
    Other(CommandError),
}

impl From<PlanError> for CommandError {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Overruled(failure) | PlanError::Other(failure) => failure,
        }
    }
}

/// A start that is ready to be performed.
struct Launch<'a> {
    context: &'a CccContext,
    choice: Choice,
    client: Client,
    plan: StartPlan,
    /// The client's arguments.
    arguments: Vec<OsString>,
    /// The same without the user's `--settings`, which the private file of the plan includes.
    without_settings: Vec<OsString>,
    settings_argument: Option<SettingsArgument>,
    /// Inherited variables that are not passed to the client.
    dropped: Vec<String>,
    supervised: bool,
}

/// Starts the client. Everything that can fail is checked before anything is changed.
pub(super) fn run(context: &CccContext, start: &StartArgs) -> CommandResult {
    let config = context.config()?;
    let launch = prepare(context, &config, start)?;
    for conflict in &launch.plan.conflicts {
        warn(&report::conflict(context.lang, conflict));
    }
    if start.dry_run { launch.show() } else { launch.perform(&config) }
}

fn prepare<'a>(context: &'a CccContext, config: &Config, start: &StartArgs) -> CommandResult<Launch<'a>> {
    let report = |error| failure(context.lang, &error);
    let choice = choose_provider(context, config, start)?;
    let always = config.claude_args().map_err(report)?;
    let keep = config.keep_env().map_err(report)?;
    let client = client(context)?;
    let mut arguments: Vec<OsString> = always.into_iter().map(OsString::from).collect();
    arguments.extend(start.arguments.iter().cloned());
    let (without_settings, settings) = split_settings(&arguments);
    let settings_argument = match settings {
        Some(argument) => {
            let folder = env::current_dir().unwrap_or_default();
            Some(SettingsArgument::read(&argument, &folder).map_err(report)?)
        }
        None => None,
    };
    let plan = plan_here(context, config, &choice.name, choice.isolated, settings_argument.as_ref())?;
    let dropped = inherited_to_drop(&plan, &keep);
    let supervised = supervisor::is_on(config);
    Ok(Launch {
        context,
        choice,
        client,
        plan,
        arguments,
        without_settings,
        settings_argument,
        dropped,
        supervised,
    })
}

/// Plans a start in the current folder with the current environment.
pub(super) fn plan_here(
    context: &CccContext,
    config: &Config,
    name: &str,
    isolated: bool,
    settings_argument: Option<&SettingsArgument>,
) -> Result<StartPlan, PlanError> {
    let mode = match (isolated, supervisor::is_on(config)) {
        (true, _) => StartMode::Isolated,
        (false, true) => StartMode::Supervised,
        (false, false) => StartMode::Plain,
    };
    let planned = plan_start(&StartRequest {
        paths: &context.paths,
        config,
        provider: name,
        lookup: &|variable| env::var(variable).ok(),
        sources: Sources { project: env::current_dir().ok(), settings_argument },
        hook: supervisor::settings(config),
        mode,
    });
    planned.map_err(|error| plan_error(context, &error))
}

fn plan_error(context: &CccContext, error: &ProvidersError) -> PlanError {
    let ProvidersError::Overruled { provider, conflicts } = error else {
        return PlanError::Other(failure(context.lang, error));
    };
    let (used, settings) = (used_provider(&context.paths).ok().flatten(), context.paths.settings());
    PlanError::Overruled(report::overruled(context.lang, provider, conflicts, used.as_deref(), &settings))
}

/// Starts the client with exactly these arguments and without changing any settings.
pub(super) fn pass_through(context: &CccContext, arguments: &[OsString]) -> CommandResult {
    let client = client(context)?;
    let mut command = Command::new(client.program());
    command.args(arguments);
    Err(exec(context, &client, command))
}

/// The named provider, else the project's, else the current one. The provider of a project is used in isolation, so
/// that it does not affect other sessions.
fn choose_provider(context: &CccContext, config: &Config, start: &StartArgs) -> CommandResult<Choice> {
    let report = |error| failure(context.lang, &error);
    if let Some(name) = &start.provider {
        config.check(name, None).map_err(report)?;
        return Ok(Choice { name: name.clone(), isolated: start.isolated, pin: None });
    }
    if let Some(pin) = context.pin()? {
        config.check(&pin.provider, Some(pin.location.clone())).map_err(report)?;
        return Ok(Choice { name: pin.provider.clone(), isolated: true, pin: Some(pin) });
    }
    Ok(Choice { name: config.chosen().map_err(report)?, isolated: start.isolated, pin: None })
}

/// The names of inherited variables that must not reach the provider.
fn inherited_to_drop(plan: &StartPlan, keep: &[String]) -> Vec<String> {
    let text = |value: OsString| value.to_string_lossy().into_owned();
    let inherited: Vec<_> = env::vars_os().map(|(name, value)| (text(name), text(value))).collect();
    dropped_variables(&plan.env, keep, inherited.iter().map(|(name, value)| (name.as_str(), value.as_str())))
}

impl Launch<'_> {
    /// Records the start before anything is written, so that commands that change the shared settings know about it.
    fn perform(mut self, config: &Config) -> CommandResult {
        self.record()?;
        let result = self.become_client(config);
        remove_start_record(&self.context.paths);
        result
    }

    fn record(&self) -> CommandResult {
        let record = StartRecord {
            provider: self.choice.name.clone(),
            supervised: self.supervised,
            private: self.plan.private.is_some(),
        };
        record_start(&self.context.paths, &record).map_err(|error| failure(self.context.lang, &error))
    }

    /// Returns only if the start fails.
    fn become_client(&mut self, config: &Config) -> CommandResult {
        let context = self.context;
        let leftovers = self.write_shared()?;
        self.plan_again(config)?;
        let arguments = self.write_private()?;
        self.announce(&leftovers);
        if let Some(notice) = supervisor::notice(config, context.lang) {
            note(&notice);
        }
        let mut command = Command::new(self.client.program());
        command.args(arguments);
        for name in self.dropped.iter().map(String::as_str).chain(supervisor::START_VARIABLES) {
            command.env_remove(name);
        }
        let variables = supervisor::variables(config, &self.choice.name, self.choice.isolated);
        command.envs(self.variables()).envs(variables);
        Err(exec(context, &self.client, command))
    }

    /// Repeats the planning, since another terminal may have changed the shared settings meanwhile.
    fn plan_again(&mut self, config: &Config) -> CommandResult {
        let now = plan_here(
            self.context,
            config,
            &self.choice.name,
            self.choice.isolated,
            self.settings_argument.as_ref(),
        )?;
        for conflict in now.conflicts.iter().filter(|conflict| !self.plan.conflicts.contains(conflict)) {
            warn(&report::conflict(self.context.lang, conflict));
        }
        let is_private = now.private.is_some();
        let was_private = self.plan.private.is_some();
        self.plan = now;
        if is_private == was_private { Ok(()) } else { self.record() }
    }

    fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let variables = self.plan.env.iter();
        variables.map(|(name, value)| (name.as_str(), value.as_str().unwrap_or_default()))
    }

    /// Writes the shared settings. Returns the keys left by an earlier version that were removed.
    fn write_shared(&self) -> CommandResult<Vec<String>> {
        let Some(shared) = &self.plan.shared else { return Ok(Vec::new()) };
        let outcome = prepare_start(&self.context.paths, &self.choice.name, shared);
        Ok(outcome.map_err(|error| failure(self.context.lang, &error))?.leftovers)
    }

    /// Writes the private settings file, if there is one, and returns the arguments that refer to it.
    fn write_private(&self) -> CommandResult<Vec<OsString>> {
        let Some(content) = &self.plan.private else { return Ok(self.arguments.clone()) };
        let file = write_private_settings(&self.context.paths, content, process::id());
        let file = file.map_err(|error| failure(self.context.lang, &error))?;
        let option = [OsString::from("--settings"), file.into()];
        Ok(option.into_iter().chain(self.without_settings.iter().cloned()).collect())
    }

    fn announce(&self, leftovers: &[String]) {
        let (lang, choice) = (self.context.lang, &self.choice);
        note(&match &choice.pin {
            Some(pin) => messages::on_pinned(lang, &choice.name, &pin.location.to_string()),
            None if choice.isolated => messages::on_isolated(lang, &choice.name),
            None => messages::on(lang, &choice.name),
        });
        self.print_dropped();
        if !leftovers.is_empty() {
            note(&messages::leftovers_gone(
                lang,
                &display_path(&self.context.paths.settings()),
                &leftovers.join(", "),
            ));
        }
    }

    fn print_dropped(&self) {
        let is_set = |name: &&String| env::var_os(name).is_some_and(|value| !value.is_empty());
        let names: Vec<_> = self.dropped.iter().filter(is_set).map(String::as_str).collect();
        if !names.is_empty() {
            note(&messages::not_passed_on(self.context.lang, &names.join(", ")));
        }
    }

    /// Shows what the start would do.
    fn show(&self) -> CommandResult {
        let (context, lang) = (self.context, self.context.lang);
        if let Some(shared) = &self.plan.shared {
            let changes = preview_start(&context.paths, shared).map_err(|error| failure(lang, &error))?;
            show_changes(context, &changes);
        }
        note(&messages::would_set(lang));
        for (name, value) in self.variables() {
            note(&format!("  + {name} = {}", masked(name, value).replace(char::is_control, " ")));
        }
        self.print_dropped();
        if self.plan.private.is_some() {
            note(&messages::would_write_private(lang));
        }
        let line: Vec<_> =
            self.arguments.iter().map(|argument| redact(&argument.to_string_lossy())).collect();
        let command = format!("{} {}", display_path(self.client.program()), line.join(" "));
        note(&messages::would_start(lang, command.trim_end()));
        Ok(())
    }
}

fn client(context: &CccContext) -> CommandResult<Client> {
    let missing =
        || CommandError::new(messages::no_client(context.lang)).hint(messages::no_client_hint(context.lang));
    Client::find(env::var_os("PATH").as_deref()).ok_or_else(missing)
}

/// Replaces this process. Returns only if that fails.
fn exec(context: &CccContext, client: &Client, mut command: Command) -> CommandError {
    let error = command.exec();
    let message = messages::cannot_start(context.lang, &display_path(client.program()), &error.to_string());
    CommandError::new(message).hint(messages::cannot_start_hint(context.lang))
}
