//! Expands `${VARIABLE}` references in environment values. `$VARIABLE` and everything else stays unchanged.

use crate::providers::Lookup;

/// Returns the text with every `${NAME}` replaced, or the name of the first variable that is not set.
pub(crate) fn expand(text: &str, lookup: Lookup<'_>) -> Result<String, String> {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        expanded.push_str(before);
        match after.split_once('}') {
            Some((name, following)) if is_variable_name(name) => {
                expanded.push_str(&lookup(name).ok_or_else(|| name.to_owned())?);
                rest = following;
            }
            _ => {
                expanded.push_str("${");
                rest = after;
            }
        }
    }
    Ok(expanded + rest)
}

fn is_variable_name(name: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty() && name.chars().all(is_allowed) && !name.starts_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(text: &str) -> Result<String, String> {
        expand(text, &|name| (name == "A").then(|| "${B}$A".to_owned()))
    }

    #[test]
    fn only_references_in_braces_are_expanded_and_only_once() {
        assert_eq!(expanded("x${A}y"), Ok("x${B}$Ay".to_owned()));
        for same in ["$A", "$$", "${", "${}", "${A", "${A-b}", "100%", "${1}"] {
            assert_eq!(expanded(same), Ok(same.to_owned()));
        }
        assert_eq!(expanded("${A}${NONE}"), Err("NONE".to_owned()));
    }
}
