//! Finds out why `ccc` does not work, or soon will not. It only looks; [`fix`] corrects what needs no decision.
//!
//! Not here: the client itself and what gets in a provider's way, which the command line asks for.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use overtone_settings::{Document, SettingsFile};
use rustix::fs::{Access, access};
use serde_json::Value;

use crate::config::make_private;
use crate::isolated::stale;
use crate::mask::masked;
use crate::replace::COPY_PREFIX;
use crate::switch::{check_plain, clear_leftovers, leftovers};
use crate::{Config, Fault, Lookup, Place, Places, ProvidersError, find_pin};

const HOOK: &str = "supervisor-hook";

/// Where to look.
pub struct Patient<'a> {
    pub places: &'a Places,
    /// The folder that `ccc` is asked in, and the user's home.
    pub here: Option<&'a Path>,
    pub home: Option<&'a Path>,
    pub lookup: Lookup<'a>,
}

impl std::fmt::Debug for Patient<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Patient").field("here", &self.here).finish_non_exhaustive()
    }
}

/// Something that is wrong.
#[derive(Debug)]
pub enum Finding {
    /// A file cannot be used as it is.
    Broken(ProvidersError),
    Fault(Fault),
    NotPrivate {
        path: PathBuf,
        mode: u32,
    },
    NoProviders {
        path: PathBuf,
    },
    /// A provider needs a variable that is not set.
    Unset {
        error: ProvidersError,
        is_current: bool,
    },
    /// An earlier version has written a provider into the settings, for every session.
    Leftover {
        place: Place,
        keys: Vec<String>,
    },
    /// The hook of `ccc` leads to a program that is not there.
    StaleHook {
        place: Place,
        program: PathBuf,
    },
    /// A private file of a process that has ended.
    StaleFile {
        path: PathBuf,
    },
    /// What somebody edited and could not bring back.
    KeptCopy {
        path: PathBuf,
    },
    NotWritable {
        path: PathBuf,
        error: io::Error,
    },
}

impl Finding {
    /// Whether something does not work because of it; the others only ask for attention.
    pub fn is_serious(&self) -> bool {
        match self {
            Self::Broken(_) | Self::StaleHook { .. } | Self::NotWritable { .. } => true,
            Self::Fault(fault) => fault.is_serious(),
            Self::Unset { is_current, .. } => *is_current,
            Self::NotPrivate { .. }
            | Self::Leftover { .. }
            | Self::NoProviders { .. }
            | Self::StaleFile { .. }
            | Self::KeptCopy { .. } => false,
        }
    }

    /// A short stable name, for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Broken(_) => "broken-file",
            Self::Fault(_) => "bad-value",
            Self::NotPrivate { .. } => "not-private",
            Self::Leftover { .. } => "leftover",
            Self::NoProviders { .. } => "no-providers",
            Self::Unset { .. } => "unset-variable",
            Self::StaleHook { .. } => "stale-hook",
            Self::StaleFile { .. } => "stale-file",
            Self::KeptCopy { .. } => "kept-copy",
            Self::NotWritable { .. } => "not-writable",
        }
    }
}

/// Everything that is wrong: the configuration, the project, the client's settings, the state.
pub fn examine(patient: &Patient<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    match Config::load(&patient.places.config_file()) {
        Ok(config) => findings.extend(configuration(patient, &config)),
        Err(error) => findings.push(Finding::Broken(error)),
    }
    findings.extend(not_private(&patient.places.config_file()));
    findings.extend(settings(patient.places));
    findings.extend(own_files(patient.places));
    findings.extend(state(patient.places));
    findings
}

/// Corrects a finding for which there is only one way, and says whether it did.
pub fn fix(places: &Places, finding: &Finding) -> Result<bool, ProvidersError> {
    let (path, done) = match finding {
        Finding::Leftover { .. } => return clear_leftovers(places).map(|()| true),
        Finding::NotPrivate { path, .. } => (path, make_private(path)),
        Finding::StaleFile { path } => (path, fs::remove_file(path)),
        _ => return Ok(false),
    };
    done.map(|()| true).map_err(|error| ProvidersError::io(path, error))
}

fn configuration(patient: &Patient<'_>, config: &Config) -> Vec<Finding> {
    let mut findings: Vec<_> = config.faults().into_iter().map(Finding::Fault).collect();
    let names = config.names().unwrap_or_default();
    if names.is_empty() && findings.is_empty() {
        findings.push(Finding::NoProviders { path: config.path().to_owned() });
    }
    let current = config.chosen().ok();
    findings.extend(names.iter().filter_map(|name| {
        let error = config.fragment(name, patient.lookup).err()?;
        let is_unset = matches!(error, ProvidersError::Unset { .. });
        is_unset.then(|| Finding::Unset { error, is_current: current.as_ref() == Some(name) })
    }));
    findings.extend(pin(patient, config));
    findings
}

