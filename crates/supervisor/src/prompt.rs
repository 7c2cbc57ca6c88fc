//! What the reviewer is asked: the person's `SUPERVISOR.md` or our own words, and the instruction.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use overtone_engine::text::cut;
use overtone_messages::{Lang, supervisor as words};

/// One argument may have 128 KB; a UTF-16 unit has at most three bytes.
const MAX_UNITS: usize = 40_000;
const MAX_BYTES: u64 = 128 * 1024;

pub(crate) fn prompt(file: &Path, lang: Lang) -> String {
    compose(own_words(file), lang)
}

fn compose(own: Option<String>, lang: Lang) -> String {
    let own = own.unwrap_or_else(|| words::prompt(lang));
    let text = format!("{}\n\n{}", cut(own.trim(), MAX_UNITS), words::instruction(lang));
    // It must not be taken for an option, and no argument can hold a NUL.
    let text = text.replace('\0', "");
    if text.starts_with('-') { format!("\n{text}") } else { text }
}

/// A link is followed: it is the person's file. A missing, empty or odd one counts as none.
fn own_words(file: &Path) -> Option<String> {
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(file).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').to_owned();
    (!text.trim().is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_persons_words_come_first_and_the_instruction_last() {
        let text = compose(Some("---\nstrict\0".into()), Lang::ZhCn);
        assert!(text.starts_with("\n---\nstrict\n\n"));
        assert!(text.ends_with(&words::instruction(Lang::ZhCn)));
        assert!(compose(None, Lang::En).starts_with("You are a strict reviewer."));
    }

    #[test]
    fn an_argument_is_never_too_long() {
        assert!(compose(Some("测".repeat(100_000)), Lang::ZhCn).len() < 128 * 1024);
    }
}
