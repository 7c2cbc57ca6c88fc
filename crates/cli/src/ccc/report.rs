//! Renders provider errors, configuration faults and conflicts in the user's language.

use std::path::Path;

use overtone_ccc::providers::{
    Conflict, ConflictKind, Fault, FaultKind, FileLocation, Layer, ProvidersError, ValueType,
};
use overtone_core::messages::{Lang, care, ccc as messages};

use crate::ui::error::CommandError;
use crate::ui::nearest::nearest;

pub(super) fn failure(lang: Lang, error: &ProvidersError) -> CommandError {
    match error {
        ProvidersError::NoHome => {
            CommandError::new(messages::no_home(lang)).hint(messages::no_home_hint(lang))
        }
        ProvidersError::Settings(error) => CommandError::new(error.to_string())
            .hint(error.hint().unwrap_or_else(|| messages::check_path_hint(lang))),
        ProvidersError::NotPlain(location) => {
            CommandError::new(messages::not_plain(lang, &location.to_string()))
                .hint(messages::not_plain_hint(lang))
        }
        ProvidersError::WrongType { location, key, expected } => {
            let message = wrong_type(lang, key, &location.to_string(), *expected);
            CommandError::new(message).hint(messages::wrong_type_hint(lang, &display_path(&location.path)))
        }
        ProvidersError::Unset { location, key, variable } => {
            CommandError::new(messages::unset(lang, variable, key, &location.to_string()))
                .hint(messages::unset_hint(lang, variable))
        }
        ProvidersError::UnknownProvider { name, known, location } => {
            unknown_provider(lang, name, known, location.as_ref())
        }
        ProvidersError::NoneChosen { known, file } => none_chosen(lang, known, file),
        ProvidersError::Exists { name, location } => {
            CommandError::new(messages::exists(lang, name, &location.to_string()))
                .hint(messages::exists_hint(lang, name))
        }
        ProvidersError::Overruled { provider, conflicts } => {
            overruled(lang, provider, conflicts, None, Path::new(""))
        }
        ProvidersError::NeedsPrivate { provider, key } => {
            CommandError::new(messages::needs_private(lang, provider, key))
                .hint(messages::needs_private_hint(lang, provider))
        }
        ProvidersError::Busy(path) => {
            CommandError::new(messages::busy(lang, &display_path(path))).hint(messages::busy_hint(lang))
        }
        ProvidersError::Io { path, error } => CommandError::io(lang, path, error),
    }
}

fn wrong_type(lang: Lang, key: &str, at: &str, expected: ValueType) -> String {
    match expected {
        ValueType::Object => messages::wrong_object(lang, key, at),
        ValueType::Text => messages::wrong_text(lang, key, at),
        ValueType::ListOfTexts => messages::wrong_list(lang, key, at),
        ValueType::Boolean => care::wrong_boolean(lang, key, at),
        ValueType::Count => care::wrong_count(lang, key, at),
        ValueType::Amount => care::wrong_amount(lang, key, at),
        ValueType::Checks => care::wrong_checks(lang, key, at),
    }
}

fn unknown_provider(
    lang: Lang,
    name: &str,
    known: &[String],
    location: Option<&FileLocation>,
) -> CommandError {
    // The argument may be a long text that was pasted by mistake.
    let name: String = name.chars().take(80).collect();
    let message = match location {
        Some(location) => messages::unknown_provider_at(lang, &name, &location.to_string()),
        None => messages::unknown_provider(lang, &name),
    };
    let hint = match nearest(&name, known.iter().map(String::as_str)) {
        _ if known.is_empty() => messages::add_first_hint(lang),
        Some(near) => messages::did_you_mean(lang, near, &known.join(", ")),
        None => messages::providers_are(lang, &known.join(", ")),
    };
    CommandError::new(message).hint(hint)
}

fn none_chosen(lang: Lang, known: &[String], file: &Path) -> CommandError {
    let hint = match known {
        [] => messages::add_first_hint(lang),
        known => messages::none_chosen_hint(lang, &known.join(", ")),
    };
    CommandError::new(messages::none_chosen(lang, &display_path(file))).hint(hint)
}

/// The message and the hint for a fault of the configuration.
pub(super) fn fault(lang: Lang, fault: &Fault) -> (String, String) {
    let (key, at) = (fault.key.as_str(), fault.location.to_string());
    match &fault.kind {
        FaultKind::WrongType(expected) => (wrong_type(lang, key, &at, *expected), care::mend_hint(lang)),
        FaultKind::UnknownKey => (care::unknown_key(lang, key, &at), care::unknown_key_hint(lang)),
        FaultKind::UnknownProvider { name, known } => {
            parts(unknown_provider(lang, name, known, Some(&fault.location)))
        }
    }
}

/// The message and the hint of a failure that is listed with others.
pub(super) fn parts(failure: CommandError) -> (String, String) {
    (failure.message, failure.hints.join("\n"))
}

/// Why a start on a provider is refused, with every conflicting line. `used`: the provider that `ccc use` has written to
/// the shared settings.
pub(super) fn overruled(
    lang: Lang,
    provider: &str,
    conflicts: &[Conflict],
    used: Option<&str>,
    settings: &Path,
) -> CommandError {
    let locations: Vec<_> =
        conflicts.iter().map(|conflict| format!("{} ({})", conflict.key, conflict.location)).collect();
    let is_managed = |conflict: &Conflict| conflict.layer == Layer::Managed;
    let hint = match used {
        _ if conflicts.iter().any(is_managed) => messages::overruled_managed_hint(lang),
        Some(used) if conflicts.iter().all(|conflict| conflict.location.path == settings) => {
            messages::overruled_used_hint(lang, provider, used)
        }
        _ => messages::overruled_hint(lang, provider),
    };
    CommandError::new(messages::overruled(lang, provider, &locations.join(", "))).hint(hint)
}

/// Describes a conflict and what to do about it.
pub(super) fn conflict(lang: Lang, conflict: &Conflict) -> String {
    let (key, at) = (conflict.key.as_str(), conflict.location.to_string());
    match conflict.kind {
        _ if conflict.is_decisive => messages::conflict_set_aside(lang, key, &at),
        ConflictKind::Wins if conflict.layer == Layer::Managed => messages::conflict_managed(lang, key, &at),
        ConflictKind::Wins => messages::conflict_wins(lang, key, &at),
        ConflictKind::StaysInForce => messages::conflict_stays(lang, key, &at),
    }
}

pub(super) fn display_path(path: &Path) -> String {
    path.display().to_string()
}
