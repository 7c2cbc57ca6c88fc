//! Names that may leave the machine. A timeline is a file that anybody may write to: whatever does not look like a
//! name is not sent.

pub(crate) const OTHER: &str = "other";
const MAX_NAME: usize = 64;

/// A stage, an agent, a workflow, a verdict or a reason.
pub(crate) fn name(text: &str) -> &str {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b":_-".contains(&b);
    if is_short(text) && text.bytes().all(is_plain) { text } else { OTHER }
}

/// A model; some have a vendor before them, with a slash.
pub(crate) fn model(text: &str) -> &str {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b":_-./@".contains(&b);
    let begins_well = text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
    if is_short(text) && begins_well && text.bytes().all(is_plain) { text } else { OTHER }
}

const fn is_short(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_NAME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_are_let_through() {
        for good in ["TEST:2", "code-reviewer", "build_only"] {
            assert_eq!(name(good), good);
        }
        for bad in ["", "please write a poem", "/home/me/x", "a\nb", &"a".repeat(65)] {
            assert_eq!(name(bad), OTHER, "{bad:?}");
        }
        assert_eq!(model("z-ai/glm-4.6"), "z-ai/glm-4.6");
        assert_eq!((model("/home/me"), model("../x"), model("a b")), (OTHER, OTHER, OTHER));
    }
}
