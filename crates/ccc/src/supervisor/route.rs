//! The reviewer's provider: its settings and its environment.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

use crate::providers::{
    CccPaths, Config, Fragment, ProvidersError, Sources, StartMode, StartRequest, dropped_variables,
    plan_start, write_private_settings,
};
use serde_json::Value;

/// The reviewer's own Stop must not be reviewed.
const NO_HOOKS: &str = r#"{"disableAllHooks":true}"#;

/// How the reviewer is started.
#[derive(Debug)]
pub(crate) enum Route {
    /// The reviewer inherits the session's environment.
    Inherited,
    Provider(ProviderRoute),
}

/// A provider from `ccc.json`. Its settings are in a private file, since arguments are visible in the list of processes.
pub(crate) struct ProviderRoute {
    file: PathBuf,
    env: Fragment,
    dropped: Vec<String>,
}

/// Omits all values, which may be tokens.
impl std::fmt::Debug for ProviderRoute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProviderRoute").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Route {
    /// A route on a provider of `ccc.json`, for a reviewer that works in this folder.
    pub(crate) fn for_provider(name: &str, project: Option<&Path>) -> Result<Self, ProvidersError> {
        let paths = CccPaths::resolve(&|name| env::var_os(name))?;
        let config = Config::load(&paths.config_file())?;
        let plan = plan_start(&StartRequest {
            paths: &paths,
            config: &config,
            provider: name,
            lookup: &|variable| env::var(variable).ok(),
            sources: Sources { project: project.map(Path::to_owned), settings_argument: None },
            hook: Fragment::from_iter([("disableAllHooks".to_owned(), Value::Bool(true))]),
            mode: StartMode::Isolated,
        })?;
        let text = |value: OsString| value.to_string_lossy().into_owned();
        let inherited: Vec<_> = env::vars_os().map(|(name, value)| (text(name), text(value))).collect();
        let inherited = inherited.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let dropped = dropped_variables(&plan.env, &config.keep_env()?, inherited);
        let content = plan.private.unwrap_or_default();
        let file = write_private_settings(&paths, &content, process::id())?;
        Ok(Self::Provider(ProviderRoute { file, env: plan.env, dropped }))
    }

    /// The value of `--settings`: JSON text, or a file.
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
        // If this fails, the next start that needs a private file removes it.
        let _ = fs::remove_file(&self.file);
    }
}
