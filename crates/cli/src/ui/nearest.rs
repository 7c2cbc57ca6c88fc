//! Finds the name that was probably meant.

use strsim::damerau_levenshtein;

/// The candidate that differs least, if it is close enough to be a typing error.
pub(crate) fn nearest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A pasted page is no typing error, and comparing it would take long.
    if given.len() > 128 {
        return None;
    }
    let limit = (given.chars().count() / 3).max(1);
    let distance = |name: &str| damerau_levenshtein(&given.to_lowercase(), &name.to_lowercase());
    let scored = candidates.into_iter().map(|name| (distance(name), name));
    scored.filter(|(distance, _)| *distance <= limit).min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_are_found_and_other_names_are_not() {
        let names = ["standard", "secure", "single", "quick"];
        assert_eq!(nearest("standrad", names), Some("standard"));
        assert_eq!(nearest("QUICK", names), Some("quick"));
        assert_eq!(nearest("qick", names), Some("quick"));
        assert_eq!(nearest("constructor", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), names), None);
    }
}
