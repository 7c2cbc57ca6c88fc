//! Diagnoses problems of the `ccc` set-up. [`examine`] changes nothing; [`fix`] corrects what needs no decision.
//!
//! The client itself and conflicts with a provider are examined by the command line.

use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use jsonc_edit::{Document, SettingsFile};
use rustix::fs::{Access, access};
use serde_json::Value;

use crate::providers::config::make_private;
use crate::providers::isolated::stale_files;
use crate::providers::mask::masked;
use crate::providers::snapshot::COPY_PREFIX;
use crate::providers::switch::{check_plain, clear_leftovers, leftovers};
use crate::providers::{CccPaths, Config, Fault, FileLocation, Lookup, ProvidersError, find_pin};

const HOOK: &str = "supervisor-hook";

/// What is examined.
pub struct DoctorContext<'a> {
    pub paths: &'a CccPaths,
    /// The current folder.
    pub folder: Option<&'a Path>,
    /// The user's home folder.
    pub home: Option<&'a Path>,
    pub lookup: Lookup<'a>,
}

impl std::fmt::Debug for DoctorContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DoctorContext").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// A problem that was found.
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
    /// An earlier version has written a provider to the shared settings.
    Leftover {
        location: FileLocation,
        keys: Vec<String>,
    },
    /// The hook of `ccc` names a program that does not exist.
    StaleHook {
        location: FileLocation,
        program: PathBuf,
    },
    /// A private file of a process that has ended.
    StaleFile {
        path: PathBuf,
    },
    /// An edited copy of the configuration that could not be saved.
    KeptCopy {
        path: PathBuf,
    },
    NotWritable {
        path: PathBuf,
        error: io::Error,
    },
}

impl Finding {
    /// Whether something does not work because of it. The others are warnings.
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

