//! What went wrong with providers, and what gets in their way, in the person's language.

use std::path::Path;

use overtone_messages::{Lang, care, ccc as words};
use overtone_providers::{
    Conflict, ConflictKind, Fault, FaultKind, Layer, Place, ProvidersError, Shape, Wanted,
};

use crate::ui::error::Failure;
use crate::ui::nearest::nearest;

pub(super) fn failure(lang: Lang, error: &ProvidersError) -> Failure {
    match error {
        ProvidersError::NoHome => Failure::new(words::no_home(lang)).hint(words::no_home_hint(lang)),
        ProvidersError::Settings(error) => {
            Failure::new(error.to_string()).hint(error.hint().unwrap_or_else(|| words::check_path_hint(lang)))
        }
        ProvidersError::NotPlain(place) => {
            Failure::new(words::not_plain(lang, &place.to_string())).hint(words::not_plain_hint(lang))
        }
        ProvidersError::WrongType { place, key, wanted } => wrong_type(lang, place, key, *wanted),
        ProvidersError::Unset { place, key, variable } => {
            Failure::new(words::unset(lang, variable, key, &place.to_string()))
                .hint(words::unset_hint(lang, variable))
        }
        ProvidersError::UnknownProvider { name, known, place } => unknown(lang, name, known, place.as_ref()),
        ProvidersError::NoneChosen { known, file } => none_chosen(lang, known, file),
        ProvidersError::Exists { name, place } => {
            Failure::new(words::exists(lang, name, &place.to_string())).hint(words::exists_hint(lang, name))
        }
        ProvidersError::Overruled { provider, conflicts } => {
            overruled(lang, provider, conflicts, None, Path::new(""))
        }
        ProvidersError::NeedsPrivate { provider, key } => {
            Failure::new(words::needs_private(lang, provider, key))
                .hint(words::needs_private_hint(lang, provider))
        }
        ProvidersError::Busy(path) => {
            Failure::new(words::busy(lang, &shown(path))).hint(words::busy_hint(lang))
        }
        ProvidersError::Io { path, error } => Failure::io(lang, path, error),
    }
}

fn wrong_type(lang: Lang, place: &Place, key: &str, wanted: Wanted) -> Failure {
    let at = place.to_string();
    let message = match wanted {
        Wanted::Object => words::wrong_object(lang, key, &at),
        Wanted::Text => words::wrong_text(lang, key, &at),
        Wanted::ListOfTexts => words::wrong_list(lang, key, &at),
    };
    Failure::new(message).hint(words::wrong_type_hint(lang, &shown(&place.path)))
}

fn unknown(lang: Lang, name: &str, known: &[String], place: Option<&Place>) -> Failure {
    // A pasted page instead of a name must not fill the terminal.
    let name: String = name.chars().take(80).collect();
    let message = match place {
        Some(place) => words::unknown_provider_at(lang, &name, &place.to_string()),
        None => words::unknown_provider(lang, &name),
    };
    let hint = match nearest(&name, known.iter().map(String::as_str)) {
        _ if known.is_empty() => words::add_first_hint(lang),
        Some(near) => words::did_you_mean(lang, near, &known.join(", ")),
        None => words::providers_are(lang, &known.join(", ")),
    };
    Failure::new(message).hint(hint)
}

fn none_chosen(lang: Lang, known: &[String], file: &Path) -> Failure {
    let hint = match known {
        [] => words::add_first_hint(lang),
        known => words::none_chosen_hint(lang, &known.join(", ")),
    };
    Failure::new(words::none_chosen(lang, &shown(file))).hint(hint)
}

/// What is wrong with a value of the file, and what to do about it.
pub(super) fn fault(lang: Lang, fault: &Fault) -> (String, String) {
    let (key, at) = (fault.key.as_str(), fault.place.to_string());
    let what = match &fault.kind {
        FaultKind::Wrong(Shape::Object) => words::wrong_object(lang, key, &at),
        FaultKind::Wrong(Shape::Text) => words::wrong_text(lang, key, &at),
        FaultKind::Wrong(Shape::ListOfTexts) => words::wrong_list(lang, key, &at),
        FaultKind::Wrong(Shape::Boolean) => care::wrong_boolean(lang, key, &at),
        FaultKind::Wrong(Shape::Count) => care::wrong_count(lang, key, &at),
        FaultKind::Wrong(Shape::Amount) => care::wrong_amount(lang, key, &at),
        FaultKind::Wrong(Shape::Checks) => care::wrong_checks(lang, key, &at),
        FaultKind::UnknownKey => {
            return (care::unknown_key(lang, key, &at), care::unknown_key_hint(lang));
        }
        FaultKind::UnknownProvider { name, known } => {
            return parts(unknown(lang, name, known, Some(&fault.place)));
        }
    };
    (what, care::mend_hint(lang))
}

/// A failure that is one of several, as what is wrong and what to do.
pub(super) fn parts(failure: Failure) -> (String, String) {
    match failure {
        Failure::Told { message, hint } => (message, hint.unwrap_or_default()),
        Failure::Coded { message, hint, .. } => (message, hint),
        Failure::Output(error) => (error.to_string(), String::new()),
        Failure::Silent(_) => (String::new(), String::new()),
    }
}

/// Why a provider cannot be started on, with every line that is to blame. `used`: the provider that `ccc use` has put
/// into the shared settings.
pub(super) fn overruled(
    lang: Lang,
    provider: &str,
    conflicts: &[Conflict],
    used: Option<&str>,
    settings: &Path,
) -> Failure {
    let places: Vec<_> =
        conflicts.iter().map(|conflict| format!("{} ({})", conflict.key, conflict.place)).collect();
    let is_managed = |conflict: &Conflict| conflict.layer == Layer::Managed;
    let hint = match used {
        _ if conflicts.iter().any(is_managed) => words::overruled_managed_hint(lang),
        Some(used) if conflicts.iter().all(|conflict| conflict.place.path == settings) => {
            words::overruled_used_hint(lang, provider, used)
        }
        _ => words::overruled_hint(lang, provider),
    };
    Failure::new(words::overruled(lang, provider, &places.join(", "))).hint(hint)
}

/// How a value gets in the way, and what to do about it.
pub(super) fn conflict(lang: Lang, conflict: &Conflict) -> String {
    let (key, at) = (conflict.key.as_str(), conflict.place.to_string());
    match conflict.kind {
        _ if conflict.is_decisive => words::conflict_set_aside(lang, key, &at),
        ConflictKind::Wins if conflict.layer == Layer::Managed => words::conflict_managed(lang, key, &at),
        ConflictKind::Wins => words::conflict_wins(lang, key, &at),
        ConflictKind::StaysInForce => words::conflict_stays(lang, key, &at),
    }
}

pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}
