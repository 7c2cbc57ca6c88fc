//! Which provider the reviewer is on: its settings and its environment.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

use overtone_providers::{
    Config, Fragment, Mode, Places, ProvidersError, Sources, StartRequest, dropped, plan, private_settings,
};
use serde_json::Value;

/// The reviewer's own Stop must not be reviewed.
const NO_HOOKS: &str = r#"{"disableAllHooks":true}"#;

/// How the reviewer is started.
#[derive(Debug)]
pub(crate) enum Route {
    /// As the session, whose environment it inherits.
    Inherited,
    Provider(ProviderRoute),
}

/// A provider of its own. A token must not be seen in a list of processes, so the settings are in a private file.
pub(crate) struct ProviderRoute {
    file: PathBuf,
    env: Fragment,
    dropped: Vec<String>,
}

/// Shows no value: it may be a token.
impl std::fmt::Debug for ProviderRoute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderRoute").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Route {
    /// On a provider of `ccc.json`, for a reviewer that works in this folder.
    pub(crate) fn on(name: &str, project: Option<&Path>) -> Result<Self, ProvidersError> {
        let places = Places::resolve(&|name| env::var_os(name))?;
        let config = Config::load(&places.config_file())?;
        let planned = plan(&StartRequest {
            places: &places,
            config: &config,
            provider: name,
            lookup: &|variable| env::var(variable).ok(),
            sources: Sources { project: project.map(Path::to_owned), given: None },
            hook: Fragment::from_iter([("disableAllHooks".to_owned(), Value::Bool(true))]),
            mode: Mode::Isolated,
        })?;
        let text = |value: OsString| value.to_string_lossy().into_owned();
        let inherited: Vec<_> = env::vars_os().map(|(name, value)| (text(name), text(value))).collect();
        let inherited = inherited.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let dropped = dropped(&planned.env, &config.keep_env()?, inherited);
        let content = planned.private.unwrap_or_default();
        let file = private_settings(&places, &content, process::id())?;
        Ok(Self::Provider(ProviderRoute { file, env: planned.env, dropped }))
    }

    /// JSON, or a file of it.
    pub(crate) fn settings(&self) -> OsString {
        match self {
            Self::Inherited => NO_HOOKS.into(),
            Self::Provider(route) => route.file.clone().into(),
        }
    }

    pub(crate) fn apply(&self, command: &mut Command) {
        let Self::Provider(route) = self else { return };
        for name in &route.dropped {
            command.env_remove(name);
        }
        let variables = route.env.iter();
        command.envs(variables.filter_map(|(name, value)| Some((name, value.as_str()?))));
    }
}

impl Drop for ProviderRoute {
    fn drop(&mut self) {
        // The next start that needs such a file takes leftovers away.
        let _ = fs::remove_file(&self.file);
    }
}