    /// A short stable name for JSON output.
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

/// Examines the configuration, the project, the client's settings and the state folder.
pub fn examine(context: &DoctorContext<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    match Config::load(&context.paths.config_file()) {
        Ok(config) => findings.extend(examine_config(context, &config)),
        Err(error) => findings.push(Finding::Broken(error)),
    }
    findings.extend(find_not_private(&context.paths.config_file()));
    findings.extend(examine_settings(context.paths));
    findings.extend(non_private_state_files(context.paths));
    findings.extend(examine_state(context.paths));
    findings
}

/// Corrects a finding if no decision of the user is needed. Returns whether it did.
pub fn fix(paths: &CccPaths, finding: &Finding) -> Result<bool, ProvidersError> {
    match finding {
        Finding::Leftover { .. } => clear_leftovers(paths)?,
        Finding::NotPrivate { path, .. } => {
            make_private(path).map_err(|error| ProvidersError::io(path, error))?;
        }
        Finding::StaleFile { path } => {
            fs::remove_file(path).map_err(|error| ProvidersError::io(path, error))?;
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn examine_config(context: &DoctorContext<'_>, config: &Config) -> Vec<Finding> {
    let mut findings: Vec<_> = config.faults().into_iter().map(Finding::Fault).collect();
    let names = config.names().unwrap_or_default();
    if names.is_empty() && findings.is_empty() {
        findings.push(Finding::NoProviders { path: config.path().to_owned() });
    }
    let current = config.chosen().ok();
    for name in &names {
        if let Err(error @ ProvidersError::Unset { .. }) = config.fragment(name, context.lookup) {
            findings.push(Finding::Unset { error, is_current: current.as_ref() == Some(name) });
        }
    }
    findings.extend(examine_pin(context, config));
    findings
}

/// The project's `.ccc.json` must be readable and name an existing provider.
fn examine_pin(context: &DoctorContext<'_>, config: &Config) -> Option<Finding> {
    let pin = match find_pin(context.folder?, context.home) {
        Ok(pin) => pin?,
        Err(error) => return Some(Finding::Broken(error)),
    };
    config.check(&pin.provider, Some(pin.location)).err().map(Finding::Broken)
}

fn find_not_private(path: &Path) -> Option<Finding> {
    let mode = fs::metadata(path).ok()?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 { Some(Finding::NotPrivate { path: path.to_owned(), mode }) } else { None }
}

fn examine_settings(paths: &CccPaths) -> Vec<Finding> {
    let path = paths.settings();
    let document = match SettingsFile::at(&path).read() {
        Ok(document) => document,
        Err(error) => return vec![Finding::Broken(error.into())],
    };
    let mut findings = Vec::new();
    findings.extend(check_plain(&path, &document).err().map(Finding::Broken));
    if contains_secret(&document) {
        findings.extend(find_not_private(&path));
    }
    findings.extend(find_leftover(paths, &path, &document));
    findings.extend(find_stale_hooks(&path, &document));
    findings
}

/// Whether one of the variables is a secret, no matter who wrote it.
fn contains_secret(document: &Document) -> bool {
    let Some(Value::Object(env)) = document.get(&["env"]) else { return false };
    env.iter().any(|(name, value)| matches!(value, Value::String(text) if masked(name, text) != *text))
}

fn find_leftover(paths: &CccPaths, path: &Path, document: &Document) -> Option<Finding> {
    let keys = leftovers(paths, document).unwrap_or_default();
    let first: Vec<_> = keys.first()?.split('.').collect();
    Some(Finding::Leftover { location: FileLocation::of_key(path, document, &first), keys })
}

/// Every file in the state folder may contain a token or text of a session.
fn non_private_state_files(paths: &CccPaths) -> Vec<Finding> {
    let stale = stale_files(&paths.state());
    let mut state_files = Vec::new();
    for file in fs::read_dir(paths.state()).into_iter().flatten().flatten() {
        if let Ok(kind) = file.file_type()
            && kind.is_file()
            && !stale.contains(&file.path())
        {
            state_files.push(file.path());
        }
    }
    state_files.sort();
    state_files.iter().filter_map(|path| find_not_private(path)).collect()
}

fn find_stale_hooks(path: &Path, document: &Document) -> Vec<Finding> {
    let groups = document.array_items(&["hooks", "Stop"]);
    let hooks = groups.iter().filter_map(|group| group.get("hooks")?.as_array()).flatten();
    let commands = hooks.filter_map(|hook| hook.get("command").and_then(Value::as_str));
    let programs = commands.filter(|command| command.ends_with(HOOK)).map(program_of);
    let gone = programs.filter(|program| program.is_absolute() && !program.exists());
    let location = || FileLocation::of_key(path, document, &["hooks", "Stop"]);
    gone.map(|program| Finding::StaleHook { location: location(), program }).collect()
}

/// The first word of a command, parsed like a shell does.
fn program_of(command: &str) -> PathBuf {
    let Some(quoted) = command.strip_prefix('\'') else {
        return PathBuf::from(command.split_whitespace().next().unwrap_or_default());
    };
    let inner = quoted.replace(r"'\''", "\0");
    PathBuf::from(inner.split('\'').next().unwrap_or_default().replace('\0', "'"))
}

fn examine_state(paths: &CccPaths) -> Vec<Finding> {
    let folder = paths.state();
    let mut findings: Vec<_> =
        stale_files(&folder).into_iter().map(|path| Finding::StaleFile { path }).collect();
    findings.extend(find_kept_copies(&folder));
    if let Err(error) = check_writable(&folder) {
        findings.push(Finding::NotWritable { path: folder, error });
    }
    findings
}

fn find_kept_copies(folder: &Path) -> Vec<Finding> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let copies = files.filter(|file| file.file_name().to_string_lossy().starts_with(COPY_PREFIX));
    copies.map(|file| Finding::KeptCopy { path: file.path() }).collect()
}

/// Checks that the folder is writable. A missing folder is created on demand, so its closest existing parent has to be
/// writable.
fn check_writable(folder: &Path) -> io::Result<()> {
    if fs::symlink_metadata(folder).is_err() {
        let parent = folder.ancestors().find(|folder| folder.exists()).unwrap_or(folder);
        return Ok(access(parent, Access::WRITE_OK)?);
    }
    let probe = folder.join(".doctor");
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&probe)?;
    fs::remove_file(&probe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_a_command_is_parsed_like_a_shell_does() {
        assert_eq!(program_of("/a/ccc supervisor-hook"), Path::new("/a/ccc"));
        assert_eq!(program_of("'/a b/it'\\''s' ccc supervisor-hook"), Path::new("/a b/it's"));
    }
}
