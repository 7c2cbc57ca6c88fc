//! Names that may leave the machine. Any program of the user can write to a timeline, so text that does not look like a
//! name is replaced before it is sent.

pub(crate) const OTHER: &str = "other";
const MAX_NAME: usize = 64;

/// The name of a stage, an agent, a workflow, a verdict or a reason; [`OTHER`] if it does not look like one.
pub(crate) fn name(text: &str) -> &str {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b":_-".contains(&b);
    if is_short(text) && text.bytes().all(is_plain) { text } else { OTHER }
}

/// The name of a model, which may begin with a vendor and a slash; [`OTHER`] if it does not look like one.
pub(crate) fn model(text: &str) -> &str {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b":_-./@".contains(&b);
    let starts_alphanumeric = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    if is_short(text) && starts_alphanumeric && text.bytes().all(is_plain) { text } else { OTHER }
}

const fn is_short(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_NAME
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_is_not_a_name_is_replaced() {
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
