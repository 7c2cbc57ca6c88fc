//! The context of every `ccc` command: language, paths and configuration.

use std::env;
use std::path::PathBuf;

use overtone_ccc::providers::{CccPaths, Config, Pin, find_pin};
use overtone_claude::Environment;
use overtone_core::messages::Lang;
use overtone_store::config::{Config as OvertoneConfig, keys};

use super::report::failure;
use crate::ui::error::CommandResult;

#[derive(Debug)]
pub(super) struct CccContext {
    pub(super) lang: Lang,
    pub(super) paths: CccPaths,
}

impl CccContext {
    pub(super) fn new(lang: Lang) -> CommandResult<Self> {
        let paths = CccPaths::resolve(&|name| env::var_os(name));
        Ok(Self { lang, paths: paths.map_err(|error| failure(lang, &error))? })
    }

    pub(super) fn config(&self) -> CommandResult<Config> {
        Config::load(&self.paths.config_file()).map_err(|error| failure(self.lang, &error))
    }

    /// The provider to which the project in the current folder is pinned.
    pub(super) fn pin(&self) -> CommandResult<Option<Pin>> {
        let Ok(folder) = env::current_dir() else { return Ok(None) };
        let home = env::var_os("HOME").map(PathBuf::from);
        find_pin(&folder, home.as_deref()).map_err(|error| failure(self.lang, &error))
    }
}

/// The language that the user has chosen, else the default of the `ccc` specification.
pub(super) fn language(environment: &Environment) -> Lang {
    let configured = || {
        let config = OvertoneConfig::load(environment.home.as_ref()?).ok()?;
        config.get_explicit(keys::LANGUAGE)
    };
    environment.lang().or_else(configured).unwrap_or(Lang::ZhCn)
}
