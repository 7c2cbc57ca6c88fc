//! The wording check of Markdown files: a marker and the verb after it must be equally strong.

/// A marker that contradicts a word in its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mismatch {
    pub(crate) line: usize,
    pub(crate) marker: &'static str,
    pub(crate) word: &'static str,
}

const STRONG: [&str; 6] = ["MUST", "NEVER", "必須", "禁止", "必须", "務必"];
const WEAK: [&str; 7] = ["should", "may", "could", "建議", "可以", "建议", "也許"];
const OPTIONAL: [&str; 4] = ["may", "could", "可以", "也許"];

const RULES: [(&str, &[&str]); 3] = [("💡", &STRONG), ("📋", &OPTIONAL), ("⛔", &WEAK)];

/// Whether this marker and this word are a mismatch.
pub(crate) fn is_rule(marker: &str, word: &str) -> bool {
    RULES.iter().any(|(known, words)| *known == marker && words.contains(&word))
}

/// Every mismatch outside code fences and tables.
pub(crate) fn mismatches(markdown: &str) -> Vec<Mismatch> {
    let mut fenced = false;
    let mut found = Vec::new();
    for (number, line) in markdown.lines().enumerate() {
        let text = line.trim_start();
        if text.starts_with("```") || text.starts_with("~~~") {
            fenced = !fenced;
        } else if !fenced && !text.starts_with('|') {
            found.extend(RULES.iter().filter_map(|rule| check(number + 1, text, *rule)));
        }
    }
    found
}

fn check(
    line: usize,
    text: &str,
    (marker, words): (&'static str, &'static [&'static str]),
) -> Option<Mismatch> {
    let after = text.split_once(marker)?.1;
    words.iter().find(|word| has_word(after, word)).map(|word| Mismatch { line, marker, word })
}

/// Whether the text has the word. English words are compared as a whole; Chinese has no spaces.
fn has_word(text: &str, word: &str) -> bool {
    if !word.is_ascii() {
        return text.contains(word);
    }
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|other| other.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(markdown: &str) -> Vec<(&str, &str)> {
        mismatches(markdown).into_iter().map(|m| (m.marker, m.word)).collect()
    }

    #[test]
    fn markers_and_verbs_must_agree() {
        assert_eq!(words("💡 You MUST do it"), [("💡", "MUST")]);
        assert_eq!(words("- 📋 you may skip it"), [("📋", "may")]);
        assert_eq!(words("⛔ 建議先測試"), [("⛔", "建議")]);
        assert_eq!(words("⛔ You should test"), [("⛔", "should")]);
        assert!(words("⛔ You MUST test\n💡 you should test\n📋 MUST: a step\nmaybe 📋 dismay").is_empty());
    }

    #[test]
    fn code_fences_and_tables_are_not_checked() {
        assert!(words("```\n💡 MUST\n```\n| 💡 | MUST |\n~~~\n⛔ may\n~~~").is_empty());
        assert_eq!(mismatches("a\n\n💡 MUST")[0].line, 3);
    }
}
