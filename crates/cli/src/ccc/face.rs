//! What every command of `ccc` is given.

use std::env;
use std::path::PathBuf;

use overtone_hooks::Environment;
use overtone_messages::Lang;
use overtone_providers::{Config, Pin, Places, find_pin};
use overtone_store::config::{Config as OvertoneConfig, Key};

use super::report::failure;
use crate::ui::error::Failure;

#[derive(Debug)]
pub(super) struct Face {
    pub(super) lang: Lang,
    pub(super) places: Places,
}

impl Face {
    pub(super) fn new(lang: Lang) -> Result<Self, Failure> {
        let places = Places::resolve(&|name| env::var_os(name));
        Ok(Self { lang, places: places.map_err(|error| failure(lang, &error))? })
    }

    pub(super) fn config(&self) -> Result<Config, Failure> {
        Config::load(&self.places.config_file()).map_err(|error| failure(self.lang, &error))
    }

    /// The provider that the project here is pinned to.
    pub(super) fn pin(&self) -> Result<Option<Pin>, Failure> {
        let Ok(here) = env::current_dir() else { return Ok(None) };
        let home = env::var_os("HOME").map(PathBuf::from);
        find_pin(&here, home.as_deref()).map_err(|error| failure(self.lang, &error))
    }
}

/// The language that is asked for, else the one of the specification of `ccc`.
pub(super) fn language(environment: &Environment) -> Lang {
    let configured = || {
        let config = OvertoneConfig::load(environment.home.as_ref()?).ok()?;
        Lang::from_tag(config.own_value(Key::find("language")?)?.as_str()?)
    };
    environment.lang().or_else(configured).unwrap_or(Lang::ZhCn)
}