fn pin(patient: &Patient<'_>, config: &Config) -> Option<Finding> {
    let pin = match find_pin(patient.here?, patient.home) {
        Ok(pin) => pin?,
        Err(error) => return Some(Finding::Broken(error)),
    };
    config.check(&pin.provider, Some(pin.place)).err().map(Finding::Broken)
}

fn not_private(path: &Path) -> Option<Finding> {
    let mode = fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then(|| Finding::NotPrivate { path: path.to_owned(), mode })
}

fn settings(places: &Places) -> Vec<Finding> {
    let path = places.settings();
    match SettingsFile::at(&path).read() {
        Ok(document) => {
            let plain = check_plain(&path, &document).err().map(Finding::Broken);
            let loose = if holds_secret(&document) { not_private(&path) } else { None };
            let findings = plain.into_iter().chain(loose).chain(leftover(places, &path, &document));
            findings.chain(stale_hooks(&path, &document)).collect()
        }
        Err(error) => vec![Finding::Broken(error.into())],
    }
}

/// Whether one of the variables is a secret, whoever has put it there.
fn holds_secret(document: &Document) -> bool {
    let Some(Value::Object(env)) = document.get(&["env"]) else { return false };
    env.iter().any(|(name, value)| value.as_str().is_some_and(|text| masked(name, text) != text))
}

fn leftover(places: &Places, path: &Path, document: &Document) -> Option<Finding> {
    let keys = leftovers(places, document).unwrap_or_default();
    let first: Vec<_> = keys.first()?.split('.').collect();
    Some(Finding::Leftover { place: Place::of(path, document, &first), keys })
}

/// Everything in the state folder may hold a token, or the text of a session.
fn own_files(places: &Places) -> Vec<Finding> {
    let files = fs::read_dir(places.state()).into_iter().flatten().flatten();
    let mut paths: Vec<_> = files
        .filter(|file| file.file_type().is_ok_and(|kind| kind.is_file()))
        .map(|file| file.path())
        .collect();
    let stale = stale(&places.state());
    paths.retain(|path| !stale.contains(path));
    paths.sort();
    paths.iter().filter_map(|path| not_private(path)).collect()
}

fn stale_hooks(path: &Path, document: &Document) -> Vec<Finding> {
    let groups = document.array_items(&["hooks", "Stop"]);
    let hooks = groups.iter().filter_map(|group| group.get("hooks")?.as_array()).flatten();
    let commands = hooks.filter_map(|hook| hook.get("command").and_then(Value::as_str));
    let programs = commands.filter(|command| command.ends_with(HOOK)).map(program);
    let gone = programs.filter(|program| program.is_absolute() && !program.exists());
    let place = || Place::of(path, document, &["hooks", "Stop"]);
    gone.map(|program| Finding::StaleHook { place: place(), program }).collect()
}

/// The first word of a command, as a shell would take it.
fn program(command: &str) -> PathBuf {
    let Some(quoted) = command.strip_prefix('\'') else {
        return PathBuf::from(command.split_whitespace().next().unwrap_or_default());
    };
    let inner = quoted.replace(r"'\''", "\0");
    PathBuf::from(inner.split('\'').next().unwrap_or_default().replace('\0', "'"))
}

fn state(places: &Places) -> Vec<Finding> {
    let folder = places.state();
    let mut findings: Vec<_> = stale(&folder).into_iter().map(|path| Finding::StaleFile { path }).collect();
    findings.extend(kept_copies(&folder));
    if let Err(error) = try_writing(&folder) {
        findings.push(Finding::NotWritable { path: folder, error });
    }
    findings
}

fn kept_copies(folder: &Path) -> Vec<Finding> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let copies = files.filter(|file| file.file_name().to_string_lossy().starts_with(COPY_PREFIX));
    copies.map(|file| Finding::KeptCopy { path: file.path() }).collect()
}

/// A folder that is not there is made when it is needed, if it can be.
fn try_writing(folder: &Path) -> io::Result<()> {
    if fs::symlink_metadata(folder).is_err() {
        let around = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
        return Ok(access(around, Access::WRITE_OK)?);
    }
    let probe = folder.join(".doctor");
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&probe)?;
    fs::remove_file(&probe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_read_as_a_shell_reads_them() {
        assert_eq!(program("/a/ccc supervisor-hook"), Path::new("/a/ccc"));
        assert_eq!(program("'/a b/it'\\''s' ccc supervisor-hook"), Path::new("/a b/it's"));
    }
}
